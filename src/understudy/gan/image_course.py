"""A course of critic steps over images as a checkpoint keeps it: all of it public or released."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from understudy.gan.tables import Census
from understudy.gan.training import NoiseSchedule
from understudy.privacy.accounting.events import Charge
from understudy.privacy.mechanisms.sampled import Schedule
from understudy.privacy.spending.grant import Grant


def course_facts(census: Census, course: NoiseSchedule, grant: Grant) -> dict[str, Any]:
    """Return the facts that a resumed run needs, all public or released."""
    schedule = course.schedule
    return {
        "grant": grant.identity,
        "rows": census.rows,
        "chances": list(census.chances),
        "schedule": [schedule.steps, str(schedule.rate), schedule.cells],
        "ratio": str(course.ratio),
        "delta": str(course.delta),
        "before": str(course.before),
        "questions": [c.document() for c in grant.charges if c not in set(grant.pricing.listed)],
    }


def resumed_course(facts: dict[str, Any], grant: Grant, step: int) -> tuple[Census, NoiseSchedule]:
    """Census and course of the run before, its grant as it was after a step."""
    steps, rate, cells = facts["schedule"]
    schedule = Schedule(int(steps), Fraction(rate), int(cells))
    numbers = (Fraction(facts[name]) for name in ("ratio", "delta", "before"))
    course = NoiseSchedule(schedule, *numbers)
    questions = [Charge.parse(document) for document in facts["questions"]]
    grant.restore(questions, [question.charge for question in course.questions], done=step)
    chances = tuple(float(chance) for chance in facts["chances"])
    return Census(int(facts["rows"]), chances), course


__all__ = ["course_facts", "resumed_course"]
