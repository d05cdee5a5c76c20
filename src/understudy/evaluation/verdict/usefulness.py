"""The light of usefulness: whether models and relations come out as with real rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.marginals.association import Association
from understudy.evaluation.prediction.prediction import Prediction
from understudy.evaluation.verdict.criteria import (
    CLEAR_RELATION,
    PREDICTION,
    RELATIONS,
    SAME_BY_CHANCE,
    SAME_PART,
    SAME_STRENGTH,
)
from understudy.evaluation.verdict.fidelity import number_of
from understudy.evaluation.verdict.light import Finding, Light

# Skill of models on real rows below which there is nothing to keep.
_NO_SKILL = 0.05
_NOTHING = "No target was predicted, and the real columns have no clear relations."


@dataclass(frozen=True)
class Relation:
    """Two columns, Cramér's V of them in both tables, and how much of it may be chance."""

    columns: tuple[str, str]
    real: float
    synthetic: float
    chance: float

    @property
    def is_clear(self) -> bool:
        """Whether the real columns have a relation."""
        return self.real >= CLEAR_RELATION

    @property
    def is_kept(self) -> bool:
        """Whether it is as strong in the synthetic rows."""
        allowed = max(SAME_STRENGTH, SAME_PART * self.real, self.chance)
        return abs(self.real - self.synthetic) <= allowed

    @property
    def is_invented(self) -> bool:
        """Whether synthetic columns have a relation that real ones have not."""
        return not self.is_clear and self.synthetic >= CLEAR_RELATION and not self.is_kept


def relations(found: Evaluation) -> list[Relation]:
    """Every pair of columns with a number in the real table."""
    rows = min(found.sides[side].used for side in ("real", "synthetic"))
    chance = SAME_BY_CHANCE / math.sqrt(max(rows, 1))
    return list(_relations(found.associations["cramers_v"], chance))


def _relations(found: Association, chance: float) -> Iterator[Relation]:
    names = found.columns
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            real, made = found.real[i][j], found.synthetic[i][j]
            if real is not None:
                yield Relation((names[i], names[j]), real, made or 0.0, chance)


def usefulness_light(found: Evaluation) -> Light:
    """Judge predictions where there are some, and relations; the worse decides."""
    findings = [*_prediction(found.prediction), *_kept(relations(found))]
    if not findings:
        findings = [PREDICTION.finding(None, _NOTHING)]
    return Light.of("usefulness", findings, [number_of(finding) for finding in findings])


def skill(found: Prediction, side: str) -> float | None:
    """How far the best model is from one that knows nothing: 2·AUROC − 1, or R²."""
    name = "r2" if found.task == "regression" else "auroc"
    scores = [(pair.real if side == "real" else pair.synthetic).scores for pair in found.models]
    known = [score for each in scores if (score := each.get(name)) is not None]
    if not known:
        return None
    return max(known) if name == "r2" else 2 * max(known) - 1


def kept_skill(found: Prediction) -> float | None:
    """The part of the real rows' skill that synthetic rows teach; None where there is none."""
    ours, theirs = skill(found, "real"), skill(found, "synthetic")
    if ours is None or theirs is None or ours < _NO_SKILL:
        return None
    return min(max(theirs / ours, 0.0), 1.0)


def _prediction(found: Prediction) -> list[Finding]:
    part = kept_skill(found)
    if part is None:
        return []
    name = "R²" if found.task == "regression" else "AUROC"
    scores = [_score(found, side) for side in ("synthetic", "real")]
    said = (
        f"Models that learn {found.target} from synthetic rows reach {name} {scores[0]:.3f} on "
        f"real rows, and {scores[1]:.3f} from real ones: {PREDICTION.text(part)} of the skill is "
        "kept."
    )
    return [PREDICTION.finding(part, said)]


def _score(found: Prediction, side: str) -> float:
    value = skill(found, side) or 0.0
    return value if found.task == "regression" else (value + 1) / 2


def kept_relations(pairs: Sequence[Relation]) -> float | None:
    """The share of clear and invented relations that are kept; None where there are none."""
    clear = [pair for pair in pairs if pair.is_clear]
    judged = len(clear) + sum(pair.is_invented for pair in pairs)
    return sum(pair.is_kept for pair in clear) / judged if judged else None


def _kept(pairs: Sequence[Relation]) -> list[Finding]:
    clear = [pair for pair in pairs if pair.is_clear]
    invented = [pair for pair in pairs if pair.is_invented]
    if not clear and not invented:
        return []
    kept = sum(pair.is_kept for pair in clear)
    more = f", and {len(invented):,} are new" if invented else ""
    said = (
        f"{kept:,} of {len(clear):,} relations between two columns (Cramér’s V from "
        f"{CLEAR_RELATION} on) are as strong in the synthetic rows{more}."
    )
    return [RELATIONS.finding(kept_relations(pairs), said)]
