"""Attackers who learn from a table and name a sensitive value of real rows by their key.

As in SBA section V-B, classifiers learn from the key and the sensitive column of one table alone,
and every real row is a victim whose value they name. Their processes, caps and time limits are
those of predictions.

Privacy: accuracies are exact functions of real rows; for the owner's eyes and public data only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.evaluation.prediction.features import Features, Matrix, Scaler, Target
from understudy.evaluation.prediction.learners import Learner
from understudy.evaluation.prediction.prediction import Settings, at_most
from understudy.evaluation.prediction.scoring import Labels
from understudy.evaluation.prediction.worker import Job, run
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema

Key = tuple[str, ...]

# Each is attacked by every classifier, in every table.
_MOST_KEYS = 1_000


@dataclass(frozen=True)
class Scenario:
    """The column that an attacker wants to learn, and the columns that they may know.

    Attributes:
        sensitive: the column whose value they want.
        quasi_identifiers: the columns they may know.
        length: how many of these they do know.

    Example:
        >>> columns = {name: {"kind": "boolean"} for name in ("ill", "smoker", "retired")}
        >>> schema = Schema.parse({"columns": columns})
        >>> Scenario.of(schema, sensitive="ill", keys=["smoker", "retired"], length=1).keys
        (('smoker',), ('retired',))
    """

    sensitive: str
    quasi_identifiers: Key
    length: int

    @classmethod
    def of(
        cls, schema: Schema, *, sensitive: str, keys: Sequence[str], length: int | None = None
    ) -> Scenario:
        """Columns of a schema; all of the keys are known unless a length is given."""
        known = ", ".join(schema.learned)
        for role, name in (("sensitive", sensitive), *(("key", name) for name in keys)):
            if name not in schema.learned:
                raise UsageError(
                    f"{role} {name!r} is not a column with values; the columns are {known}"
                )
        if not keys:
            raise UsageError("no key is named; name columns that an attacker may know")
        if sensitive in keys:
            raise UsageError(f"column {sensitive!r} is sensitive and a key; it can be one of them")
        different = tuple(dict.fromkeys(keys))
        return cls(sensitive, different, _length(different, length))

    @property
    def keys(self) -> tuple[Key, ...]:
        """Return all choices of this many quasi-identifiers."""
        return tuple(combinations(self.quasi_identifiers, self.length))

    def document(self) -> dict[str, Any]:
        """Return the scenario for JSON."""
        return {
            "sensitive": self.sensitive,
            "quasi_identifiers": list(self.quasi_identifiers),
            "length": self.length,
            "keys": [list(key) for key in self.keys],
        }


def _length(keys: Key, length: int | None) -> int:
    if length is None:
        return len(keys)
    if not 1 <= length <= len(keys):
        raise UsageError(
            f"a key of length {length} has no place in {len(keys)} columns; "
            f"give a length from 1 to {len(keys)}"
        )
    if (number := math.comb(len(keys), length)) > _MOST_KEYS:
        raise UsageError(
            f"{len(keys)} columns have {number:,} keys of length {length}, more than "
            f"{_MOST_KEYS:,}; name fewer columns, or another length"
        )
    return length


@dataclass(frozen=True)
class Attempt:
    """One attacker with one key.

    Attributes:
        accuracy: the share of victims whose value was named; None where `reason` says why.
        seconds: of learning and naming, where a process was started.
    """

    accuracy: float | None
    seconds: float | None = None
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the attempt for JSON."""
        return {"accuracy": self.accuracy, "seconds": self.seconds, "reason": self.reason}


@dataclass(frozen=True)
class Attack:
    """One attacker with all keys, in their order.

    Privacy: exact functions of real rows.
    """

    name: str
    title: str
    attempts: tuple[Attempt, ...]

    @property
    def accuracy(self) -> float | None:
        """The mean over all keys; None where one of them has none."""
        known = self._known
        return fmean(known) if known and len(known) == len(self.attempts) else None

    @property
    def spread(self) -> float | None:
        """The standard deviation over keys, of a sample; None where it is of fewer than two."""
        known = self._known
        return stdev(known) if len(known) > 1 and len(known) == len(self.attempts) else None

    @property
    def _known(self) -> list[float]:
        return [a.accuracy for a in self.attempts if a.accuracy is not None]

    @property
    def reason(self) -> str | None:
        """Why there is no mean, as the first attempt without an accuracy says."""
        return next((a.reason for a in self.attempts if a.accuracy is None), None)

    def document(self) -> dict[str, Any]:
        """Return the attack for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "accuracy": self.accuracy,
            "spread": self.spread,
            "reason": self.reason,
            "attempts": [attempt.document() for attempt in self.attempts],
        }


@dataclass(frozen=True, repr=False, eq=False)
class Victims:
    """Real rows with a sensitive value, and what is known of them by name.

    Privacy: real rows.
    """

    schema: Schema
    sensitive: str
    sheet: EvaluationTable

    @classmethod
    def of(cls, schema: Schema, sensitive: str, real: EvaluationTable) -> Victims:
        """The rows whose value is not missing: of others there is nothing to learn."""
        return cls(schema, sensitive, with_value(schema, sensitive, real))

    def at_most(self, most: int, seed: int) -> Victims:
        """Return all of them, or `most` chosen by the seed."""
        return Victims(self.schema, self.sensitive, at_most(self.sheet, most, seed))

    def attempt(
        self, learner: Learner, table: EvaluationTable, key: Key, *, settings: Settings
    ) -> Attempt:
        """How many are found out by a learner that has seen a table.

        Privacy: an exact function of real rows.
        """
        chosen = at_most(table, learner.capped(settings.most_rows), settings.seed)
        if not chosen.rows or not self.sheet.rows:
            return Attempt(None, reason=f"there are no rows with a value of {self.sensitive!r}")
        classes, targets = np.unique(_codes(chosen, self.sensitive), return_inverse=True)
        if classes.size == 1:
            return Attempt(self._accuracy(classes[np.zeros(self.sheet.rows, np.int64)]))
        train, test = self._matrices(chosen, key)
        asked, place = _different(test)
        job = Job(
            learner=learner.name,
            task="classification",
            seed=settings.seed,
            train=train,
            targets=targets,
            test=asked,
        )
        answer = run(job, seconds=settings.seconds)
        if answer.predicted is None:
            return Attempt(None, reason=answer.reason)
        return Attempt(self._accuracy(classes[answer.predicted][place]), answer.seconds)

    def _matrices(self, table: EvaluationTable, key: Key) -> tuple[Matrix, Matrix]:
        """Return the training and the test matrix, both scaled by the training rows."""
        known, asked = (Features.among(s, self.schema, key) for s in (table, self.sheet))
        scale = Scaler.of(known.numbers)
        return known.matrix(scale), asked.matrix(scale)

    def _accuracy(self, named: Labels) -> float:
        return float((_codes(self.sheet, self.sensitive) == named).mean())


def with_value(schema: Schema, sensitive: str, sheet: EvaluationTable) -> EvaluationTable:
    """The rows whose sensitive value is not missing."""
    return sheet.take(Target(sensitive, schema.learned[sensitive]).known(sheet))


def _codes(sheet: EvaluationTable, name: str) -> Labels:
    return sheet.table.codes[name].astype(np.int64)


def _different(matrix: Matrix) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """The lines that differ, and for each line which of them it is: victims share their keys."""
    packed = np.ascontiguousarray(matrix)
    whole = packed.view(np.dtype((np.void, packed.dtype.itemsize * packed.shape[1]))).ravel()
    _, first, place = np.unique(whole, return_index=True, return_inverse=True)
    return packed[first], place
