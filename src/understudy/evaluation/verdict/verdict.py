"""The whole verdict: decision, three lights, uses and advice.

Privacy: the light of privacy is a function of the statement. Everything else is an exact function
of real rows, except where it was judged from a released summary.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.verdict.advice import advice
from understudy.evaluation.verdict.fidelity import fidelity_light
from understudy.evaluation.verdict.light import Colour, Light
from understudy.evaluation.verdict.privacy import NOTHING_PROMISED, privacy_light
from understudy.evaluation.verdict.usefulness import usefulness_light
from understudy.evaluation.verdict.uses import bad_uses, good_uses
from understudy.privacy.statements.statement import Statement

CHOOSING = (
    "This verdict was computed from private rows. Choosing among several stand-ins by it, or "
    "making new ones until it is green, is a release that no ε covers; `evaluate --private ε` "
    "gives a verdict from a paid summary for that."
)


class Decision(StrEnum):
    """The owner's choices: release, release with limits, or not."""

    RELEASE = "release"
    LIMITED = "release with limits"
    HOLD = "not useful"
    OPEN = "utility unknown"
    NO_PROMISE = "no promise"
    REFUSE = "do not release"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One sentence, three lights, and what follows.

    Attributes:
        sentence: whether the rows can be released and used, with the reason.
        good_for, not_good_for: uses, with columns, pairs, targets and groups by name.
        improve: what would help.
        notice: what must be shown beside the verdict.
    """

    decision: Decision
    sentence: str
    privacy: Light
    fidelity: Light
    usefulness: Light
    good_for: tuple[str, ...] = ()
    not_good_for: tuple[str, ...] = ()
    improve: tuple[str, ...] = ()
    notice: str = CHOOSING

    @property
    def good_title(self) -> str:
        """The title of good uses; rows that are not to be released are for use inside."""
        inside = self.decision in (Decision.REFUSE, Decision.NO_PROMISE)
        return "Good for, where real rows may be used" if inside else "Good for"

    @property
    def lights(self) -> tuple[Light, Light, Light]:
        """Return the three lights in their order."""
        return self.privacy, self.fidelity, self.usefulness

    def document(self) -> dict[str, Any]:
        """Return the verdict for JSON."""
        return {
            "decision": str(self.decision),
            "sentence": self.sentence,
            "lights": {light.about: light.document() for light in self.lights},
            "good_for": list(self.good_for),
            "not_good_for": list(self.not_good_for),
            "improve": list(self.improve),
            "notice": self.notice,
        }


def judge(
    found: Evaluation, statement: Statement | None = None, *, unpromised: str = NOTHING_PROMISED
) -> Verdict:
    """Judge a stand-in by what was measured of it and what is promised about it.

    Args:
        found: the evaluation.
        statement: the promise about the synthetic rows; None where there is none.
        unpromised: why there is none.

    Privacy: exact functions of real rows, for the owner's eyes.
    """
    real = found.sides["real"]
    privacy = privacy_light(statement, rows=real.read, copied=found.copies, unpromised=unpromised)
    fidelity, usefulness = fidelity_light(found), usefulness_light(found)
    decision = decide(privacy, fidelity, usefulness)
    bad = bad_uses(found)
    good = good_uses(found, bad, fidelity=fidelity.colour, usefulness=usefulness.colour)
    return Verdict(
        decision=decision,
        sentence=verdict_sentence(decision, privacy, fidelity, usefulness),
        privacy=privacy,
        fidelity=fidelity,
        usefulness=usefulness,
        good_for=tuple(use.words for use in good),
        not_good_for=tuple(use.words for use in bad),
        improve=tuple(advice(found, statement, privacy=privacy, fidelity=fidelity)),
    )


def decide(privacy: Light, fidelity: Light, usefulness: Light) -> Decision:
    """The rule: privacy first, then the worse of fidelity and usefulness.

    Amber privacy, or anything but green beside it, is a release with limits. Fidelity that is not
    known is never a release.
    """
    if privacy.colour is Colour.RED:
        return Decision.REFUSE
    if privacy.colour is Colour.UNKNOWN:
        return Decision.NO_PROMISE
    utility = (fidelity.colour, usefulness.colour)
    if Colour.RED in utility:
        return Decision.HOLD
    if fidelity.colour is Colour.UNKNOWN:
        return Decision.OPEN
    if (privacy.colour, *utility) == (Colour.GREEN,) * 3:
        return Decision.RELEASE
    return Decision.LIMITED


_SENTENCES = {
    Decision.RELEASE: "You can release these rows under their promise, and they are close enough "
    "to the real ones for the uses below.",
    Decision.LIMITED: "You can release these rows under their promise, but mind the limits below.",
    Decision.HOLD: "These rows keep their promise, but in at least one way they are too far from "
    "the real ones to stand in for them.",
    Decision.OPEN: "These rows keep their promise; how near they are to the real ones is unknown.",
    Decision.NO_PROMISE: "Do not release these rows: nothing is promised about the people in them.",
    Decision.REFUSE: "Do not release these rows.",
}


def verdict_sentence(decision: Decision, *lights: Light) -> str:
    """The decision, and the light that it rests on."""
    order = {Colour.RED: 0, Colour.AMBER: 1, Colour.UNKNOWN: 2}
    reasons = [light for light in lights if light.colour in order]
    reasons.sort(key=lambda light: order[light.colour])
    if decision in (Decision.RELEASE, Decision.NO_PROMISE) or not reasons:
        return _SENTENCES[decision]
    first, *others = reasons
    also = [light.about for light in others if light.colour is Colour.RED]
    more = f" {' and '.join(also).capitalize()} {'is' if len(also) == 1 else 'are'} bad, too."
    said = f"{_SENTENCES[decision]} {first.about.capitalize()}: {first.sentence}"
    return said + (more if also else "")
