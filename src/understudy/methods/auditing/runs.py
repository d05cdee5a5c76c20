"""Thousands of fits in several processes, and what they have shown."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from fractions import Fraction
from multiprocessing import get_context
from typing import Any

import numpy as np

from understudy.errors import UsageError, WorkerLost
from understudy.methods import Synthesizer
from understudy.methods.auditing.attack import Trial, evidence, run_on
from understudy.methods.auditing.blackbox import EventBound, attacked
from understudy.methods.auditing.bounds import (
    LogLikelihoodRatios,
    LowerBound,
    largest_provable,
    lower_bound,
)
from understudy.methods.auditing.noise import NoiseVerdict, Tally
from understudy.methods.auditing.replaying import leak_between
from understudy.methods.auditing.seen import Seen, TrueAnswers, named, seen
from understudy.methods.auditing.tables import Case, Pair, cases_for, codec_for
from understudy.methods.base import check_synthesizer
from understudy.privacy.accounting.composition import Bound
from understudy.system.amounts import at_most

# Pairs of runs that a process makes before it reports.
_BATCH = 25
# Below this, there is not one run to choose an event and one to count it.
_LEAST_PAIRS = 2
# The likelihood attack, the attack without laws, and the tests of noise share the error allowed.
_PARTS = 3


@dataclass(frozen=True)
class Leak:
    """The difference that replay found on one pair of tables."""

    case: str
    problem: str

    @property
    def sentence(self) -> str:
        """Say in words what leaked."""
        return f"{self.case}: {self.problem}"


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The claim of a method, and what the runs have shown.

    Attributes:
        unit: whom the claim protects, in words.
        claim: what the statements of the fits say; the largest, if they differ.
        finding: of the likelihood attack on the first pair of tables.
        provable: the lower bound that an attacker who is always right would have reached.
        boxes: of the attack without laws, on every pair of tables.
        noise: the tests of noise.
        leaks: what replay found on any pair of tables.
        runs: how many fits the likelihood attack saw, half of them on either table.
        confidence: the chance, at least, that nothing is held against a method by mere luck.
    """

    method: str
    unit: str
    neighbours: str
    claim: Bound
    finding: LowerBound
    provable: float
    boxes: tuple[EventBound, ...]
    noise: NoiseVerdict
    leaks: tuple[Leak, ...]
    runs: int
    confidence: float

    def __repr__(self) -> str:
        found = f"at least {self.lower_bound:.3g} of the {self.claimed_epsilon:.3g} claimed"
        return f"Audit({self.method}: {self.runs:,} runs show an epsilon of {found})"

    @property
    def lower_bound(self) -> float:
        """The largest ε that any attack has shown."""
        return max([self.finding.epsilon, *(box.epsilon for box in self.boxes)])

    @property
    def exceeds_claim(self) -> bool:
        """Whether more was given away than claimed."""
        return self.lower_bound > self.claimed_epsilon

    @property
    def refuted(self) -> bool:
        """Whether anything that the statement says was found untrue."""
        return bool(self.reasons)

    @property
    def reasons(self) -> list[str]:
        """All that was found untrue, a sentence each."""
        claimed = self.claimed_epsilon
        found = [leak.sentence for leak in self.leaks]
        if self.finding.epsilon > claimed:
            found.append(f"the likelihood attack shows epsilon {self.finding.epsilon:.4g} or more")
        for box in self.boxes:
            if box.epsilon > claimed:
                found.append(f"{box.sentence}: epsilon {box.epsilon:.4g} or more")
        return found + [fault.sentence for fault in self.noise.faults]

    @property
    def claimed_epsilon(self) -> float:
        """The ε that is claimed, as a number."""
        return float(self.claim.epsilon or 0)

    def document(self) -> dict[str, Any]:
        """Make a JSON object of the audit."""
        found = self.finding
        return {
            "method": self.method,
            "unit": self.unit,
            "neighbours": self.neighbours,
            "epsilon": at_most(self.claim.epsilon or Fraction(0)),
            "epsilon_exact": str(self.claim.epsilon),
            "delta": at_most(self.claim.delta),
            "delta_exact": str(self.claim.delta),
            "refuted": self.refuted,
            "reasons": self.reasons,
            "lower_bound": self.lower_bound,
            "largest_provable": self.provable,
            "exceeds_claim": self.exceeds_claim,
            "confidence": self.confidence,
            "runs": self.runs,
            "attack": {
                "lower_bound": found.epsilon,
                "calls": found.calls,
                "threshold": found.threshold if np.isfinite(found.threshold) else None,
                "chance_where_right_at_least": found.likely,
                "chance_where_wrong_at_most": found.unlikely,
            },
            "black_box": [box.document() for box in self.boxes],
            "noise": self.noise.document(),
            "replay": [{"case": leak.case, "problem": leak.problem} for leak in self.leaks],
            "trade_off": {
                "false_positive": list(found.curve.false_positive),
                "false_negative": list(found.curve.false_negative),
            },
        }


