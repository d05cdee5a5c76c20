"""Good and bad uses of a stand-in, with columns, pairs, targets and groups by name.

Nothing is in both lists: bad uses are found first, and what they name is not recommended. While a
light is red, nothing is recommended that it judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.failures.cells import CLOSE, MOST_OF
from understudy.evaluation.verdict.criteria import (
    CHANGED,
    LOST_GROUPS,
    LOST_VALUE,
    OUT_OF_RANGE,
    PREDICTION,
    RELATIONS,
    SINGLE_COLUMN,
)
from understudy.evaluation.verdict.fidelity import (
    badly_changed,
    beyond_floor,
    lost_value,
    out_of_range_columns,
)
from understudy.evaluation.verdict.light import Colour
from understudy.evaluation.verdict.usefulness import (
    Relation,
    kept_relations,
    kept_skill,
    relations,
)

_NAMED = 5
# Raw columns farther apart than this, where codes are near, differ inside their bins.
_INSIDE_BINS = 0.1
_GRAVITY = {Colour.RED: 0, Colour.AMBER: 1, Colour.UNKNOWN: 2, Colour.GREEN: 3}


@dataclass(frozen=True)
class Use:
    """One use of a stand-in, good or bad.

    Attributes:
        words: the use for people.
        columns: columns that it speaks of as a whole.
        pairs: relations that it speaks of. `target`: the column that models predict.
        colour: how grave a bad use is, by the rule that it breaks; green breaks none.
    """

    words: str
    columns: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()
    target: str | None = None
    colour: Colour = Colour.GREEN


def named(names: Iterable[str], most: int = _NAMED) -> str:
    """Some names as a list in words, and how many more there are."""
    known = list(names)
    if len(known) > most:
        return f"{', '.join(known[:most])} and {len(known) - most:,} more"
    return " and ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)


def bad_uses(found: Evaluation) -> list[Use]:
    """List what the stand-in should not be used for, the gravest first."""
    uses = [
        *_bad_reach(found),
        *_bad_constraints(found),
        *_bad_columns(found),
        *_bad_values(found),
        *_bad_groups(found),
        *_bad_counts(found),
        *_bad_relations(found),
        *_bad_models(found),
        *_bad_schema(found),
        *_bad_inside(found),
    ]
    return sorted(uses, key=lambda use: _GRAVITY[use.colour])


def good_uses(
    found: Evaluation, bad: Sequence[Use], *, fidelity: Colour, usefulness: Colour
) -> list[Use]:
    """List what it can be used for, without what a bad use names or a red light judges.

    Args:
        found: the evaluation.
        bad: its bad uses.
        fidelity, usefulness: the colours of the two lights.
    """
    avoided = frozenset[str]().union(*(use.columns for use in bad))
    uses = _good_columns(found, avoided)
    if fidelity is not Colour.RED:
        uses += _good_counts(found)
    if Colour.RED not in (fidelity, usefulness):
        uses += _good_relations(found, avoided)
    if usefulness is not Colour.RED:
        uses += _good_models(found, avoided)
    return uses


def _good_columns(found: Evaluation, avoided: frozenset[str]) -> list[Use]:
    if not found.has_rows:
        return []
    good = [
        column.column
        for column in found.distributions
        if SINGLE_COLUMN.colour(beyond_floor(column)) is Colour.GREEN
        and column.column not in avoided
    ]
    if not good:
        return []
    except_values = ", apart from the values under “not good for”" if _lost_values(found) else ""
    words = (
        "tables and charts of every single column, by the schema’s bins"
        if len(good) == len(found.distributions)
        else f"tables and charts of single columns, by the schema’s bins: {named(good)}"
    )
    return [Use(f"{words}{except_values}", columns=frozenset(good))]


def _good_counts(found: Evaluation) -> list[Use]:
    cells = found.cells
    size = cells.usable_from
    if size is None or cells.lost_groups > LOST_GROUPS.limit * cells.groups:
        return []
    but = ", apart from the groups under “not good for”" if cells.lost else ""
    return [
        Use(
            f"cross tables of two columns, for counts from about {size:,} rows on{but}: "
            f"{100 * MOST_OF:.0f} % of them are within {100 * CLOSE:.0f} % of the real count"
        )
    ]


def _good_relations(found: Evaluation, avoided: frozenset[str]) -> list[Use]:
    clear = [pair for pair in relations(found) if pair.is_clear]
    kept = sorted((pair for pair in clear if pair.is_kept), key=lambda pair: -pair.real)
    if 2 * len(kept) < len(clear):
        return []
    kept = [pair for pair in kept if not avoided & {*pair.columns}]
    if not kept:
        return []
    words = f"relations such as {named((' with '.join(p.columns) for p in kept), 3)}"
    return [Use(words, pairs=frozenset(pair.columns for pair in kept))]


def _good_models(found: Evaluation, avoided: frozenset[str]) -> list[Use]:
    part, target = kept_skill(found.prediction), found.prediction.target
    if part is None or PREDICTION.colour(part) is not Colour.GREEN or target in avoided:
        return []
    return [Use(f"models that predict {target}", target=target)]


def _bad_reach(found: Evaluation) -> list[Use]:
    """Values that no real row could have, with how far they go."""
    columns = out_of_range_columns(found)
    if not columns:
        return []
    words = named((f"{c.column} (values {c.reach})" for c in columns), 3)
    grave = (c.column for c in columns if OUT_OF_RANGE.colour(c.out_of_range) is not Colour.GREEN)
    colour = OUT_OF_RANGE.colour(columns[0].out_of_range)
    return [Use(f"the range of {words}", columns=frozenset(grave), colour=colour)]


def _bad_constraints(found: Evaluation) -> list[Use]:
    broken = [each for each in found.violations if each.synthetic]
    if not broken:
        return []
    texts = (f"{each.words} ({each.synthetic:,} rows break it)" for each in broken)
    words = f"what rests on a declared constraint: {named(texts, 3)}"
    return [Use(words, colour=Colour.RED)]


def _bad_columns(found: Evaluation) -> list[Use]:
    bad = [
        c
        for c in sorted(found.distributions, key=beyond_floor, reverse=True)
        if found.has_rows and SINGLE_COLUMN.colour(beyond_floor(c)) in (Colour.RED, Colour.AMBER)
    ]
    if not bad:
        return []
    names = [c.column for c in bad]
    words = (
        f"the distribution of {named(names)}: up to {100 * bad[0].distance:.0f} % of rows would "
        "have to change"
    )
    colour = SINGLE_COLUMN.colour(beyond_floor(bad[0]))
    return [Use(words, columns=frozenset(names), colour=colour)]


def _lost_values(found: Evaluation) -> list[tuple[str, str, float]]:
    """Columns, values and shares that were to be expected and that no synthetic row has."""
    rows = found.sides["synthetic"].used
    lost = [(c.column, *gone) for c in found.distributions if (gone := lost_value(c, rows))]
    return sorted(lost, key=lambda each: -each[2])


def _bad_values(found: Evaluation) -> list[Use]:
    """Lost values; a column that lost a frequent one is not recommended at all."""
    lost = _lost_values(found)
    if not lost:
        return []
    grave = {column for column, _, share in lost if LOST_VALUE.colour(share) is not Colour.GREEN}
    texts = (f"{column} = {label}" for column, label, _ in lost)
    what, them = ("value", "it") if len(lost) == 1 else ("values", "them")
    words = f"the {what} {named(texts)}: no synthetic row has {them}"
    return [Use(words, columns=frozenset(grave), colour=LOST_VALUE.colour(lost[0][2]))]


def _bad_groups(found: Evaluation) -> list[Use]:
    lost = found.cells.lost
    if not lost:
        return []
    texts = (f"({cell.words})" for cell in lost)
    colour = LOST_GROUPS.colour(found.cells.lost_groups / max(found.cells.groups, 1))
    return [Use(f"groups such as {named(texts, 3)}: more than half is lost", colour=colour)]


def _bad_counts(found: Evaluation) -> list[Use]:
    if not found.cells.sizes:
        return []
    size = found.cells.usable_from
    if size is None:
        words = "counts in cross tables of two columns, whatever their size"
        return [Use(words, colour=Colour.RED)]
    return [Use(f"counts of groups of fewer than about {size:,} rows")]


def _bad_relations(found: Evaluation) -> list[Use]:
    lost = sorted(
        (p for p in relations(found) if (p.is_clear and not p.is_kept) or p.is_invented),
        key=lambda p: -abs(p.real - p.synthetic),
    )
    if not lost:
        return []
    words = f"the relation of {named(map(_strengths, lost), 3)}"
    colour = RELATIONS.colour(kept_relations(relations(found)))
    return [Use(words, pairs=frozenset(pair.columns for pair in lost), colour=colour)]


def _strengths(pair: Relation) -> str:
    """Two columns, and Cramér's V of them in both tables."""
    values = f"Cramér’s V {pair.real:.2f}, here {pair.synthetic:.2f}"
    return f"{' with '.join(pair.columns)} ({values})"


