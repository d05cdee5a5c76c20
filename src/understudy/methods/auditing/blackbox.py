"""An attack that trusts no law: statistics of what was released, and how often each value comes.

The attacker looks at raw cells, at totals, at sums and differences of two answers of one run, at
the model, at what was asked, and at a linear classifier of all of it. Half of the runs choose one
statistic and one event of it: a threshold, or a single value, which finds noise that cancels. The
other half, which had no part in the choice, count how often the event happens.

Source: the histogram tests follow the stochastic tester of Wilson et al. 2020, section 5.3; the
classifier with a held-out threshold follows DP-Sniper (Bichsel et al. 2021).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.methods.auditing.bounds import at_least, at_most, epsilon_of
from understudy.methods.auditing.run_statistics import (
    Classifier,
    Statistic,
    paired_statistics,
    simple_statistics,
)
from understudy.methods.auditing.seen import Seen, Sides
from understudy.system.arrays import Floats, Integers


@dataclass(frozen=True, kw_only=True)
class EventBound:
    """The result of the attack without laws on one pair of tables.

    Attributes:
        case: how the tables differ.
        runs: how many fits were attacked, half of them on either table.
        statistic: what the attacker looks at.
        relation: "≥", "≤" or "=".
        value: the number that it is compared with.
        calls: whether the event is held for a sign of presence, or of absence.
        likely: the chance of the event where that is right, at least.
        unlikely: the chance of it where that is wrong, at most.
        epsilon: the lower bound; 0 when nothing was shown.
        provable: the bound of an attacker who is always right.
    """

    case: str
    runs: int
    statistic: str
    relation: str
    value: float
    calls: str
    likely: float
    unlikely: float
    epsilon: float
    provable: float

    @property
    def sentence(self) -> str:
        """Say in words which event it is."""
        value = f"{self.value:g}" if math.isfinite(self.value) else "nothing"
        return (
            f"{self.case}: {self.statistic} {self.relation} {value} shows that it is {self.calls}"
        )

    def document(self) -> dict[str, Any]:
        """Make a JSON object of the finding."""
        return {
            "case": self.case,
            "runs": self.runs,
            "lower_bound": self.epsilon,
            "largest_provable": self.provable,
            "statistic": self.statistic,
            "relation": self.relation,
            "value": self.value if math.isfinite(self.value) else None,
            "calls": self.calls,
            "chance_where_right_at_least": self.likely,
            "chance_where_wrong_at_most": self.unlikely,
        }


def attacked(
    case: str, present: Sequence[Seen], absent: Sequence[Seen], *, delta: float, error: float
) -> EventBound:
    """The lower bound on ε that runs on two tables show, each at this chance of error."""
    chosen = Sides(present[::2], absent[::2])
    counted = Sides(present[1::2], absent[1::2])
    event = max(_events(chosen, _Aim.of(delta, error)), key=lambda e: e.worth)
    happens = [event.happens(event.statistic.of(side)) for side in counted.both]
    right, wrong = happens if event.calls == "present" else happens[::-1]
    confidence = 1 - error
    likely = at_least(np.array([right.sum()]), np.array([right.size]), confidence)
    unlikely = at_most(np.array([wrong.sum()]), np.array([wrong.size]), confidence)
    sizes = np.array([min(right.size, wrong.size)])
    best = epsilon_of(
        at_least(sizes, sizes, confidence), at_most(0 * sizes, sizes, confidence), delta
    )
    return EventBound(
        case=case,
        runs=len(present) + len(absent),
        statistic=event.statistic.name,
        relation=event.relation,
        value=event.value,
        calls=event.calls,
        likely=float(likely[0]),
        unlikely=float(unlikely[0]),
        epsilon=float(epsilon_of(likely, unlikely, delta)[0]),
        provable=float(best[0]),
    )


@dataclass(frozen=True)
class _Aim:
    """The aim of a choice of events: a bound at some δ, by intervals of some width."""

    delta: float
    width: float

    @classmethod
    def of(cls, delta: float, error: float) -> _Aim:
        from scipy.special import ndtri

        return cls(delta, float(-ndtri(error / 2)))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Event:
    """Something that may be seen of a run, and what it is held for."""

    statistic: Statistic
    relation: str
    value: float
    calls: str
    worth: float

    def happens(self, numbers: Floats) -> npt.NDArray[np.bool_]:
        """For each run whether it does."""
        match self.relation:
            case "≥":
                found = numbers >= self.value
            case "≤":
                found = numbers <= self.value
            case _:
                found = numbers == self.value
        return np.asarray(found)


def _events(chosen: Sides, aim: _Aim) -> Iterator[_Event]:
    """The best event of every statistic, by the runs that choose."""
    simple = list(simple_statistics(chosen))
    for statistic in [*simple, *paired_statistics(simple)]:
        yield _best(statistic, chosen, aim)
    if len(chosen.present) > 3 and len(chosen.absent) > 3:
        fitting = Sides(chosen.present[::2], chosen.absent[::2])
        held_out = Sides(chosen.present[1::2], chosen.absent[1::2])
        yield _best(Classifier.fitted(simple, fitting), held_out, aim)


def _best(statistic: Statistic, chosen: Sides, aim: _Aim) -> _Event:
    """The event of a statistic whose chances differ most, after a margin for chance."""
    present, absent = (statistic.of(side) for side in chosen.both)
    values, places = np.unique(np.concatenate([present, absent]), return_inverse=True)
    counts = [
        np.bincount(held, minlength=values.size)
        for held in (places[: present.size], places[present.size :])
    ]
    best = _Event(
        statistic=statistic, relation="≥", value=float(values[0]), calls="present", worth=-math.inf
    )
    for relation, gather in _RELATIONS.items():
        here, there = (gather(count) for count in counts)
        for calls, right, wrong in (("present", here, there), ("absent", there, here)):
            sizes = (
                (present.size, absent.size) if calls == "present" else (absent.size, present.size)
            )
            worths = _worth(right, wrong, sizes, aim)
            place = int(worths.argmax())
            if worths[place] > best.worth:
                value, worth = float(values[place]), float(worths[place])
                best = _Event(
                    statistic=statistic, relation=relation, value=value, calls=calls, worth=worth
                )
    return best


_RELATIONS: dict[str, Callable[[Integers], Integers]] = {
    "≥": lambda counts: counts[::-1].cumsum()[::-1],
    "≤": lambda counts: counts.cumsum(),
    "=": lambda counts: counts,
}


def _worth(right: Integers, wrong: Integers, sizes: tuple[int, int], aim: _Aim) -> Floats:
    """About the bound that an event will show, by Wilson's intervals, which are quick."""
    likely = _wilson(right, sizes[0], -aim.width) - aim.delta
    unlikely = _wilson(wrong, sizes[1], aim.width)
    return np.asarray(np.log(np.maximum(likely, 1e-12)) - np.log(np.maximum(unlikely, 1e-12)))


def _wilson(counts: Integers, size: int, width: float) -> Floats:
    """An end of Wilson's interval for a probability, a number of standard errors above or below."""
    share, square = counts / size, width**2 / size
    half = width * np.sqrt(share * (1 - share) / size + square / (4 * size))
    return np.asarray((share + square / 2 + half) / (1 + square))
