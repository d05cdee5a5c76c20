"""The privacy light that `evaluate` will show, known before anything is spent.

It follows from the budget, the method's way of counting and the schema's own cost, all public. The
rule is that of the verdict itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from understudy.evaluation.verdict.criteria import RIGHT_GUESSES
from understudy.evaluation.verdict.light import Colour

if TYPE_CHECKING:
    from understudy.methods import Synthesizer
    from understudy.privacy.accounting.composition import Bound
    from understudy.privacy.preflight import Preflight


_OR_A_DELTA = ", or a delta such as 1e-6 where the method takes one"


@dataclass(frozen=True)
class PrivacyForecast:
    """The promise that a release under a budget will make.

    Attributes:
        right_guesses: how many times in 100 someone who tossed a coin before can be right.
        has_delta: whether a delta is a part of the budget already.
    """

    right_guesses: int
    has_delta: bool = False

    @property
    def colour(self) -> Colour:
        """Return the colour by the verdict's rule."""
        return RIGHT_GUESSES.colour(self.right_guesses)

    @property
    def sentence(self) -> str:
        """Say the number, and the verdict on it."""
        return (
            f"By this release alone, someone who could only toss a coin before can be right up to "
            f"{self.right_guesses} times in 100 about one row or person; `evaluate` will call this "
            f"{self.colour.words}."
        )

    @property
    def warning(self) -> str:
        """Say beforehand that `evaluate` will advise against a release; empty where it will not."""
        if self.colour is not Colour.RED:
            return ""
        return (
            f"with this budget `evaluate` will say: do not release. By this release alone someone "
            f"who could only toss a coin before can be right {self.right_guesses} times in 100 "
            f"about one row or person, and {RIGHT_GUESSES.limit:.0f} is the limit. Give less "
            f"epsilon{'' if self.has_delta else _OR_A_DELTA}"
        )

    def document(self) -> dict[str, Any]:
        """Return the forecast for JSON."""
        return {"right_guesses": self.right_guesses, "light": str(self.colour)}


def forecast_privacy(
    synthesizer: Synthesizer,
    *,
    preflight: Preflight | None = None,
    schema_cost: Bound | None = None,
) -> PrivacyForecast:
    """Foresee what a fit will promise.

    Args:
        synthesizer: the method with its budget for the fit alone.
        preflight: the question that is asked first, where one is.
        schema_cost: the cost of a schema that will be learned first; what the schema of the
            synthesizer says of itself unless given.

    Privacy: reads nothing but the request and a public schema.
    """
    from understudy.privacy.accounting.composition import BASIC, CURVE, Bound
    from understudy.privacy.accounting.guessing import in_100
    from understudy.privacy.spending.pricing import GaussianRounds
    from understudy.privacy.statements.meaning import right_at_most
    from understudy.privacy.statements.statement import inherited

    budget, inference = synthesizer.budget, synthesizer.schema.inference
    if schema_cost is None and inference is not None:
        schema_cost = inherited(inference, synthesizer.unit, synthesizer.person_id)
    rests_on = schema_cost or Bound(BASIC, Fraction(0), Fraction(0))
    first = Fraction(0) if preflight is None else budget.amount * preflight.share
    on_curve = isinstance(synthesizer.pricing, GaussianRounds) and budget.delta > 0
    own = rests_on.epsilon or Fraction(0)
    whole = Bound(CURVE if on_curve else BASIC, budget.amount + own, budget.delta + rests_on.delta)
    chance, _ = right_at_most(whole, before=own + first, before_delta=rests_on.delta)
    return PrivacyForecast(in_100(chance), has_delta=budget.delta > 0)
