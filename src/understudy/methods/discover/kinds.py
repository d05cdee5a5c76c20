"""Kinds of columns learned from private rows, and paid for.

Each cell of a column counts once, under its narrowest kind (`cell_kinds`). The counts get noise,
and so does the number of different values. What follows from these releases and from the column's
name is decided in `learned_kind`. Proof: docs/proofs/kinds.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property

import numpy as np

from understudy.errors import UsageError
from understudy.facts.column import CategoricalColumn, Column, IdColumn
from understudy.facts.file_format import DECLARED, TextDialect
from understudy.facts.formats import Draft, DraftColumn
from understudy.facts.schema import Schema
from understudy.facts.schema_cost import Inference
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.discover.cell_kinds import kinds_of
from understudy.methods.discover.discovery import NAMELESS, Opening, cost_of
from understudy.methods.discover.keys import keys_of
from understudy.methods.discover.learned_kind import CODED, LearnedKind, NoisyDistinct
from understudy.methods.discover.shares import (
    GaussianShares,
    LaplaceShares,
    QuestionShares,
    reached,
)
from understudy.privacy.budget import Amount, Budget, exact
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.run import Access, PaidRun, UnopenedRows
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.privacy.statements.statement import Statement
from understudy.system.frames import Rows

METHOD = "schema init"

_STAND_IN = "any"
# The part of a column's share that counts kinds; the rest counts different values, a round number.
_OF_KINDS = Fraction(3, 4)


@dataclass(frozen=True)
class LearnedKinds:
    """A skeleton whose kinds were learned, what is promised about it, and what it cost.

    Attributes:
        draft: the skeleton.
        statement: what is promised about it.
        inference: what it cost.
        unclear: columns of which no kind stood out of the noise, so that theirs is a guess.
        doubtful: columns of whole numbers of which noise may hide that they are codes.
    """

    draft: Draft
    statement: Statement
    inference: Inference
    unclear: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    @property
    def lacks_kinds(self) -> bool:
        """Whether no kind stood out in more than half of the columns that were asked about."""
        # Two questions for each column.
        return 4 * len(self.unclear) > len(self.statement.charges)


@dataclass(frozen=True)
class KindDiscovery:
    """The kinds of some columns, a budget, and for whom the promise holds.

    Args:
        columns: the names of all columns, as in the header.
        epsilon: what all answers together may cost.
        delta: the chance allowed for a larger loss; with one, many columns cost less.
        unit: whom the promise protects.
        person_id: the column that names persons, where they are the unit.
        declared: kinds that the file itself declares, which are not asked for.
        dialect: how the file spells numbers, which is public.
    """

    columns: Sequence[str]
    epsilon: Amount
    delta: Amount = 0
    unit: Unit = field(default_factory=lambda: Unit(Neighbours.ADD_REMOVE))
    person_id: str | None = None
    declared: Mapping[str, DraftColumn] = field(default_factory=dict)
    dialect: TextDialect = field(default_factory=lambda: DECLARED.dialect(".csv"))
    instruments: Instruments = field(default_factory=Instruments)

    def __post_init__(self) -> None:
        Budget.approximate(self.epsilon, self.delta)
        if exact(self.epsilon, what="epsilon") == 0:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")
        if not self.asked:
            raise UsageError(
                "the file declares the kind of every column, so nothing is left to find out; "
                "leave epsilon out"
            )

    @property
    def asked(self) -> list[str]:
        """The columns whose kinds are learned."""
        known = {*self.declared, self.person_id}
        return [name for name in self.columns if name not in known]

    @cached_property
    def shares(self) -> QuestionShares:
        """How the budget is shared: Laplace or Gaussian noise, whichever hides fewer codes.

        Three quarters of a column's share count its kinds.
        """
        plain = LaplaceShares(
            epsilon=exact(self.epsilon, what="epsilon"),
            delta=exact(self.delta, what="delta"),
            unit=self.unit,
            keyed={},
            ranged=dict.fromkeys(self.asked, Fraction(1)),
        )
        if plain.delta == 0:
            return plain
        other = GaussianShares(**{part.name: getattr(plain, part.name) for part in fields(plain)})
        return min(plain, other, key=self._hidden)

    def _hidden(self, shares: QuestionShares) -> float:
        """How many codes of a column noise would hide."""
        return reached(shares.counts(self.asked[0], _OF_KINDS), CODED)

    def run(
        self, opening: Opening, *, dataset: str | None = None, ledger: LedgerChoice = DEFAULT
    ) -> LearnedKinds:
        """Find out the kinds.

        Privacy: the grant is made before rows are read, and charged before each draw. All that is
        returned is released.
        """
        terms = self._run
        books = terms.books(ledger, dataset)
        with terms.granted(books) as run, opening(self._texts, self.asked) as source:
            curator = run.curator_over(source)
            found = {name: self._learned(curator, name) for name in self.asked}
        statement = run.statement()
        inference = cost_of(
            statement, unit=self.unit, dataset=dataset or NAMELESS, person_id=self.person_id
        )
        known = {self.person_id: DraftColumn("id", remark="names persons")} | dict(self.declared)
        columns = {
            name: found[name].draft(name) if name in found else known[name] for name in self.columns
        }
        unclear = tuple(name for name, learned in found.items() if not learned.clear)
        draft = Draft(columns, inference=inference.document())
        doubtful = tuple(name for name, learned in found.items() if learned.doubtful)
        return LearnedKinds(draft, statement, inference, unclear=unclear, doubtful=doubtful)

    def _learned(self, curator: Curator, name: str) -> LearnedKind:
        """The kind of one column, by two noisy answers."""
        kinds = self.shares.counts(name, _OF_KINDS)
        different = self.shares.counts(name, 1 - _OF_KINDS)
        counts = curator.release(
            kinds,
            lambda source: kinds_of(source, name, self.dialect),
            name=f"kinds of cells of {name}",
        )
        [values] = curator.release(
            different,
            lambda source: np.array([len(keys_of(source, column=name).counts)], np.int64),
            name=f"number of different values of {name}",
        )
        return LearnedKind.of(name, counts, NoisyDistinct(int(values), different), kinds)

    @property
    def _texts(self) -> Schema:
        """Every asked column as texts, all of which count as one value; empty cells are missing."""
        column = CategoricalColumn(values=(_STAND_IN,), missing=(), outside=_STAND_IN)
        others: dict[str, Column] = {name: IdColumn() for name in self.columns}
        return Schema(others | dict.fromkeys(self.asked, column))

    @property
    def _run(self) -> PaidRun:
        return PaidRun(
            method=METHOD,
            budget=self.shares.budget,
            unit=self.unit,
            schema=self._texts,
            person_id=self.person_id,
            pricing=self.shares.pricing,
            instruments=self.instruments,
        )


_PLAIN = Access()


def infer_kinds(
    data: Rows,
    columns: Sequence[str],
    *,
    epsilon: Amount,
    delta: Amount = 0,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    declared: Mapping[str, DraftColumn] | None = None,
    ledger: LedgerChoice = DEFAULT,
    dataset: str | None = None,
    access: Access = _PLAIN,
) -> LearnedKinds:
    """Learn the kinds of a table's columns from its private rows.

    Args:
        data: a file, a data frame of any brand, or a table of a database.
        columns: the names of all its columns, which are public.
        epsilon: the privacy loss allowed.
        delta: the chance allowed for a larger loss.
        neighbours: which tables must be hard to tell apart.
        declared: columns whose kind is public already.
        ledger: where the spending is kept; None keeps no record, and the statement says so.
        dataset: the name the ledger knows the rows by; a file's stem unless given.
        access: how the rows are reached; persons among them are what the promise is for.

    Example:
        >>> rows = {"age": ["31", "45"] * 400, "town": ["Oslo", "Bergen"] * 400}
        >>> found = infer_kinds(rows, ["age", "town"], epsilon=100, ledger=None)
        >>> [column.kind for column in found.draft.columns.values()]
        ['integer', 'categorical']

    Privacy: everything is charged before it is drawn. The skeleton is released and says its cost.
    """
    most, named = (access.persons.most, access.persons.column) if access.persons else (None, None)
    rows = UnopenedRows(data, access)
    name = dataset or rows.name
    rows.warn_of_copies(ledger, name)
    discovery = KindDiscovery(
        columns,
        epsilon,
        delta,
        unit=Unit(Neighbours.parse(neighbours), most),
        person_id=named,
        declared=declared or {},
        dialect=access.format.dialect(".csv"),
    )
    return discovery.run(rows.open_keyed, dataset=name, ledger=ledger)
