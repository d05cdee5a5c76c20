"""A schema learned from private rows, and paid for.

Kinds and missing markers stay declared. Categories are released where their noisy counts reach a
threshold; ranges and bins come from noisy counts over public cells. What it cost stands in the
schema, in the ledger, and in the statement of every later fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.facts.schema_cost import Inference
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.discover.bins import LearnedRange, agreeing, cut, fitted
from understudy.methods.discover.cells import Intervals, Tree
from understudy.methods.discover.skeleton import Skeleton
from understudy.methods.discover.values import listing
from understudy.privacy.budget import Amount, Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.privacy.mechanisms.keys import KeyRelease
from understudy.privacy.run import Access, OpenRun, PaidRun, UnopenedRows
from understudy.privacy.spending.pricing import Adaptive, BasicSums
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.privacy.statements.statement import Statement, check_same_persons
from understudy.rows.counting import CountSource, HasKeys, KeyCounts, KeySource
from understudy.system.arrays import Integers
from understudy.system.frames import Rows

METHOD = "schema infer"
NAMELESS = "table"
"""How a schema speaks of the rows it was learned from, where they have no name."""

# Ranges and bins need two counts of many cells, where values need one threshold.
_RANGED_WEIGHT = 2
_FIRST_COUNT = Fraction(1, 3)

Opening = Callable[[Schema, Sequence[str]], AbstractContextManager[KeySource]]


@dataclass(frozen=True)
class Inferred:
    """A schema that was learned, what is promised about it, and columns that showed mere noise."""

    schema: Schema
    statement: Statement
    unseen: tuple[str, ...]


@dataclass(frozen=True)
class Coarse:
    """What the first count of a column showed: cells that stand out, and the tree to count next.

    Attributes:
        noisy: counts of the tree's cells.
        variance: of their noise.
        tree: the cells that stand out and those between, or all where none does.
    """

    noisy: Integers
    variance: float
    tree: Tree


@dataclass(frozen=True)
class Discovery:
    """A discovery: the columns to be learned, the budget, and for whom the promise holds.

    Args:
        skeleton: the schema with what is missing.
        epsilon: what all answers together may cost.
        delta: the chance allowed for categories to be released that one unit alone brought in.
        unit: whom the promise protects.
        person_id: the column that names persons, where they are the unit.
    """

    skeleton: Skeleton
    epsilon: Amount
    delta: Amount = 0
    unit: Unit = field(default_factory=lambda: Unit(Neighbours.ADD_REMOVE))
    person_id: str | None = None
    instruments: Instruments = field(default_factory=Instruments)

    def __post_init__(self) -> None:
        if self.skeleton.keyed and self.budget.delta == 0:
            listed = ", ".join(map(repr, self.skeleton.keyed))
            raise UsageError(
                f"column {listed}: no values are listed, and delta is 0; finding values needs a "
                "delta above 0, such as 1e-6, or list them"
            )
        if self.budget.amount == 0:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")
        _ = self._earlier

    @property
    def budget(self) -> Budget:
        """Return the cost of a run: no δ where no categories are asked for."""
        return Budget.approximate(self.epsilon, self.delta if self.skeleton.keyed else 0)

    @property
    def _part(self) -> Fraction:
        """The ε of a categorical column; one of numbers or dates gets twice as much."""
        keyed, ranged = len(self.skeleton.keyed), len(self.skeleton.ranged)
        return self.budget.amount / (keyed + _RANGED_WEIGHT * ranged)

    @property
    def _counts(self) -> tuple[Fraction, Fraction]:
        """The ε of a column's first count, which shows where rows are, and of its second."""
        share = self._part * _RANGED_WEIGHT
        return share * _FIRST_COUNT, share * (1 - _FIRST_COUNT)

    def run(
        self, opening: Opening, *, dataset: str | None = None, ledger: LedgerChoice = DEFAULT
    ) -> Inferred:
        """Find out what the skeleton asks for.

        Args:
            opening: opens the rows by a provisional schema, and counts texts of some columns.
            dataset: the name of the rows in the ledger.
            ledger: where the spending is kept: the user's own ledger unless given. None keeps no
                record, and the statement says so.

        Privacy: the grant is made before rows are read, and charged before each draw. All that is
        returned is released.
        """
        skeleton, terms = self.skeleton, self._run
        books = terms.books(ledger, dataset)
        cells = {name: Intervals.over(skeleton.binned(name)) for name in skeleton.ranged}
        with terms.granted(books) as run:
            first = skeleton.probing({name: c.edges for name, c in cells.items()})
            with opening(first, skeleton.keyed) as source:
                curator = run.curator_over(source)
                found = {name: self._values(curator, name) for name in skeleton.keyed}
                coarse = {name: self._coarse(curator, name, c) for name, c in cells.items()}
            ranges = self._ranges(opening, run, coarse)
        statement = run.statement()
        found |= {name: r.document(skeleton.binned(name)) for name, r in ranges.items()}
        cost = self._inference(statement, dataset or NAMELESS)
        schema = skeleton.filled(found, cost.document())
        return Inferred(schema, statement, tuple(n for n, r in ranges.items() if not r.found))

    def _values(self, curator: Curator, name: str) -> dict[str, Any]:
        """The categories of a column, and where all others go."""
        delta = self.budget.delta / len(self.skeleton.keyed)
        released = curator.release(
            KeyRelease.costing(self._part, delta, self.unit),
            partial(_keys, column=name),
            name=f"values of {name}",
        )
        return listing(self.skeleton, name, released)

    def _coarse(self, curator: Curator, name: str, cells: Intervals) -> Coarse:
        """Noisy counts of a column's public cells."""
        mechanism = DiscreteLaplace.costing(self._counts[0], sensitivity=self.unit.count_l1)
        noisy = curator.release(
            mechanism,
            lambda source: source.count([(name,)])[0].counts[: len(cells.edges)],
            name=f"counts of {name} in public cells",
        )
        tree = Tree.over(cells, noisy, float(mechanism.scale))
        return Coarse(noisy[tree.first : tree.last + 1], mechanism.variance, tree)

    def _ranges(
        self, opening: Opening, run: OpenRun, coarse: Mapping[str, Coarse]
    ) -> dict[str, LearnedRange]:
        """Range and bins of every column, by a second count inside what stood out of the first."""
        if not coarse:
            return {}
        second = self.skeleton.probing({name: c.tree.edges for name, c in coarse.items()})
        with opening(second, ()) as source:
            curator = run.curator_over(source)
            return {name: self._range(curator, name, c) for name, c in coarse.items()}

    def _range(self, curator: Curator, name: str, coarse: Coarse) -> LearnedRange:
        tree, most = coarse.tree, self.skeleton.bodies[name].get("bins")
        sensitivity = tree.levels * self.unit.count_l1
        fine = DiscreteLaplace.costing(self._counts[1], sensitivity=sensitivity)
        answer = curator.release(
            fine,
            lambda source: tree.answer(source.count([(name,)])[0].counts),
            name=f"counts of {name} in parts of cells, {tree.levels} levels",
        )
        levels = [coarse.noisy, *tree.split(answer)]
        variances = [coarse.variance, *[fine.variance] * tree.levels]
        estimates = agreeing(levels, variances, tree.parents)
        return fitted(self.skeleton.binned(name), cut(tree, estimates, fine, most))

    @property
    def _run(self) -> PaidRun:
        """Return the budget of a run, its unit, and how it draws noise."""
        return PaidRun(
            method=METHOD,
            budget=self.budget,
            unit=self.unit,
            schema=self.skeleton.provisional,
            person_id=self.person_id,
            pricing=BasicSums() if self.budget.delta else Adaptive(),
            instruments=self.instruments,
        )

    @property
    def _earlier(self) -> Inference | None:
        """Return the earlier cost of the skeleton itself; it must protect the same unit."""
        earlier = self.skeleton.provisional.inference
        if earlier and (earlier.neighbours, earlier.rows_per_person) != (
            self.unit.neighbours,
            self.unit.rows_per_person,
        ):
            raise UsageError(
                f"the schema was learned in part under {earlier.neighbours} neighbours, and costs "
                f"of two relations do not add up; ask for neighbours {earlier.neighbours}"
            )
        if earlier:
            check_same_persons(earlier, self.person_id)
        return earlier

    def _inference(self, statement: Statement, dataset: str) -> Inference:
        """Return the whole cost of the schema."""
        epsilon, delta = statement.bound.epsilon or Fraction(0), statement.bound.delta
        mechanisms = [charge.event.mechanism for charge in statement.charges]
        earlier, private = self._earlier, statement.private
        if earlier:
            epsilon, delta = epsilon + earlier.epsilon, delta + earlier.delta
            mechanisms = [*earlier.mechanisms, *mechanisms]
            private = private and earlier.private
        return Inference(
            epsilon=epsilon,
            delta=delta,
            neighbours=self.unit.neighbours,
            rows_per_person=self.unit.rows_per_person,
            dataset=dataset,
            mechanisms=tuple(dict.fromkeys(mechanisms)),
            private=private,
            person_id=self.person_id,
        )


