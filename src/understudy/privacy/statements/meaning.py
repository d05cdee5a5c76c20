"""The meaning of a statement for one person, in plain words and one number."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from understudy.facts.unit import Neighbours
from understudy.privacy.accounting.composition import CURVE
from understudy.privacy.accounting.costs import pure_epsilon, zcdp_rho
from understudy.privacy.accounting.events import FineGaussianEvent
from understudy.privacy.accounting.gaussian_curve import curve_rho
from understudy.privacy.accounting.guessing import in_100, right_gaussian_guesses, right_guesses
from understudy.privacy.statements.statement import Statement


@dataclass(frozen=True)
class RightGuesses:
    """How often an attacker can be right whether a row or person is there, by one release alone.

    Attributes:
        chance: the bound, for somebody who could only toss a coin before.
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
    plain = right_guesses(float(epsilon), float(statement.bound.delta))
    by_curve = _by_curve(statement, epsilon)
    chance = plain if by_curve is None else min(plain, by_curve)
    used = by_curve is not None and by_curve < plain
    return RightGuesses(chance, _sentence(statement, in_100(chance)), used)


def _by_curve(statement: Statement, epsilon: Fraction) -> float | None:
    """The bound of the Gaussian curve, with what came before the rounds added up.

    The ρ that was fixed beforehand is the largest that the claimed (ε, δ) allows, because the
    claim was made from it; what was charged of it may be less.
    """
    if not statement.bound.accounting.startswith(CURVE):
        return None
    rounds = [c.event for c in statement.charges if isinstance(c.event, FineGaussianEvent)]
    others = [c.event for c in statement.charges if not isinstance(c.event, FineGaussianEvent)]
    before, delta = Fraction(0), Fraction(0)
    for event in others:
        cost = pure_epsilon(event)
        if cost is None:
            return None
        before += cost
    if statement.inference is not None:
        before += statement.inference.epsilon or Fraction(0)
        delta = statement.inference.delta
    if before >= epsilon or delta >= statement.bound.delta:
        return None
    charged = sum((zcdp_rho(event) or Fraction(0) for event in rounds), Fraction(0))
    fixed = curve_rho(epsilon - before, statement.bound.delta - delta)
    # The largest ρ is rounded down, so what the rounds did charge may be a hair above it.
    rho = float(max(fixed, charged)) * (1 + 2.0**-30)
    return right_gaussian_guesses(rho, epsilon=float(before), delta=float(delta))


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
