"""Where the stand-in fails, on the page: raw columns, single cells, lost groups."""

from __future__ import annotations

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.failures.cells import CLOSE, MOST_OF, CellGap
from understudy.evaluation.failures.outliers import ISOLATED
from understudy.evaluation.failures.subgroups import Subgroup
from understudy.evaluation.raw.columns import PROBABILITIES, RawColumn, number_text
from understudy.evaluation.report.dots import DotChart, DotLine
from understudy.evaluation.report.figure import (
    NONE,
    Figure,
    Listing,
    TableRow,
    decimal,
    percent,
)
from understudy.facts.column import BinnedColumn


def raw_losses(found: Evaluation) -> Listing:
    """Show how the schema changed the cells of every column, the most changed first."""
    coded = {column.column: column.distance for column in found.distributions}
    order = sorted(found.raw, key=lambda c: (-c.changed, -(c.distance or 0.0)))
    head = (
        *("column", "clipped", "not listed", "unreadable", "rows dropped", "missing"),
        *("inside bins", "raw distance", "coded distance"),
    )
    lines = tuple(_loss(column, coded.get(column.column)) for column in order)
    return Listing(head, lines)


def _loss(column: RawColumn, coded: float | None) -> TableRow:
    whole = max(column.cells, 1)
    counts = (column.clipped, column.undeclared, column.unreadable, column.dropped, column.missing)
    shares = (percent(count / whole) if count else "0" for count in counts)
    inside = NONE if column.within_bins is None else percent(column.within_bins)
    return (column.column, *shares, inside, decimal(column.distance), decimal(coded))


def raw_numbers(found: Evaluation) -> Listing:
    """Quantiles, moments and tails of numbers and dates, real above synthetic."""
    head = (
        *("column", "table", *(f"{100 * p:g} %" for p in PROBABILITIES)),
        *("min", "max", "mean", "deviation", "skewness"),
    )
    lines: list[TableRow] = []
    for column in found.raw:
        if isinstance(column.declared, BinnedColumn) and column.real is not None:
            lines += _moments(column, column.declared)
    note = "Deviations of dates are in days, of moments in seconds." if lines else ""
    return Listing(head, tuple(lines), 2, note)


def _moments(column: RawColumn, declared: BinnedColumn) -> list[TableRow]:
    lines = []
    for side, found in (("real", column.real), ("synthetic", column.synthetic)):
        if found is None or not found.quantiles:
            continue
        ends = (*found.quantiles, found.least, found.most, found.mean)
        texts = (number_text(declared, value) for value in ends)
        spread = NONE if found.deviation is None else f"{found.deviation:.4g}"
        lines.append((column.column, side, *texts, spread, decimal(found.skewness)))
    return lines


def raw_values(found: Evaluation) -> Listing:
    """Listed values that are rare, or that no synthetic row has."""
    head = ("column", "lost values", "values", "never generated", "rare, real", "rare, synthetic")
    lines = [
        (
            column.column,
            ", ".join(f"{value} ({percent(share)})" for value, share in column.lost[:5]) or NONE,
            *(f"{count:,}" for count in column.values),
            *(percent(share) for share in column.rare),
        )
        for column in found.raw
        if column.values is not None and column.rare is not None
    ]
    lines.sort(key=lambda line: line[1] == NONE)
    note = "Rare values are those that fewer than 1 % of real rows have, all together."
    return Listing(head, tuple(lines), 2, note)


def usable_counts(found: Evaluation) -> Figure | None:
    """The relative error of counts in cross tables, by how large the count is."""
    sizes = found.cells.sizes
    if not sizes:
        return None
    lines = [
        DotLine(f"{size:,} rows and more", {"synthetic-dot": error}) for size, _, error in sizes
    ]
    chart = DotChart(
        lines,
        f"relative error that {100 * MOST_OF:.0f} % of counts keep",
        "Relative error of counts by their size; the table below has it",
        CLOSE,
    )
    data = Listing(
        ("real count from", "counts", f"error that {100 * MOST_OF:.0f} % keep"),
        tuple((f"{size:,}", f"{cells:,}", percent(error)) for size, cells, error in sizes),
    )
    usable = found.cells.usable_from
    words = "No count" if usable is None else f"Counts from {usable:,} rows on"
    return Figure(
        title="How small a count can be used",
        picture=chart.picture(),
        caption=f"{words} can be used: {100 * MOST_OF:.0f} % of them are within "
        f"{100 * CLOSE:.0f} % of the real count, in cross tables of two columns. Resampled rows "
        "are off by about √n rows where the count is n.",
        data=data,
        legend=(
            ("synthetic-dot", "synthetic rows"),
            ("reference", f"usable up to {100 * CLOSE:.0f} %"),
        ),
    )


