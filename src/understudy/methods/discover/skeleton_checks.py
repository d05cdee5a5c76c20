"""Checks of a skeleton: keys that only skeletons have, and declarations that findings could break.

All that can be refused is refused here, before anything is paid for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from understudy.errors import SchemaError, UsageError
from understudy.facts.column.dtypes import check_dtype
from understudy.facts.schema import Schema

STEP_KEYS = ("decimals", "step")
"""The keys of a column by which its values are steps."""

_LARGEST_SHARE = 1000
_MOST_LENGTHS = 4


def without_key(key: str, columns: Mapping[str, Any]) -> tuple[dict[str, object], dict[str, Any]]:
    """Take the values of a key of skeletons from all columns that have it."""
    tables = {name: body for name, body in columns.items() if isinstance(body, Mapping)}
    found = {name: body[key] for name, body in tables.items() if key in body}
    rest = {name: {k: v for k, v in body.items() if k != key} for name, body in tables.items()}
    return found, {name: rest.get(name, body) for name, body in columns.items()}


def types_apart(
    bodies: Mapping[str, Any], asked: set[str]
) -> tuple[dict[str, str], dict[str, Any]]:
    """Take the types of columns to be learned that depend on what is found; others stay."""
    found = {
        name: bodies[name]["dtype"]
        for name in sorted(asked)
        if bodies[name].get("dtype") not in (None, "category", "string", "object")
    }
    problems = []
    for name, dtype in found.items():
        try:
            check_dtype(dtype, bodies[name]["kind"])
        except ValueError as error:
            problems.append(f"column {name!r}: {error}")
    if problems:
        raise SchemaError(problems)
    plain = {n: {k: v for k, v in bodies[n].items() if k != "dtype"} for n in found}
    return found, {**bodies, **plain}


def checked_lengths(
    lengths: Mapping[str, object], keyed: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Check by how many first letters rare values of some columns are grouped."""
    problems = []
    for name, given in lengths.items():
        if name not in keyed:
            problems.append(
                f"column {name!r}: prefix_lengths is given, and no values are learned; remove it"
            )
        elif not _falls(given):
            problems.append(
                f"column {name!r}: prefix_lengths is {given!r}; write one to four whole numbers "
                "that fall, such as [2, 1]"
            )
    if problems:
        raise SchemaError(problems)
    return {name: tuple(given) for name, given in lengths.items() if isinstance(given, list)}


def _falls(lengths: object) -> bool:
    if not isinstance(lengths, list) or not 0 < len(lengths) <= _MOST_LENGTHS:
        return False
    if not all(type(length) is int and length > 0 for length in lengths):
        return False
    return lengths == sorted(set(lengths), reverse=True)


def checked_shares(
    shares: Mapping[str, object], keyed: Sequence[str], ranged: Sequence[str]
) -> dict[str, Fraction]:
    """Check how much of the budget some columns get beside others."""
    problems = []
    for name, share in shares.items():
        if name not in (*keyed, *ranged):
            problems.append(f"column {name!r}: share is given, and nothing is learned; remove it")
        elif type(share) not in (int, float) or not 0 < float(str(share)) <= _LARGEST_SHARE:
            rule = f"it must be a number above 0 and at most {_LARGEST_SHARE}"
            problems.append(f"column {name!r}: share is {share!r}; {rule}")
    if problems:
        raise SchemaError(problems)
    return {name: Fraction(str(share)) for name, share in shares.items()}


def refuse_constraints_on(schema: Schema, asked: set[str]) -> None:
    """Refuse constraints that what is found could contradict, once it is paid for."""
    for constraint in schema.constraints:
        unknown = [name for name in constraint.sizes if name in asked]
        if unknown:
            raise UsageError(
                f"constraint {constraint.text!r} speaks of column {unknown[0]!r}, which is to be "
                "learned; leave it out, and add it to the schema that is found"
            )


def refuse_forms_of(bodies: Mapping[str, Any], asked: set[str]) -> None:
    """Refuse steps that what is found could contradict, once it is paid for.

    Bins of real numbers are cut at their decimals or steps.
    """
    for name in sorted(asked):
        keys = [key for key in STEP_KEYS if bodies[name].get(key) is not None]
        keys = [] if bodies[name].get("kind") == "float" else keys
        if keys:
            raise UsageError(
                f"column {name!r} declares {keys[0]}, and its values are to be learned; "
                "leave it out, and add it to the schema that is found"
            )


def check_steps_of(bodies: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse decimals and steps that no column could have; their range is not known yet."""
    stand_in = {"min": 0.0, "max": 1.0, "bins": 1}
    asked = {
        name: {"kind": "float", **stand_in, **steps}
        for name, body in bodies.items()
        if body["kind"] == "float" and (steps := {k: body[k] for k in STEP_KEYS if k in body})
    }
    if asked:
        Schema.parse({"columns": asked})
