"""The light of fidelity: how near columns, pairs and groups are to the real ones."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.marginals.distributions import ColumnShares
from understudy.evaluation.marginals.variation import Variation
from understudy.evaluation.raw.columns import RawColumn
from understudy.evaluation.verdict.criteria import (
    CHANGED,
    CRITERIA,
    DEPENDENCE,
    DISTINCT,
    EXPECTED_ROWS,
    FAR_BEYOND,
    FEW_ROWS,
    FRESH,
    LOST_GROUPS,
    LOST_VALUE,
    OUT_OF_RANGE,
    PAIRS,
    SINGLE_COLUMN,
)
from understudy.evaluation.verdict.light import Colour, Finding, Light

_BY_NAME = {criterion.name: criterion for criterion in CRITERIA}


def fidelity_light(found: Evaluation) -> Light:
    """Judge how near the stand-in is to the real rows; the worst finding decides."""
    findings = [
        *_pairs(found.variations),
        *_columns(found),
        *_values(found),
        *_groups(found),
        *_out_of_range(found),
        *_schema(found),
        *_few(found),
    ]
    if not findings:
        reason = "There are no rows to compare."
        findings = [SINGLE_COLUMN.finding(None, reason)]
    return Light.of("fidelity", findings, [number_of(finding) for finding in findings])


def number_of(finding: Finding) -> str:
    """The number of a finding in few characters."""
    return _BY_NAME[finding.name].text(finding.value) if finding.name in _BY_NAME else "–"


def beyond_floor(column: ColumnShares) -> float:
    """The distance of a column less that of fresh rows of the same population."""
    return max(column.distance - FRESH * (column.floor or 0.0), 0.0)


def _columns(found: Evaluation) -> list[Finding]:
    if not found.has_rows:
        return []
    column = max(found.distributions, key=lambda each: (beyond_floor(each), each.distance))
    beyond = beyond_floor(column)
    which = (
        f"The worst column is {column.column}"
        if beyond
        else "No column is farther off than fresh real rows; the largest distance is that of "
        f"{column.column}"
    )
    said = (
        f"{which}: {column.distance:.3f} of rows would have to change, and {_fresh(column.floor)}."
    )
    return [SINGLE_COLUMN.finding(beyond, said)]


def _fresh(floor: float | None) -> str:
    """Say how far as many fresh rows of the same population are from the real ones."""
    return f"{FRESH * (floor or 0.0):.3f} with fresh real rows"


def _pairs(variations: Sequence[Variation]) -> list[Finding]:
    """Dependence that is lost where there is some, else the distance itself."""
    pairs = variations[1].mean
    if pairs.value is None or pairs.resampled is None or pairs.independent is None:
        return []
    chance = FRESH * pairs.resampled
    said = f"In pairs of columns {pairs.value:.3f} of rows would have to change on average"
    alone = f"{said}, and {_fresh(pairs.resampled)}."
    found = [PAIRS.finding(max(pairs.value - chance, 0.0), alone)]
    part = lost_part(variations[1])
    if part is not None:
        words = DEPENDENCE.text(part)
        lost = f"{words} of the way from fresh real rows to independent columns."
        found.insert(0, DEPENDENCE.finding(part, f"{said}: {lost}"))
    return found


def lost_part(pairs: Variation) -> float | None:
    """How far pairs are from fresh rows to independent columns; None where these are as near."""
    floor, high, value = pairs.mean.resampled, pairs.mean.independent, pairs.mean.value
    if floor is None or high is None or value is None or high <= DISTINCT * FRESH * floor:
        return None
    low = FRESH * floor
    return min(max((value - low) / (high - low), 0.0), 1.0)


def lost_value(column: ColumnShares, synthetic_rows: int) -> tuple[str, float] | None:
    """The most frequent value that no synthetic row has, though some were to be expected."""
    gone = [
        (float(real), label)
        for real, made, label in zip(column.real, column.synthetic, column.labels, strict=True)
        if real * synthetic_rows >= EXPECTED_ROWS and made == 0
    ]
    if not gone:
        return None
    share, label = max(gone)
    return label, share


def _values(found: Evaluation) -> list[Finding]:
    if not found.has_rows:
        return []
    rows = found.sides["synthetic"].used
    lost = [(c.column, *gone) for c in found.distributions if (gone := lost_value(c, rows))]
    if not lost:
        return [LOST_VALUE.finding(0.0, "Every value that was to be expected was generated.")]
    column, label, share = max(lost, key=lambda each: each[2])
    said = f"No synthetic row has {column} = {label}, which {LOST_VALUE.text(share)} of rows have."
    return [LOST_VALUE.finding(share, said)]


def _groups(found: Evaluation) -> list[Finding]:
    cells = found.cells
    if not cells.groups:
        return []
    share = cells.lost_groups / cells.groups
    said = (
        f"{cells.lost_groups:,} of {cells.groups:,} groups by two columns with at least 1 % of "
        "rows lost more than half of them."
    )
    return [LOST_GROUPS.finding(share, said)]


def changed_columns(raw: Sequence[RawColumn]) -> list[RawColumn]:
    """Columns that the schema changes, the most changed first."""
    return sorted((c for c in raw if c.changed > 0), key=lambda c: -c.changed)


def badly_changed(found: Evaluation) -> list[RawColumn]:
    """Columns that the schema changes beyond what is good, the most changed first."""
    return [c for c in changed_columns(found.raw) if CHANGED.colour(c.changed) != Colour.GREEN]


def out_of_range_columns(found: Evaluation) -> list[RawColumn]:
    """Columns with many values beyond the real ones, or with some far beyond; the worst first."""
    named = [
        column
        for column in found.raw
        if OUT_OF_RANGE.colour(column.out_of_range) is not Colour.GREEN
        or column.excess > FAR_BEYOND
    ]
    return sorted(named, key=lambda column: (-column.out_of_range, -column.excess))


def _out_of_range(found: Evaluation) -> list[Finding]:
    if not found.raw or not found.has_rows:
        return []
    worst = max(found.raw, key=lambda column: (column.out_of_range, column.excess))
    if not worst.reach:
        said = "No synthetic value is far beyond the real ones or outside the schema."
        return [OUT_OF_RANGE.finding(0.0, said)]
    share = OUT_OF_RANGE.text(worst.out_of_range)
    where = "far beyond the real ones" if worst.beyond >= worst.outside else "not declared"
    said = f"Synthetic values of {worst.column} {worst.reach}; {share} of them are {where}."
    return [OUT_OF_RANGE.finding(worst.out_of_range, said)]


def _schema(found: Evaluation) -> list[Finding]:
    real = found.sides["real"]
    findings = []
    if real.read:
        dropped = 1 - real.fitting / real.read
        said = f"{real.read - real.fitting:,} of {real.read:,} real rows do not fit the schema."
        findings.append(CHANGED.finding(dropped, said))
    changed = changed_columns(found.raw)
    if changed:
        worst = changed[0]
        share = CHANGED.text(worst.changed)
        said = f"The schema cannot keep {share} of the values of {worst.column}: {worst.sentence}."
        findings.append(CHANGED.finding(worst.changed, said))
    return findings


def _few(found: Evaluation) -> list[Finding]:
    rows = min(found.sides[side].used for side in ("real", "synthetic"))
    if not 0 < rows < FEW_ROWS:
        return []
    return [
        Finding(
            name="few rows",
            colour=Colour.AMBER,
            value=float(rows),
            sentence=f"{rows:,} rows are too few to separate a near stand-in from a far one.",
            rule=f"With fewer than {FEW_ROWS} rows on either side fidelity is not green.",
        )
    ]
