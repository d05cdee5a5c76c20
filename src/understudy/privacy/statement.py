"""The statement: what is promised about a result, and every answer the promise covers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from understudy.privacy.accounting import Bound, pure_epsilon, zcdp_rho
from understudy.privacy.events import Charge
from understudy.privacy.unit import Neighbours, Unit


@dataclass(frozen=True)
class Statement:
    """What a model promises; it travels with the model and equals its ledger entries."""

    method: str
    bound: Bound
    unit: Unit
    charges: tuple[Charge, ...]
    private: bool = True

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        if not self.private or self.bound.epsilon is None:
            return "NOT PRIVATE: made with predictable or no noise, for tests and studies only."
        epsilon, delta = float(self.bound.epsilon), float(self.bound.delta)
        slack = f", up to a chance of {delta:g}" if delta else ""
        return (
            f"Whatever is computed from this result would have been at most e^{epsilon:g} times "
            f"more or less likely with any one {self.unit.label} {_changed(self.unit)}{slack}."
        )

    def document(self) -> dict[str, Any]:
        """The statement for JSON: numbers as numbers, exact fractions beside them as texts."""
        epsilon = self.bound.epsilon
        return {
            "method": self.method,
            "private": self.private and epsilon is not None,
            "epsilon": None if epsilon is None else float(epsilon),
            "epsilon_exact": None if epsilon is None else str(epsilon),
            "delta": float(self.bound.delta),
            "delta_exact": str(self.bound.delta),
            "unit": self.unit.label,
            "rows_per_person": self.unit.rows,
            "neighbours": str(self.unit.neighbours),
            "accounting": self.bound.accounting,
            "sentence": self.sentence,
            "events": [_priced(charge) for charge in self.charges],
        }

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Statement:
        """The statement that was written down."""
        epsilon = document["epsilon_exact"]
        bound = Bound(
            document["accounting"],
            None if epsilon is None else Fraction(epsilon),
            Fraction(document["delta_exact"]),
        )
        rows = int(document["rows_per_person"])
        of_rows = document["unit"] == "row" and rows == 1
        unit = Unit(Neighbours(document["neighbours"]), None if of_rows else rows)
        charges = tuple(Charge.parse(event) for event in document["events"])
        return cls(document["method"], bound, unit, charges, private=bool(document["private"]))


def _priced(charge: Charge) -> dict[str, Any]:
    """A charge with what it costs: ε where it has one, else ρ."""
    epsilon, rho = pure_epsilon(charge.event), zcdp_rho(charge.event)
    if epsilon is not None:
        return charge.document() | {"epsilon": float(epsilon)}
    return charge.document() | ({} if rho is None else {"rho": float(rho)})


def _changed(unit: Unit) -> str:
    return "replaced" if unit.neighbours is Neighbours.REPLACE else "added or removed"
