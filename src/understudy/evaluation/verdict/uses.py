"""Good and bad uses of a stand-in, with columns, pairs, targets and groups by name."""

from __future__ import annotations

from collections.abc import Iterable

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.failures.cells import CLOSE, MOST_OF
from understudy.evaluation.verdict.criteria import LOST_GROUPS, PREDICTION, SINGLE_COLUMN
from understudy.evaluation.verdict.fidelity import (
    badly_changed,
    beyond_floor,
    lost_value,
)
from understudy.evaluation.verdict.light import Colour
from understudy.evaluation.verdict.usefulness import kept_skill, relations

_NAMED = 5
# Raw columns farther apart than this, where codes are near, differ inside their bins.
_INSIDE_BINS = 0.1


def named(names: Iterable[str], most: int = _NAMED) -> str:
    """Some names as a list in words, and how many more there are."""
    known = list(names)
    if len(known) > most:
        return f"{', '.join(known[:most])} and {len(known) - most:,} more"
    return " and ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)


def good_for(found: Evaluation) -> list[str]:
    """List what the stand-in can be used for, by what was measured."""
    return [
        *_good_columns(found),
        *_good_counts(found),
        *_good_relations(found),
        *_good_models(found),
    ]


def not_good_for(found: Evaluation) -> list[str]:
    """List what it should not be used for, the gravest first."""
    return [
        *_bad_columns(found),
        *_bad_values(found),
        *_bad_groups(found),
        *_bad_counts(found),
        *_bad_relations(found),
        *_bad_models(found),
        *_bad_schema(found),
        *_bad_inside(found),
    ]


def _colours(found: Evaluation) -> dict[str, Colour]:
    if not found.has_rows:
        return {}
    return {c.column: SINGLE_COLUMN.colour(beyond_floor(c)) for c in found.distributions}


def _good_columns(found: Evaluation) -> list[str]:
    colours = _colours(found)
    good = [name for name, colour in colours.items() if colour is Colour.GREEN]
    if not good:
        return []
    if len(good) == len(colours):
        return ["tables and charts of every single column, by the schema’s bins"]
    return [f"tables and charts of single columns: {named(good)}"]


def _good_counts(found: Evaluation) -> list[str]:
    cells = found.cells
    size = cells.usable_from
    if size is None or cells.lost_groups > LOST_GROUPS.limit * cells.groups:
        return []
    return [
        f"cross tables of two columns, for counts from about {size:,} rows on: {MOST_OF:.0%} of "
        f"them are within {CLOSE:.0%} of the real count"
    ]


def _good_relations(found: Evaluation) -> list[str]:
    clear = [pair for pair in relations(found) if pair.is_clear]
    kept = sorted((pair for pair in clear if pair.is_kept), key=lambda pair: -pair.real)
    if not kept or 2 * len(kept) < len(clear):
        return []
    return [f"relations such as {named((' with '.join(p.columns) for p in kept), 3)}"]


def _good_models(found: Evaluation) -> list[str]:
    part = kept_skill(found.prediction)
    if part is None or PREDICTION.colour(part) is not Colour.GREEN:
        return []
    return [f"models that predict {found.prediction.target}"]


def _bad_columns(found: Evaluation) -> list[str]:
    bad = [
        c
        for c in sorted(found.distributions, key=beyond_floor, reverse=True)
        if found.has_rows and SINGLE_COLUMN.colour(beyond_floor(c)) in (Colour.RED, Colour.AMBER)
    ]
    if not bad:
        return []
    return [
        f"the distribution of {named(c.column for c in bad)}: up to {bad[0].distance:.0%} of rows "
        "would have to change"
    ]


def _bad_values(found: Evaluation) -> list[str]:
    rows = found.sides["synthetic"].used
    lost = [(c.column, *gone) for c in found.distributions if (gone := lost_value(c, rows))]
    if not lost:
        return []
    worst = sorted(lost, key=lambda each: -each[2])
    return [
        f"rows with {named(f'{column} = {label}' for column, label, _ in worst)}: there are none"
    ]


def _bad_groups(found: Evaluation) -> list[str]:
    lost = found.cells.lost
    if not lost:
        return []
    return [f"groups such as {named((cell.words for cell in lost), 3)}: more than half is lost"]


def _bad_counts(found: Evaluation) -> list[str]:
    if not found.cells.sizes:
        return []
    size = found.cells.usable_from
    if size is None:
        return ["counts in cross tables of two columns, whatever their size"]
    first = found.cells.sizes[0][0]
    if size <= first:
        return [f"groups of fewer than {size:,} rows"]
    return [f"counts of groups of fewer than about {size:,} rows"]


def _bad_relations(found: Evaluation) -> list[str]:
    pairs = relations(found)
    lost = sorted(
        (p for p in pairs if (p.is_clear and not p.is_kept) or p.is_invented),
        key=lambda p: -abs(p.real - p.synthetic),
    )
    if not lost:
        return []
    texts = (f"{' with '.join(p.columns)} ({p.real:.2f}, here {p.synthetic:.2f})" for p in lost)
    return [f"the relation of {named(texts, 3)}"]


def _bad_models(found: Evaluation) -> list[str]:
    part = kept_skill(found.prediction)
    if part is None or PREDICTION.colour(part) is Colour.GREEN:
        return []
    kept = f"{PREDICTION.text(part)} of the skill is kept"
    return [f"models that predict {found.prediction.target}: {kept}"]


def _bad_schema(found: Evaluation) -> list[str]:
    changed = badly_changed(found)
    if not changed:
        return []
    texts = (f"{c.column} ({c.sentence})" for c in changed)
    return [f"what the schema lost: {named(texts, 3)}"]


def _bad_inside(found: Evaluation) -> list[str]:
    """Columns that are near by their bins and far by their values."""
    coded = {column.column: beyond_floor(column) for column in found.distributions}
    far = [
        column
        for column in sorted(found.raw, key=lambda c: -(c.distance or 0.0))
        if column.real is not None
        and (column.distance or 0.0) - coded.get(column.column, 0.0) > _INSIDE_BINS
    ]
    if not far:
        return []
    return [f"exact values of {named(c.column for c in far)}: they are drawn at random inside bins"]
