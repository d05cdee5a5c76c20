"""The results of attacks: one table's exposure, and all tables side by side.

Privacy: all of it is made of exact functions of real rows; for the owner's eyes and public data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from understudy.evaluation.disclosure.anonymity import Anonymity
from understudy.evaluation.disclosure.attack import Attack, Scenario
from understudy.evaluation.disclosure.attribution import Attribution, metrics
from understudy.evaluation.disclosure.linkage import Linkage
from understudy.evaluation.disclosure.membership import AUC, Membership
from understudy.evaluation.disclosure.singling_out import SinglingOut
from understudy.evaluation.metric import Goal, Metric

PRIVATE = (
    "These numbers say how real rows fare under attack, and were computed from them without noise. "
    "They are private: for the owner of the data, or for data that is public."
)


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """How real rows fare where an attacker holds one table.

    Attributes:
        rows: of the table that have a sensitive value.
        attacks: the vote by GCAP, then classifiers.
        attributions: CAP and GCAP of every key.
        strangers: the same about held-out rows, where they were given.
        anonymities: k-anonymity and l-diversity of the table by every key.

    Privacy: exact functions of real rows.
    """

    name: str
    rows: int
    attacks: tuple[Attack, ...]
    attributions: tuple[Attribution, ...]
    strangers: tuple[Attribution, ...] = ()
    anonymities: tuple[Anonymity, ...] = ()

    @property
    def strongest(self) -> Attack | None:
        """The attack with the highest accuracy: what an attacker who chose well would reach."""
        known = [attack for attack in self.attacks if attack.accuracy is not None]
        return max(known, key=lambda attack: attack.accuracy or 0.0, default=None)

    def average(self, names: Sequence[str]) -> float | None:
        """Return the mean accuracy of some attacks."""
        known = [a.accuracy for a in self.attacks if a.name in names and a.accuracy is not None]
        return fmean(known) if known else None

    def document(self, names: Sequence[str]) -> dict[str, Any]:
        """The table's numbers for JSON, averaged over some attacks."""
        strongest = self.strongest
        return {
            "name": self.name,
            "rows": self.rows,
            "average": self.average(names),
            "strongest": None if strongest is None else strongest.name,
            "attacks": [attack.document() for attack in self.attacks],
            "attribution": [found.document() for found in self.attributions],
            "strangers": [found.document() for found in self.strangers],
            "anonymity": [found.document() for found in self.anonymities],
        }


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """The disclosure by stand-ins, side by side with the original's.

    Attributes:
        victims: real rows with a sensitive value.
        baseline: the accuracy of always naming their most frequent value, `most_frequent`.
        exposures: the original first, then the stand-ins as they were given.
        memberships: of each stand-in. `singled_out`: predicates of each stand-in.
        linked: known columns linked to all others through each stand-in.

    Privacy: private throughout.
    """

    scenario: Scenario
    victims: int
    baseline: float | None
    most_frequent: str | None
    exposures: tuple[Exposure, ...]
    memberships: Mapping[str, Membership]
    singled_out: Mapping[str, SinglingOut]
    linked: Mapping[str, Linkage]
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def averaged_over(self) -> tuple[str, ...]:
        """The attacks that came to an end for every table: others would make averages unlike."""
        lost = {a.name for e in self.exposures for a in e.attacks if a.accuracy is None}
        return tuple(a.name for a in self.exposures[0].attacks if a.name not in lost)

    def document(self) -> dict[str, Any]:
        """All of it for JSON, what its metrics mean included."""
        over = self.averaged_over
        return {
            "private": PRIVATE,
            **self.scenario.document(),
            "victims": self.victims,
            "baseline": {"accuracy": self.baseline, "value": self.most_frequent},
            "tables": [exposure.document(over) for exposure in self.exposures],
            "averaged_over": list(over),
            "membership": {name: found.document() for name, found in self.memberships.items()},
            "singling_out": {name: found.document() for name, found in self.singled_out.items()},
            "linkage": {name: found.document() for name, found in self.linked.items()},
            "metrics": {name: metric.document() for name, metric in self._metrics.items()},
            "seed": self.seed,
            "notes": list(self.notes),
        }

    @property
    def _metrics(self) -> Mapping[str, Metric]:
        guess = next((found.guess for found in self.exposures[0].attributions), None)
        return {"accuracy": _accuracy(self.baseline), **metrics(guess), "auc": AUC}

    def __repr__(self) -> str:
        return "Disclosure(private; see document())"


def _accuracy(baseline: float | None) -> Metric:
    """An attacker's accuracy; nothing was learned where it is the baseline's or less."""
    return Metric(
        name="attacker's accuracy",
        about="The share of real rows whose sensitive value an attacker names, who knows their "
        "key and "
        "holds the table; the mean over all keys.",
        goal=Goal.LESS,
        low=0.0,
        high=1.0,
        perfect=baseline or 0.0,
        useless="that of the original table",
    )
