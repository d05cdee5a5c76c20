"""Lines, figures and charts of the study of images, from its cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.models.pictures.charts import Line, Panel
from understudy_studies.cells import Cell, Results

REAL = "real images"
NONE = "none"
METHODS = ("dpgan", "noise-gan")
MOMENTS = "moments"
GENERATORS = (*METHODS, MOMENTS)
EPSILONS = ("0.5", "1", "5", "10", "20", NONE)

# Accuracies that the thesis prints, by method and ε.
PRINTED = {
    (REAL, NONE): 0.9858,
    ("dpgan", "0.5"): 0.8685,
    ("dpgan", "1"): 0.9035,
    ("dpgan", "10"): 0.9571,
    ("dpgan", "20"): 0.9632,
    ("dpgan", NONE): 0.9667,
    ("noise-gan", "0.5"): 0.8481,
    ("noise-gan", "1"): 0.9167,
    ("noise-gan", "10"): 0.9489,
    ("noise-gan", "20"): 0.9661,
    ("noise-gan", NONE): 0.9667,
}
# Which of the thesis's figures a sheet stands for.
FIGURES = {
    (method, epsilon): 56 + 6 * i + j
    for i, method in enumerate(METHODS)
    for j, epsilon in enumerate(EPSILONS)
}

COLUMNS = (
    *("method", "ε", "runs", "accuracy", "lowest", "highest"),
    *("relabelled: not covered by ε", "thesis", "diversity", "fewest %", "most %", "collapsed"),
    *("figure", "lessons", "steps", "images", "made", "seconds", "seconds of drawing"),
)


def runs_of(results: Results, method: str) -> list[list[Cell]]:
    """The runs of a method that differ in their random numbers alone, by ε."""
    ordered = by_epsilon(results.where(method=method))
    return [
        [cell for cell in ordered if cell.setting["epsilon"] == epsilon]
        for epsilon in dict.fromkeys(cell.setting["epsilon"] for cell in ordered)
    ]


def about_runs(runs: Sequence[Cell]) -> str:
    """Say the mean accuracy of runs that differ in random numbers alone, and its range."""
    epsilon = str(runs[0].setting["epsilon"])
    where = "without noise" if epsilon == NONE else f"at ε = {epsilon}"
    accuracies = [cell.numbers["accuracy"] for cell in runs]
    extremes = f"{percent(min(accuracies))} to {percent(max(accuracies))}"
    how = [f"{len(runs)} runs, {extremes}" if len(runs) > 1 else "1 run"]
    steps = runs[0].numbers.get("steps")
    how += [f"{steps:,} steps"] if steps else []
    return f"{percent(float(np.mean(accuracies)))} % {where} ({', '.join(how)})"


def line_of_runs(runs: Sequence[Cell]) -> tuple[object, ...]:
    """One line for all runs at an ε, with the means of their numbers."""

    def mean(name: str) -> float | None:
        found = [cell.numbers[name] for cell in runs if name in cell.numbers]
        return float(np.mean(found)) if found else None

    setting, numbers = runs[0].setting, runs[0].numbers
    method, epsilon = str(setting["method"]), str(setting["epsilon"])
    accuracies = [cell.numbers["accuracy"] for cell in runs]
    extremes = (min(accuracies), max(accuracies)) if len(runs) > 1 else (None, None)
    head = (method, epsilon, len(runs), mean("accuracy"), *extremes)
    seen = np.sum([cell.numbers["histogram"] for cell in runs], axis=0)
    shares = 100 * seen / seen.sum()
    collapsed = "yes" if any(cell.numbers["collapsed"] for cell in runs) else "no"
    varied = (mean("diversity"), float(shares.min()), float(shares.max()), collapsed)
    printed = (mean("relabelled"), PRINTED.get((method, epsilon)))
    steps = (FIGURES.get((method, epsilon)), setting.get("lessons"), numbers.get("steps"))
    sizes = (numbers["images"], setting["made"], mean("seconds"), mean("drawing"))
    return (*head, *printed, *varied, *steps, *sizes)


def by_epsilon(results: Results) -> list[Cell]:
    """Sort cells by ε, without noise last."""
    return sorted(results, key=lambda cell: EPSILONS.index(str(cell.setting["epsilon"])))


def name_of_sheet(cell: Cell) -> str:
    """Name the file of a cell's samples, by the thesis's figure where it has one."""
    method, epsilon = str(cell.setting["method"]), str(cell.setting["epsilon"])
    figure = FIGURES.get((method, epsilon))
    return f"{method}-{epsilon}" if figure is None else f"figure-{figure}-{method}-{epsilon}"


def percent(share: float) -> str:
    """A share in per cent, rounded as the table rounds it: to three digits of the share."""
    return f"{100 * round(share, 3):.1f}"


def line_of_real(cell: Cell) -> tuple[object, ...]:
    """Return the line of the student of real images."""
    accuracy, printed = cell.numbers["accuracy"], PRINTED[REAL, NONE]
    found = {"method": REAL, "ε": NONE, "runs": 1, "accuracy": accuracy, "thesis": printed}
    found["images"] = cell.numbers["images"]
    return tuple(found.get(column) for column in COLUMNS)


def accuracy_panel(results: Results, name: str, key: str) -> Panel:
    """Chart one accuracy over ε, a line of means for each method."""
    lines = [line for method in GENERATORS for line in _line_of_means(results, method, key)]
    ends = [end for line in lines for end in line.across]
    real = results.where(method=REAL).numbers("accuracy")
    if real and ends:
        lines.append(Line(REAL, [min(ends), max(ends)], real * 2))
    return Panel(name, "ε", "accuracy", lines, log_across=True, between=(0.0, 1.0))


def _line_of_means(results: Results, method: str, key: str) -> list[Line]:
    means = {
        float(runs[0].setting["epsilon"]): float(np.mean([cell.numbers[key] for cell in runs]))
        for runs in runs_of(results, method)
        if runs[0].setting["epsilon"] != NONE and key in runs[0].numbers
    }
    return [Line(method, [*means], [*means.values()])] if means else []
