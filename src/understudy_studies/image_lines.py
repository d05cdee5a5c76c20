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


def generated(results: Results) -> list[Cell]:
    """Cells of generators, by method and by ε."""
    return [cell for method in METHODS for cell in by_epsilon(results.where(method=method))]


def runs_of_moments(results: Results) -> list[list[Cell]]:
    """The runs of moments that differ in their noise alone, by ε."""
    ordered = by_epsilon(results.where(method=MOMENTS))
    return [
        [cell for cell in ordered if cell.setting["epsilon"] == epsilon]
        for epsilon in dict.fromkeys(cell.setting["epsilon"] for cell in ordered)
    ]


def about_runs(runs: Sequence[Cell]) -> str:
    """Say the mean accuracy of runs that differ in noise alone, and its range."""
    epsilon = str(runs[0].setting["epsilon"])
    where = "without noise" if epsilon == NONE else f"at ε = {epsilon}"
    accuracies = [cell.numbers["accuracy"] for cell in runs]
    extremes = f"{percent(min(accuracies))} to {percent(max(accuracies))}"
    return f"{percent(float(np.mean(accuracies)))} % {where} ({len(runs)} runs, {extremes})"


def line_of_runs(runs: Sequence[Cell]) -> tuple[object, ...]:
    """One line for all runs at an ε, with the means of their numbers."""

    def mean(name: str) -> float:
        return float(np.mean([cell.numbers[name] for cell in runs]))

    setting = runs[0].setting
    seen = np.sum([cell.numbers["histogram"] for cell in runs], axis=0)
    shares = 100 * seen / seen.sum()
    collapsed = "yes" if any(cell.numbers["collapsed"] for cell in runs) else "no"
    head = (f"{MOMENTS}, mean of {len(runs)}", setting["epsilon"], mean("accuracy"), None, None)
    varied = (mean("diversity"), float(shares.min()), float(shares.max()), collapsed, None)
    sizes = (None, None, runs[0].numbers["images"], setting["made"], mean("seconds"))
    return (*head, *varied, *sizes)


def by_epsilon(results: Results) -> list[Cell]:
    """Sort cells by ε, without noise last."""
    return sorted(results, key=lambda cell: EPSILONS.index(str(cell.setting["epsilon"])))


def figure_of(cell: Cell) -> int:
    """Return the number of the thesis's figure that a cell stands for."""
    return FIGURES[str(cell.setting["method"]), str(cell.setting["epsilon"])]


def about_cell(cell: Cell) -> str:
    """Say the accuracy of one cell."""
    epsilon = str(cell.setting["epsilon"])
    where = "without noise" if epsilon == NONE else f"at ε = {epsilon}"
    steps = f" ({cell.numbers['steps']:,} steps)" if cell.numbers["steps"] else ""
    return f"{percent(cell.numbers['accuracy'])} % {where}{steps}"


def percent(share: float) -> str:
    """A share in per cent, rounded as the table rounds it: to three digits of the share."""
    return f"{100 * round(share, 3):.1f}"


def line_of(cell: Cell) -> tuple[object, ...]:
    """Return the line of one cell in the table."""
    setting, numbers = cell.setting, cell.numbers
    method, epsilon = str(setting["method"]), str(setting["epsilon"])
    head = (method, epsilon, numbers["accuracy"], numbers.get("relabelled"))
    printed = PRINTED.get((method, epsilon))
    if method == REAL:
        return (*head, printed, *[None] * 7, numbers["images"], None, None)
    shares = [100 * count / sum(numbers["histogram"]) for count in numbers["histogram"]]
    varied = (numbers["diversity"], min(shares), max(shares))
    collapsed = "yes" if numbers["collapsed"] else "no"
    sizes = (setting["lessons"], numbers["steps"], numbers["images"], setting["made"])
    return (*head, printed, *varied, collapsed, figure_of(cell), *sizes, numbers["seconds"])


def accuracy_panel(results: Results, name: str, key: str) -> Panel:
    """Chart one accuracy over ε, a line for each method."""
    noisy = [cell for cell in generated(results) if cell.setting["epsilon"] != NONE]
    ends = [float(cell.setting["epsilon"]) for cell in noisy]
    lines = []
    for method in METHODS:
        cells = [cell for cell in noisy if cell.setting["method"] == method]
        across = [float(cell.setting["epsilon"]) for cell in cells]
        if cells:
            lines.append(Line(method, across, [cell.numbers[key] for cell in cells]))
    if key == "accuracy":
        lines += _line_of_moments(results)
    real = results.where(method=REAL).numbers("accuracy")
    if real and ends:
        lines.append(Line(REAL, [min(ends), max(ends)], real * 2))
    return Panel(name, "ε", "accuracy", lines, log_across=True, between=(0.0, 1.0))


def _line_of_moments(results: Results) -> list[Line]:
    means = {
        float(runs[0].setting["epsilon"]): float(np.mean([c.numbers["accuracy"] for c in runs]))
        for runs in runs_of_moments(results)
        if runs[0].setting["epsilon"] != NONE
    }
    return [Line(MOMENTS, [*means], [*means.values()])] if means else []
