"""TUC-1 section 3.7 as it is printed: several holders, three protocols, bits for a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from understudy.evaluation.marginals.fidelity import cross_entropy, row_bits
from understudy.facts.schema import Schema
from understudy.federated import Collaboration, Form, seeded_analyst, split
from understudy.methods import Independent, PrivBayes
from understudy.methods.structure.table_cost import expected_noise
from understudy.models.model import Model
from understudy.models.network import Network
from understudy.models.pictures.charts import Line, Panel
from understudy.privacy.budget import Budget
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import seeded
from understudy_studies import seven
from understudy_studies.cells import CellValues, Results, Setting, Size, Spread
from understudy_studies.federated_claims import (
    about_figure,
    judged_figure,
    reached,
    with_network_given,
    without_clipping,
)
from understudy_studies.federated_sweeps import (
    ADD_REMOVE,
    COLUMNS,
    GAUSSIAN,
    GIVEN,
    IMPROVED,
    NETWORK,
    NONE,
    PRINTED,
    REAL,
    SEVEN,
    SHOWN,
    UNCLIPPED,
    WHOLE,
    Sweep,
    mean_bits,
    planned,
    shown_figures,
)
from understudy_studies.study import JudgedClaim, Study, StudyTable
from understudy_studies.tables import DIABETES, Coded, DataFolder, diabetes, parted

_FORMS: dict[str, dict[str, Any]] = {
    PRINTED: {"form": Form.plain()},
    IMPROVED: {},
    GAUSSIAN: {"delta": "1e-9"},
    ADD_REMOVE: {"neighbours": "add-remove"},
    UNCLIPPED: {"form": replace(Form.plain(), unclipped=True)},
    GIVEN: {"form": Form.plain()},
}
_HELD_OUT = 0.2


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
        "Statistics become better with more holders, but not because noise cancels, as the thesis "
        "guesses: holders that clip add a positive bias to every cell, the more of them the more, "
        "and tables drift towards even ones, which cost fewer bits than wild ones. At both ends "
        "the printed form is measured without clipping too. *Network given* has the tables of a "
        "network that is known, at half of ε, which is what votes have for them. Bits are hard on "
        "noise: a value that noise took for impossible costs 16 bits each time it comes, so that "
        "even tables may beat better ones where noise drowns the rows."
    )
    reduced = (
        "on the seven attributes 100 runs of the printed form among three holders, as there, and "
        "10 otherwise; 3 for 20 on Diabetes, with four ε and four numbers of holders"
    )
    across = 3
    files = DIABETES

    def settings(self, size: Size) -> list[Setting]:
        """Plan baselines, then each figure's protocols and forms; what figures share comes once."""
        return planned(size)

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
        plain = setting["form"] in (PRINTED, UNCLIPPED, GIVEN)
        return [f"federated {protocol}{' as printed' if plain else ''}"]

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return the thesis' claims on each figure, in its own form."""
        return [
            found for figure in shown_figures(results) for found in judged_figure(figure, results)
        ]

    def sentence(self, results: Results) -> str:
        """Say what each figure shows, the printed form beside ours; then the baseline at ε = 1."""
        parts = [about_figure(figure, results) for figure in shown_figures(results)]
        asides = (with_network_given, without_clipping, reached)
        return " ".join([*parts, *(said for aside in asides for said in aside(results))])

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
            for figure in shown_figures(results)
            for protocol in figure.of(results).values("protocol")
        ]


# --- what is measured -------------------------------------------------------------------------


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
        network=_known_network() if setting["form"] == GIVEN else None,
        # Holders take turns in one process, and nobody waits for them.
        deadline=1e9,
        **_FORMS[str(setting["form"])],
    )


@cache
def _known_network() -> Network:
    """The network of degree 1 of made-up rows, which holders know without looking."""
    schema, _ = seven.seven_attributes()
    rows = seven.drawn(40_000, np.random.default_rng(0))
    return _baseline({"form": NETWORK, "degree": 1}, schema, rows).network


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
    networks = [mean_bits(of_table, form=NETWORK, degree=degree) for degree in degrees]
    alone = [mean_bits(of_table, form=COLUMNS)] * len(values)
    return [Line(NETWORK, across, networks), Line(COLUMNS, across, alone)]


STUDY = FederatedBits()
