"""Job of `audit`: attack a method on made-up tables, and compare with what it promises."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from understudy.errors import ClaimRefuted, UsageError
from understudy.jobs.method import FitRequest, TrainingRequest, build
from understudy.jobs.progress import SILENT, Stopwatch
from understudy.jobs.reading import PersonRequest
from understudy.jobs.request import JobRequest
from understudy.methods import registry
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from understudy.jobs.progress import BarUpdate, JobProgress
    from understudy.methods.auditing import Audit

_MOST_REASONS = 8
# After this long, whoever waits is told how long the rest will take.
_SECONDS_BEFORE_ESTIMATE = 5


@dataclass(frozen=True, kw_only=True)
class AuditRequest(JobRequest):
    """A method and its budget, and how often to attack it.

    Attributes:
        method: the name of the method.
        epsilon: the privacy loss that it claims.
        delta: the probability that it claims for a larger loss.
        structure: how the network is learned.
        degree: the most parents of an attribute.
        neighbours: add-remove or replace.
        rows_per_person: attack the promise for persons with several rows.
        runs: how many fits to attack.
        confidence: the least probability that no false alarm is raised.
        processes: how many fits run at the same time.
    """

    method: str
    epsilon: str | None = None
    delta: str = "0"
    structure: str | None = None
    degree: int | None = None
    neighbours: str | None = None
    rows_per_person: int | None = None
    runs: int = 10_000
    confidence: float = 0.99
    processes: int | None = None

    @property
    def fit(self) -> FitRequest:
        """The fit that is attacked."""
        from understudy.methods.auditing import PERSON

        if self.method == registry.AUTOMATIC:
            raise UsageError("method 'auto' is a choice among methods; name the one to audit")
        person = None if self.rows_per_person is None else PERSON
        able = registry.abilities(self.method)
        return FitRequest(
            epsilon=self.epsilon,
            delta=self.delta,
            method=self.method,
            structure=self.structure,
            degree=self.degree,
            neighbours=self.neighbours,
            # Each row that is drawn has its own share of the budget; one alone leaks the most.
            rows=1 if able.releases_rows else None,
            people=PersonRequest(person, self.rows_per_person),
            # Lessons come after what was released, so that one is as good to attack as a thousand.
            training=TrainingRequest(lessons=1 if able.lessons else None),
        )


@dataclass(frozen=True)
class AuditResult:
    """The findings of an audit, with the seconds that it took."""

    audit: Audit
    seconds: dict[str, float]

    def check(self) -> None:
        """Raise `ClaimRefuted` with the reasons if the method does not keep its promise."""
        if self.audit.refuted:
            raise ClaimRefuted("\n".join([*_first(self.audit.reasons), _verdict(self.audit)]))


def audit(request: AuditRequest, *, progress: JobProgress = SILENT) -> AuditResult:
    """Attack a method thousands of times on made-up tables.

    Privacy: reads no private rows and spends nothing.
    """
    from understudy.methods.auditing import audit as run_audit
    from understudy.methods.auditing import fits_in, schema_for

    synthesizer = build(request.fit, schema_for(registry.abilities(request.method)))
    synthesizer.check()
    watch = Stopwatch()
    with watch.timed("audit"), progress.bar("fitting") as update:
        found = run_audit(
            synthesizer,
            runs=request.runs,
            confidence=request.confidence,
            processes=request.processes,
            watch=_Adding(update, fits_in(synthesizer, request.runs), progress),
        )
    return AuditResult(found, watch.seconds)


class _Adding:
    """Adds up fits, moves a bar to how many are done, and says once how long the rest will take."""

    def __init__(self, update: BarUpdate, total: int, progress: JobProgress) -> None:
        self._update, self._total, self._done = update, total, 0
        self._progress, self._started, self._said = progress, time.perf_counter(), False
        update(0, total)

    def __call__(self, added: int) -> None:
        """Show that more fits are done."""
        self._done += added
        self._update(self._done, self._total)
        seconds = time.perf_counter() - self._started
        if not self._said and seconds >= _SECONDS_BEFORE_ESTIMATE and self._done < self._total:
            self._said = True
            self._progress.message(_estimate(self._done, self._total, seconds))


def _estimate(done: int, total: int, seconds: float) -> str:
    """Say how long the fits that are left will take, at the speed so far."""
    left = math.ceil(seconds * (total - done) / max(done, 1))
    return (
        f"{total:,} fits, {done:,} of them in {seconds:.0f} s; about {left // 60}:{left % 60:02} "
        "minutes more (fewer --runs take less, and find less)"
    )


def _first(reasons: list[str]) -> list[str]:
    """The first reasons; noise that is wrong everywhere fails hundreds of tests."""
    more = len(reasons) - _MOST_REASONS
    if more <= 0:
        return reasons
    return [*reasons[:_MOST_REASONS], f"there are {more} more findings; see --json"]


def _verdict(found: Audit) -> str:
    if found.exceeds_claim:
        return (
            f"{found.method} leaks epsilon {found.lower_bound:.4g} or more, and it claims "
            f"{at_most_text(found.claimed_epsilon)}; do not release its results, and report this"
        )
    return (
        f"{found.method} does not do what its statement says; do not release its results, "
        "and report this"
    )
