"""One paid run: the rows are opened, a grant is set aside, a Curator answers, a statement is made.

Everything that can be refused is refused before rows are read, and what the rows make impossible
is refused before anything is paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from understudy.errors import UsageError
from understudy.facts.codec.persons import Persons
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.facts.schema_cost import Inference
from understudy.facts.unit import Unit
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.preflight import FittingRows, Preflight
from understudy.privacy.spending import fingerprints
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger, default_place
from understudy.privacy.spending.pricing import Adaptive, Pricing
from understudy.privacy.spending.record import DEFAULT, Books, LedgerChoice
from understudy.privacy.spending.scratch import ScratchLedger
from understudy.privacy.spending.steps import Told
from understudy.privacy.statements.statement import Statement
from understudy.rows.counting import CountSource, KeySource, NumbersRows, reading_of
from understudy.rows.sources import Access, dataset_name, open_keyed, open_source
from understudy.system.frames import Rows, are_rows
from understudy.system.notebooks import notebook_bar

__all__ = ["Access", "OpenRun", "PaidRun", "RunOverRows", "UnopenedRows"]


@dataclass(frozen=True, kw_only=True)
class PaidRun:
    """The terms of one run over private rows: its cost, whom it protects, and how it draws.

    Attributes:
        method: what makes the result, as ledger and statement call it.
        budget: the most that the run may cost.
        unit: whom the promise protects.
        schema: what each column may hold; None where the rows are images.
        inference: what the schema cost before, where the statement has to add it.
        person_id: the column that names persons, where they are the unit.
        pricing: how charges are counted.
        instruments: what the Curator draws with and records on.
        preflight: the question that is asked first, whether enough rows fit; None asks nothing.
        needs_rows: what refuses an engine that only counts, where single rows are needed.
    """

    method: str
    budget: Budget
    unit: Unit
    schema: Schema | None = None
    inference: Inference | None = None
    person_id: str | None = None
    pricing: Pricing = field(default_factory=Adaptive)
    instruments: Instruments = field(default_factory=Instruments)
    preflight: Preflight | None = None
    needs_rows: str = ""

    @contextmanager
    def open(
        self,
        data: Rows | CountSource,
        *,
        ledger: LedgerChoice,
        dataset: str | None,
        access: Access | None = None,
    ) -> Iterator[RunOverRows]:
        """Open the rows, and then the run's grant.

        Args:
            data: a file, a data frame of any brand, or rows already behind an engine.
            ledger: where the spending is kept.
            dataset: the name the ledger knows the rows by; a file's stem unless given.
            access: how rows are reached that are not behind an engine yet.

        Privacy: rows that cannot be read are refused before anything is paid for. A preflight is
        charged to the run's grant, and a run that it refuses has cost nothing else.
        """
        reached = access or Access(watch=notebook_bar("Reading"))
        books = self.books(ledger, dataset or dataset_name(data, reached))
        with self._source(data, reached) as source:
            self.check_unit(source)
            self._check_rows(source)
            if books.ledger is not None and not isinstance(books.ledger, ScratchLedger):
                sighting = fingerprints.Sighting(data, source, self.schema)
                fingerprints.warn(books.ledger, books.dataset, sighting)
            with self.granted(books) as run:
                curator = run.curator_over(source)
                fitting = self._asked_first(curator)
                yield RunOverRows(self, books, run.grant, curator, fitting=fitting, source=source)

    def _check_rows(self, source: CountSource) -> None:
        """Refuse an engine that only counts where single rows are needed, before any charge."""
        if self.needs_rows and not isinstance(source, NumbersRows):
            raise UsageError(self.needs_rows)

    def _asked_first(self, curator: Curator) -> FittingRows | None:
        """Ask the preflight, where there is one and the budget can pay for it."""
        if self.preflight is None or not self.preflight.applies_to(self.budget):
            return None
        return self.preflight.ask(curator, self.budget)

    def books(self, ledger: LedgerChoice, dataset: str | None) -> Books:
        """Where the run will be written down.

        Raises:
            UsageError: the rows have no name, or a run that is not private was to enter a ledger.
        """
        private = self.instruments.noise.private
        return Books.chosen(ledger, dataset, self.budget, private=private)

    @contextmanager
    def granted(self, books: Books, *, resume: Told | None = None) -> Iterator[OpenRun]:
        """Set the whole budget aside; on leaving, the ledger states what the run has cost.

        Args:
            books: where the run is written down.
            resume: where a killed run left its grant open, to continue there.
        """
        with books.granted(
            self.budget,
            adjacency=Adjacency.of(self.unit, self.person_id),
            about=self._about,
            pricing=self.pricing,
            resume=resume,
        ) as grant:
            yield OpenRun(self, books, grant)

    def check_unit(self, source: CountSource) -> None:
        """Refuse rows that were not bounded as the promise needs them to be."""
        if source.rows_per_person != self.unit.rows_per_person:
            raise UsageError(
                f"the promise is for a {self.unit.label}, and the rows were not opened so; "
                "give the same persons to both, as Access(persons=synthesizer.persons)"
            )

    def _source(
        self, data: Rows | CountSource, access: Access
    ) -> AbstractContextManager[CountSource]:
        if not are_rows(data):
            return nullcontext(data)
        assert self.schema is not None
        persons = Persons.given(self.person_id, self.unit.rows_per_person)
        return open_source(data, self.schema, replace(access, persons=persons))

    @property
    def _about(self) -> Mapping[str, str]:
        """Describe the run for its entry in the ledger."""
        schema = {} if self.schema is None else {"schema": self.schema.fingerprint}
        return {"method": self.method, **schema}


@dataclass(frozen=True, repr=False)
class OpenRun:
    """A run whose budget is set aside.

    Attributes:
        run: its terms.
        books: where it is written down.
        grant: what it pays from.
    """

    run: PaidRun
    books: Books
    grant: Grant

    def curator_over(self, source: CountSource) -> Curator:
        """The one door to some rows, paid from the run's grant."""
        return Curator(source, self.run.unit, self.grant, self.run.instruments)

    def statement(self, *, protection: Protection | None = None) -> Statement:
        """State what is promised about the result, once the run is closed."""
        own = Statement(
            self.run.method,
            self.grant.bound(),
            self.run.unit,
            tuple(self.grant.charges),
            private=self.run.instruments.noise.private,
            protection=protection,
            record=self.books.record(self.grant),
            person_id=self.run.person_id,
            reading=self.reading,
        )
        return own.resting_on(self.run.inference)

    @property
    def reading(self) -> str | None:
        """How all answers come from the same rows; None where the rows are not opened here."""
        return None