_PLAIN = Access()


def infer_schema(
    data: Rows,
    skeleton: Skeleton | str | Path,
    *,
    epsilon: Amount,
    delta: Amount = 0,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    ledger: LedgerChoice = DEFAULT,
    dataset: str | None = None,
    access: Access = _PLAIN,
) -> Inferred:
    """Fill in what a skeleton does not say, from private rows.

    Args:
        data: a file, a data frame of any brand, or a table of a database.
        skeleton: a schema in which columns may lack values, or a range.
        epsilon: the privacy loss allowed.
        delta: the chance allowed for a larger loss; needed where values are asked for.
        neighbours: which tables must be hard to tell apart.
        ledger: where the spending is kept: the user's own ledger unless given. None keeps no
            record, and the statement says so.
        dataset: the name the ledger knows the rows by; a file's stem unless given. A frame has no
            name and needs one.
        access: how the rows are reached; persons among them are what the promise is for.

    Example:
        >>> sizes = Skeleton.parse({"columns": {"size": {"kind": "integer", "min": 0}}})
        >>> inferred = infer_schema({"size": [1, 2, 3] * 500}, sizes, epsilon=2, ledger=None)
        >>> inferred.statement.document()["epsilon"]
        2.0

    Privacy: everything is charged before it is drawn. The schema is released and says its cost.
    """
    most, named = (access.persons.most, access.persons.column) if access.persons else (None, None)
    unit = Unit(Neighbours.parse(neighbours), most)
    loaded = skeleton if isinstance(skeleton, Skeleton) else Skeleton.load(skeleton)
    rows = UnopenedRows(data, access)
    name = dataset or rows.name
    rows.warn_of_copies(ledger, name)
    discovery = Discovery(loaded, epsilon, delta, unit=unit, person_id=named)
    return discovery.run(rows.open_keyed, dataset=name, ledger=ledger)


def _keys(source: CountSource, *, column: str) -> KeyCounts:
    assert isinstance(source, HasKeys)
    return source.keys(column)
