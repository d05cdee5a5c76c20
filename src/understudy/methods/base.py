"""What every synthesizer shares: the walk from private rows to a model, and rows from it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from understudy.codec.persons import Persons
from understudy.conditional import Conditional
from understudy.counting import CountSource
from understudy.errors import UsageError
from understudy.files import Rows, are_rows, brand_of, in_brand
from understudy.generator import RowGenerator
from understudy.model import Model, Records
from understudy.privacy import fingerprints
from understudy.privacy.adjacency import Adjacency
from understudy.privacy.budget import Amount, Budget, Measure
from understudy.privacy.curator import Curator, Instruments, Tape
from understudy.privacy.grant import Grant
from understudy.privacy.record import DEFAULT, Books, LedgerChoice
from understudy.privacy.statement import Statement, inherited
from understudy.privacy.unit import Neighbours, Unit
from understudy.protection import Protection
from understudy.sample import How, sample_rows
from understudy.schema import Schema
from understudy.sources import Access, dataset_name, open_source


@dataclass(frozen=True)
class Learned:
    """What a method hands back: conditionals in topological order, and how many rows to make.

    A method that releases rows themselves, or trains a generator, hands back that instead of
    conditionals.
    """

    conditionals: tuple[Conditional, ...]
    rows: int
    records: Records | None = None
    generator: RowGenerator | None = None


class Synthesizer(ABC):
    """A method that learns a model of private rows and makes rows like them.

    Parameters are stored as given. Fitting twice spends twice; a seed reaches sampling, never the
    noise; `epsilon` has no default.

    Args:
        schema: what may stand in each column: public.
        epsilon: the privacy loss allowed, exact when given as text or fraction.
        delta: the chance allowed for a larger loss; 0 asks for pure differential privacy.
        neighbours: which tables must be hard to tell apart; the method's own unless given.
        person_id: the column that names persons, where one may have several rows.
        rows_per_person: how many rows of a person are kept; the promise is for whole persons then.
    """

    method: ClassVar[str]
    default_neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    grant_kind: ClassVar[type[Grant]] = Grant

    model_: Model

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: Amount | Budget,
        delta: Amount = 0,
        neighbours: Neighbours | str | None = None,
        person_id: str | None = None,
        rows_per_person: int | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.person_id = person_id
        self.rows_per_person = rows_per_person
        self._instruments = Instruments()

    @property
    def budget(self) -> Budget:
        """The whole budget of a fit."""
        if isinstance(self.epsilon, Budget):
            if self.epsilon.measure is Measure.ZCDP:
                raise UsageError("a fit promises epsilon and delta; give those instead of rho")
            return self.epsilon
        budget = Budget.approximate(self.epsilon, self.delta)
        if budget.amount == 0 and not self.is_free:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")
        return budget * 0 if self.is_free else budget

    @property
    def is_free(self) -> bool:
        """Whether a fit reads nothing and so spends nothing."""
        return False

    @property
    def unit(self) -> Unit:
        """Whom the promise protects."""
        own = Neighbours.ADD_REMOVE if self.persons else self.default_neighbours
        try:
            return Unit(Neighbours(self.neighbours or own), self.rows_per_person)
        except ValueError:
            choices = " or ".join(Neighbours)
            raise UsageError(f"neighbours is {self.neighbours!r}; use {choices}") from None

    @property
    def persons(self) -> Persons | None:
        """Who has several rows, and how many are kept."""
        return Persons.given(self.person_id, self.rows_per_person)

    @property
    def protection(self) -> Protection | None:
        """What the model is made to withhold; most methods have no such wish."""
        return None

    def check(self) -> None:
        """Refuse parameters that cannot work, and an unreviewed schema, before anything is read."""
        self.schema.check_reviewed()
        _ = self.budget, self.unit
        if self.schema.inference is not None:
            inherited(self.schema.inference, self.unit, self.person_id)

    def fit(
        self,
        data: Rows | CountSource,
        *,
        ledger: LedgerChoice = DEFAULT,
        dataset: str | None = None,
    ) -> Self:
        """Learn a model of private rows.

        Args:
            data: a file, a data frame of any brand, or rows already behind an engine.
            ledger: where the spending is kept: the user's own ledger unless given. None keeps no
                record, and the statement says so. A run that is not private enters no ledger.
            dataset: the name the ledger knows the rows by; a file's stem unless given. Frames and
                rows already behind an engine have no name and need one.

        Privacy: the grant is charged before each answer is drawn; the model is released.
        """
        self.check()
        budget, unit = self.budget, self.unit
        books = self._books(budget, ledger, dataset or dataset_name(data))
        whom = Adjacency.of(unit, self.person_id)
        with self._opened(data, unit) as source:
            if ledger is DEFAULT and books.ledger is not None:
                sighting = fingerprints.Sighting(data, source, self.schema)
                fingerprints.warn(books.ledger.path, books.dataset, sighting)
            with books.granted(
                budget, adjacency=whom, about=self._about, kind=self.grant_kind
            ) as grant:
                curator = Curator(source, unit, grant, self._instruments)
                learned = self.learn(curator)
        self.model_ = Model(
            self.schema,
            learned.conditionals,
            learned.rows,
            self._state(grant, unit, books),
            learned.records,
            learned.generator,
        )
        self._brand = brand_of(data)
        return self

    @abstractmethod
    def learn(self, curator: Curator) -> Learned:
        """The method itself: it sees the rows through the Curator alone."""

    def sample(
        self,
        rows: int | None = None,
        *,
        seed: int | None = None,
        where: str | None = None,
        how: How | str | None = None,
    ) -> Any:
        """Synthetic rows, in the brand of data frame that `fit` was given.

        Args:
            rows: how many; as many as the model was told or paid to know, unless given.
            seed: makes the rows repeatable; it has no part in the privacy of the model.
            where: what all rows must fit, such as "age >= 30, sex = Female".
            how: "exact", "rejection" or "weighting"; exact where the network allows it.

        Privacy: post-processing of the model; costs nothing, however often.
        """
        if not hasattr(self, "model_"):
            raise UsageError("there is no model yet; call fit before sample")
        made = sample_rows(self.model_, rows, seed=seed, where=where, how=how)
        return in_brand(made, self._brand)

    def with_instruments(self, instruments: Instruments) -> Self:
        """A copy that draws or records otherwise: for tests and audits."""
        twin = copy.copy(self)
        twin._instruments = instruments
        return twin

    def with_tape(self, tape: Tape) -> Self:
        """A copy that draws as this one does, and whose answers pass a tape: for audits."""
        return self.with_instruments(replace(self._instruments, tape=tape))

    @contextmanager
    def _opened(self, data: Rows | CountSource, unit: Unit) -> Iterator[CountSource]:
        """The rows behind an engine, bounded as the promise needs them to be."""
        access = Access(persons=self.persons)
        opened = open_source(data, self.schema, access) if are_rows(data) else nullcontext(data)
        with opened as source:
            if source.rows_per_person != unit.rows_per_person:
                raise UsageError(
                    f"the promise is for a {unit.label}, and the rows were not opened so; "
                    "give the same persons to both, as Access(persons=synthesizer.persons)"
                )
            yield source

    def _books(self, budget: Budget, ledger: LedgerChoice, dataset: str | None) -> Books:
        return Books.chosen(ledger, dataset, budget, private=self._instruments.noise.private)

    @property
    def _about(self) -> dict[str, str]:
        """What a grant's entry in the ledger says of the run."""
        return {"method": self.method, "schema": self.schema.fingerprint}

    def _state(self, grant: Grant, unit: Unit, books: Books) -> Statement:
        private = self._instruments.noise.private
        own = Statement(
            self.method,
            grant.bound(),
            unit,
            tuple(grant.charges),
            private=private,
            protection=self.protection,
            record=books.record(grant),
            person_id=self.person_id,
        )
        return own.resting_on(self.schema.inference)
