"""Recompute, in bounded time, the cost of the answers that a statement lists."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from understudy.errors import UnderstudyError
from understudy.privacy.accounting.composition import counted_bounds
from understudy.privacy.accounting.conversions import zcdp_epsilon
from understudy.privacy.accounting.costs import approximate_cost, pure_epsilon, zcdp_rho
from understudy.privacy.accounting.events import (
    Charge,
    Event,
    FineGaussianEvent,
    GaussianEvent,
    SampledGaussianEvent,
)
from understudy.privacy.accounting.gaussian_curve import curve_epsilon
from understudy.privacy.statements.statement import MISFITS

Events = Mapping[Event, int]
"""Answers, and how often each was drawn."""

# Loss distributions of more different answers than this, of more noise in all (the sum of their
# sigmas) or of longer fractions take minutes.
_MOST_DIFFERENT = 64
_MOST_SIGMA = 20_000
_MOST_BITS = 2**14
_MOST_COURSE_BITS = 2**10

# Sums are of whole multiples of 2 to the minus this, whatever the denominators are.
_SUM_BITS = 256


def parts_of(method: str, answers: Iterable[tuple[Charge, int]]) -> list[Events]:
    """The answers that add up: all of a run, or those of each holder."""
    several = method.startswith("federated ")
    found: dict[str, Counter[Event]] = {} if several else {"": Counter()}
    for charge, times in answers:
        holder = charge.question.split(": ")[0] if several else ""
        found.setdefault(holder, Counter())[charge.event] += times
    return list(found.values())


def least_cost(
    events: Events, promised: Fraction, delta: Fraction, *, adaptive: bool
) -> Fraction | None:
    """Compute what answers cost at δ by the rules of this version; None where it is not known.

    The dearer the arithmetic, the later it is tried: only what does not fit by sums is composed
    more tightly.
    """
    try:
        basic = _added_up(events, delta)
        if not delta or (basic is not None and basic <= promised):
            return basic
        course = [event for event in events if isinstance(event, SampledGaussianEvent)]
        if course:
            return _taught(events, course, delta)
        together = _tight(events, basic, promised, delta, adaptive=adaptive)
        if together is not None and together <= promised:
            return together
        apart = _after_questions(events, promised, delta, adaptive=adaptive)
        return min((cost for cost in (together, apart) if cost is not None), default=None)
    except (*MISFITS, UnderstudyError):
        return None


def _added_up(events: Events, delta: Fraction) -> Fraction | None:
    """The sum of all ε, where every answer has one and their δ fit."""
    costs = {event: approximate_cost(event) for event in events}
    known = [(cost, events[event]) for event, cost in costs.items() if cost is not None]
    if len(known) < len(costs) or _sum((cost[1], times) for cost, times in known) > delta:
        return None
    return _sum((cost[0], times) for cost, times in known)


def _sum(amounts: Iterable[tuple[Fraction, int]]) -> Fraction:
    """Add up amounts, each with its number of times; at most 2⁻²⁰⁰ below the exact sum.

    Exact sums of unlike denominators have as many digits as all of them together.
    """
    whole = sum(times * ((n.numerator << _SUM_BITS) // n.denominator) for n, times in amounts)
    return Fraction(whole, 1 << _SUM_BITS)


def _tight(
    events: Events, basic: Fraction | None, promised: Fraction, delta: Fraction, *, adaptive: bool
) -> Fraction | None:
    """By zCDP, by the Gaussian curve or, if the list was announced, by loss distributions."""
    rhos = [(zcdp_rho(event), times) for event, times in events.items()]
    known = [(rho, times) for rho, times in rhos if rho is not None]
    if len(known) < len(rhos):
        return None
    rho = float(_sum(known))
    plain = Fraction(zcdp_epsilon(rho, float(delta)))
    if plain > promised and all(isinstance(event, FineGaussianEvent) for event in events):
        by_curve = curve_epsilon(rho, float(delta))
        plain = min(plain, Fraction(by_curve)) if math.isfinite(by_curve) else plain
    plain = plain if basic is None else min(plain, basic)
    # Distributions gain a tenth on lists of this package; what is as far off as this is not such
    # a list.
    if plain <= promised or adaptive or plain > 3 * promised + 1:
        return plain
    return _by_losses(events, delta) if _is_composable(events) else None


def _after_questions(
    events: Events, promised: Fraction, delta: Fraction, *, adaptive: bool
) -> Fraction | None:
    """Pure answers by their sum, and all others by themselves; None where either is absent."""
    pure = {event: pure_epsilon(event) for event in events}
    before = _sum((cost, events[event]) for event, cost in pure.items() if cost is not None)
    others = {event: times for event, times in events.items() if pure[event] is None}
    if not others or len(others) == len(events):
        return None
    rest = _tight(others, None, promised - before, delta, adaptive=adaptive)
    return None if rest is None else before + rest


def _is_composable(events: Events) -> bool:
    """Whether loss distributions of these answers are made in some seconds."""
    if len(events) > _MOST_DIFFERENT:
        return False
    sigmas = [
        math.sqrt(event.sigma_squared) for event in events if isinstance(event, GaussianEvent)
    ]
    return sum(sigmas) <= _MOST_SIGMA and sum(map(_bits, events)) <= _MOST_BITS


def _bits(event: Event) -> int:
    amounts = [amount for amount in vars(event).values() if isinstance(amount, Fraction)]
    return sum(n.numerator.bit_length() + n.denominator.bit_length() for n in amounts)


def _by_losses(events: Events, delta: Fraction) -> Fraction | None:
    found = [bound.epsilon for bound in counted_bounds(events, delta=delta, announced=True)]
    return min((epsilon for epsilon in found if epsilon is not None), default=None)


def _taught(
    events: Events, course: Sequence[SampledGaussianEvent], delta: Fraction
) -> Fraction | None:
    """A sampled course by its loss distribution; what came before it is added to it.

    Gaussian rounds before a course have half of its δ, and cost what the Gaussian curve says.
    """
    rounds = {event: n for event, n in events.items() if isinstance(event, FineGaussianEvent)}
    if rounds:
        rest = {event: n for event, n in events.items() if event not in rounds}
        rho = float(_sum((zcdp_rho(event) or Fraction(0), n) for event, n in rounds.items()))
        first, other = curve_epsilon(rho, float(delta / 2)), _taught(rest, course, delta / 2)
        return None if other is None or not math.isfinite(first) else Fraction(first) + other
    before = [(pure_epsilon(event), times) for event, times in events.items() if event != course[0]]
    known = [(epsilon, times) for epsilon, times in before if epsilon is not None]
    noisy = course[0].sigma_squared * 100 >= course[0].sensitivity_squared
    if len(known) < len(before) or not noisy or _bits(course[0]) > _MOST_COURSE_BITS:
        return None
    taught = _by_losses({course[0]: events[course[0]]}, delta)
    return None if taught is None else _sum(known) + taught
