"""Workloads: the marginals that count, and how far those of two tables are apart.

Without further words all marginals count alike. People who know what rows are for say so: by a
target, the column that others are used to predict, or by a file that names sets of columns.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain

# Fixes the choice of sets for ever, so that numbers can be compared.
_WORKLOAD_SEED = 20_240_607
_MOST_SETS = 300

USUAL_WEIGHT = 3.0
"""How much more a marginal counts that was asked for than one that was not."""

# A heavier one would leave nothing for others, and private choices would be luck.
_MOST_WEIGHT = 100.0
_MOST_NAMED = 10_000
_EXAMPLE = '[["age", "income"], {"columns": ["sex", "income"], "weight": 5}]'


@dataclass(frozen=True)
class NamedSet:
    """Columns whose joint distribution counts more than that of others.

    Attributes:
        columns: one or more.
        weight: how much more they count; 1 is as much as all others.
    """

    columns: Attributes
    weight: float = USUAL_WEIGHT


@dataclass(frozen=True)
class Workload:
    """Sets of columns that rows are made for, and how much more each counts than others; public.

    A marginal has the largest weight of the named sets that it lies in, or that lie in it, and
    weight 1 where there is none. One column alone thus lends its weight to every marginal with it.

    Attributes:
        sets: what was named.

    Example:
        >>> workload = Workload.of([["age", "income"], {"columns": ["sex"], "weight": 5}])
        >>> workload.weight(("age", "income")), workload.weight(("age", "sex", "job"))
        (3.0, 5.0)
        >>> workload.weight(("age", "job"))
        1.0
    """

    sets: tuple[NamedSet, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sets)

    @classmethod
    def of(cls, entries: object, *, where: str = "the workload") -> Workload:
        """A workload from lists of columns, or tables with `columns` and perhaps a `weight`.

        Args:
            entries: a list of them, or a table that has such a list as `sets`.
            where: what messages call it.
        """
        if isinstance(entries, Mapping) and set(entries) == {"sets"}:
            entries = entries["sets"]
        if not isinstance(entries, list | tuple) or not entries:
            raise UsageError(f"{where}: is not a list of sets of columns; write {_EXAMPLE}")
        if len(entries) > _MOST_NAMED:
            raise UsageError(f"{where}: has {len(entries):,} sets; name at most {_MOST_NAMED:,}")
        numbered = enumerate(entries, start=1)
        return cls(tuple(_named_set(entry, f"{where}: set {n}") for n, entry in numbered))

    @classmethod
    def load(cls, path: str | Path) -> Workload:
        """A workload from a JSON or TOML file, by its suffix."""
        path = Path(path)
        where = f"workload {path}"
        parse = json.loads if path.suffix.lower() == ".json" else tomllib.loads
        try:
            document = parse(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise UsageError(f"{where}: cannot be read: {error.strerror}; check it") from None
        except (ValueError, RecursionError):
            kind = "JSON" if parse is json.loads else "TOML"
            raise UsageError(f"{where}: is not {kind}; correct the file") from None
        return cls.of(document, where=where)

    def towards(self, target: str | None, *, weight: float = USUAL_WEIGHT) -> Workload:
        """The workload of people who predict a target, too."""
        return self if target is None else Workload((*self.sets, NamedSet((target,), weight)))

    def weight(self, columns: Collection[str]) -> float:
        """How much the marginal of some columns counts."""
        held = frozenset(columns)
        return max((s.weight for s, named in self._named if _related(held, named)), default=1.0)

    @property
    def _named(self) -> Iterator[tuple[NamedSet, frozenset[str]]]:
        return ((each, frozenset(each.columns)) for each in self.sets)

    def check(self, domain: Domain) -> None:
        """Refuse columns that there are not; all findings at once."""
        names = dict.fromkeys(name for each in self.sets for name in each.columns)
        unknown = [repr(name) for name in names if name not in domain.sizes]
        if unknown:
            raise UsageError(
                f"the workload names {', '.join(unknown)}, which the schema does not have; "
                f"known are {', '.join(domain)}"
            )


def _related(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _named_set(entry: object, where: str) -> NamedSet:
    """Read a set of columns, with its weight where there is one."""
    given: Mapping[str, object] = entry if isinstance(entry, Mapping) else {"columns": entry}
    if not {"columns"} <= set(given) <= {"columns", "weight"}:
        raise UsageError(f'{where}: write "columns" and, if needed, "weight", and nothing else')
    columns, weight = given["columns"], given.get("weight", USUAL_WEIGHT)
    if not isinstance(columns, list | tuple) or not columns or not _are_texts(columns):
        raise UsageError(f"{where}: does not list columns by name; write {_EXAMPLE}")
    if len({*columns}) < len(columns):
        raise UsageError(f"{where}: names a column twice; name it once")
    if not _is_number(weight) or not 0 < weight <= _MOST_WEIGHT:
        raise UsageError(
            f"{where}: the weight is not a number above 0 and up to {_MOST_WEIGHT:g}; "
            "leave it out, or correct it"
        )
    return NamedSet(tuple(columns), float(weight))


def _is_number(weight: object) -> TypeGuard[float]:
    return isinstance(weight, int | float) and not isinstance(weight, bool)


def _are_texts(names: Collection[object]) -> bool:
    return all(isinstance(name, str) for name in names)


def workload(domain: Domain, ways: int, *, most: int = _MOST_SETS) -> list[Attributes]:
    """List all sets of a number of attributes, or a fixed choice of them where they are many."""
    sets = list(itertools.combinations(domain.attributes, ways))
    if len(sets) <= most:
        return sets
    chosen = np.random.default_rng(_WORKLOAD_SEED).choice(len(sets), most, replace=False)
    return [sets[i] for i in sorted(chosen)]


def distances(
    real: Sequence[npt.NDArray[np.float64]], synthetic: Sequence[npt.NDArray[np.float64]]
) -> npt.NDArray[np.float64]:
    """The total variation distance of each two distributions: 0 is the same, 1 is apart."""
    pairs = zip(real, synthetic, strict=True)
    return np.array([0.5 * float(np.abs(a - b).sum()) for a, b in pairs])