def worst_cells(found: Evaluation) -> Listing:
    """Cells of cross tables with the largest difference of rows."""
    return _gaps(found.cells.worst)


def lost_groups(found: Evaluation) -> Listing:
    """Large groups by two columns of which less than half is left."""
    return _gaps(found.cells.lost)


def _gaps(cells: tuple[CellGap, ...]) -> Listing:
    lines = tuple((cell.words, f"{cell.real:,.0f}", f"{cell.synthetic:,.0f}") for cell in cells)
    note = "Synthetic rows are scaled to the number of real ones."
    return Listing(("group", "real rows", "synthetic rows"), lines, note=note)


def subgroup_table(found: Evaluation) -> Listing:
    """Every group with its shares, distances, rates and the mean prediction."""
    known = found.subgroups
    if known is None:
        return Listing(("group",), ())
    rated = known.positive is not None
    head: TableRow = (
        *(known.column, "rows", "real share", "synthetic share"),
        *("columns", "floor", "pairs", "floor", "worst column"),
        *(("real rate", "synthetic rate", "predicted rate") if rated else ()),
    )
    lines = tuple(_group_line(group, rated=rated) for group in known.groups)
    left = (
        f"{known.left_out:,} values have too few rows, or are left out. " if known.left_out else ""
    )
    rates = f"Rates are of {known.positive}." if rated else ""
    return Listing(head, lines, note=f"{left}{rates}".strip())


def _group_line(group: Subgroup, *, rated: bool) -> TableRow:
    worst = NONE if group.worst is None else f"{group.worst[0]} ({group.worst[1]:.3f})"
    distances = (group.distance[0], group.floor[0], group.distance[1], group.floor[1])
    rates = (*group.rate, group.predicted) if rated else ()
    return (
        *(group.value, f"{group.rows:,}", percent(group.real), percent(group.synthetic)),
        *map(decimal, distances),
        worst,
        *map(percent, rates),
    )


def detection_table(found: Evaluation) -> Listing:
    """The columns by which real and synthetic rows are told apart."""
    lines = tuple((name, decimal(fall)) for name, fall in found.detection.columns if fall > 0)
    return Listing(("column", "AUROC falls by, if it is shuffled"), lines)


def extreme_numbers(found: Evaluation) -> Listing:
    """Columns with numbers beyond Tukey's outer fences, those that differ most first."""
    declared = {column.column: column.declared for column in found.raw}
    head = ("column", "lower fence", "upper fence", "real rows beyond", "synthetic rows beyond")
    lines = tuple(
        (
            each.column,
            *(_place(declared.get(each.column), value) for value in (each.low, each.high)),
            percent(each.real),
            percent(each.synthetic),
        )
        for each in found.outliers.extremes
    )
    real, synthetic = map(percent, found.outliers.extreme_rows)
    note = f"At least one such number is in {real} of real and {synthetic} of synthetic rows."
    return Listing(head, lines, note=note if lines else "")


def _place(declared: object, value: float) -> str:
    return number_text(declared, value) if isinstance(declared, BinnedColumn) else f"{value:.6g}"


def repeated_rows(found: Evaluation) -> Listing:
    """Isolated real rows that the synthetic rows repeat, beside chance and a leak."""
    titles = {
        "synthetic": "the synthetic rows",
        "chance": "as many other real rows: chance",
        "leaky": "half of the real rows, copied: a leak made on purpose",
    }
    lines = tuple(
        (titles[name], percent(each.nearer), percent(each.equal))
        for name, each in found.outliers.repeated.items()
    )
    head = ("isolated rows repeated by", "nearer than any other real row", "equal in every cell")
    strange = percent(found.outliers.strange)
    note = (
        f"{found.outliers.isolated:,} isolated real rows: the {100 * ISOLATED:.0f} % that are "
        f"farthest from all others. Of synthetic rows {strange} are farther from all real rows "
        f"than {100 - 100 * ISOLATED:.0f} % of fresh real rows are."
    )
    return Listing(head, lines, note=note if lines else "")


def broken_constraints(found: Evaluation) -> Listing:
    """Declared constraints, and the rows of either table that break them."""
    lines = tuple(
        (each.words, f"{each.real:,}", percent(each.shares[0]), f"{each.synthetic:,}",
         percent(each.shares[1]))
        for each in found.violations
    )  # fmt: skip
    head = ("constraint", "real rows", "share", "synthetic rows", "share")
    return Listing(head, lines)