@dataclass(frozen=True, repr=False)
class RunOverRows(OpenRun):
    """A run whose rows are open too.

    Attributes:
        curator: the one door to them.
        fitting: what the preflight found; None where it was not asked.
        source: the rows.
    """

    curator: Curator
    fitting: FittingRows | None = None
    source: CountSource | None = None

    @property
    def reading(self) -> str | None:
        """How all answers come from the same rows, where a database counts them."""
        return reading_of(self.source)


@dataclass(frozen=True, repr=False)
class UnopenedRows:
    """Rows on their way to a run that opens them itself, perhaps several times.

    Attributes:
        data: a file, a data frame, or a table of a database.
        access: how they are reached.
    """

    data: Rows
    access: Access = field(default_factory=Access)

    @property
    def name(self) -> str | None:
        """The name that a ledger knows them by; None where they have none."""
        return dataset_name(self.data, self.access)

    def open_keyed(
        self, schema: Schema, columns: Sequence[str]
    ) -> AbstractContextManager[KeySource]:
        """The rows behind an engine that also counts the texts of some columns."""
        return open_keyed(self.data, schema, columns, self.access)

    def warn_of_copies(self, ledger: LedgerChoice, dataset: str | None) -> None:
        """Tell the owner's terminal where the user's own ledger knows the rows by other names."""
        if ledger is DEFAULT and dataset is not None:
            fingerprints.warn(Ledger(default_place()), dataset, fingerprints.Sighting(self.data))

    def __repr__(self) -> str:
        return "UnopenedRows(private)"
