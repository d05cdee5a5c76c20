"""The meaning of a statement for one person, in plain words and one number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from understudy.facts.unit import Neighbours
from understudy.privacy.accounting.composition import BASIC, CURVE, Bound
from understudy.privacy.accounting.costs import pure_epsilon, zcdp_rho
from understudy.privacy.accounting.events import FineGaussianEvent
from understudy.privacy.accounting.gaussian_curve import curve_rho
from understudy.privacy.accounting.guessing import in_100, right_gaussian_guesses, right_guesses
from understudy.privacy.statements.statement import Statement
from understudy.system.amounts import at_most_text


@dataclass(frozen=True)
class RightGuesses:
    """How often an attacker can be right whether a row or person is there, by one release alone.

    Attributes:
        chance: the bound, for someone who could only toss a coin before.
        sentence: the same in words, as times in 100.
        by_curve: whether the Gaussian curve was used, which says more than ε and δ do.
    """

    chance: float
    sentence: str
    by_curve: bool

    @property
    def in_100(self) -> int:
        """How many times in 100, rounded up."""
        return in_100(self.chance)


def guesses_about(statement: Statement) -> RightGuesses | None:
    """How often an attacker can be right by a release; None where nothing is promised.

    Proof: docs/proofs/right_guesses.md.

    Privacy: a function of the statement alone.
    """
    epsilon = statement.bound.epsilon
    if not statement.private or epsilon is None:
        return None
    chance, used = _about(statement)
    return RightGuesses(chance, _sentence(statement, in_100(chance)), used)


def right_at_most(
    bound: Bound,
    *,
    before: Fraction,
    before_delta: Fraction = Fraction(0),
    charged: Fraction = Fraction(0),
) -> tuple[float, bool]:
    """How often an attacker can be right under a bound, and whether the Gaussian curve says it.

    The ρ that was fixed beforehand is the largest that the claimed (ε, δ) allows, because the
    claim is made from it; what is charged of it may be less.

    Args:
        bound: what is claimed in all, with the name of its accounting.
        before: the ε of pure questions and of a learned schema, which the curve does not count.
        before_delta: the δ of a learned schema.
        charged: the ρ that the rounds charged, where it is known.

    Proof: docs/proofs/right_guesses.md.
    """
    epsilon = bound.epsilon or Fraction(0)
    plain = right_guesses(float(min(epsilon, _ENOUGH)), float(bound.delta))
    on_curve = bound.accounting.startswith(CURVE)
    if not on_curve or before >= epsilon or before_delta >= bound.delta:
        return plain, False
    fixed = curve_rho(epsilon - before, bound.delta - before_delta)
    # The largest ρ is rounded down, so what the rounds did charge may be a hair above it.
    rho = float(max(fixed, charged)) * (1 + 2.0**-30)
    by_curve = right_gaussian_guesses(rho, epsilon=float(before), delta=float(before_delta))
    return min(plain, by_curve), by_curve < plain


# Beyond this ε a guess is as good as certain, and e^ε is not a number of the machine.
_ENOUGH = Fraction(700)
# A larger ε or δ is unusual, and what it promises is said.
_USUAL_EPSILON, _USUAL_DELTA = Fraction(10), Fraction(1, 1000)


def caution(epsilon: Fraction, delta: Fraction) -> str:
    """Say what an unusually large ε or δ promises; empty where both are usual.

    Example:
        >>> caution(Fraction(1), Fraction(1, 10**6))
        ''
    """
    said = []
    if epsilon > _USUAL_EPSILON:
        most = in_100(right_guesses(float(min(epsilon, Fraction(1000))), 0.0))
        said.append(
            f"epsilon = {at_most_text(epsilon)} is large: it only promises that someone who "
            f"guesses whether a row is in the data is right at most {most} times in 100"
        )
    if _USUAL_DELTA < delta < 1:
        said.append(
            f"delta = {at_most_text(delta)} is large: it allows a method to publish each row as it "
            "is with this chance; one over the number of rows is already too much"
        )
    return "; ".join(said)


def _about(statement: Statement) -> tuple[float, bool]:
    """The bound of `right_at_most` for a run, with what came before its rounds added up."""
    rounds = [c.event for c in statement.charges if isinstance(c.event, FineGaussianEvent)]
    others = [c.event for c in statement.charges if not isinstance(c.event, FineGaussianEvent)]
    pure = [pure_epsilon(event) for event in others]
    if None in pure:
        return right_at_most(replace(statement.bound, accounting=BASIC), before=Fraction(0))
    schema = statement.inference or Bound(BASIC, Fraction(0), Fraction(0))
    return right_at_most(
        statement.bound,
        before=sum(filter(None, pure), schema.epsilon or Fraction(0)),
        before_delta=schema.delta,
        charged=sum((zcdp_rho(event) or Fraction(0) for event in rounds), Fraction(0)),
    )


def _sentence(statement: Statement, times: int) -> str:
    """How many times in 100 one is right, about what, and for whom."""
    label = statement.unit.label
    about = (
        "which of two rows is in the table"
        if statement.unit.neighbours is Neighbours.REPLACE
        else f"whether a {label} is in the table"
    )
    return (
        f"By this release alone, someone who could only toss a coin before is right at most "
        f"{times} times in 100 about {about}."
    )
