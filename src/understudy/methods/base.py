"""The base class of synthesizers: the walk from private rows to a model, and rows from it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from understudy.errors import UsageError
from understudy.facts.codec.made_texts import check_makers
from understudy.facts.codec.persons import Persons
from understudy.facts.domain import Domain
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.abilities import Abilities
from understudy.methods.estimation.learned import Learned
from understudy.models.model import Model
from understudy.models.sampling import How
from understudy.privacy.budget import Amount, Budget, Measure
from understudy.privacy.curator import Curator, Instruments, Tape
from understudy.privacy.preflight import FittingRows, Preflight
from understudy.privacy.run import Access, PaidRun
from understudy.privacy.spending.pricing import Adaptive, Pricing
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.privacy.statements.statement import inherited
from understudy.rows.counting import CountSource
from understudy.system.frames import Rows, brand_of, in_brand
from understudy.system.notebooks import notebook_bar
from understudy.system.reprs import shown_fields


def check_rows(rows: object) -> None:
    """Refuse a declared number of rows that is not a whole one, or is negative."""
    if rows is None:
        return
    if not isinstance(rows, int) or isinstance(rows, bool):
        raise UsageError(f"rows is {rows!r}; it must be a whole number such as 1000")
    if rows < 0:
        raise UsageError(f"rows is {rows}; a model makes none or more")


@dataclass(kw_only=True, eq=False, repr=False)
class Synthesizer(ABC):
    """A method that learns a model of private rows and makes rows like them.

    Parameters are stored as given, the schema first and the others by name. Fitting twice spends
    twice; a seed reaches sampling, never the noise; `epsilon` has no default.

    `get_params`, `set_params` and scikit-learn's `clone` work. A search over parameters that fits
    ten times pays ten times, and a choice that looks at private rows, as by a score on them, is
    a release of its own, which no statement here covers: choose by a public table, or by `plan`.

    Args:
        schema: the values that each column may hold: public.
        epsilon: the privacy loss allowed, exact when given as text or fraction.
        delta: the chance allowed for a larger loss; 0 asks for pure differential privacy.
        neighbours: which tables must be hard to tell apart; the method's own unless given.
        person_id: the column that names persons, where one may have several rows.
        rows_per_person: how many rows of a person are kept; the promise is for whole persons then.
    """

    method: ClassVar[str]
    summary: ClassVar[str] = ""
    """What the method learns, as tables of methods say it."""
    law: ClassVar[int] = 1
    """Raised when the distribution of what a fit makes changes, so that old records show it."""
    abilities: ClassVar[Abilities] = Abilities()
    default_neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE

    schema: Schema = field(kw_only=False)
    epsilon: Amount | Budget
    delta: Amount = 0
    neighbours: Neighbours | str | None = None
    person_id: str | None = None
    rows_per_person: int | None = None

    model_: Model = field(init=False)
    fitting_: FittingRows | None = field(init=False)
    _brand: str = field(init=False)
    _instruments: Instruments = field(init=False, default_factory=Instruments)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name, as they were given, in the way of scikit-learn."""
        del deep
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def set_params(self, **params: Any) -> Self:
        """Replace some parameters; they are checked when `check` or `fit` is called."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise UsageError(
                    f"{self.method} has no parameter {name!r}; it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        known = isinstance(self.schema, Schema)
        schema = f"{len(self.schema.columns)} columns" if known else repr(self.schema)
        return f"{type(self).__name__}({schema}, {shown_fields(self, without=('schema',))})"

    @property
    def budget(self) -> Budget:
        """The whole budget of a fit."""
        budget = self._given_budget
        self.abilities.check_budget(self.method, budget)
        return budget

    @property
    def _given_budget(self) -> Budget:
        if isinstance(self.epsilon, Budget):
            if self.epsilon.measure in (Measure.ZCDP, Measure.GAUSSIAN):
                raise UsageError("a fit promises epsilon and delta; give those instead of rho")
            return self.epsilon
        budget = Budget.approximate(self.epsilon, self.delta)
        if budget.amount == 0 and not self.is_free:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")
        return budget * 0 if self.is_free else budget

    @property
    def pricing(self) -> Pricing:
        """How the charges of a fit are counted; `GaussianRounds` where all noise is Gaussian."""
        return Adaptive()

    @property
    def needs_rows(self) -> str:
        """The refusal of engines that only count, where a method needs single rows."""
        return ""

    @property
    def rehearsing(self) -> Self:
        """The method as a plan tries it on made-up rows; one that takes long may be quicker."""
        return self

    @property
    def outlined(self) -> Self:
        """The method as a plan lists its questions: what it estimates between them is not used."""
        return self

    @property
    def rehearsed_part(self) -> float:
        """The part of a fit's learning that a rehearsal does, as its made-up rows may be fewer."""
        return 1.0

    def pool_bytes(self, domain: Domain) -> int:
        """Return the most bytes that made-up rows take in a fit; most methods make none."""
        del domain
        return 0

    @property
    def is_free(self) -> bool:
        """Whether a fit reads nothing and so spends nothing."""
        return False

    @property
    def unit(self) -> Unit:
        """Return the unit that the promise protects."""
        own = Neighbours.ADD_REMOVE if self.persons else self.default_neighbours
        return Unit(Neighbours.parse(self.neighbours or own), self.rows_per_person)

    @property
    def persons(self) -> Persons | None:
        """Who has several rows, and how many are kept."""
        return Persons.given(self.person_id, self.rows_per_person)

    @property
    def protection(self) -> Protection | None:
        """The dependences that the model withholds; most methods withhold none."""
        return None

    def check(self) -> None:
        """Refuse parameters that cannot work, and an unreviewed schema, before anything is read."""
        _check_schema(self.schema)
        self.schema.check_reviewed()
        check_makers(self.schema.columns.values())
        _ = self.budget
        self.abilities.check_unit(self.method, self.unit, self.default_neighbours)
        if self.schema.constraints and not self.abilities.constraints:
            raise UsageError(
                f"{self.method} keeps no constraints; use another method, or leave them out"
            )
        check_rows(getattr(self, "rows", None))
        if self.schema.inference is not None:
            inherited(self.schema.inference, self.unit, self.person_id)

    @classmethod
    def relations(cls) -> tuple[Neighbours, ...]:
        """The relations that the method takes, its default first."""
        own, able = cls.default_neighbours, cls.abilities.other_neighbours
        return (own, *(each for each in Neighbours if able and each is not own))

    @classmethod
    def remarks(cls, model: Model) -> list[str]:
        """List what a person should know of how a model was learned; all is public or released."""
        del model
        return []

    def fit(
        self,
        data: Rows | CountSource,
        *,
        ledger: LedgerChoice = DEFAULT,
        dataset: str | None = None,
        access: Access | None = None,
        preflight: Preflight | None = None,
    ) -> Self:
        """Learn a model of private rows.

        Args:
            data: a file, a data frame of any brand, or rows already behind an engine.
            ledger: where the spending is kept: the user's own ledger unless given. None keeps no
                record, and the statement says so. A run that is not private enters no ledger.
            dataset: the name the ledger knows the rows by; a file's stem unless given. Frames and
                rows already behind an engine have no name and need one.
            access: how a file or frame is read: its encoding, the table of a database, whether
                columns that the schema does not declare are ignored.
            preflight: asks first, for a small share of epsilon, whether most rows fit the schema;
                the commands `synth` and `fit` ask so. Nothing is asked unless given:
                `understudy.check` shows the owner the exact numbers.

        Privacy: the grant is charged before each answer is drawn; the model is released.
        """
        self.check()
        bar = notebook_bar("Fitting")
        bar(0, 1)
        instruments = replace(self._instruments, watch=bar)
        terms = replace(self._run, preflight=preflight, instruments=instruments)
        with terms.open(data, ledger=ledger, dataset=dataset, access=access) as run:
            learned = self.learn(run.curator)
        self.fitting_ = run.fitting
        self.model_ = Model(
            schema=self.schema,
            distribution=learned.distribution,
            rows=learned.rows,
            statement=run.statement(protection=self.protection),
            tables=learned.tables,
        )
        self._brand = brand_of(data)
        bar(1, 1)
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
            rows: how many; as many as were declared or counted with budget, unless given.
            seed: makes the rows repeatable; it has no part in the privacy of the model.
            where: what all rows must fit, such as "age >= 30, sex = Female".
            how: "exact", "rejection" or "weighting"; exact where the network allows it.

        Privacy: post-processing of the model; costs nothing, however often.
        """
        if not hasattr(self, "model_"):
            raise UsageError("there is no model yet; call fit before sample")
        made = self.model_.sample(rows, seed=seed, where=where, how=how)
        return in_brand(made, self._brand)

    def with_instruments(self, instruments: Instruments) -> Self:
        """A copy that draws or records otherwise: for tests and audits."""
        twin = copy.copy(self)
        twin._instruments = instruments
        return twin

    def with_tape(self, tape: Tape) -> Self:
        """A copy that draws as this one does, and whose answers pass a tape: for audits."""
        return self.with_instruments(replace(self._instruments, tape=tape))

    @property
    def _run(self) -> PaidRun:
        """Return the budget of a fit, its unit, and how it draws noise."""
        return PaidRun(
            method=self.method,
            budget=self.budget,
            unit=self.unit,
            schema=self.schema,
            inference=self.schema.inference,
            person_id=self.person_id,
            pricing=self.pricing,
            instruments=self._instruments,
            needs_rows=self.needs_rows,
        )


def check_synthesizer(given: object) -> None:
    """Refuse the name of a method, or anything else, where a synthesizer is needed."""
    if not isinstance(given, Synthesizer):
        raise UsageError(
            f"{given!r} is not a synthesizer; build one first, such as Nist(schema, epsilon=1)"
        )


def _check_schema(given: object) -> None:
    """Refuse a path, or anything else, where a schema is needed."""
    if not isinstance(given, Schema):
        raise UsageError(
            f"the schema is of type {type(given).__name__}; give a Schema, such as "
            "Schema.load(path) reads from a file"
        )
