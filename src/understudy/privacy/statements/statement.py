"""The statement: what is promised about a result, and every answer the promise covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby, repeat
from typing import Any

from understudy.errors import UsageError
from understudy.facts.protection import Protection
from understudy.facts.schema_cost import Inference
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.adjacency import group_privacy
from understudy.privacy.accounting.composition import BASIC, Bound
from understudy.privacy.accounting.costs import approximate_cost, zcdp_rho
from understudy.privacy.accounting.events import Charge
from understudy.privacy.budget import exactly
from understudy.privacy.spending.record import Record
from understudy.privacy.statements.assurance import Assurance, assurance_of
from understudy.privacy.statements.scope import not_protected, trust_model
from understudy.system.amounts import at_most, at_most_text
from understudy.system.notebooks import Card

# More answers than any run has.
_MOST_TIMES = 10**7

# Results that are not rows.
_WITHOUT_ROWS = ("schema infer", "evaluate")

MISFITS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a parser raises when it is fed something else than it expects."""


@dataclass(frozen=True, repr=False)
class Statement:
    """The promise of a model; it travels with the model and equals its ledger entries.

    Attributes:
        method: what made the result.
        bound: what is promised in all.
        unit: whom it protects.
        charges: every answer drawn.
        private: false when the noise was predictable.
        inference: the part of the bound that the schema cost, where it was learned from rows; its
            own answers are in the ledger.
        protection: what the network was made to withhold, where it was; not part of the promise.
        record: which ledger keeps the run; None where the statement does not say.
        person_id: the column that names persons, where they are the unit and it is known.
        reading: how all answers come from the same rows, where they are in a database or a lake.
    """

    method: str
    bound: Bound
    unit: Unit
    charges: tuple[Charge, ...]
    private: bool = True
    inference: Bound | None = None
    protection: Protection | None = None
    record: Record | None = None
    person_id: str | None = None
    reading: str | None = None

    def resting_on(self, inference: Inference | None) -> Statement:
        """The statement of a result that also rests on a schema learned from private rows."""
        if inference is None:
            return self
        part = inherited(inference, self.unit, self.person_id)
        private = self.private and inference.private
        return replace(self, bound=_sum(self.bound, part), inference=part, private=private)

    @property
    def sentence(self) -> str:
        """The promise in one sentence; what else a reader must know in others."""
        withheld = "" if self.protection is None else self.protection.sentence
        kept = "" if self.record is None or not self._is_private else self.record.sentence
        return " ".join(part for part in (self._promise, self._repeats, withheld, kept) if part)

    @property
    def _repeats(self) -> str:
        """That nobody has several synthetic rows, where persons had several real ones."""
        if self.unit.rows_per_person is None or self.method in _WITHOUT_ROWS:
            return ""
        return "Each synthetic row stands for a person of its own; no person has several."

    @property
    def _is_private(self) -> bool:
        return self.private and self.bound.epsilon is not None

    @property
    def _promise(self) -> str:
        if not self.private or self.bound.epsilon is None:
            return "NOT PRIVATE: made with predictable or no noise, for tests and studies only."
        epsilon, delta = at_most_text(self.bound.epsilon), at_most_text(self.bound.delta)
        slack = f", up to a chance of {delta}" if self.bound.delta else ""
        return (
            f"Whatever is computed from this result would have been at most e^{epsilon} times "
            f"more or less likely with any one {self.unit.label} {_changed(self.unit)}{slack}."
            f"{_part(self.inference)}"
        )

    def __repr__(self) -> str:
        return f"Statement({self.method}: {self.amounts}, for one {self.unit.label})"

    @property
    def amounts(self) -> str:
        """Return the amounts in few characters."""
        if not self._is_private or self.bound.epsilon is None:
            return "NOT PRIVATE"
        found = [f"epsilon = {at_most_text(self.bound.epsilon)}"]
        if self.bound.delta:
            found.append(f"delta = {at_most_text(self.bound.delta)}")
        return ", ".join(found)

    def _repr_html_(self) -> str:
        facts = {
            "method": self.method,
            "spent": self.amounts,
            "protects": f"one {self.unit.label}, {_changed(self.unit)}",
            "accounting": self.bound.accounting,
            "answers": f"{len(self.charges):,} released",
            "assurance": self._assurance.document()["level"],
        }
        return Card("What is promised", self.sentence, [facts]).html()

    def document(self) -> dict[str, Any]:
        """The statement for JSON: numbers as numbers, exact fractions beside them as texts."""
        return {
            "method": self.method,
            "private": self._is_private,
            **_amounts(self.bound),
            "unit": self.unit.label,
            "rows_per_person": self.unit.rows,
            "person_id": self.person_id,
            "neighbours": str(self.unit.neighbours),
            "accounting": self.bound.accounting,
            "inference": None if self.inference is None else _amounts(self.inference),
            **({} if self.reading is None else {"reading": self.reading}),
            "protection": None if self.protection is None else self.protection.document(),
            "ledger": None if self.record is None else self.record.document(),
            "sentence": self.sentence,
            "assurance": self._assurance.document(),
            "trust": trust_model(self.method, private=self._is_private),
            "not_protected": not_protected(self.method, self.unit),
            "events": [_priced(charge, times) for charge, times in self.grouped],
        }

    @property
    def _assurance(self) -> Assurance:
        persons = self.unit.rows_per_person is not None
        return assurance_of(self.method, persons=persons, inferred=self.inference is not None)

    @property
    def grouped(self) -> list[tuple[Charge, int]]:
        """Every answer drawn, equal ones that follow each other only once, with their number."""
        return [(charge, len(list(equal))) for charge, equal in groupby(self.charges)]

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Statement:
        """The statement that was written down."""
        bound = _bound(document, document["accounting"])
        unit = _unit(document)
        charges = tuple(_all_charges(document["events"]))
        part, withheld = document.get("inference"), document.get("protection")
        kept = document.get("ledger")
        return cls(
            document["method"],
            bound,
            unit,
            charges,
            private=bool(document["private"]),
            inference=None if part is None else _bound(part, BASIC),
            protection=None if withheld is None else Protection.parse(withheld),
            record=None if kept is None else Record.parse(kept),
            person_id=document.get("person_id"),
            reading=_reading(document.get("reading")),
        )


