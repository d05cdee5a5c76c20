"""TUC-1 section 3.7 as it is printed: several holders, three protocols, bits for a row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from understudy.evaluation.marginals.fidelity import cross_entropy, row_bits
from understudy.facts.schema import Schema
from understudy.federated import Collaboration, Form, seeded_analyst, split
from understudy.methods import Independent, PrivBayes
from understudy.methods.structure.table_cost import expected_noise
from understudy.models.model import Model
from understudy.models.pictures.charts import Line, Panel
from understudy.privacy.budget import Budget
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import seeded
from understudy_studies import seven
from understudy_studies.cells import CellValues, Results, Setting, SettingValue, Size, Spread
from understudy_studies.study import JudgedClaim, Study, StudyTable
from understudy_studies.tables import DIABETES, Coded, DataFolder, diabetes, parted

SEVEN, REAL = "seven attributes", "diabetes"
PROTOCOLS = ("statistics", "votes", "model")
PRINTED, IMPROVED, GAUSSIAN = "as printed", "improved", "improved, δ = 10⁻⁹"
# One row more or less, where the others replace one: half the noise for a weaker promise.
ADD_REMOVE = "improved, add-remove"
# The thesis' form, but for holders that let negative counts out: what their clipping does.
UNCLIPPED = "as printed, not clipped"
SHOWN = (PRINTED, IMPROVED, GAUSSIAN)
NETWORK, COLUMNS = "no privacy, one network", "no privacy, independent"
NONE, WHOLE = "none", "-"

_FORMS: dict[str, dict[str, Any]] = {
    PRINTED: {"form": Form.plain()},
    IMPROVED: {},
    GAUSSIAN: {"delta": "1e-9"},
    ADD_REMOVE: {"neighbours": "add-remove"},
    UNCLIPPED: {"form": replace(Form.plain(), unclipped=True)},
}
_SMOKE = ("3.4", "3.6")
_HELD_OUT = 0.2
_HOLDERS, _EPSILON, _REACH = 3, "0.1", "1"
# A difference in bits below this part of the smaller is none to speak of.
_ALIKE = 0.02


@dataclass(frozen=True)
class Sweep:
    """One figure of the thesis: what changes in it, the rest being what it is elsewhere."""

    name: str
    table: str
    over: str
    degree: int = 1

    def choices(self, values: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """The settings that it needs."""
        same = {"holders": _HOLDERS, "degree": self.degree, "epsilon": _EPSILON}
        yield from (same | {self.over: value} for value in values)

    def values(self, results: Results) -> list[Any]:
        """What it shows, in order: other figures may have brought some of it before."""
        return sorted(self.of(results).values(self.over), key=float)

    def of(self, results: Results) -> Results:
        """The cells that belong to it, a baseline for each degree among them."""
        fixed: dict[str, SettingValue]
        fixed = {"holders": _HOLDERS, "degree": self.degree, "epsilon": _EPSILON}
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


class FederatedBits(Study):
    """Bits of three protocols among holders, in the thesis' form and in ours."""

    title = "Bits that a network of several holders needs for a row"
    source = "TUC-1 section 3.7, figures 3.4 to 3.9"
    claim = (
        "On seven attributes all protocols need far fewer bits than independent columns and "
        "approach the true network's 5.12 bits as ε grows; sufficient statistics are best at "
        "large ε and suffer most from noise. Voting does not mind more holders, the others do. A "
        "higher degree harms statistics and slightly helps the others. On Diabetes statistics are "
        "far worse, voting is the clear winner at any number of holders, models become worse with "
        "more holders, and statistics, strangely, better."
    )
    words = (
        "Each holder has an equal part of the rows. *As printed* is the thesis' form: Laplace "
        "noise for neighbours that replace a row, every table at the same share, a fixed degree, "
        "negative counts set to zero by the holders; votes and local models give half of ε to "
        "choices by the exponential mechanism on mutual information. *Improved* makes the same "
        "promise with the protocols of `understudy.federated`; *δ = 10⁻⁹* has Gaussian noise; "
        "*add-remove*, at ε = 1 alone, half the noise for neighbours that differ by one row more "
        "or less. Baselines are the thesis': one network of all rows, and independent columns, "
        "both without privacy. Bits, the seven attributes and Diabetes are those of tuc1-bits. "
        "That statistics become better with more holders is no cancelling of noise, as the thesis "
        "guesses: holders that clip add a positive bias to every cell, the more of them the more, "
        "and tables drift towards even ones, which cost fewer bits than wild ones: at both ends "
        "the printed form is measured without clipping too. Bits are hard on noise: a value that "
        "noise took for impossible costs 16 bits each time it comes, so that even tables may beat "
        "better ones where noise drowns the rows."
    )
    reduced = (
        "10 runs for 100 on the seven attributes, 3 for 20 on Diabetes; on Diabetes four ε and "
        "four numbers of holders"
    )
    across = 3
    files = DIABETES

    def settings(self, size: Size) -> list[Setting]:
        """Baselines, then each figure's protocols and forms; what figures share stands once."""
        plan: list[dict[str, Any]] = []
        for figure in FIGURES:
            if size is Size.SMOKE and figure.name not in _SMOKE:
                continue
            values = _values(figure, size)
            same = {"table": figure.table} | _runs(figure.table, size)
            degrees = values if figure.over == "degree" else [figure.degree]
            plan += [same | baseline for baseline in _baselines(degrees)]
            plan += [same | choice for choice in _asked(figure, values, size)]
        plan += _alone(size)
        plan += _unclipped() if size is Size.FULL else []
        once = {tuple(setting.items()): setting for setting in plan}
        return [{**setting, "seed": seed} for seed, setting in enumerate(once.values())]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """The bits of every run; without noise one run of a fixed table is enough."""
        fixed = setting["table"] == REAL and setting["epsilon"] == NONE
        bits = [_bits(setting, run, shelf) for run in range(1 if fixed else int(setting["runs"]))]
        spread = Spread.of(bits)
        noise = _noise(setting, shelf)
        return {"mean": spread.mean, "deviation": spread.deviation, "bits": bits, "noise": noise}

    def made_by(self, setting: Setting) -> Sequence[str]:
        """Return the protocol of a setting, or the method of a baseline."""
        protocol = str(setting["protocol"])
        if protocol == WHOLE:
            return ["privbayes"]
        plain = setting["form"] in (PRINTED, UNCLIPPED)
        return [f"federated {protocol}{' as printed' if plain else ''}"]

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return the thesis' claims on each figure, in its own form."""
        return [found for figure in _shown(results) for found in _findings(figure, results)]

    def sentence(self, results: Results) -> str:
        """What each figure shows, the printed form beside ours; then the baseline at ε = 1."""
        parts = [_about(figure, results) for figure in _shown(results)]
        return " ".join([*parts, *_without_clipping(results), *_reached(results)])

    def summary(self, results: Results) -> StudyTable:
        """Return a line for each cell."""
        names = ("table", "protocol", "form", "holders", "degree", "epsilon")
        lines = [
            (
                *(cell.setting[name] for name in names),
                f"{cell.numbers['mean']:.3f}",
                cell.numbers["deviation"],
                cell.numbers["noise"],
            )
            for cell in results
        ]
        settings = ("table", "protocol", "form", "holders", "degree", "ε")
        return StudyTable((*settings, "bits", "± (of runs)", "noise of a cell, rows"), lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """A row for each figure, a panel for each protocol: forms, and baselines level."""
        return [
            _panel(figure, protocol, results)
            for figure in _shown(results)
            for protocol in figure.of(results).values("protocol")
        ]


# --- what is measured -------------------------------------------------------------------------


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


def _runs(table: str, size: Size) -> dict[str, int]:
    if table == REAL:
        return {"rows": 0, "runs": size.pick(smoke=0, quick=1, full=3)}
    return {
        "rows": size.pick(smoke=2_000, quick=40_000, full=40_000),
        "runs": size.pick(smoke=1, quick=3, full=10),
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
            reach = figure.name == "3.8" and choice["epsilon"] == _REACH
            forms = [*SHOWN, ADD_REMOVE] if reach else SHOWN
            yield from ({"protocol": protocol, "form": form} | choice for form in forms)


def _alone(size: Size) -> list[dict[str, Any]]:
    """One holder of all of Diabetes' rows, which shows what is owed to there being three."""
    if size is Size.SMOKE:
        return []
    same = {"table": REAL} | _runs(REAL, size)
    return [
        same | {"protocol": p, "form": IMPROVED, "holders": 1, "degree": 1, "epsilon": _REACH}
        for p in (PROTOCOLS[1:] if size is Size.QUICK else PROTOCOLS)
    ]


def _unclipped() -> list[dict[str, Any]]:
    """The ends of figure 3.9 for statistics, without the clipping."""
    values = _values(FIGURES[-1], Size.FULL)
    same = {"table": REAL, **_runs(REAL, Size.FULL), "protocol": "statistics", "form": UNCLIPPED}
    return [same | choice for choice in FIGURES[-1].choices([values[0], values[-1]])]


def _bits(setting: Setting, run: int, shelf: DataFolder) -> float:
    """One model, and the bits it needs."""
    generator = np.random.default_rng([int(setting["seed"]), run])
    if setting["table"] == SEVEN:
        schema, _ = seven.seven_attributes()
        model = _learned(setting, schema, seven.drawn(int(setting["rows"]), generator), generator)
        return float(seven.chances() @ row_bits(model, seven.every_row()))
    schema, table = _diabetes(shelf)
    learn, held_out = parted(table, _HELD_OUT, 5)
    return cross_entropy(_learned(setting, schema, learn, generator), held_out)


@cache
def _diabetes(shelf: DataFolder) -> Coded:
    return diabetes(shelf)


def _schema(setting: Setting, shelf: DataFolder) -> Schema:
    return seven.seven_attributes()[0] if setting["table"] == SEVEN else _diabetes(shelf)[0]


def _plan(setting: Setting, schema: Schema) -> Collaboration:
    return Collaboration(
        schema,
        str(setting["protocol"]),
        str(setting["epsilon"]),
        degree=int(setting["degree"]),
        # Holders take turns in one process, and nobody waits for them.
        deadline=1e9,
        **_FORMS[str(setting["form"])],
    )


def _noise(setting: Setting, shelf: DataFolder) -> float:
    """Return the noise of all holders on a cell if families shared the budget equally."""
    if setting["protocol"] == WHOLE:
        return 0.0
    plan = _plan(setting, _schema(setting, shelf))
    one = expected_noise(plan.spendable, plan.unit, tables=len(plan.domain))
    return one * math.sqrt(int(setting["holders"]))


def _learned(
    setting: Setting, schema: Schema, table: Table, generator: np.random.Generator
) -> Model:
    if setting["protocol"] == WHOLE:
        return _baseline(setting, schema, table)
    parts = split(table, "equal", holders=int(setting["holders"]), generator=generator)
    noise = int(generator.integers(2**62))
    return seeded_analyst(parts, _plan(setting, schema), noise).learn()


def _baseline(setting: Setting, schema: Schema, table: Table) -> Model:
    """Without noise: columns by themselves, or the greedy network by mutual information."""
    degree, none = int(setting["degree"]), Budget.unlimited()
    if setting["form"] == COLUMNS:
        alone = Independent(schema, epsilon=none)
        return seeded(alone, 0).fit(MemorySource(table), ledger=None).model_
    method = PrivBayes(schema, epsilon=none, degree=degree, score="MI", neighbours="replace")
    return seeded(method, 0).fit(MemorySource(table), ledger=None).model_


# --- what the numbers say ---------------------------------------------------------------------


def _shown(results: Results) -> list[Sweep]:
    """The figures of which there is more than the one point that they share with others."""
    return [figure for figure in FIGURES if len(figure.values(results)) > 1]


def _mean(results: Results, **wanted: Any) -> float:
    return float(results.where(**wanted).numbers("mean")[0])


def _about(figure: Sweep, results: Results) -> str:
    """From the first value of what changes to the last, for each protocol and form."""
    cells, values = figure.of(results), figure.values(results)
    of_table = results.where(table=figure.table)
    alone = _mean(of_table, form=COLUMNS)
    degrees = values if figure.over == "degree" else [figure.degree]
    central = min(_mean(of_table, form=NETWORK, degree=degree) for degree in degrees)
    said = "; ".join(_protocol(figure, cells, values, p) for p in cells.values("protocol"))
    return (
        f"Figure {figure.name} ({figure.table}, {_symbol(figure.over)} from {values[0]} to "
        f"{values[-1]}; one network without privacy {central:.2f}, independent columns "
        f"{alone:.2f}): {said}."
    )


def _protocol(figure: Sweep, cells: Results, values: Sequence[Any], protocol: str) -> str:
    parts = []
    for form in SHOWN:
        of_form = cells.where(protocol=protocol, form=form)
        start, end = (_mean(of_form, **{figure.over: value}) for value in (values[0], values[-1]))
        trend = "" if figure.over == "epsilon" else _trend(start, end)
        parts.append(f"{start:.2f} → {end:.2f}{trend}")
    return f"{protocol} {parts[0]} as printed, {parts[1]} improved, {parts[2]} with δ"


def _trend(start: float, end: float) -> str:
    if abs(end - start) <= _ALIKE * min(start, end):
        return " (alike)"
    return " (better)" if end < start else " (worse)"


def _symbol(over: str) -> str:
    return {"epsilon": "ε", "holders": "M", "degree": "k"}[over]


def _without_clipping(results: Results) -> Iterator[str]:
    """Whether more holders help statistics on Diabetes because they clip."""
    cells = FIGURES[-1].of(results).where(protocol="statistics")
    bare = cells.where(form=UNCLIPPED)
    if not bare.cells:
        return
    ends = sorted(bare.values("holders"))
    clipped, free = (
        [_mean(cells, form=form, holders=value) for value in ends] for form in (PRINTED, UNCLIPPED)
    )
    yield (
        f"In the printed form statistics on Diabetes go from {clipped[0]:.2f} to {clipped[1]:.2f} "
        f"bits with holders that clip{_trend(*clipped)}, and from {free[0]:.2f} to {free[1]:.2f} "
        f"with holders that do not{_trend(*free)}."
    )


def _reached(results: Results) -> Iterator[str]:
    """Whether three holders at ε = 1 beat independent columns without privacy on Diabetes."""
    real = results.where(table=REAL)
    cells = real.where(holders=_HOLDERS, degree=1, epsilon=_REACH)
    if not cells.cells:
        return
    alone = _mean(real, form=COLUMNS)
    said = [_against(cells.where(form=form), alone) for form in cells.values("form")]
    yield (
        f"Three holders on Diabetes at ε = {_REACH}, degree 1, against the {alone:.2f} bits of "
        f"independent columns that pay nothing for privacy: {'; '.join(said)}. What decides is the "
        "noise on a cell of the sums, over which an edge must tell something"
        f"{_single(real.where(holders=1, epsilon=_REACH), alone)}."
    )


def _single(results: Results, alone: float) -> str:
    """Return the result of one holder of all rows under the same promise."""
    if not results.cells:
        return ""
    return f": one holder of all rows, {_against(results, alone)}"


def _against(results: Results, alone: float) -> str:
    """The best protocol of one form beside the baseline."""
    best = min(results, key=lambda cell: float(cell.numbers["mean"]))
    bits, noise = float(best.numbers["mean"]), float(best.numbers["noise"])
    verdict = "beats them" if bits < alone else "cannot beat them"
    how = f"{best.setting['protocol']}, {bits:.2f}, noise of {noise:.0f} rows"
    return f"{best.setting['form']} {verdict} ({how})"


# --- the thesis' claims ------------------------------------------------------------------------


def _findings(figure: Sweep, results: Results) -> list[JudgedClaim]:
    """Judge the thesis' words on a figure by its own form."""
    own = figure.of(results).where(form=PRINTED)
    values = figure.values(results)
    if len(own.values("protocol")) < len(PROTOCOLS):
        return []
    bits = {
        p: [_mean(own.where(protocol=p), **{figure.over: v}) for v in values] for p in PROTOCOLS
    }
    shown = "; ".join(f"{p} {_listed(bits[p])}" for p in PROTOCOLS)
    measured = f"{_symbol(figure.over)} = {', '.join(map(str, values))}: {shown}"
    return [
        JudgedClaim.judged(f"Figure {figure.name}: {claim}", measured, holds, otherwise=otherwise)
        for claim, holds, otherwise in _judged(figure, bits, values)
    ]


def _judged(
    figure: Sweep, bits: Mapping[str, Sequence[float]], values: Sequence[Any]
) -> list[tuple[str, bool, str]]:
    """Each claim on one figure, whether it holds, and what is the case where it does not."""
    votes, others = bits["votes"], [bits["statistics"], bits["model"]]
    rise = {p: b[-1] - b[0] for p, b in bits.items()}
    won = [str(v) for i, v in enumerate(values) if votes[i] <= min(o[i] for o in others)]
    match figure.name:
        case "3.4" | "3.5":
            best = min(bits, key=lambda p: bits[p][-1])
            most = min(rise, key=lambda p: rise[p])
            return [
                (
                    "statistics are best at the largest ε",
                    best == "statistics",
                    f"{best} needs fewer bits there",
                ),
                (
                    "statistics suffer most from noise",
                    most == "statistics",
                    f"{most} needs more bits at the least ε, in what it gains up to the largest",
                ),
            ]
        case "3.6":
            least = min(rise, key=lambda p: rise[p])
            return [("voting minds more holders least", least == "votes", f"{least} minds less")]
        case "3.7":
            claim = "a higher degree harms statistics and does not harm the others"
            holds = rise["statistics"] > 0 >= max(rise["votes"], rise["model"])
            return [(claim, holds, "it harms another protocol too")]
        case "3.8":
            return [
                (
                    "voting needs the fewest bits",
                    len(won) == len(values),
                    f"it does at ε = {', '.join(won)}" if won else "models need fewer at every ε",
                )
            ]
        case _:
            return [
                (
                    "voting is the clear winner over the number of holders",
                    len(won) == len(values),
                    f"it wins at M = {', '.join(won)} alone" if won else "it never wins",
                ),
                (
                    "statistics become better with more holders",
                    rise["statistics"] < 0,
                    "they become worse",
                ),
            ]


def _listed(values: Sequence[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)


# --- charts -----------------------------------------------------------------------------------


def _panel(figure: Sweep, protocol: str, results: Results) -> Panel:
    own, values = figure.of(results).where(protocol=protocol), figure.values(results)
    lines = [_line(form, own.where(form=form), figure.over, values) for form in SHOWN]
    return Panel(
        f"figure {figure.name}, {figure.table}: {protocol}",
        {"epsilon": "ε", "holders": "holders", "degree": "degree"}[figure.over],
        "bits for a row",
        [*lines, *_levels(figure, results, values)],
        log_across=figure.over != "degree",
    )


def _line(name: str, cells: Results, over: str, values: Sequence[Any]) -> Line:
    spreads = [Spread.of(cells.where(**{over: v}).numbers("bits")[0]) for v in values]
    parts = ([getattr(s, part) for s in spreads] for part in ("mean", "low", "high"))
    return Line(name, [float(v) for v in values], *parts)


def _levels(figure: Sweep, results: Results, values: Sequence[Any]) -> list[Line]:
    """The baselines: a network for each degree where that is what changes."""
    of_table, across = results.where(table=figure.table), [float(v) for v in values]
    degrees = values if figure.over == "degree" else [figure.degree] * len(values)
    networks = [_mean(of_table, form=NETWORK, degree=degree) for degree in degrees]
    alone = [_mean(of_table, form=COLUMNS)] * len(values)
    return [Line(NETWORK, across, networks), Line(COLUMNS, across, alone)]


STUDY = FederatedBits()
