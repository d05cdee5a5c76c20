"""The cost of a schema that was learned from private rows, written into the schema itself.

Every result made under such a schema rests on those rows too, so each statement adds the cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from understudy.facts.unit import Neighbours
from understudy.system.amounts import at_most

_KEYS = ("epsilon", "delta")


@dataclass(frozen=True, kw_only=True)
class Inference:
    """The cost of a schema: an (ε, δ), whom it protects, and what was asked of which data.

    Attributes:
        epsilon: the privacy loss.
        delta: the chance of a larger one.
        neighbours: the relation it holds for.
        rows_per_person: how many rows a person may own; None where rows are protected.
        person_id: the column that names persons; None where rows are protected, and in schemas
            of version 0.1.0, which did not say it.
        dataset: the name of the data in the ledger.
        mechanisms: the names of what answered.
        private: false when the noise was predictable, for tests and studies.
    """

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    rows_per_person: int | None
    dataset: str
    mechanisms: tuple[str, ...]
    private: bool = True
    person_id: str | None = None

    def document(self) -> dict[str, Any]:
        """The table `inference` of a schema file: numbers, and beside them their exact texts."""
        return {
            "epsilon": at_most(self.epsilon),
            "epsilon_exact": str(self.epsilon),
            "delta": at_most(self.delta),
            "delta_exact": str(self.delta),
            "neighbours": str(self.neighbours),
            **({} if self.rows_per_person is None else {"rows_per_person": self.rows_per_person}),
            **({} if self.person_id is None else {"person_id": self.person_id}),
            "dataset": self.dataset,
            "mechanisms": list(self.mechanisms),
            "private": self.private,
        }

    @classmethod
    def parse(cls, document: object) -> Inference:
        """The inference that was written down; ValueError says what is wrong with it."""
        if not isinstance(document, Mapping):
            raise ValueError(
                "inference is not a table; `schema infer` writes it, leave it as it was"
            )
        epsilon, delta = (_amount(document, key) for key in _KEYS)
        if epsilon < 0 or not 0 <= delta < 1:
            raise ValueError("inference: epsilon is below 0, or delta not between 0 and 1")
        _check_words(document)
        return cls(
            epsilon=epsilon,
            delta=delta,
            neighbours=Neighbours(document["neighbours"]),
            rows_per_person=document.get("rows_per_person"),
            dataset=document["dataset"],
            mechanisms=tuple(document["mechanisms"]),
            private=document["private"],
            person_id=document.get("person_id"),
        )


def _amount(document: Mapping[str, Any], key: str) -> Fraction:
    """An exact amount, which must be the number beside it."""
    try:
        amount = Fraction(document[f"{key}_exact"])
        # Version 0.1.0 rounded to the nearest number.
        agrees = document[key] in (at_most(amount), float(amount))
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
        agrees = False
    if not agrees:
        raise ValueError(f"inference: {key} and {key}_exact do not say the same number; restore it")
    return amount


def _check_words(document: Mapping[str, Any]) -> None:
    rows, mechanisms = document.get("rows_per_person"), document.get("mechanisms")
    sound = {
        "neighbours": document.get("neighbours") in list(Neighbours),
        "rows_per_person": rows is None or (type(rows) is int and rows > 0),
        "person_id": isinstance(document.get("person_id", ""), str),
        "dataset": isinstance(document.get("dataset"), str),
        "mechanisms": isinstance(mechanisms, list) and all(isinstance(m, str) for m in mechanisms),
        "private": isinstance(document.get("private"), bool),
    }
    wrong = [key for key, is_sound in sound.items() if not is_sound]
    if wrong:
        raise ValueError(f"inference: {wrong[0]} is not as `schema infer` writes it; restore it")
