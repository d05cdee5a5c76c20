"""A schema learned from private rows, and paid for.

Kinds and missing markers stay declared. Categories are released where their noisy counts reach a
threshold; ranges and bins come from noisy counts over public cells; noisy counts also show whether
cells are missing, or have values that were not released. The schema, the ledger and the statement
of every later fit name the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.facts.schema_cost import Inference
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.discover.bins import (
    LearnedRange,
    around,
    cut,
    fitted,
    on_steps,
)
from understudy.methods.discover.cells import STRAY_BESIDE, Intervals
from understudy.methods.discover.coarse import Coarse
from understudy.methods.discover.keys import groups_of, keys_of
from understudy.methods.discover.prospects import Prospects
from understudy.methods.discover.shares import QuestionShares, least_noise, reached
from understudy.methods.discover.skeleton import Skeleton
from understudy.methods.discover.values import FoundValues, Leftover, listing
from understudy.privacy.budget import Amount, Budget, exact
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.run import Access, OpenRun, PaidRun, UnopenedRows
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.privacy.statements.statement import Statement, check_same_persons
from understudy.rows.counting import KeySource, ReleasedKeys
from understudy.system.frames import Rows

METHOD = "schema infer"
# The chance that a boolean column without missing cells gets a level for them.
_STRAY_GAP = 1 / 100
NAMELESS = "table"
"""How a schema speaks of the rows it was learned from, where they have no name."""

Opening = Callable[[Schema, Sequence[str]], AbstractContextManager[KeySource]]


@dataclass(frozen=True)
class Inferred:
    """A schema that was learned, what is promised about it, and columns that showed mere noise.

    Attributes:
        schema: what was learned.
        statement: what is promised about it.
        unseen: columns of numbers or dates whose range showed mere noise.
        rows: about how many rows there are, by the noisy counts of the column that shows most.
    """

    schema: Schema
    statement: Statement
    unseen: tuple[str, ...]
    rows: int = 0

    def __repr__(self) -> str:
        return f"Inferred({self.schema!r}, {self.statement.amounts})"

    @property
    def prospects(self) -> Prospects:
        """Return what can be expected of a fit under the schema."""
        return Prospects(self.schema, self.unseen, self.rows)


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
        Budget.approximate(self.epsilon, self.delta)
        if self.skeleton.keyed and exact(self.delta, what="delta") == 0:
            listed = ", ".join(map(repr, self.skeleton.keyed))
            raise UsageError(
                f"column {listed}: no values are listed, and delta is 0; finding values needs a "
                "delta above 0, such as 1e-6, or list them"
            )
        if exact(self.epsilon, what="epsilon") == 0:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")
        _ = self._earlier
        # What may come from the rows unpaid must not shape the questions, nor be released.
        self.skeleton.provisional.check_reviewed()

    @property
    def budget(self) -> Budget:
        """Return the cost of a run: no δ where it would buy nothing."""
        return self.shares.budget

    @cached_property
    def shares(self) -> QuestionShares:
        """How much of the budget each question gets."""
        return least_noise(
            exact(self.epsilon, what="epsilon"),
            exact(self.delta, what="delta"),
            unit=self.unit,
            keyed=self.skeleton.weights(self.skeleton.keyed),
            ranged=self.skeleton.weights(self.skeleton.ranged),
            flagged=self.skeleton.weights(self.skeleton.flagged),
        )

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
                keys = {name: self._values(curator, name) for name in skeleton.keyed}
                coarse = {name: self._coarse(curator, name, c) for name, c in cells.items()}
            found, unseen = self._second(opening, run, keys, coarse)
        statement = run.statement()
        cost = self._inference(statement, dataset or NAMELESS)
        schema = skeleton.filled(found, cost.document())
        shown = [sum(released.counts.values()) for released in keys.values()]
        shown += [count.shown for count in coarse.values()]
        return Inferred(schema, statement, unseen, max(shown))

    def _values(self, curator: Curator, name: str) -> ReleasedKeys:
        """The categories of a column that enough rows share, and groups of the others."""
        lengths = self.skeleton.prefix_lengths.get(name, ())
        noise = self.shares.values(name, 1 + len(lengths))
        released = curator.release(noise, partial(keys_of, column=name), name=f"values of {name}")
        for length in lengths:
            groups = curator.release(
                noise,
                partial(groups_of, column=name, length=length, known=tuple(released.counts)),
                name=f"values of {name} by their first {length} letters",
            )
            released = ReleasedKeys({**released.counts, **groups.counts})
        return released

    def _coarse(self, curator: Curator, name: str, cells: Intervals) -> Coarse:
        """Noisy counts of a column's public cells, and of missing ones if they are not declared."""
        noise, asked = self.shares.cells(name), len(cells.edges) + self.skeleton.asks_missing(name)
        answer = curator.release(
            noise,
            lambda source: source.count([(name,)])[0].counts[:asked],
            name=f"counts of {name} in public cells",
        )
        return Coarse.of(answer, cells, noise)

    def _second(
        self,
        opening: Opening,
        run: OpenRun,
        keys: Mapping[str, ReleasedKeys],
        coarse: Mapping[str, Coarse],
    ) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
        """Read the rows again for every column; return the columns that showed mere noise, too."""
        skeleton = self.skeleton
        listed = {
            name: skeleton.listing(name, FoundValues.of(released).values)
            for name, released in keys.items()
        }
        second = skeleton.probing({name: c.tree.edges for name, c in coarse.items()}, listed)
        with opening(second, ()) as source:
            curator = run.curator_over(source)
            found = {n: self._listing(curator, n, released) for n, released in keys.items()}
            ranges = {name: self._range(curator, name, c) for name, c in coarse.items()}
            found |= {name: self._gaps(curator, name) for name in skeleton.flagged}
        for name, learned in ranges.items():
            missing: dict[str, Any] = {"missing": []} if coarse[name].missing else {}
            found[name] = self._document(name, learned) | missing
        return found, tuple(name for name, learned in ranges.items() if not learned.found)

    def _listing(self, curator: Curator, name: str, released: ReleasedKeys) -> dict[str, Any]:
        """The categories of a column, and where its other cells go."""
        asks = self.skeleton.asks_others(name), self.skeleton.asks_missing(name)
        if not any(asks):
            return listing(self.skeleton, name, released)
        first = len(FoundValues.of(released).values)
        asked = [first + place for place, is_asked in enumerate(asks) if is_asked]
        noise = self.shares.remainder(name)
        answer = curator.release(
            noise,
            lambda source: source.count([(name,)])[0].counts[asked],
            name=f"counts of {name} that are missing or have other values",
        )
        stands_out = dict(zip(asked, (answer > reached(noise, STRAY_BESIDE)).tolist(), strict=True))
        left = Leftover(stands_out.get(first, True), stands_out.get(first + 1, False))
        return listing(self.skeleton, name, released, left)

    def _gaps(self, curator: Curator, name: str) -> dict[str, Any]:
        """A level for missing cells of a boolean column, where they stand out."""
        noise = self.shares.gaps(name)
        [missing] = curator.release(
            noise,
            # True, false, and then missing.
            lambda source: source.count([(name,)])[0].counts[2:3],
            name=f"count of {name} that is missing",
        )
        return {"missing": []} if missing > reached(noise, _STRAY_GAP) else {}

    def _range(self, curator: Curator, name: str, coarse: Coarse) -> LearnedRange:
        """Range and bins of a column, by a second count inside what stood out of the first."""
        tree, skeleton = coarse.tree, self.skeleton
        noise = self.shares.parts(name, tree.levels)
        answer = curator.release(
            noise,
            lambda source: tree.answer(source.count([(name,)])[0].counts),
            name=f"counts of {name} in parts of cells, {tree.levels} levels",
        )
        most = skeleton.bodies[name].get("bins")
        learned = cut(coarse.estimates(answer, noise), most, skeleton.declared(name))
        return fitted(skeleton.binned(name), learned)

    def _document(self, name: str, learned: LearnedRange) -> dict[str, Any]:
        """A range as it stands in a schema: cut at the values that the column writes, if it can."""
        column, steps = self.skeleton.binned(name), self.skeleton.steps(name)
        if steps is None:
            return learned.document(column)
        implied = self.skeleton.implied_step(name)
        cut_at = on_steps(learned, steps, self.skeleton.declared(name))
        if cut_at is None and implied:
            return around(learned, steps).document(column) | implied
        if cut_at is None:
            return learned.document(column) | {"decimals": None, "step": None}
        return cut_at.document(column) | implied

    @property
    def _run(self) -> PaidRun:
        """Return the budget of a run, its unit, and how it draws noise."""
        return PaidRun(
            method=METHOD,
            budget=self.budget,
            unit=self.unit,
            schema=self.skeleton.provisional,
            person_id=self.person_id,
            pricing=self.shares.pricing,
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
        return cost_of(
            statement,
            unit=self.unit,
            dataset=dataset,
            person_id=self.person_id,
            earlier=self._earlier,
        )


def cost_of(
    statement: Statement,
    *,
    unit: Unit,
    dataset: str,
    person_id: str | None,
    earlier: Inference | None = None,
) -> Inference:
    """The cost of what a run found, with an earlier cost that it rests on."""
    epsilon, delta = statement.bound.epsilon or Fraction(0), statement.bound.delta
    mechanisms, private = [charge.event.mechanism for charge in statement.charges], True
    if earlier:
        epsilon, delta = epsilon + earlier.epsilon, delta + earlier.delta
        mechanisms, private = [*earlier.mechanisms, *mechanisms], earlier.private
    return Inference(
        epsilon=epsilon,
        delta=delta,
        neighbours=unit.neighbours,
        rows_per_person=unit.rows_per_person,
        dataset=dataset,
        mechanisms=tuple(dict.fromkeys(mechanisms)),
        private=private and statement.private,
        person_id=person_id,
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
