"""The kind of a column, decided by released counts of its cells and by its name.

Nothing here sees rows: labels, decimals, markers and notations follow from releases and from public
facts. Proof: docs/proofs/kinds.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from understudy.facts.formats import DraftColumn
from understudy.facts.names import is_identifier, remark_on
from understudy.methods.discover.cell_kinds import (
    CODE,
    COUNTED,
    DECIMALS,
    FALSE_SPELLINGS,
    KINDS,
    MARKS,
    ROUND,
    TRUE_SPELLINGS,
)
from understudy.methods.discover.notations import NOTATIONS, alike, learned_notation
from understudy.methods.discover.shares import CountNoise, reached
from understudy.system.arrays import Integers

# The chance that some kind of which no cell is seems to be there, and the same for some word.
_STRAY = 1 / 200
# The same for a kind or notation beside a more frequent one, which would change the column's kind.
_MISTAKEN = 1e-6
# The same for codes with leading zeros: a number in place of a code is worse than the reverse.
CODED = 1 / 1000
# Where noise could hide codes in more than this part of the cells, numbers may be codes.
_HIDDEN = 0.1
# Cells that cannot be read as numbers or dates make a column of texts beyond this part of all.
_UNREADABLE = 0.02
# Values that are nearly all different are names of rows, or texts.
_MOSTLY_DIFFERENT = 0.5
# What an id is by its name may be repeated, by persons with many rows; a code has fewer values.
_REPEATED = 0.02


@dataclass(frozen=True)
class NoisyDistinct:
    """A released number of different values, and the noise it was released with."""

    value: int
    noise: CountNoise

    @property
    def height(self) -> float:
        """Return the height that noise by itself exceeds in one of 200 columns."""
        return reached(self.noise, _STRAY)


@dataclass(frozen=True)
class LearnedKind:
    """The kind that was learned for a column.

    Attributes:
        kind: its kind.
        missing: whether missing cells stand out.
        clear: false where no kind stands out of the noise, and the kind is a guess.
        labels: of a boolean, the words for true and for false that most cells have.
        steps: of reals, `decimals` or a `step` that all cells that stand out have.
        markers: usual missing markers that stand out.
        notation: what declares how all cells are written that stand out, where that is unusual.
        doubtful: of whole numbers, whether noise may hide that they are codes.
    """

    kind: str
    missing: bool
    clear: bool
    labels: tuple[str, str] | None = None
    steps: Mapping[str, int | float] = field(default_factory=dict)
    markers: tuple[str, ...] = ()
    notation: Mapping[str, Any] = field(default_factory=dict)
    doubtful: bool = False

    @classmethod
    def of(cls, name: str, noisy: Integers, different: NoisyDistinct, noise: CountNoise) -> Self:
        """Decide by noisy counts of kinds and of different values, and by the column's name."""
        every = dict(zip(COUNTED, np.maximum(noisy, 0).tolist(), strict=True))
        words = _standing_out(every, (*TRUE_SPELLINGS, *FALSE_SPELLINGS), noise)
        digits = _standing_out(every, (ROUND, *DECIMALS), noise)
        marked = _standing_out(every, MARKS, noise)
        counts = {kind: every[kind] for kind in KINDS}
        steps = _steps(digits) if counts["float"] <= reached(noise, _STRAY / len(KINDS)) else {}
        # Words and decimals that chance may well show change labels and decimals, but no kind.
        apart = {"boolean": (*TRUE_SPELLINGS, *FALSE_SPELLINGS), "float": (ROUND, *DECIMALS)}
        for kind, parts in apart.items():
            counts[kind] += sum(_standing_out(every, parts, noise, chance=_MISTAKEN).values())
        least = reached(noise, _STRAY / len(KINDS))
        seen = _seen(counts, noise, noted=max(every[name] for name in NOTATIONS))
        noted = _standing_out(every, NOTATIONS, noise, chance=_MISTAKEN)
        if not noted and not seen:
            noted = _standing_out(every, NOTATIONS, noise)
        if kin := alike(noted):
            noted |= _standing_out(every, kin, noise)
        filled = sum(counts[kind] for kind in KINDS if kind != "missing" and kind in seen)
        codes, hidden = every[CODE], reached(noise, CODED)
        filled += sum(noted.values()) + (codes if codes > hidden else 0)
        unlike = different.value > max(_MOSTLY_DIFFERENT * filled, different.height)
        few = counts["text"] - least <= _UNREADABLE * filled
        others = seen - {"missing", "text"} if few else seen - {"missing"}
        others |= {"text"} if codes - hidden > _UNREADABLE * filled else set()
        notation = learned_notation(noted) if noted else None
        notation = notation if notation is not None and others <= notation.beside else None
        kind = _kind(others) if notation is None else notation.kind
        # Beside other kinds of cells a notation is one of texts.
        kind = "categorical" if noted and notation is None else kind
        repeated = is_identifier(name) and different.value + different.height > _REPEATED * filled
        names_rows = repeated or (unlike and kind == "categorical")
        kind = "id" if names_rows else kind
        labels = _labels(words) if kind == "boolean" else None
        steps = steps if kind == "float" else {}
        # Among other texts a word may be a value.
        markers = tuple(m for m in marked if not (m.isalpha() and kind == "categorical"))
        return cls(
            kind,
            missing="missing" in seen or bool(markers),
            clear=bool(noted or others or seen - {"missing"}),
            labels=labels,
            steps=steps,
            markers=markers,
            notation={} if notation is None or kind == "id" else notation.keys,
            doubtful=kind == "integer" and (codes > hidden or hidden > _HIDDEN * filled),
        )

    def draft(self, name: str) -> DraftColumn:
        """Return the column of a skeleton."""
        missing: dict[str, Any] = {}
        if self.missing:
            missing = {"missing": [*self.markers]}
        if self.kind == "id":
            remark = remark_on(name) or "nearly all values differ: generated, never learned"
            return DraftColumn("id", remark=remark)
        remark = "" if self.clear else "no kind stood out of the noise; check this one"
        remark = _CODE_OR_NUMBER if self.doubtful else remark
        labels: dict[str, Any] = {"labels": [*self.labels]} if self.labels else {}
        keys = {**labels, **self.steps, **self.notation, **missing}
        return DraftColumn(self.kind, keys, remark)


