"""Disclosure risk: what stand-ins give away about real rows, beside what the original would.

Attackers know some columns of everybody and hold one table: the original, or a stand-in for it.
They name everybody's sensitive value. Beside their accuracy is the zero rule's, which holds no
table and always names the most frequent value.

An attacker who does better than that has not always learned something about a person: that husbands
are men is known without any table. Held-out rows, of which no table holds any, show what keys say
about strangers; what they say about real rows beyond that is due to these rows being there.

Privacy: all of it is made of exact functions of real rows, with no mechanism between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.errors import UsageError
from understudy.evaluation.disclosure.anonymity import anonymity
from understudy.evaluation.disclosure.attack import (
    Attack,
    Attempt,
    Scenario,
    Victims,
    with_value,
)
from understudy.evaluation.disclosure.attribution import Attribution, attribution
from understudy.evaluation.disclosure.exposure import Disclosure, Exposure
from understudy.evaluation.disclosure.leaks import LEAKY, leaked
from understudy.evaluation.disclosure.linkage import linkage
from understudy.evaluation.disclosure.membership import (
    MOST_SYNTHETIC,
    Membership,
    membership,
)
from understudy.evaluation.disclosure.singling_out import singling_out
from understudy.evaluation.metric import StepProgress, unwatched_steps
from understudy.evaluation.prediction.features import Target
from understudy.evaluation.prediction.learners import learners
from understudy.evaluation.prediction.overlap import overlap
from understudy.evaluation.prediction.prediction import SECONDS_PER_MODEL, Settings
from understudy.evaluation.sheets import MOST_ROWS, OWN_SIDES, EvaluationTable, load_all
from understudy.facts.file_format import DECLARED, FileFormat
from understudy.facts.schema import Schema
from understudy.rows.table import Table
from understudy.system.extras import require
from understudy.system.frames import Rows
from understudy.system.notebooks import notebook_bar

ORIGINAL = "original"
_OWN_ROWS = (
    "in the original every real row is attacked with itself in the table, as SBA does: its numbers "
    "are an upper limit"
)
_NO_STRANGERS = "no held-out rows were given; membership is inferred by comparing with them"


def disclosure_risk(
    real: Rows | Table,
    stand_ins: Mapping[str, Rows | Table],
    schema: Schema,
    *,
    sensitive: str,
    keys: Sequence[str],
    length: int | None = None,
    holdout: Rows | Table | None = None,
    classifiers: str | Sequence[str] = "sba",
    leaky: bool = False,
    seed: int = 0,
    seconds_per_model: float = SECONDS_PER_MODEL,
    most_rows: int = MOST_ROWS,
    file_format: FileFormat = DECLARED,
    progress: StepProgress | None = None,
) -> Disclosure:
    """Attack real rows with the original and with stand-ins for it.

    Args:
        real: the rows that the stand-ins were made from: a file, a data frame, or codes.
        stand_ins: tables by name, such as ordinary and protected.
        schema: what all of them hold; columns that it does not declare are passed over.
        sensitive: the column that attackers want to know.
        keys: the columns that they may know.
        length: how many of these they do know, every choice in turn; all unless given.
        holdout: real rows that no fit has seen; without them membership is not attacked.
        classifiers: `sba`, `default`, `all`, `tuc-2`, `none`, or names of learners.
        leaky: whether half of the real rows, copied, are attacked with as one more stand-in: an
            attack that finds nothing there would find nothing anywhere.
        seconds_per_model: when a model is ended that has not come to an end by itself.
        most_rows: the most rows of a table that are looked at, chosen by the seed.
        file_format: how files of real rows are spelled, in place of what the schema says.
        progress: called with the steps done, the steps in all, and what comes next.

    Raises:
        UsageError: for an unknown column or classifier, before anything is read.
        DataError: for a table that lacks a column of the schema, or holds another kind.

    Example:
        >>> columns = {name: {"kind": "boolean"} for name in ("ill", "smoker")}
        >>> schema = Schema.parse({"columns": columns})
        >>> real = {"ill": ["yes", "no"], "smoker": ["yes", "no"]}
        >>> found = disclosure_risk(
        ...     real, {"shuffled": {"ill": ["no", "yes"], "smoker": ["yes", "no"]}}, schema,
        ...     sensitive="ill", keys=["smoker"], classifiers="none",
        ... )
        >>> [exposure.attributions[0].gcap for exposure in found.exposures]
        [1.0, 0.0]

    Privacy: the result is private, and nothing is charged for it.
    """
    scenario = Scenario.of(schema, sensitive=sensitive, keys=keys, length=length)
    settings = Settings(classifiers, seconds=seconds_per_model, seed=seed)
    _check(stand_ins, settings)
    given = {"real": real, **stand_ins}
    if holdout is not None:
        given["held-out"] = holdout
    sheets = load_all(given, schema, seed=seed, most=most_rows, file_format=file_format)
    held = {name: sheets[name] for name in stand_ins}
    if leaky:
        held[LEAKY] = leaked(sheets["real"], seed)
    return attacked(
        schema,
        scenario,
        real=sheets["real"],
        stand_ins=held,
        held_out=sheets.get("held-out"),
        settings=settings,
        watch=progress or notebook_bar("Attacking"),
    )


def _check(stand_ins: Mapping[str, Any], settings: Settings) -> None:
    """Refuse names that are taken, and classifiers that are not there."""
    if taken := {ORIGINAL, LEAKY, *OWN_SIDES} & stand_ins.keys():
        raise UsageError(f"a stand-in cannot be called {min(taken)!r}; call it otherwise")
    if any(learner.classifier.module == "xgboost" for learner in learners(settings.classifiers)):
        require("xgboost", extra="evaluate")
    if learners(settings.classifiers):
        require("sklearn", extra="evaluate")


def attacked(
    schema: Schema,
    scenario: Scenario,
    *,
    real: EvaluationTable,
    stand_ins: Mapping[str, EvaluationTable],
    held_out: EvaluationTable | None = None,
    settings: Settings | None = None,
    watch: StepProgress = unwatched_steps,
) -> Disclosure:
    """Attack real rows with tables that were read already.

    Privacy: the result is private.
    """
    settings = settings or Settings("sba")
    tables = {ORIGINAL: real, **stand_ins}
    steps = _AttackSteps(watch, len(tables) * _steps_of(scenario, settings))
    attackers = _Attackers.of(
        schema, scenario, real=real, held_out=held_out, settings=settings, steps=steps
    )
    exposures = [attackers.exposure(name, sheet) for name, sheet in tables.items()]
    found = {name: attackers.membership(real, sheet) for name, sheet in stand_ins.items()}
    singled = {
        name: singling_out(schema, real=real, control=held_out, synthetic=sheet, seed=settings.seed)
        for name, sheet in stand_ins.items()
    }
    linked = {
        name: linkage(
            schema,
            known=scenario.quasi_identifiers,
            real=real,
            control=held_out,
            synthetic=sheet,
            seed=settings.seed,
        )
        for name, sheet in stand_ins.items()
    }
    given = {name: sheet for name, sheet in stand_ins.items() if name != LEAKY}
    sheets = {"real": real, **given, **({} if held_out is None else {"held-out": held_out})}
    notes = (*_remarks(sheets, settings.seed), *attackers.notes(tables))
    baseline, value = attackers.zero_rule()
    victims = attackers.victims.sheet.rows
    return Disclosure(
        scenario=scenario,
        victims=victims,
        baseline=baseline,
        most_frequent=value,
        exposures=tuple(exposures),
        memberships=found,
        singled_out=singled,
        linked=linked,
        seed=settings.seed,
        notes=notes,
    )


def _steps_of(scenario: Scenario, settings: Settings) -> int:
    """GCAP with all keys is one, and every model is one."""
    return 1 + len(learners(settings.classifiers)) * len(scenario.keys)


class _AttackSteps:
    """Reports the progress of the work."""

    def __init__(self, watch: StepProgress, total: int) -> None:
        self._watch = watch
        self._total = total
        self._done = 0

    def take(self, what: str) -> None:
        """Say what comes next."""
        self._watch(self._done, self._total, what)
        self._done += 1


def _remarks(sheets: Mapping[str, EvaluationTable], seed: int) -> list[str]:
    notes = [note for name, sheet in sheets.items() for note in sheet.remarks(name, seed)]
    if "held-out" not in sheets:
        return notes
    found = overlap(sheets["real"], sheets["held-out"])
    if found.is_more:
        notes.append(
            f"{found.shared:,} of {found.rows:,} held-out rows are in the real table too, where "
            f"chance makes about {found.by_chance:,.0f}: membership looks safer than it is; hold "
            "out rows that the fit has not seen"
        )
    return notes


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class _Attackers:
    """Everything that all tables are attacked with.

    Attributes:
        victims: real rows with a sensitive value. `asked`: those that classifiers are asked about.
        strangers: held-out rows with a sensitive value.
    """

    schema: Schema
    scenario: Scenario
    victims: Victims
    asked: Victims
    strangers: EvaluationTable | None
    held_out: EvaluationTable | None
    settings: Settings
    steps: _AttackSteps

    @classmethod
    def of(
        cls,
        schema: Schema,
        scenario: Scenario,
        *,
        real: EvaluationTable,
        held_out: EvaluationTable | None,
        settings: Settings,
        steps: _AttackSteps,
    ) -> _Attackers:
        """The rows that have a sensitive value."""
        victims = Victims.of(schema, scenario.sensitive, real)
        asked = victims.at_most(settings.most_rows, settings.seed)
        unseen = None if held_out is None else with_value(schema, scenario.sensitive, held_out)
        return cls(
            schema=schema,
            scenario=scenario,
            victims=victims,
            asked=asked,
            strangers=unseen,
            held_out=held_out,
            settings=settings,
            steps=steps,
        )

    def zero_rule(self) -> tuple[float | None, str | None]:
        """The share of the victims' most frequent value, and that value."""
        rows = self.victims.sheet.rows
        if not rows:
            return None, None
        counts = np.bincount(self.victims.sheet.table.codes[self.scenario.sensitive])
        target = Target(self.scenario.sensitive, self.schema.learned[self.scenario.sensitive])
        return float(counts.max() / rows), target.label(int(counts.argmax()))

    def exposure(self, name: str, sheet: EvaluationTable) -> Exposure:
        """All attacks by who holds one table."""
        known = with_value(self.schema, self.scenario.sensitive, sheet)
        self.steps.take(f"{name}: GCAP")
        found = self._attributions(self.victims.sheet, known)
        strangers = () if self.strangers is None else self._attributions(self.strangers, known)
        attacks = [_by_vote(found)]
        for learner in learners(self.settings.classifiers):
            attempts = []
            for key in self.scenario.keys:
                self.steps.take(f"{name}: {learner.title}")
                attempts.append(self.asked.attempt(learner, known, key, settings=self.settings))
            attacks.append(Attack(learner.name, learner.title, tuple(attempts)))
        return Exposure(
            name=name,
            rows=known.rows,
            attacks=tuple(attacks),
            attributions=found,
            strangers=strangers,
            anonymities=tuple(
                anonymity(known.table, sensitive=self.scenario.sensitive, key=key)
                for key in self.scenario.keys
            ),
        )

    def _attributions(
        self, persons: EvaluationTable, known: EvaluationTable
    ) -> tuple[Attribution, ...]:
        return tuple(
            attribution(persons.table, known.table, sensitive=self.scenario.sensitive, key=key)
            for key in self.scenario.keys
        )

    def membership(self, real: EvaluationTable, synthetic: EvaluationTable) -> Membership:
        """Real rows told from held-out ones."""
        if self.held_out is None:
            return Membership(auc=None, reason=_NO_STRANGERS)
        return membership(
            self.schema,
            members=real,
            others=self.held_out,
            synthetic=synthetic,
            seed=self.settings.seed,
        )

    def notes(self, tables: Mapping[str, EvaluationTable]) -> list[str]:
        """How the attacks were made, where a reader could think otherwise."""
        most, largest = self.settings.most_rows, max(sheet.rows for sheet in tables.values())
        notes = [_OWN_ROWS]
        for learner in learners(self.settings.classifiers):
            if largest > (cap := learner.capped(most)):
                notes.append(
                    f"{learner.title} learns from {cap:,} rows at most, chosen by the seed"
                )
        if self.victims.sheet.rows > most:
            notes.append(f"classifiers are asked about {most:,} real rows, chosen by the seed")
        if self.held_out is not None and largest > MOST_SYNTHETIC:
            notes.append(
                f"distances are from {MOST_SYNTHETIC:,} synthetic rows, chosen by the seed"
            )
        return notes


def _by_vote(found: Sequence[Attribution]) -> Attack:
    """GCAP as a classifier: the most frequent value among the nearest rows is named."""
    empty = "there are no rows with a sensitive value"
    attempts = (Attempt(a.vote, reason=empty if a.vote is None else None) for a in found)
    return Attack("gcap", "GCAP, by majority", tuple(attempts))