def audit(
    synthesizer: Synthesizer,
    cases: Sequence[Case] | None = None,
    *,
    runs: int = 10_000,
    confidence: float = 0.99,
    processes: int | None = None,
    watch: Callable[[int], None] | None = None,
) -> Audit:
    """Fit a method many times on neighbouring tables and hold its statement against the runs.

    Args:
        synthesizer: the method, with its budget.
        cases: pairs of neighbouring tables; those that are hard on the method unless given.
        runs: how many fits of the first case are attacked; the others share as many again.
        confidence: the chance, at least, that nothing is found by mere luck.
        processes: how many run at a time; one for each processor unless given.
        watch: called with the number of runs that a step has added.

    Privacy: the tables are made up; no private row is read and no ledger written.
    """
    check_synthesizer(synthesizer)
    tried = list(cases_for(synthesizer) if cases is None else cases)
    error = (1 - confidence) / _PARTS
    largest_provable(runs, delta=0, confidence=confidence)
    gathered = [_Gathered() for _ in tried]
    noise = Tally()
    for task, batch in _batches(_tasks(synthesizer, tried, runs), processes or os.cpu_count() or 1):
        gathered[task.place].add(batch)
        noise.merge(batch.noise)
        if watch is not None:
            watch(2 * task.size)
    claim = max(
        {claim for each in gathered for claim in each.claims},
        key=lambda bound: bound.epsilon or Fraction(0),
    )
    delta = float(claim.delta)
    first = gathered[0]
    boxes = tuple(
        attacked(case.name, each.present, each.absent, delta=delta, error=error / len(tried))
        for case, each in zip(tried, gathered, strict=True)
    )
    return Audit(
        method=synthesizer.method,
        unit=synthesizer.unit.label,
        neighbours=str(synthesizer.unit.neighbours),
        claim=claim,
        finding=lower_bound(*first.evidence, delta=delta, confidence=1 - error),
        provable=largest_provable(runs, delta=delta, confidence=1 - error),
        boxes=boxes,
        noise=noise.verdict(error),
        leaks=tuple(
            Leak(case.name, each.leak)
            for case, each in zip(tried, gathered, strict=True)
            if each.leak is not None
        ),
        runs=runs // 2 * 2,
        confidence=confidence,
    )


def fits_in(synthesizer: Synthesizer, runs: int) -> int:
    """How many fits an audit makes in all."""
    return sum(2 * task.size for task in _tasks(synthesizer, cases_for(synthesizer), runs))


@dataclass(frozen=True, kw_only=True)
class _Task:
    """Some pairs of runs of one case.

    Attributes:
        place: the case's.
        size: how many runs on either table.
        weighed: whether the likelihood attack sees them.
        replayed: whether a run is replayed on the neighbour as well.
    """

    place: int
    synthesizer: Synthesizer
    pair: Pair
    size: int
    weighed: bool
    replayed: bool