def check_same_persons(inference: Inference, person_id: str | None) -> None:
    """Refuse a schema that was learned for persons that another column names.

    A person by one column may own any number of persons by another, so nothing adds up.
    """
    if inference.rows_per_person is None or (
        inference.person_id is not None and inference.person_id == person_id
    ):
        return
    learned = (
        "a column that it does not name (version 0.1.0 did not write it)"
        if inference.person_id is None
        else f"column {inference.person_id!r}"
    )
    asked = "a column that is not known here" if person_id is None else f"column {person_id!r}"
    raise UsageError(
        f"the schema was learned for persons named by {learned}, and this run protects those named "
        f"by {asked}: the two promises do not add up; learn the schema for the same persons"
    )


def inherited(inference: Inference, unit: Unit, person_id: str | None = None) -> Bound:
    """Convert the cost of a learned schema to the unit that a result protects.

    Replacing a row is removing one and adding another. So (ε, δ) for added and removed rows is
    (2ε, δ·(1 + e^ε)) for replaced ones; the other way there is no such implication.
    """
    if inference.rows_per_person != unit.rows_per_person:
        learned = Unit(inference.neighbours, inference.rows_per_person)
        raise UsageError(
            f"the schema was learned for a {learned.label}, "
            f"this run promises a {unit.label}; learn the schema for the same unit"
        )
    check_same_persons(inference, person_id)
    if inference.neighbours == unit.neighbours:
        return Bound(BASIC, inference.epsilon, inference.delta)
    if unit.neighbours is Neighbours.ADD_REMOVE:
        raise UsageError(
            "the schema was learned under replace neighbours, which promises nothing for added "
            "and removed rows; ask for neighbours replace, or learn the schema under add-remove"
        )
    return Bound(BASIC, *group_privacy(inference.epsilon, inference.delta, steps=2))


def _sum(own: Bound, part: Bound) -> Bound:
    """Both together: epsilons and deltas add up, whatever proved them."""
    if own.epsilon is None or part.epsilon is None:
        return own
    accounting = f"{own.accounting}, and {BASIC} with the schema's inference"
    return Bound(accounting, own.epsilon + part.epsilon, min(own.delta + part.delta, Fraction(1)))


def _part(inference: Bound | None) -> str:
    if inference is None:
        return ""
    epsilon, delta = inference.epsilon or Fraction(0), inference.delta
    amounts = f"epsilon = {at_most_text(epsilon)}, delta = {at_most_text(delta)}"
    return f" Of this, {amounts} went into learning the schema."


def _amounts(bound: Bound) -> dict[str, Any]:
    epsilon = bound.epsilon
    return {
        "epsilon": None if epsilon is None else at_most(epsilon),
        "epsilon_exact": None if epsilon is None else str(epsilon),
        "delta": at_most(bound.delta),
        "delta_exact": str(bound.delta),
    }


def _bound(document: Mapping[str, Any], accounting: str) -> Bound:
    epsilon, delta = document["epsilon_exact"], exactly(document["delta_exact"])
    return Bound(accounting, None if epsilon is None else exactly(epsilon), delta)


def _priced(charge: Charge, times: int) -> dict[str, Any]:
    """A charge with what it costs: ε where it has one, with its δ if any, else ρ where that is."""
    cost, rho = approximate_cost(charge.event), zcdp_rho(charge.event)
    document = charge.document() | ({"times": times} if times > 1 else {})
    if cost is not None:
        return document | {"epsilon": at_most(cost[0])}
    return document | ({} if rho is None else {"rho": at_most(rho)})


def _reading(found: object) -> str | None:
    if found is not None and not isinstance(found, str):
        raise TypeError("reading")
    return found


def _unit(document: Mapping[str, Any]) -> Unit:
    """The unit that was written down: a person, unless its label is that of a row or an image."""
    rows, label = int(document["rows_per_person"]), document["unit"]
    alone = rows == 1 and label in ("row", "image")
    return Unit(
        Neighbours(document["neighbours"]),
        None if alone else rows,
        of_images=alone and label == "image",
    )


def _all_charges(events: Sequence[Mapping[str, Any]]) -> Iterator[Charge]:
    """The charges that were written down, each as often as it was made."""
    times = [event.get("times", 1) for event in events]
    if not all(isinstance(n, int) and n >= 1 for n in times) or sum(times) > _MOST_TIMES:
        raise ValueError("times")
    for event, number in zip(events, times, strict=True):
        yield from repeat(Charge.parse(dict(event)), number)


def _changed(unit: Unit) -> str:
    return "replaced" if unit.neighbours is Neighbours.REPLACE else "added or removed"
