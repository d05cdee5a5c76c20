"""Lights and the findings behind them. No light is green by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Colour(StrEnum):
    """A light's colour. What was not measured is unknown, and never green."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        """Say the colour to readers who do not see it."""
        return {"green": "good", "amber": "limited", "red": "bad", "unknown": "unknown"}[self]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One measured number, the rule it was judged by, and the colour that this gives.

    Attributes:
        name: of the criterion.
        value: the number; None where it was not measured, and `sentence` says why.
        sentence: what was found, in words.
        rule: the rule in plain words.
        nearness: how near the number is to where the light turns red, 1 being there.
    """

    name: str
    colour: Colour
    value: float | None
    sentence: str
    rule: str
    nearness: float = 0.0

    def document(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return {
            "name": self.name,
            "colour": str(self.colour),
            "value": self.value,
            "sentence": self.sentence,
            "rule": self.rule,
        }


@dataclass(frozen=True, kw_only=True)
class Light:
    """One of the three lights.

    Attributes:
        about: privacy, fidelity or usefulness.
        number: the number that decides, in few characters.
        sentence: what it says, in words.
        rule: the rule that decides, in plain words.
        findings: all that were judged, the decisive one first.
    """

    about: str
    colour: Colour
    number: str
    sentence: str
    rule: str
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, about: str, findings: Sequence[Finding], numbers: Sequence[str]) -> Light:
        """The light of the worst finding; of equally bad ones the one nearest to red decides."""
        order = {Colour.RED: 0, Colour.AMBER: 1, Colour.GREEN: 2, Colour.UNKNOWN: 3}
        places = sorted(
            range(len(findings)),
            key=lambda place: (order[findings[place].colour], -findings[place].nearness),
        )
        first = findings[places[0]]
        return cls(
            about=about,
            colour=first.colour,
            number=numbers[places[0]],
            sentence=first.sentence,
            rule=first.rule,
            findings=tuple(findings[place] for place in places),
        )

    @property
    def scale(self) -> str:
        """From where the number is good, limited or bad; the end of the rule."""
        words = self.rule.rpartition(": ")[2]
        return words[:1].upper() + words[1:]

    def document(self) -> dict[str, Any]:
        """Return the light for JSON."""
        return {
            "colour": str(self.colour),
            "number": self.number,
            "sentence": self.sentence,
            "rule": self.rule,
            "findings": [finding.document() for finding in self.findings],
        }