def _tasks(synthesizer: Synthesizer, cases: Sequence[Case], runs: int) -> list[_Task]:
    """The first case by itself; as many runs again are shared among the others."""
    codec = codec_for(synthesizer)
    tasks = []
    for place, case in enumerate(cases):
        others = max(runs // 2 // max(len(cases) - 1, 1), _LEAST_PAIRS)
        pairs = others if place else runs // 2
        pair = case.encoded(codec)
        for start in range(0, pairs, _BATCH):
            size = min(_BATCH, pairs - start)
            tasks.append(
                _Task(
                    place=place,
                    synthesizer=synthesizer,
                    pair=pair,
                    size=size,
                    weighed=place == 0,
                    replayed=start == 0,
                )
            )
    return tasks


@dataclass(frozen=True, kw_only=True)
class _Batch:
    """Gather what some pairs of runs have shown."""

    evidence: tuple[LogLikelihoodRatios, LogLikelihoodRatios]
    present: list[Seen]
    absent: list[Seen]
    noise: Tally
    claims: frozenset[Bound]
    leak: str | None


@dataclass
class _Gathered:
    """Gather what all runs of a case have shown."""

    present: list[Seen] = field(default_factory=list)
    absent: list[Seen] = field(default_factory=list)
    claims: set[Bound] = field(default_factory=set)
    leak: str | None = None
    _evidence: list[tuple[LogLikelihoodRatios, LogLikelihoodRatios]] = field(default_factory=list)

    def add(self, batch: _Batch) -> None:
        """Take in a batch."""
        self.present += batch.present
        self.absent += batch.absent
        self.claims |= batch.claims
        self.leak = self.leak or batch.leak
        self._evidence.append(batch.evidence)

    @property
    def evidence(self) -> tuple[LogLikelihoodRatios, LogLikelihoodRatios]:
        """For the person's presence, run by run on either table."""
        present, absent = (np.concatenate(side) for side in zip(*self._evidence, strict=True))
        return present, absent


def _batches(tasks: Sequence[_Task], processes: int) -> Iterator[tuple[_Task, _Batch]]:
    """All tasks with what they have shown, as they are done."""
    if processes == 1:
        yield from ((task, _batch(task)) for task in tasks)
        return
    # Fresh processes: a copy of this one would share the state of its threads.
    spawning = get_context("spawn")
    with ProcessPoolExecutor(processes, spawning, initializer=_leave_interrupts) as pool:
        waiting = {pool.submit(_batch, task): task for task in tasks}
        try:
            yield from ((waiting[done], done.result()) for done in as_completed(waiting))
        except BrokenProcessPool:
            raise WorkerLost(
                "a process of the audit ended before its fits were done, as when memory runs out; "
                "nothing was found out, so try again with fewer --processes"
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _leave_interrupts() -> None:
    """A terminal's Ctrl-C reaches every process; only the first of them is to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _batch(task: _Task) -> _Batch:
    synthesizer, pair, size = task.synthesizer, task.pair, task.size
    runs = [
        run_on(synthesizer, table) for table in (pair.present, pair.absent) for _ in range(size)
    ]
    noise = Tally()
    for run in runs:
        names = [answer.charge.question for answer in run.answers]
        noise.add_run(names, [answer.draws for answer in run.answers])
    here, there = _exact(runs[:size]), _exact(runs[size:])
    looks = [seen(run, here, there) for run in runs]
    # Equal evidence is to stay equal, whatever floating point did to its sums.
    weighed = runs if task.weighed else []
    found = np.array([round(evidence(synthesizer, run, pair), 9) for run in weighed])
    return _Batch(
        evidence=(found[: len(found) // 2], found[len(found) // 2 :]),
        present=looks[:size],
        absent=looks[size:],
        noise=noise,
        claims=frozenset(_claim(run) for run in runs),
        leak=leak_between(synthesizer, pair) if task.replayed else None,
    )


def _exact(runs: Sequence[Trial]) -> TrueAnswers:
    """The exact answer to each question that any of the runs asked, by the first that did."""
    found: dict[str, Any] = {}
    for run in runs:
        for name, answer in named(run.answers):
            if name not in found and answer.exact is not None:
                found[name] = answer.exact.reshape(-1).astype(np.float64)
    return found


def _claim(run: Trial) -> Bound:
    bound = run.model.statement.bound
    if bound.epsilon is None:
        raise UsageError("a fit without privacy claims nothing; give an epsilon to audit")
    return bound