_CODE_OR_NUMBER = (
    "code or number? Noise may hide cells with leading zeros, which numbers lose; "
    "a code is categorical"
)


def _seen(counts: Mapping[str, int], noise: CountNoise, *, noted: int) -> set[str]:
    """The kinds that stand out; beside the most frequent one, only those that no chance explains.

    Missing cells change no kind.

    Args:
        counts: of cells of every kind.
        noise: what was added to them.
        noted: how many cells have the most frequent notation.
    """
    least, sure = (reached(noise, chance / len(KINDS)) for chance in (_STRAY, _MISTAKEN))
    filled = {kind: count for kind, count in counts.items() if kind != "missing"}
    most = max(filled, key=filled.__getitem__)
    easy = {"missing", most} if filled[most] >= noted else {"missing"}
    return {k for k, count in counts.items() if count > (least if k in easy else sure)}


def _standing_out(
    counts: Mapping[str, int],
    words: Sequence[str],
    noise: CountNoise,
    *,
    chance: float = _STRAY,
) -> dict[str, int]:
    """The words whose noisy counts are above what noise alone reaches, but for a chance."""
    least = reached(noise, chance / len(words))
    return {word: counts[word] for word in words if counts[word] > least}


def _labels(words: Mapping[str, int]) -> tuple[str, str] | None:
    """The most frequent words for true and for false; None unless both stand out."""
    true, false = (
        [word for word in group if word in words] for group in (TRUE_SPELLINGS, FALSE_SPELLINGS)
    )
    if not true or not false:
        return None
    return max(true, key=words.__getitem__), max(false, key=words.__getitem__)


def _steps(digits: Mapping[str, int]) -> dict[str, int | float]:
    """The most decimals that stand out; a step of one where all are zeros."""
    seen = [number for number, name in enumerate(DECIMALS, 1) if name in digits]
    if seen:
        return {"decimals": max(seen)}
    return {"step": 1.0} if ROUND in digits else {}


def _kind(seen: set[str]) -> str:
    """The narrowest kind that reads all kinds of cells that stand out."""
    kinds = (kind for kind, holds in _HOLDS.items() if seen and seen <= holds)
    return next(kinds, "categorical")


# Which kinds of cell a column of a kind can hold, the narrowest first.
_HOLDS = {
    "boolean": {"boolean"},
    "integer": {"integer"},
    "float": {"integer", "float"},
    "date": {"date"},
    "datetime": {"date", "datetime"},
}
