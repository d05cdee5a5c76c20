"""Thousands of fits in several processes, and what they come to."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from typing import Any

import numpy as np

from understudy.amounts import at_most
from understudy.auditing.attack import Run, evidence, run_on
from understudy.auditing.bounds import Evidence, Finding, largest_provable, lower_bound
from understudy.auditing.tables import Pair, neighbours_for
from understudy.errors import UsageError
from understudy.privacy.accounting import Bound
from understudy.synthesizers import Synthesizer

Watch = Callable[[int], None]

# Pairs of runs that a process makes before it reports.
_BATCH = 25


@dataclass(frozen=True)
class Audit:
    """What was claimed of a method, and what the runs have shown.

    Attributes:
        claim: what the statements of the fits say; the largest, if they differ.
        provable: the lower bound that an attacker who is always right would have reached.
        runs: how many fits were attacked, half of them on either table.
    """

    method: str
    neighbours: str
    claim: Bound
    finding: Finding
    provable: float
    runs: int
    confidence: float

    @property
    def exceeds_claim(self) -> bool:
        """Whether more was given away than claimed."""
        return self.finding.epsilon > self.claimed_epsilon

    @property
    def claimed_epsilon(self) -> float:
        """The claim's ε."""
        return float(self.claim.epsilon or 0)

    def document(self) -> dict[str, Any]:
        """The audit for JSON."""
        found = self.finding
        return {
            "method": self.method,
            "neighbours": self.neighbours,
            "epsilon": at_most(self.claim.epsilon or Fraction(0)),
            "epsilon_exact": str(self.claim.epsilon),
            "delta": at_most(self.claim.delta),
            "delta_exact": str(self.claim.delta),
            "lower_bound": found.epsilon,
            "largest_provable": self.provable,
            "exceeds_claim": self.exceeds_claim,
            "confidence": self.confidence,
            "runs": self.runs,
            "attack": {
                "calls": found.calls,
                "threshold": found.threshold if np.isfinite(found.threshold) else None,
                "chance_where_right_at_least": found.likely,
                "chance_where_wrong_at_most": found.unlikely,
            },
            "trade_off": {
                "false_positive": list(found.curve.false_positive),
                "false_negative": list(found.curve.false_negative),
            },
        }


def audit(
    synthesizer: Synthesizer,
    pair: Pair | None = None,
    *,
    runs: int = 10_000,
    confidence: float = 0.99,
    processes: int | None = None,
    watch: Watch | None = None,
) -> Audit:
    """Fit a method many times on neighbouring tables and bound its ε from below.

    Args:
        synthesizer: the method, with its budget.
        pair: the neighbours; those that are hard on the method unless given.
        runs: how many fits are attacked.
        confidence: the chance, at least, that the bound is none by mere luck.
        processes: how many run at a time; one for each processor unless given.
        watch: told how many runs a step has added.

    Privacy: the tables are made up; no private row is read and no ledger written.
    """
    tables = neighbours_for(synthesizer) if pair is None else pair
    largest_provable(runs, delta=0, confidence=confidence)
    present: list[Evidence] = []
    absent: list[Evidence] = []
    claims: set[Bound] = set()
    for batch in _batches(synthesizer, tables, runs, processes or os.cpu_count() or 1):
        present.append(batch.present)
        absent.append(batch.absent)
        claims |= batch.claims
        if watch is not None:
            watch(2 * batch.present.size)
    claim = max(claims, key=lambda bound: bound.epsilon or Fraction(0))
    delta = float(claim.delta)
    found = lower_bound(
        np.concatenate(present), np.concatenate(absent), delta=delta, confidence=confidence
    )
    provable = largest_provable(runs, delta=delta, confidence=confidence)
    relation = str(synthesizer.unit.neighbours)
    return Audit(synthesizer.method, relation, claim, found, provable, runs // 2 * 2, confidence)


@dataclass(frozen=True)
class _Batch:
    """Evidence for the person's presence from some pairs of runs, and what they claimed."""

    present: Evidence
    absent: Evidence
    claims: frozenset[Bound]


def _batches(synthesizer: Synthesizer, pair: Pair, runs: int, processes: int) -> Iterator[_Batch]:
    """All runs, in batches as they are done."""
    pairs = runs // 2
    sizes = [min(_BATCH, pairs - start) for start in range(0, pairs, _BATCH)]
    if processes == 1:
        yield from (_batch(synthesizer, pair, size) for size in sizes)
        return
    # Fresh processes: a copy of this one would share the state of its threads.
    spawning = get_context("spawn")
    with ProcessPoolExecutor(processes, spawning, initializer=_leave_interrupts) as pool:
        waiting = [pool.submit(_batch, synthesizer, pair, size) for size in sizes]
        try:
            yield from (done.result() for done in as_completed(waiting))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _leave_interrupts() -> None:
    """A terminal's Ctrl-C reaches every process; only the first of them is to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _batch(synthesizer: Synthesizer, pair: Pair, size: int) -> _Batch:
    runs = [
        run_on(synthesizer, table) for table in (pair.present, pair.absent) for _ in range(size)
    ]
    claims = frozenset(_claim(run) for run in runs)
    # Equal evidence is to stay equal, whatever floating point did to its sums.
    found = np.array([round(evidence(synthesizer, run, pair), 9) for run in runs])
    return _Batch(found[:size], found[size:], claims)


def _claim(run: Run) -> Bound:
    bound = run.model.statement.bound
    if bound.epsilon is None:
        raise UsageError("a fit without privacy claims nothing; give an epsilon to audit")
    return bound