def _bad_models(found: Evaluation) -> list[Use]:
    part, target = kept_skill(found.prediction), found.prediction.target
    if part is None or PREDICTION.colour(part) is Colour.GREEN:
        return []
    kept = f"{PREDICTION.text(part)} of the skill is kept"
    words = f"models that predict {target}: {kept}"
    return [Use(words, target=target, colour=PREDICTION.colour(part))]


def _bad_schema(found: Evaluation) -> list[Use]:
    changed = badly_changed(found)
    if not changed:
        return []
    texts = (f"{c.column} ({c.sentence})" for c in changed)
    columns = frozenset(c.column for c in changed)
    words = f"what the schema lost: {named(texts, 3)}"
    return [Use(words, columns=columns, colour=CHANGED.colour(changed[0].changed))]


def _bad_inside(found: Evaluation) -> list[Use]:
    """Columns that are near by their bins and far by their values."""
    coded = {column.column: beyond_floor(column) for column in found.distributions}
    far = [
        column.column
        for column in sorted(found.raw, key=lambda c: -(c.distance or 0.0))
        if column.real is not None
        and (column.distance or 0.0) - coded.get(column.column, 0.0) > _INSIDE_BINS
    ]
    if not far:
        return []
    return [Use(f"values of {named(far)} inside their bins: they are drawn at random there")]
