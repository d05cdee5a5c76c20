"""One list names the methods, and what it says of their abilities is what they accept."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import pytest

from support.torches import need_torch
from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours
from understudy.methods import Nist, registry
from understudy.methods.registry import BUILT_IN, Entry

SCHEMA = Schema.parse({"columns": {"smoker": {"kind": "boolean"}, "coughs": {"kind": "boolean"}}})
PERSONS: dict[str, Any] = {"person_id": "patient", "rows_per_person": 2}
RULED = Schema.parse(SCHEMA.document() | {"constraints": ["if smoker = true then coughs = true"]})
NAMES = [entry.name for entry in BUILT_IN]


def _accepts(name: str, schema: Schema = SCHEMA, **given: Any) -> bool:
    if registry.abilities(name).extra == "gan":
        need_torch()
    able = registry.abilities(name)
    try:
        registry.method(name)(
            schema, epsilon=1, **{"delta": "0" if able.pure else "1e-6"} | given
        ).check()
    except UsageError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_to_its_class(name: str) -> None:
    """The class calls itself as the list does, and says in words what it learns."""
    assert name == registry.method(name).method
    assert registry.method(name).summary


@pytest.mark.parametrize("name", NAMES)
def test_a_method_accepts_what_its_abilities_say(name: str) -> None:
    """Relations, persons, kinds of budget and constraints: refused where they are not named."""
    able, own = registry.abilities(name), registry.method(name).default_neighbours
    [other] = set(Neighbours) - {own}
    assert _accepts(name)
    assert able.other_neighbours == _accepts(name, neighbours=str(other))
    assert able.persons == _accepts(name, **PERSONS)
    assert able.pure == _accepts(name, delta="0")
    assert able.approximate == _accepts(name, delta="1e-6")
    assert able.constraints == _accepts(name, RULED)


@pytest.mark.parametrize("name", NAMES)
def test_a_method_has_the_parameters_that_a_command_line_fills(name: str) -> None:
    """Every option of its abilities is a parameter of the class."""
    kind = registry.method(name)
    given: dict[str, Any] = dict.fromkeys(kind.abilities.options)
    assert given == {each: getattr(kind(SCHEMA, epsilon=1, **given), each) for each in given}


@pytest.mark.parametrize("name", NAMES)
def test_a_method_reads_as_its_figure(name: str) -> None:
    """What a method does with the Curator is at most ten lines, one for each stage."""
    code = textwrap.dedent(inspect.getsource(registry.method(name).learn))
    [function] = ast.parse(code).body
    assert isinstance(function, ast.FunctionDef)
    _, *stages = function.body
    assert (stages[-1].end_lineno or 0) - stages[0].lineno < 10


def test_an_unknown_method_is_refused_by_name() -> None:
    """The message lists what there is."""
    with pytest.raises(UsageError, match=r"'forest' is unknown; use one of auto, adaptive, dpgan"):
        registry.method("forest")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (Entry("toy", "understudy.methods.registry:Entry"), "is not a Synthesizer"),
        (Entry("toy", "understudy.methods.nist:Nothing"), "is not a Synthesizer"),
        (Entry("toy", "understudy.methods.nist:Nist"), "calls itself 'nist'"),
        (Entry("toy", "understudy.methods.nowhere:Toy"), "cannot be imported"),
    ],
)
def test_a_class_under_a_wrong_name_is_refused(entry: Entry, message: str) -> None:
    """A statement bears the name of its class, so no other name may lead to it."""
    with pytest.raises(UsageError, match=message):
        entry.load()


def test_the_list_gives_classes_themselves() -> None:
    """What the list loads is what a package exports."""
    assert Nist is registry.method("nist")
