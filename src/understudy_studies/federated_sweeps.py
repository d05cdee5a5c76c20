"""The figures of TUC-1 section 3.7: what changes in each, and the settings that this asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy_studies.cells import Results, Setting, SettingValue, Size

SEVEN, REAL = "seven attributes", "diabetes"
PROTOCOLS = ("statistics", "votes", "model")
PRINTED, IMPROVED, GAUSSIAN = "as printed", "improved", "improved, δ = 10⁻⁹"
# One row more or less, where the others replace one: half the noise for a weaker promise.
ADD_REMOVE = "improved, add-remove"
# The thesis' form, but for holders that let negative counts out: what their clipping does.
UNCLIPPED = "as printed, not clipped"
# The second half of votes by itself: tables of a network that is known, with the ε they have there.
GIVEN, GIVEN_EPSILON = "as printed, network given", "0.05"
SHOWN = (PRINTED, IMPROVED, GAUSSIAN)
NETWORK, COLUMNS = "no privacy, one network", "no privacy, independent"
NONE, WHOLE = "none", "-"

_SMOKE = ("3.4", "3.6")
HOLDERS, EPSILON, REACH = 3, "0.1", "1"


@dataclass(frozen=True)
class Sweep:
    """One figure of the thesis: what changes in it, the rest being what it is elsewhere."""

    name: str
    table: str
    over: str
    degree: int = 1

    def choices(self, values: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """The settings that it needs."""
        same = {"holders": HOLDERS, "degree": self.degree, "epsilon": EPSILON}
        yield from (same | {self.over: value} for value in values)

    def values(self, results: Results) -> list[Any]:
        """List the values it shows, in order: other figures may have brought some before."""
        return sorted(self.of(results).values(self.over), key=float)

    def of(self, results: Results) -> Results:
        """The cells that belong to it, a baseline for each degree among them."""
        fixed: dict[str, SettingValue]
        fixed = {"holders": HOLDERS, "degree": self.degree, "epsilon": EPSILON}
        del fixed[self.over]
        return results.where(table=self.table, **fixed)


FIGURES = (
    Sweep("3.4", SEVEN, "epsilon"),
    Sweep("3.5", SEVEN, "epsilon", degree=2),
    Sweep("3.6", SEVEN, "holders"),
    Sweep("3.7", SEVEN, "degree"),
    Sweep("3.8", REAL, "epsilon"),
    Sweep("3.9", REAL, "holders"),
)


def planned(size: Size) -> list[Setting]:
    """Plan baselines, then each figure's protocols and forms; what figures share comes once."""
    plan: list[dict[str, Any]] = []
    for figure in FIGURES:
        if size is Size.SMOKE and figure.name not in _SMOKE:
            continue
        values = _values(figure, size)
        same = {"table": figure.table} | _runs(figure.table, size)
        degrees = values if figure.over == "degree" else [figure.degree]
        plan += [same | baseline for baseline in _baselines(degrees)]
        asked = _asked(figure, values, size)
        plan += [same | _runs(figure.table, size, choice) | choice for choice in asked]
    plan += _alone(size)
    plan += [*_unclipped(), *_given()] if size is Size.FULL else []
    once = {tuple(setting.items()): setting for setting in plan}
    return [{**setting, "seed": seed} for seed, setting in enumerate(once.values())]


def _values(figure: Sweep, size: Size) -> Sequence[Any]:
    real = figure.table == REAL
    match figure.over:
        case "epsilon":
            few = size.pick(smoke=("0.1", "1"), quick=("0.1", "1"), full=("0.1", "0.3", "1", "3"))
            return few if real or size is not Size.FULL else ("0.03", *few)
        case "holders":
            full = (2, 3, 10, 50) if real else (2, 3, 5, 10, 20, 50)
            return size.pick(smoke=(2, 3), quick=(3, 10) if real else (2, 3, 50), full=full)
        case _:
            return size.pick(smoke=(1, 2), quick=(1, 2), full=(1, 2, 3))


def _runs(table: str, size: Size, choice: Mapping[str, Any] | None = None) -> dict[str, int]:
    """How many rows and runs; the thesis' own form among three holders has as many as there."""
    if table == REAL:
        return {"rows": 0, "runs": size.pick(smoke=0, quick=1, full=3)}
    printed = choice and (choice["form"], choice["holders"]) == (PRINTED, HOLDERS)
    return {
        "rows": size.pick(smoke=2_000, quick=40_000, full=40_000),
        "runs": size.pick(smoke=1, quick=3, full=100 if printed else 10),
    }


def _baselines(degrees: Sequence[int]) -> list[dict[str, Any]]:
    same = {"protocol": WHOLE, "holders": 1, "epsilon": NONE}
    columns = [{**same, "form": COLUMNS, "degree": 0}]
    return columns + [{**same, "form": NETWORK, "degree": degree} for degree in degrees]


def _asked(figure: Sweep, values: Sequence[Any], size: Size) -> Iterator[dict[str, Any]]:
    """Every protocol, in every form, over what the figure changes.

    Diabetes' tables of all pairs take a while to agree, so that quick runs leave them out.
    """
    quick = figure.table == REAL and size is Size.QUICK
    for protocol in PROTOCOLS[1:] if quick else PROTOCOLS:
        for choice in figure.choices(values):
            reach = figure.name == "3.8" and choice["epsilon"] == REACH
            forms = [*SHOWN, ADD_REMOVE] if reach else SHOWN
            yield from ({"protocol": protocol, "form": form} | choice for form in forms)


def _alone(size: Size) -> list[dict[str, Any]]:
    """One holder of all of Diabetes' rows, which shows what is owed to there being three."""
    if size is Size.SMOKE:
        return []
    same = {"table": REAL} | _runs(REAL, size)
    return [
        same | {"protocol": p, "form": IMPROVED, "holders": 1, "degree": 1, "epsilon": REACH}
        for p in (PROTOCOLS[1:] if size is Size.QUICK else PROTOCOLS)
    ]


def _unclipped() -> list[dict[str, Any]]:
    """The ends of figure 3.9 for statistics, without the clipping."""
    values = _values(FIGURES[-1], Size.FULL)
    same = {"table": REAL, **_runs(REAL, Size.FULL), "protocol": "statistics", "form": UNCLIPPED}
    return [same | choice for choice in FIGURES[-1].choices([values[0], values[-1]])]


def _given() -> list[dict[str, Any]]:
    """The ends of figure 3.6 for the tables of a network that all holders know."""
    values = _values(FIGURES[2], Size.FULL)
    same = {"table": SEVEN, **_runs(SEVEN, Size.FULL), "protocol": "parameters", "form": GIVEN}
    return [
        same | {"holders": value, "degree": 1, "epsilon": GIVEN_EPSILON}
        for value in (values[0], values[-1])
    ]


def shown_figures(results: Results) -> list[Sweep]:
    """The figures of which there is more than the one point that they share with others."""
    return [figure for figure in FIGURES if len(figure.values(results)) > 1]


def mean_bits(results: Results, **wanted: Any) -> float:
    """Return the mean of the first cell with these settings."""
    return float(results.where(**wanted).numbers("mean")[0])
