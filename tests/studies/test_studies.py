"""Studies: what they measure, how they resume, what they say of numbers, and what they refuse."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.shared import shared_file
from support.torches import need_torch
from understudy.errors import CapacityError, DataError, OutputError, UsageError
from understudy.evaluation.hypothesis import corrected_chi_squared
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.evaluation.prediction.features import Features
from understudy.evaluation.sheets import load
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.methods import Nist
from understudy.methods.structure.restrict import NONE
from understudy.methods.structure.scores import mutual_information
from understudy.models.network import Family
from understudy.models.pictures.charts import Line, Panel, chart_sheet
from understudy.models.pictures.heat import HeatMap
from understudy.models.sampling.inconsistent import family_weights
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import SeededNoise
from understudy_studies import (
    STUDIES,
    accuracy,
    copula,
    federated_bits,
    federated_claims,
    federated_sweeps,
    find,
    genetic_search,
    genetic_search_claims,
    nist_claims,
    nist_tasks,
    power_over_mixture,
    private_networks,
    processes,
    protected_networks,
    record,
    running,
    sba,
    searched_averages,
    searched_utility,
    seven,
    two_sensitive,
)
from understudy_studies.cells import Cell, Results, Setting, Size, Spread
from understudy_studies.census import dependent
from understudy_studies.classifier_claims import judged_divergence
from understudy_studies.histogram_power import correlated
from understudy_studies.network_figures import network_numbers
from understudy_studies.page import against_plan, page_of, write_page
from understudy_studies.printed import as_printed
from understudy_studies.processes import CellFailed, Step, StepSender, measure, measured
from understudy_studies.raw_tables import RawTape
from understudy_studies.record import (
    StudyFolder,
    derived,
    finished,
    picture,
    pictures,
    read,
)
from understudy_studies.running import run
from understudy_studies.study import JudgedClaim
from understudy_studies.tables import (
    DataFolder,
    diabetes,
    integer_schema,
    published_columns,
)

NOWHERE = DataFolder(Path("nowhere"))
PAGES = Path(__file__).parents[2] / "docs" / "studies"
# The quickest one.
NAME = "aau-networks"


def _cell(setting: Setting, numbers: Mapping[str, Any]) -> Cell:
    return Cell(setting, numbers, 1.0, "0")


def _smoke(name: str, folder: Path, **more: Any) -> dict[str, Any]:
    return run(name, Size.SMOKE, folder, shelf=NOWHERE, **more)


def _die(*arguments: object) -> None:
    raise SystemExit(9)


@pytest.mark.parametrize("name", STUDIES)
def test_plans_are_whole(name: str) -> None:
    """Every size has settings, no two alike, and full size has the most."""
    study = find(name)
    plans = {size: [json.dumps(s) for s in study.settings(size)] for size in Size}
    assert all(plan and len(set(plan)) == len(plan) for plan in plans.values())
    assert len(plans[Size.SMOKE]) <= len(plans[Size.QUICK]) <= len(plans[Size.FULL])
    assert all((study.title, study.source, study.claim, study.words))


@pytest.mark.parametrize("name", STUDIES)
def test_absent_tables_are_refused_before_work(name: str, tmp_path: Path) -> None:
    """A quick run without the tables it reads names them and the way out; smoke needs none."""
    if name.startswith("gan-"):
        need_torch()
    study = find(name)
    study.check(Size.SMOKE, NOWHERE)
    if not study.files:
        study.check(Size.QUICK, NOWHERE)
        return
    with pytest.raises(DataError, match=r"--data or \$UNDERSTUDY_SHARED"):
        run(name, Size.QUICK, tmp_path / "out", shelf=NOWHERE)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_study_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after one cell and run again: that cell is not measured again, numbers are equal."""
    whole = _smoke(NAME, tmp_path / "whole")
    asked: list[Setting] = []
    true_measure = processes.measure

    def counting(name: str, setting: Setting, shelf: DataFolder, **watched: Any) -> Cell:
        if len(asked) == 1:
            raise KeyboardInterrupt
        asked.append(setting)
        return true_measure(name, setting, shelf, **watched)

    monkeypatch.setattr(processes, "measure", counting)
    with pytest.raises(KeyboardInterrupt):
        _smoke(NAME, tmp_path / "parts")
    kept = read(tmp_path / "parts" / f"{NAME}.json", NAME)
    assert (False, 1, 4) == (kept["complete"], len(kept["cells"]), kept["planned"])

    monkeypatch.setattr(processes, "measure", true_measure)
    steps: list[tuple[int, int]] = []
    resumed = _smoke(NAME, tmp_path / "parts", watch=lambda *step: steps.append(step))
    assert [(0, 3), (1, 3), (2, 3), (3, 3)] == steps
    assert kept["cells"][0] == resumed["cells"][0]
    assert [c["numbers"] for c in whole["cells"]] == [c["numbers"] for c in resumed["cells"]]
    assert whole["sentence"] == resumed["sentence"]


@pytest.mark.slow
def test_cells_of_an_earlier_law_are_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell counts as done under the law that it was measured under, in whatever version."""
    settings = find(NAME).settings(Size.SMOKE)
    for law, known in ((1, True), (2, False)):
        monkeypatch.setattr(type(find(NAME)), "law", law)
        folder = tmp_path / str(law)
        folder.mkdir()
        record = StudyFolder(NAME, Size.SMOKE, folder)
        cells = [measure(NAME, s, NOWHERE) for s in settings]
        old = [Cell(c.setting, c.numbers, 1.0, "0", {"study": 1}) for c in cells]
        record.keep(old, planned=4)
        assert all(known == (c["version"] == "0") for c in _smoke(NAME, folder)["cells"])


@pytest.mark.slow
def test_two_processes_measure_what_one_does() -> None:
    """Cells come in any order and are those of one process."""
    settings = find(NAME).settings(Size.SMOKE)
    alone, together = (list(measured(NAME, settings, NOWHERE, processes=n)) for n in (1, 2))
    expected = {json.dumps(c.setting): c.numbers for c in alone}
    assert expected == {json.dumps(c.setting): c.numbers for c in together}


@pytest.mark.slow
def test_what_goes_wrong_in_a_process_is_told() -> None:
    """A setting that cannot be measured, and a process that dies, end the run."""
    impossible: list[Setting] = [{"epsilon": "-1", "runs": 1, "seed": 0}] * 2
    with pytest.raises(CellFailed, match="UsageError"):
        list(measured(NAME, impossible, NOWHERE, processes=2))
    deadly: list[Setting] = [{"epsilon": _Deadly(), "runs": 1, "seed": 0}] * 2  # type: ignore[dict-item]
    with pytest.raises(CapacityError, match="--processes 1"):
        list(measured(NAME, deadly, NOWHERE, processes=2))


class _Deadly:
    """Ends the process that unpacks it."""

    def __reduce__(self) -> tuple[Callable[..., None], tuple[()]]:
        return _die, ()


def test_records_of_another_size_are_not_replaced(tmp_path: Path) -> None:
    """A folder with a quick record refuses a smoke run, and keeps what it has."""
    StudyFolder(NAME, Size.QUICK, tmp_path).keep([], planned=1)
    before = (tmp_path / f"{NAME}.json").read_bytes()
    with pytest.raises(OutputError, match="another folder"):
        _smoke(NAME, tmp_path)
    assert before == (tmp_path / f"{NAME}.json").read_bytes()


@pytest.fixture(scope="module")
def whole_record(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The record of a small study that came to its end."""
    folder = tmp_path_factory.mktemp("finished")
    _smoke(NAME, folder)
    return (folder / f"{NAME}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"mean": 0.', '"mean": 0.1', 1),
        lambda text: text.replace(NAME, "aau-mixture"),
        lambda text: text.replace('"check"', '"chock"', 1),
        lambda text: "[]",
        lambda text: '{"format": "understudy-study", "study": "aau-networks", "size": "large"}',
        lambda text: "\x00",
    ],
)
def test_damaged_records_are_refused(
    damage: Callable[[str], str], whole_record: str, tmp_path: Path
) -> None:
    """A record that is cut, changed, or another study's is neither resumed nor shown."""
    path = tmp_path / f"{NAME}.json"
    path.write_text(damage(whole_record), encoding="utf-8")
    with pytest.raises(DataError, match="not a complete record"):
        _smoke(NAME, tmp_path)
    with pytest.raises(DataError, match="not a complete record"):
        write_page(NAME, path, tmp_path / "page.md")


def test_a_record_keeps_its_date_until_a_cell_is_measured(
    whole_record: str, tmp_path: Path
) -> None:
    """The same cells have the date and versions of their measurement, and another has today's."""
    document = json.loads(whole_record) | {"date": "2000-01-01", "versions": {"understudy": "0"}}
    record = StudyFolder(NAME, Size.SMOKE, tmp_path)
    record.path.write_text(json.dumps(document), encoding="utf-8")
    cells = [Cell.of(cell) for cell in document["cells"]]
    assert ("2000-01-01", {"understudy": "0"}) == tuple(
        record.finish(cells)[name] for name in ("date", "versions")
    )
    # A cell that is taken off the record was not measured since, either.
    assert "2000-01-01" == record.finish(cells[1:])["date"]
    first = Cell(cells[0].setting, cells[0].numbers, 2.0, "other")
    assert record.finish([first, *cells[1:]])["date"] > "2000-01-01"


def test_an_unfinished_study_has_no_page(tmp_path: Path) -> None:
    """Pages are of whole records only."""
    StudyFolder(NAME, Size.SMOKE, tmp_path).keep([], planned=4)
    with pytest.raises(DataError, match="0 of 4 cells"):
        finished(tmp_path / f"{NAME}.json", NAME)


def test_a_part_of_a_plan_is_measured_and_the_rest_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of some settings ends with a record and a page that say what is missing."""
    monkeypatch.setattr(type(find(NAME)), "partial", True)
    plan = find(NAME).settings(Size.SMOKE)
    cells = [Cell(s, {"mean": 0.5}, 1.0, "0", {"study": 1}) for s in plan]
    monkeypatch.setattr(
        running, "measured", lambda name, settings, *rest, **more: cells[1 : 1 + len(settings)]
    )
    monkeypatch.setattr(record, "derived", lambda name, cells: {"sentence": "", "summary": []})
    monkeypatch.setattr(record, "picture", lambda name, document: "")
    folder = StudyFolder(NAME, Size.SMOKE, tmp_path)
    folder.keep(cells[:1], planned=4)
    found = run(NAME, Size.SMOKE, tmp_path, shelf=NOWHERE, most=2)
    assert (False, 4, 3) == (found["complete"], found["planned"], len(found["cells"]))
    assert [dict(plan[3])] == found["missing"]
    assert found == json.loads(folder.path.read_text(encoding="utf-8"))
    assert found["missing"] == finished(folder.path, NAME)["missing"]
    whole = run(NAME, Size.SMOKE, tmp_path, shelf=NOWHERE, most=0)
    assert found["missing"] == whole["missing"]


def test_studies_that_need_all_their_cells_measure_no_part(tmp_path: Path) -> None:
    """Refused before anything is measured."""
    with pytest.raises(UsageError, match="--most"):
        run(NAME, Size.SMOKE, tmp_path / "out", shelf=NOWHERE, most=1)
    assert not (tmp_path / "out").exists()


def test_steps_of_a_cell_are_shown_with_the_time_left() -> None:
    """Beside the number of cells: method, ε, steps, and minutes by the steps since the first."""
    shown: list[tuple[object, ...]] = []
    times = iter([0.0, 60.0])
    labels = running.StepLabels(lambda *step: shown.append(step), 2, clock=lambda: next(times))
    setting: Setting = {"method": "dpgan", "epsilon": "10", "seed": 0}
    labels.report(setting, 10, 40)
    labels.report(setting, 20, 40)
    labels.finish()
    expected = [
        *((0, 2), (0, 2, "dpgan, ε = 10, step 10 of 40")),
        (0, 2, "dpgan, ε = 10, step 20 of 40, about 2 min left in this setting"),
        (1, 2),
    ]
    assert expected == shown


def test_steps_reach_the_first_process() -> None:
    """A process that measures a cell sends how far it is, once a second at most."""
    ours, theirs = get_context("spawn").Pipe()
    setting: Setting = {"epsilon": "1", "seed": 0}
    times = iter([0.0, 0.5, 1.5])
    watch = StepSender(theirs, setting, clock=lambda: next(times))
    watch(1, 9)
    assert not ours.poll()
    watch(2, 9)
    assert Step(setting, 2, 9) == ours.recv()


def test_unknown_studies_are_refused() -> None:
    """The message lists the known ones."""
    with pytest.raises(UsageError, match="tuc1-bits"):
        find("nonsense")


def test_spreads_are_those_of_the_numbers() -> None:
    """The mean and the standard deviation, which a single number has none of."""
    assert (2.0, 1.0) == (Spread.of([1, 2, 3]).mean, Spread.of([1, 2, 3]).deviation)
    assert (7.0, 0.0, 7.0) == (Spread.of([7]).mean, Spread.of([7]).deviation, Spread.of([7]).low)


# Sentences follow the numbers.


def _histogram(shares: Mapping[str, tuple[float, float]]) -> Results:
    return Results(
        tuple(
            _cell({"epsilon": e}, {"power": {"share": p}, "size": {"share": s}})
            for e, (p, s) in shares.items()
        )
    )


def test_the_histogram_sentence_follows_the_numbers() -> None:
    """A fall where the paper has it, or elsewhere, down to the level or to nothing."""
    say = find("aau-histogram").sentence
    as_paper = say(_histogram({"0.1": (0.05, 0.05), "0.3162": (0.16, 0.05), "3.162": (1.0, 0.05)}))
    assert "the fall lies where the paper has it" in as_paper
    assert "levels off at the level of the test" in as_paper
    other = say(_histogram({"0.1": (0.0, 0.05), "0.3162": (0.7, 0.05), "3.162": (0.8, 0.05)}))
    assert "not where the paper has it" in other
    assert "not as in the paper" in other
    assert "below the level" in other


def _networks(shares: Mapping[str, float], off: float) -> Results:
    def numbers(share: float) -> dict[str, Any]:
        edges = {"mean": share, "error": 0.01, "exact": share - off * 0.01}
        return {"greedy edges": edges, "greedy network": {"mean": 0.5, "error": 0.0, "exact": 0.5}}

    return Results(tuple(_cell({"epsilon": e}, numbers(s)) for e, s in shares.items()))


def test_the_sentence_on_networks_follows_the_numbers() -> None:
    """Shares that fall with ε are as in the paper, others are not; the worst error is named."""
    say = find("aau-networks").sentence
    assert "deteriorate as in the paper" in say(_networks({"0.5": 0.3, "50": 0.9}, 1.5))
    assert "within 1.5 standard errors" in say(_networks({"0.5": 0.3, "50": 0.9}, 1.5))
    assert "do not deteriorate" in say(_networks({"0.5": 0.9, "50": 0.3}, 1.5))


def _power(setting: Setting, power: float, size: float, calibrated: float) -> Cell:
    shares = {"power": power, "size": size, "calibrated": calibrated, "of_all": power}
    each = {w: {"share": s, "low": s - 0.02, "high": s + 0.02} for w, s in shares.items()}
    pairs = {f"{a}-{b}": each for a, b in copula.PAIRS}
    return _cell(setting, {"kept": {"dependent": 0.3, "independent": 0.3}, **pairs})


def _over_epsilon(*cells: tuple[str, float, float, float]) -> Results:
    same: dict[str, str | int] = {"method": "mended", "beta": "0.5", "runs": 500}
    return Results(tuple(_power({**same, "epsilon": e}, *numbers) for e, *numbers in cells))


def test_the_sentence_on_the_rise_follows_the_numbers() -> None:
    """A rise that independent columns share is noise; one they do not share is not; or none."""
    say = find("aau-privacy").sentence
    noise = say(_over_epsilon(("0.01", 0.7, 0.7, 0.05), ("0.1", 0.4, 0.4, 0.05), ("1", 1, 0.1, 1)))
    assert "noise taken for dependence" in noise
    assert "least (0.40) at ε = 0.1 and rises to 0.70 at 0.01" in noise
    assert "the level of the test" in noise
    other = say(_over_epsilon(("0.01", 0.7, 0.1, 0.6), ("0.1", 0.4, 0.4, 0.05), ("1", 1, 0.1, 1)))
    assert "not explained by noise alone" in other
    assert "more than its level" in other
    none = say(_over_epsilon(("0.01", 0.1, 0.1, 0.1), ("0.1", 0.4, 0.4, 0.05), ("1", 1, 0.1, 1)))
    assert "does not rise again" in none


def test_the_sentence_on_the_mixture_follows_the_numbers() -> None:
    """The shape of power over β, and whether independent columns are rejected as often."""
    say = find("aau-mixture").sentence
    numbers = {("0.1", "0.1"): (0.5, 0.5), ("0.1", "0.9"): (0.3, 0.3), ("1", "0.1"): (0.6, 0.1)}
    numbers[("1", "0.9")] = (0.9, 0.1)

    def results(scale: float) -> Results:
        return Results(
            tuple(
                _power({"method": "mended", "epsilon": e, "beta": b}, p * scale, s, p)
                for (e, b), (p, s) in numbers.items()
            )
        )

    said = say(results(1.0))
    assert "at ε = 0.1 lower for large β for z2 z3 z4 z5 (0.500 → 0.500 → 0.300 for z5" in said
    assert "independent columns are rejected as often, 0.50)" in said
    assert "at ε = 1 lower for small β for z2 z3 z4 z5 (0.600 → 0.600 → 0.900 for z5)" in said
    numbers[("1", "0.9")] = numbers[("1", "0.1")] = (0.2, 0.1)
    assert "at ε = 1 flat for z2 z3 z4 z5" in say(results(1.0))


def test_shapes_are_judged_by_what_chance_allows() -> None:
    """Three of 100 runs apart is flat, and three of 10,000 is not."""
    assert "flat" == power_over_mixture.shape([0.93, 0.94, 0.96], 100)
    assert "lower for small β" == power_over_mixture.shape([0.93, 0.94, 0.96], 10_000)
    assert "highest in between" == power_over_mixture.shape([0.5, 0.9, 0.5], 500)


def test_a_trend_of_one_pair_is_found_among_flat_ones() -> None:
    """Three pairs at 1 and one that rises: the claim of the paper is borne out by that one."""
    flat, rising = {"share": 1.0, "low": 0.99, "high": 1.0}, (0.93, 0.95, 0.98)
    cells = []
    for beta, share in zip(("0.1", "0.5", "0.9"), rising, strict=True):
        last = {"power": {"share": share}, "size": {"share": 0.1}}
        pairs = {f"{a}-{b}": {"power": flat, "size": {"share": 0.1}} for a, b in copula.PAIRS}
        setting: Setting = {"method": "as printed", "epsilon": "10", "beta": beta, "runs": 500}
        cells.append(_cell(setting, pairs | {"z1-z5": last | {"power": {**flat, "share": share}}}))
    [found, *_] = find("aau-mixture").findings(Results(tuple(cells)))
    assert "reproduced" == found.verdict
    assert "z5 0.930 → 0.950 → 0.980" in found.measured
    assert "0.93 → 0.93 → 0.98" in found.claim


def _tasks(scores: Mapping[str, tuple[float, float, float]]) -> dict[str, dict[str, float]]:
    names = ("clustering", "classification", "regression")
    return {name: dict(zip(names, values, strict=True)) for name, values in scores.items()}


def test_the_sentence_on_tasks_follows_the_numbers() -> None:
    """Differences of samplers are given as they are, without a task that shows nothing."""
    say = find("nist-tasks").sentence
    setting = {"table": "adult", "rule": "capped", "epsilon": "1"}
    scores = {
        "with replacement": (900.0, 700.0, 600.0),
        "without replacement": (901.0, 705.0, 650.0),
        "inconsistent tables": (899.0, 703.0, 660.0),
        "resampled": (990.0, 990.0, 990.0),
        "independent": (700.0, 990.0, 500.0),
    }
    said = say(Results((_cell(setting, _tasks(scores)),)))
    assert "change scores by -2 to -2 in clustering and classification" in said
    assert "+10 to +10 in regression" in said
    assert "not replacing adds +50 to +50" in said
    assert "901 to 901 (adult, capped)" in said
    scores["inconsistent tables"] = (700.0, 703.0, 600.0)
    assert "change scores by -201 to -201" in say(Results((_cell(setting, _tasks(scores)),)))
    better = {**scores, "without replacement": (950.0, 600.0, 650.0)}
    two = Results(
        tuple(
            _cell({**setting, "epsilon": e}, _tasks(found))
            for e, found in (("1", scores), ("4", better))
        )
    )
    assert "scores of clustering, regression never fall" in say(two)
    assert "(falls: classification on adult, capped, 1 to 4: 705 to 600)" in say(two)
    between = {**scores, "without replacement": (800.0, 650.0, 650.0)}
    three = Results(
        tuple(
            _cell({**setting, "epsilon": e}, _tasks(found))
            for e, found in (("1", scores), ("2", between), ("4", better))
        )
    )
    # From end to end clustering grows; in between it falls, and that is what counts.
    assert "mean scores of regression never fall" in say(three)
    worse = {**scores, "without replacement": (900.0, 600.0, 649.0)}
    all_fall = (
        _cell({**setting, "epsilon": e}, _tasks(f)) for e, f in (("1", scores), ("4", worse))
    )
    assert "to the next every task's mean score falls somewhere (" in say(Results(tuple(all_fall)))


def test_only_falls_beyond_chance_are_held_against_growth() -> None:
    """A fall within the scatter of fits is not listed; tables that are made up show nothing."""
    fits = {"1": (500.0, 540.0), "2": (510.0, 520.0), "4": (400.0, 410.0)}
    rest = {"resampled": (990.0,) * 3, "independent": (100.0,) * 3}

    def judged(table: str) -> dict[str, JudgedClaim]:
        setting = {"table": table, "rule": "capped"}
        cells = [
            _cell(
                {**setting, "epsilon": e},
                _tasks(dict.fromkeys(nist_claims.SAMPLERS, (score,) * 3) | rest),
            )
            for e, scores in fits.items()
            for score in scores
        ]
        return {f.claim: f for f in find("nist-tasks").findings(Results(tuple(cells)))}

    found = judged("adult")["On adult, capped the scores of regression grow with ε"]
    assert "contradicted" == found.verdict
    assert "it falls by more than chance from 2 to 4: 515 to 405" == found.reason
    census = [f for claim, f in judged("census").items() if claim.endswith("regression")]
    census.append(judged("census")["On census, capped the scores of regression grow with ε"])
    assert {"not comparable"} == {f.verdict for f in census}
    assert 3 == len(census)


def _bits(values: Mapping[str, float]) -> Results:
    table = {"table": "seven attributes"}
    baselines = [
        _cell({**table, "method": "no privacy, independent", "degree": 0, "epsilon": "none"}, {}),
        _cell({**table, "method": "no privacy, network", "degree": 1, "epsilon": "none"}, {}),
    ]
    found = [_cell(c.setting, {"mean": m}) for c, m in zip(baselines, (7.0, 5.2), strict=True)]
    setting: dict[str, str | int] = {**table, "method": "privbayes", "degree": 1}
    found += [_cell({**setting, "epsilon": e}, {"mean": bits}) for e, bits in values.items()]
    return Results(tuple(found))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"0.1": 6.0, "1": 5.5}, "fewer than independent columns throughout"),
        ({"0.1": 8.0, "1": 5.5}, "fewer than independent columns from 1 on"),
        ({"0.1": 9.0, "1": 7.5}, "not fewer than independent columns"),
    ],
)
def test_the_sentence_on_bits_follows_the_numbers(values: dict[str, float], said: str) -> None:
    """Whether, and from which ε on, fewer bits are needed than for independent columns."""
    assert said in find("tuc1-bits").sentence(_bits(values))


def _bits_by_degree(table: str, network: Sequence[float], ends: Sequence[float]) -> Results:
    """Two ε; the bits of networks without privacy, and of privbayes at the larger ε, by degree."""
    same = {"table": table, "epsilon": "none"}
    cells = [_cell({**same, "method": "no privacy, independent", "degree": 0}, {"mean": 7.0})]
    cells += [
        _cell({**same, "method": "no privacy, network", "degree": k}, {"mean": bits})
        for k, bits in enumerate(network, 1)
    ]
    setting: Setting
    for k, last in enumerate(ends, 1):
        for epsilon, bits in (("0.1", 6.0 - k / 10), ("1", last)):
            setting = {"table": table, "method": "privbayes", "degree": k, "epsilon": epsilon}
            cells.append(_cell(setting, {"mean": bits, "bits": [bits, bits]}))
    for epsilon, bits in (("0.1", 6.0), ("1", min(ends))):
        setting = {"table": table, "method": "nist", "degree": 0, "epsilon": epsilon}
        cells.append(_cell(setting, {"mean": bits, "bits": [bits, bits]}))
    return Results(tuple(cells))


@pytest.mark.parametrize(
    ("table", "network", "ends", "verdicts"),
    [
        ("seven attributes", (5.12, 5.12), (5.14, 5.13), "RRRRN"),
        ("seven attributes", (5.3, 5.12), (5.4, 5.13), "RPPRN"),
        ("seven attributes", (5.3, 5.3), (5.4, 5.5), "RCCCN"),
        ("seven attributes", (5.3, 5.3), (7.4, 7.3), "CCCRN"),
        ("diabetes", (5.3, 5.1), (5.4, 5.3), "R"),
        ("diabetes", (5.3, 5.1), (5.9, 5.8), "C"),
    ],
)
def test_claims_on_bits_are_judged_one_by_one(
    table: str, network: Sequence[float], ends: Sequence[float], verdicts: str
) -> None:
    """Reproduced, in part where only the largest degree does, contradicted, or not comparable."""
    first = {"reproduced": "R", "reproduced in part": "P", "contradicted": "C"}
    found = find("tuc1-bits").findings(_bits_by_degree(table, network, ends))
    assert verdicts == "".join(first.get(str(f.verdict), "N") for f in found)


def _accuracies(values: Mapping[str, float]) -> Results:
    return Results(
        tuple(
            _cell(
                {"table": "heart", "split": 0, "degree": int(e != "real rows"), "epsilon": e},
                {
                    "mean": mean,
                    "accuracy": {"xgboost": mean, "svm": mean - 0.1, "lda": None},
                    "baseline": 0.3,
                    "divergence": 1.0,
                },
            )
            for e, mean in values.items()
        )
    )


def test_the_sentence_on_classifiers_follows_the_numbers() -> None:
    """The least ε from which on at most ten points are lost, and the best classifier."""
    say = find("tuc2-classifiers").sentence
    said = say(_accuracies({"real rows": 0.6, "0.1": 0.2, "1": 0.52, "5": 0.55}))
    assert "of the better degree at each ε lose 40.0 points of accuracy at ε = 0.1" in said
    assert "and 5.0 at 5" in said
    assert "at most 10 points from ε = 1 on (the paper: 0.5)" in said
    assert "In 1 of 3 fits no classifier beats naming the most frequent class" in said
    assert "of the other 2, xgboost is best, or as good as the best, in 2." in said
    found = _accuracies({"real rows": 0.6, "1": 0.5})
    found.cells[0].numbers["accuracy"]["lda"] = 0.0
    assert "lose 10.0 points" in say(found)
    worse = say(_accuracies({"real rows": 0.6, "0.1": 0.55, "1": 0.2}))
    assert "still more than 10 points at the largest" in worse


def test_networks_on_record_are_pictured() -> None:
    """Each table has a picture for either degree, with every attribute and no accuracy."""
    study = find("tuc2-classifiers")
    setting: Setting = {"table": "heart", "degree": 2, "epsilon": "1", "shows": "network"}
    model = Nist(integer_schema({"a": 2, "b": 3}), epsilon=9, delta="1e-6").fit(
        {"a": [0, 1] * 50, "b": [0, 1] * 50}, ledger=None
    )
    drawn = _cell(setting, network_numbers(model.model_))
    scored = _accuracies({"real rows": 0.6, "0.1": 0.2, "1": 0.5})
    both = Results((*scored, drawn))
    [(name, data)] = study.pictures(both).items()
    assert "figure-9b-heart-degree-2.svg" == name
    texts = {t.text for t in ElementTree.fromstring(data).iter("{http://www.w3.org/2000/svg}text")}
    assert {"a", "b", "heart, degree 2, ε = 1"} <= texts
    assert (study.sentence(scored), study.summary(scored)) == (
        study.sentence(both),
        study.summary(both),
    )
    assert len(study.findings(scored)) == len(study.findings(both))


@pytest.mark.parametrize(("two", "claims"), [(False, 1), (True, 2)])
def test_claims_on_divergence_compare_degrees(two: bool, claims: int) -> None:
    """Falls with ε; where both degrees are measured, which of them diverges more at the least ε."""
    cells = [
        _cell({"table": "heart", "degree": k, "epsilon": e}, {"divergence": bits / k})
        for k in ((1, 2) if two else (1,))
        for e, bits in (("0.1", 4.0), ("1", 1.0))
    ]
    found = judged_divergence(Results(tuple(cells)))
    assert ["reproduced", "contradicted"][:claims] == [str(f.verdict) for f in found]


def _two_columns(protected: float) -> Results:
    """Attackers of two columns over a zero rule of 0.6, by ordinary and by protected rows."""
    return Results(
        tuple(
            _cell(
                {"table": "cmc", "network": network, "protects": "a b"},
                {
                    c: {"attack_mean": [share], "other_known": [share], "zero_rule": 0.6}
                    for c in "ab"
                },
            )
            for network, share in (("ordinary", 0.7), ("protected", protected))
        )
    )


@pytest.mark.parametrize(("protected", "kept"), [(0.61, "are kept"), (0.63, "are not kept")])
def test_two_sensitive_columns_are_held_against_the_zero_rule(protected: float, kept: str) -> None:
    """Both columns are reported, and cells of two columns leave those of one as they are."""
    study, results = find("sba-protection"), _two_columns(protected)
    [found] = study.findings(results)
    assert kept in found.measured
    assert "a +10.0 points with ordinary rows" in found.measured
    alone = _protected(0.61, 0.49)
    assert study.sentence(alone) == study.sentence(Results((*alone, *results)))


@pytest.mark.slow
def test_two_protected_columns_depend_on_the_target_alone() -> None:
    """Neither is a parent, and neither has another parent than the target."""
    setting = {**find("sba-protection").settings(Size.SMOKE)[-1]}
    assert "c1 c2" == setting["protects"]
    about = sba.task(sba.SMALL, NOWHERE)
    found = two_sensitive.attacked_twice(about, setting)
    assert ["c1", "c2"] == [*found]
    rules = two_sensitive.protection_of_two(sba.SMALL)
    assert rules.protection is not None
    assert {"c1": ("c3",), "c2": ("c3",)} == rules.protection.kept


def _search(average: Mapping[tuple[str, int, str], float], seconds: float = 2.0) -> Results:
    """Cells of a table, real rows among them, with the same average for both runs."""
    found = [
        _cell(
            {"table": "cmc", "search": search, "degree": degree, "epsilon": epsilon},
            {
                "mean": [mean, mean],
                "utility": {"svm": [mean, mean]},
                "baseline": [0.4, 0.4],
                "describing": [seconds if search == "genetic" else 1.0] * 2,
                "generating": [0.1, 0.1],
            },
        )
        for (search, degree, epsilon), mean in average.items()
    ]
    return Results(tuple(found))


def test_the_sentence_on_searches_follows_the_numbers() -> None:
    """Which printed averages are reached, what noise costs, and which search is faster."""
    study = find("sba-search")
    numbers = {
        ("real rows", 0, "none"): 0.5,
        ("greedy", 1, "none"): 0.43,
        ("genetic", 1, "none"): 0.42,
        ("greedy", 1, "1"): 0.3,
        ("genetic", 1, "1"): 0.35,
    }
    said = study.sentence(_search(numbers))
    assert "is -1.2 to +0.0 points off tables V and VI" in said
    assert "no more than 1.5 points below them in 2 of 2 settings." in said
    assert "(+0.2 on cmc); counted from them on either side, it is -1.4 to -0.2." in said
    assert "43.0 (greedy) and 42.0 (genetic) without privacy" in said
    assert "30.0 (greedy) and 35.0 (genetic) at ε = 1, from real rows 50.0" in said
    assert "1.00 seconds greedily and 2.00 genetically: the greedy search is faster" in said
    worse = study.sentence(_search(numbers | {("genetic", 1, "none"): 0.40}, seconds=0.5))
    assert "in 1 of 2 settings (below: cmc, genetic, 1: -3.2)" in worse
    assert "the genetic search is faster" in worse
    rivalled = study.sentence(_search(numbers | {(sba.RIVALLED, 1, "none"): 0.45}))
    assert "45.0 (genetic with a grown rival) without privacy" in rivalled
    lines = study.summary(_search(numbers)).document()
    expected = [("49.8", "+0.2"), ("43.0", "+0.0"), ("43.2", "-1.2"), ("", ""), ("", "")]
    assert expected == [(line["SBA's average"], line["difference"]) for line in lines]


def _both_searches(
    runs: Mapping[str, Sequence[Sequence[float]]], seconds: Sequence[float]
) -> Results:
    """Cells of cmc for degrees from 1, by search, and real rows; seconds are the genetic ones."""
    whole = {"table": "cmc", "epsilon": "none"}
    both = [
        _cell(
            {**whole, "search": search, "degree": degree},
            {"mean": [*mean], "describing": [seconds[degree - 1]], "generating": [0.1]},
        )
        for search, means in runs.items()
        for degree, mean in enumerate(means, 1)
    ]
    return Results((*both, _cell({**whole, "search": "real rows", "degree": 0}, {"mean": [0.5]})))


def test_differences_within_chance_are_not_judged() -> None:
    """Splits that scatter more than searches differ cannot be compared; clear ones are judged."""
    lines = (0.1, 0.2, 0.3, 0.4)
    near = {"greedy": [[0.50, 0.52]] * 4, "genetic": [[0.51, 0.50]] * 4}
    [first, *_] = find("sba-search").findings(_both_searches(near, lines))
    assert "not comparable" == first.verdict
    assert "no degree differs by two standard errors" in first.reason
    assert "-0.50 ± 1.50" in first.reason
    clear = {"greedy": [[0.50, 0.52]] * 4, "genetic": [[0.40, 0.42]] * 4}
    [first, *_] = find("sba-search").findings(_both_searches(clear, lines))
    assert ("contradicted", "for fewer degrees") == (first.verdict, first.reason)
    better = {"greedy": [[0.40, 0.42]] * 4, "genetic": [[0.50, 0.52]] * 4}
    [first, *_] = find("sba-search").findings(_both_searches(better, lines))
    assert "reproduced in part" == first.verdict
    assert "not the same degrees" in first.reason


@pytest.mark.parametrize(
    ("seconds", "verdict"),
    [
        ((0.10, 0.15, 0.18, 0.23), "reproduced"),
        ((0.09, 0.15, 0.20, 0.87), "contradicted"),
        ((0.5, 0.85, 1.45, 2.46), "contradicted"),
    ],
)
def test_seconds_on_a_line_are_told_from_a_bend(seconds: Sequence[float], verdict: str) -> None:
    """Seconds that grow 1.7 times with every parent are not on a line."""
    runs = {"greedy": [[0.5]] * 4, "genetic": [[0.5]] * 4}
    found = find("sba-search").findings(_both_searches(runs, seconds))
    [growth] = [f for f in found if "grow linearly" in f.claim]
    assert verdict == growth.verdict


def _protected(attack: float, utility: float) -> Results:
    """Original, ordinary (both 0.7 and 0.5) and protected rows, over a zero rule of 0.6."""
    means = {"original": (0.7, 0.5), "ordinary": (0.7, 0.5), "protected": (attack, utility)}
    found = [
        _cell(
            {"table": "cmc", "network": network, "epsilon": "none"},
            {
                "attack": {"gcap": [first - 0.01], "svm": [first + 0.01]},
                "attack_mean": [first],
                "utility_mean": [second, second],
                "zero_rule": 0.6,
            },
        )
        for network, (first, second) in means.items()
    ]
    return Results(tuple(found))


@pytest.mark.parametrize(
    ("attack", "utility", "said"),
    [
        (
            0.62,
            0.49,
            "(at most 2 above it; the best attacker +11.0 and +3.0), and protection ",
        ),
        (0.63, 0.49, "+3.0 with protected ones (not at most 2 above it;"),
        (0.59, 0.48, "from 50.0 to 48.0 (not less than 1.5 lost)."),
    ],
)
def test_the_sentence_on_protection_follows_the_numbers(
    attack: float, utility: float, said: str
) -> None:
    """How far attackers are above the zero rule, what is lost, and whether that is little."""
    study = find("sba-protection")
    results = _protected(attack, utility)
    assert said in study.sentence(results)
    lines = study.summary(results).document()
    assert ["69.6", "64.6", "57.9", ""] == [line["SBA's attack"] for line in lines]
    assert "60.0" == lines[-1]["attack"]


def _among_holders(values: Mapping[str, float], *, over: str, table: str) -> list[Cell]:
    """Cells of all protocols and forms that need the same bits, and their baselines."""
    whole: dict[str, str | int] = {"table": table, "protocol": "-", "holders": 1, "epsilon": "none"}
    levels = {(federated_sweeps.COLUMNS, 0): 7.0, (federated_sweeps.NETWORK, 1): 5.2}
    cells = [
        _cell({**whole, "form": form, "degree": degree}, {"mean": bits, "noise": 0.0})
        for (form, degree), bits in levels.items()
    ]
    fixed: dict[str, str | int] = {"holders": 3, "degree": 1, "epsilon": "0.1"}
    setting: dict[str, str | int]
    for protocol, form in product(federated_sweeps.PROTOCOLS, federated_sweeps.SHOWN):
        for value, bits in values.items():
            changed = fixed | {over: value if over == "epsilon" else int(value)}
            setting = {"table": table, "protocol": protocol, "form": form, **changed}
            cells.append(_cell(setting, {"mean": bits, "noise": 40.0}))
    return cells


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"2": 6.0, "50": 6.01}, "votes 6.00 → 6.01 (alike) as printed"),
        ({"2": 6.0, "50": 9.0}, "votes 6.00 → 9.00 (worse) as printed"),
        ({"50": 6.0, "2": 9.0}, "votes 9.00 → 6.00 (better) as printed"),
    ],
)
def test_the_sentence_on_holders_follows_the_numbers(values: dict[str, float], said: str) -> None:
    """Whether more holders harm, in whatever order their cells come."""
    cells = _among_holders(values, over="holders", table="diabetes")
    sentence = federated_bits.STUDY.sentence(Results(tuple(cells)))
    assert said in sentence
    assert "M from 2 to 50; one network without privacy 5.20, independent columns 7.00" in sentence


def test_claims_on_holders_are_judged_by_the_printed_form() -> None:
    """Voting that needs no more and no fewer bits than others does not win, nor is it beaten."""
    cells = _among_holders({"2": 6.0, "50": 6.5}, over="holders", table="diabetes")
    figure = federated_sweeps.FIGURES[-1]
    won, better = federated_claims.judged_figure(figure, Results(tuple(cells)))
    assert ("not comparable", "contradicted") == (won.verdict, better.verdict)
    assert "they become worse" == better.reason


def _figure(name: str, runs: Mapping[str, Mapping[str, Sequence[float]]]) -> list[JudgedClaim]:
    """The claims on one of the thesis' figures, by the bits of runs of each protocol."""
    [figure] = [f for f in federated_sweeps.FIGURES if f.name == name]
    fixed: dict[str, str | int] = {
        "table": figure.table,
        "form": federated_sweeps.PRINTED,
        "holders": 3,
        "degree": figure.degree,
        "epsilon": "0.1",
    }
    cells = [
        _cell(
            {**fixed, "protocol": p, figure.over: v if figure.over == "epsilon" else int(v)},
            {"mean": float(np.mean(bits)), "bits": [*bits], "noise": 1.0},
        )
        for p, over in runs.items()
        for v, bits in over.items()
    ]
    return federated_claims.judged_figure(figure, Results(tuple(cells)))


def test_claims_within_chance_are_not_comparable() -> None:
    """Protocols that differ by less than two standard errors are not told apart."""
    least, model = (6.0, 7.0), {"0.03": (6.0, 6.2), "3": (5.5, 5.7)}
    near = {
        "statistics": {"0.03": least, "3": (5.1, 5.3)},
        "votes": {"0.03": least, "3": (5.2, 5.3)},
    }
    best, most = _figure("3.4", {**near, "model": model})
    assert ("not comparable", "not comparable") == (best.verdict, most.verdict)
    assert "cannot separate" in best.reason
    far = near | {"statistics": {"0.03": (11.0, 11.1), "3": (4.1, 4.11)}}
    assert {"reproduced"} == {f.verdict for f in _figure("3.4", {**far, "model": model})}
    swapped = {"statistics": far["votes"], "votes": far["statistics"], "model": model}
    assert {"contradicted"} == {f.verdict for f in _figure("3.4", swapped)}


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        ((6.0, 6.1), "reproduced"),
        ((6.5, 6.6), "reproduced in part"),
        ((8.5, 8.6), "contradicted"),
    ],
)
def test_claims_on_more_holders_regard_chance(votes: tuple[float, float], verdict: str) -> None:
    """Votes that become worse by more than runs scatter mind more holders, least of all or not."""
    other = {"2": (6.0, 6.1), "50": (7.0, 7.1)}
    runs = {"statistics": other, "votes": {"2": (6.0, 6.1), "50": votes}, "model": other}
    [found] = _figure("3.6", runs)
    assert verdict == found.verdict


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (((5.0, 5.1), (6.0, 6.1)), "reproduced"),
        (((5.0, 5.1), (6.8, 7.0)), "reproduced in part"),
        (((5.9, 6.0), (6.8, 7.0)), "not comparable"),
        (((5.0, 5.1), (9.0, 9.1)), "contradicted"),
    ],
)
def test_the_winner_is_ahead_by_more_than_chance(
    votes: Sequence[tuple[float, float]], verdict: str
) -> None:
    """Votes win where they need fewer bits than both others by more than runs scatter."""
    other = {"0.1": (6.0, 6.1), "3": (7.0, 7.1)}
    runs = {"statistics": other, "votes": dict(zip(other, votes, strict=True)), "model": other}
    [found] = _figure("3.8", runs)
    assert verdict == found.verdict


def test_the_sentence_on_clipping_follows_the_numbers() -> None:
    """Both ends of the figure, with clipping and without, each with its own verdict."""
    cells = _among_holders({"2": 9.0, "50": 6.0}, over="holders", table="diabetes")
    setting = {**cells[-1].setting, "protocol": "statistics", "form": federated_sweeps.UNCLIPPED}
    ends = ((2, 8.0), (50, 12.0))
    cells += [_cell({**setting, "holders": m}, {"mean": bits}) for m, bits in ends]
    sentence = federated_bits.STUDY.sentence(Results(tuple(cells)))
    assert "from 9.00 to 6.00 bits with holders that clip (better)" in sentence
    assert "from 8.00 to 12.00 with holders that do not (worse)" in sentence


@pytest.mark.parametrize(("bits", "said"), [(6.9, "beats them"), (7.1, "cannot beat them")])
def test_the_baseline_at_one_is_beaten_or_not(bits: float, said: str) -> None:
    """The verdict follows the best protocol's bits, with the noise that decides."""
    cells = _among_holders({"0.1": 9.0, "1": bits}, over="epsilon", table="diabetes")
    sentence = federated_bits.STUDY.sentence(Results(tuple(cells)))
    assert f"as printed {said} (statistics, {bits:.2f}, noise of 40 rows)" in sentence


# What is measured.


def test_confusions_and_f2_are_those_of_the_definition() -> None:
    """TN FP FN TP of code 1; F2 weighs recall twice and is 0 where nothing is found."""
    truth, codes = np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 0, 1, 1, 1])
    assert [2, 1, 1, 3] == searched_utility.confusion(truth, codes)
    precision, recall = 3 / 4, 3 / 4
    expected = 5 * precision * recall / (4 * precision + recall)
    assert expected == pytest.approx(searched_utility.f2([2, 1, 1, 3]))
    # Table VII, logistic regression on original rows: recall counts more than precision.
    assert 5 * 86 / (5 * 86 + 4 * 26 + 14) == searched_utility.f2([56836, 14, 26, 86])
    assert 0.0 == searched_utility.f2([5, 0, 2, 0])


def test_confusions_are_on_the_page_of_a_rare_class() -> None:
    """A further table has a line for each cell whose class is rare, and the page shows it."""
    setting: dict[str, Any] = {"search": "greedy", "degree": 1, "epsilon": "none"}
    counts = {name: [9, place, 1, 0] for place, name in enumerate(sba.FIVE)}
    cells = (
        _cell({"table": "credit card", **setting}, {"confusion": counts}),
        _cell({"table": "cmc", **setting}, {"confusion": {}}),
    )
    [(title, table)] = genetic_search.STUDY.further(Results(cells)).items()
    assert "TN FP FN TP" in title
    [line] = table.document()
    assert ("credit card", "9 0 1 0", "9 4 1 0") == (line["table"], line["NB"], line["LR"])
    assert {} == genetic_search.STUDY.further(Results(cells[1:]))
    page = (PAGES / "sba-search.md").read_text(encoding="utf-8")
    assert title in page
    assert "| credit card | real rows | 0 | none | 55467 1375 20 99 |" in page


def test_the_search_has_every_printed_degree_and_judges_none_without_numbers() -> None:
    """Each table's degrees are in the plan, and a record of no table has nothing to judge."""
    plan = genetic_search.STUDY.settings(Size.FULL)
    for table in ("cmc", "adult", "credit card"):
        degrees = {int(s["degree"]) for s in plan if s["table"] == table}
        assert {0, *searched_averages.DEGREES[table]} == degrees
    assert [] == genetic_search_claims.judged_searches(Results(()))


def test_printed_averages_stand_for_every_degree() -> None:
    """Each search of each table has a printed average for every degree that is measured."""
    for (table, search), averages in searched_averages.PRINTED.items():
        assert len(searched_averages.DEGREES[table]) == len(averages), (table, search)


def test_splits_share_no_row_and_are_their_own() -> None:
    """A fifth is held out, nothing is in both parts, and another number is another split."""
    small = sba.task(sba.SMALL, NOWHERE)
    parts = [small.split(number) for number in (0, 0, 1)]
    assert [(320, 80)] * 3 == [(train.rows, test.rows) for train, test in parts]
    held = [test.table.codes["c2"].tolist() for _, test in parts]
    assert held[0] == held[1]
    assert held[0] != held[2]
    whole = np.bincount(small.rows.table.codes["c2"], minlength=5)
    both = sum(np.bincount(part.table.codes["c2"], minlength=5) for part in parts[0])
    assert whole.tolist() == np.asarray(both).tolist()


def test_protected_rows_tell_nothing_beyond_the_target() -> None:
    """Of equal targets a protected column has no tie to others; an ordinary one keeps its own."""
    small = sba.task(sba.SMALL, NOWHERE)
    setting: Setting = {"search": "genetic", "degree": 4, "epsilon": sba.OFF}
    found = {}
    for name, rules in (("free", NONE), ("held", protected_networks.protection(sba.SMALL))):
        rows = sba.made(small, small.rows, setting=setting, seed=0, restrictions=rules).rows.table
        found[name] = _conditional_bits(rows, "c2", "c0", "c3")
    real = _conditional_bits(small.rows.table, "c2", "c0", "c3")
    # Chance alone makes (5 - 1)(4 - 1)2 / (2 · 400 ln 2) bits, about 0.043.
    assert 0.08 > found["held"]
    assert real > 0.2
    assert found["free"] == pytest.approx(real, abs=0.08)


def _conditional_bits(table: Table, first: str, second: str, given: str) -> float:
    """The conditional mutual information of two columns given a third, in bits."""
    joint = np.zeros([table.domain[name] for name in (first, second, given)])
    np.add.at(joint, tuple(table.codes[name] for name in (first, second, given)), 1 / table.rows)
    alone = joint.sum(axis=(0, 1))
    apart = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None]
    seen = joint > 0
    ratio = joint * alone / np.where(apart > 0, apart, 1)
    return float((joint[seen] * np.log2(ratio[seen])).sum())


def test_correlations_are_of_numbers_and_codes() -> None:
    """A column with itself has none, nor has one that does not vary; others are Pearson's."""
    schema = integer_schema({"a": 3, "b": 3, "c": 2})
    codes = {"a": [0, 1, 2, 2], "b": [2, 1, 0, 0], "c": [1, 1, 1, 1]}
    columns = {name: np.array(values, np.uint8) for name, values in codes.items()}
    sheet = load(Table(Domain.of(schema), columns, 4), schema, side="real", seed=0)
    found = protected_networks.correlations(sheet)
    expected = [[None, -1.0, None], [-1.0, None, None], [None, None, None]]
    assert expected == found["matrix"]


def test_the_genetic_line_is_the_papers_search() -> None:
    """One population for all generations and no rival; this package's own is another line."""
    search, ours = (sba.search_of(name, "cmc", 0) for name in (sba.GENETIC, sba.RIVALLED))
    assert (1, 400, 400, False) == (
        search.starts,
        search.generations,
        search.patience,
        search.rival,
    )
    assert ours.rival
    assert ours.starts > 1
    plan = find("sba-search").settings(Size.FULL)
    degrees = {
        name: [s["degree"] for s in plan if s["search"] == name and s["epsilon"] == sba.OFF]
        for name in searched_averages.SEARCHES
    }
    assert degrees[sba.GREEDY] == degrees[sba.GENETIC] == degrees[sba.RIVALLED]


def test_whole_numbers_keep_the_order_and_put_missing_first() -> None:
    """Categories become their places, missing cells come before them, and classes stay."""
    columns = {
        "colour": {"kind": "categorical", "values": ["red", "green", "blue"], "missing": ["?"]},
        "size": {"kind": "integer", "min": 0, "max": 9, "bins": 5},
        "sold": {"kind": "boolean", "missing": ["?"]},
    }
    schema = Schema.parse({"columns": columns})
    codes = {"colour": [0, 2, 3], "size": [4, 0, 1], "sold": [0, 1, 2]}
    table = Table(Domain.of(schema), {n: np.array(c, np.uint8) for n, c in codes.items()}, 3)
    numbered = accuracy.as_integers(schema, "sold")
    found = numbered.table(table)
    assert [1, 3, 0] == found.codes["colour"].tolist()
    assert codes["size"] == found.codes["size"].tolist()
    assert codes["sold"] == found.codes["sold"].tolist()
    sheet = load(found, numbered.schema, side="real", seed=0)
    assert (0, 2) == tuple(
        part.shape[1]
        for part in (
            Features.of(sheet, numbered.schema, "sold").flags,
            Features.of(sheet, numbered.schema, "sold").numbers,
        )
    )


@pytest.mark.slow
def test_adult_has_the_columns_and_the_split_of_sba() -> None:
    """13 columns, categories in the order of their names, the zero rules of tables IX and X."""
    shelf = DataFolder(shared_file("data", "adult_train.parquet").parents[1])
    adult = sba.task("adult", shelf)
    train, test = adult.split(0)
    assert (32_561, 16_281, 13) == (train.rows, test.rows, len(adult.schema.learned))
    texts = adult.schema.learned["workclass"].texts  # type: ignore[union-attr]
    assert (sorted(texts), "?") == (list(texts), texts[0])
    rules = [protected_networks._zero_rule(sba.task(name, shelf)) for name in ("cmc", "adult")]
    assert [0.610, 0.405] == [round(rule, 3) for rule in rules]


def test_expected_values_of_the_search_are_those_of_all_its_ways() -> None:
    """The sum over every path, weighted by its chance, is what the recursion says."""
    epsilon = Fraction(5)

    def edges(family: Family) -> float:
        return float(len(family.parents))

    def walk(placed: tuple[str, ...]) -> float:
        candidates = private_networks._candidates(placed)
        if not candidates:
            return 0.0
        chances = private_networks._chances(candidates, epsilon)
        return sum(
            float(chance) * (edges(family) + walk((*placed, family.child)))
            for family, chance in zip(candidates, chances, strict=True)
            if chance > 1e-12
        )

    short = pytest.MonkeyPatch()
    short.setattr(private_networks, "NAMES", ("z1", "z2", "z3"))
    try:
        assert walk(("z1",)) == pytest.approx(private_networks.expected(edges, epsilon))
    finally:
        short.undo()


def test_calibrated_p_values_have_the_right_size() -> None:
    """Against themselves they reject at most at the level; a smaller one than all is the least."""
    null = np.random.default_rng(0).random(199)
    assert 0.05 >= (copula.calibrated(null, null) <= 0.05).mean() > 0.03
    assert [1 / 200, 1.0] == copula.calibrated(np.array([0.0, 1.0]), null).tolist()
    assert [1.0] == copula.calibrated(np.array([0.5]), np.full(50, 0.5)).tolist()


def test_noise_within_range_keeps_its_promise() -> None:
    """Over all tables of two cells and four rows, neighbours differ by at most ε."""
    epsilon, most = 1.0, 4
    weights = np.exp(-epsilon * np.abs(np.arange(most + 1)[:, None] - np.arange(most + 1)) / 4)
    chances = weights / weights.sum(axis=0)
    losses = [
        abs(np.log(chances[y, x] * chances[z, most - x] / (chances[y, x + 1] * chances[z, 3 - x])))
        for x in range(most)
        for y in range(most + 1)
        for z in range(most + 1)
    ]
    assert epsilon / 2 < max(losses) <= epsilon
    drawn = copula.bounded_noise(np.full(40_000, 1), epsilon, most, np.random.default_rng(1))
    found = np.bincount(drawn, minlength=most + 1) / drawn.size
    # Five standard errors; noise of a scale 30 % off is 0.02 and more away.
    assert np.abs(found - chances[:, 1]).max() < 5 * 0.5 / np.sqrt(drawn.size)
    wide = np.exp(-epsilon * np.abs(np.arange(most + 1) - 1) / 5.2)
    assert np.abs(found - wide / wide.sum()).max() > 5 * 0.5 / np.sqrt(drawn.size)


def test_original_rows_are_rejected_nearly_always() -> None:
    """Of 100 tables of 1,000 original rows, Pearson's test rejects at least 99 for each pair."""
    generator = np.random.default_rng(31)
    tables = [copula.correlated(1_000, generator).codes for _ in range(100)]
    first, *others = copula.NAMES
    for other in others:
        rejected = sum(
            corrected_chi_squared(codes[first], codes[other]) <= 0.05 for codes in tables
        )
        assert rejected >= 99


def test_the_mended_form_has_the_listings_search() -> None:
    """Attributes stay in order, and each but the first has one to three parents before it."""
    rows = copula.correlated(500, np.random.default_rng(2))
    curator = copula.curator_of(MemorySource(rows), Budget.pure(1), 3)
    network = copula.ordered_network(curator, Budget.pure(1), mutual_information(500, binary=True))
    assert list(copula.NAMES) == [family.child for family in network]
    assert all(1 <= len(f.parents) <= 3 for f in network.families[1:])


@pytest.mark.parametrize("method", copula.METHODS)
def test_without_much_noise_dependence_is_kept(method: str) -> None:
    """At a huge ε synthetic columns agree as often as real ones."""
    generator = np.random.default_rng(3)
    table = copula.correlated(20_000, generator)
    rows = copula.METHODS[method](table, epsilon="10000", share="0.5", generator=generator)
    for a, b in copula.PAIRS:
        expected = (table.codes[a] == table.codes[b]).mean()
        assert expected == pytest.approx((rows[a] == rows[b]).mean(), abs=0.02)


def test_as_printed_a_line_below_zero_gives_zero() -> None:
    """Where noise takes both cells below 0 the listing's value is 0, and columns turn constant."""
    generator = np.random.default_rng(0)
    table = copula.correlated(200, generator)
    made = [
        as_printed(table, epsilon="0.0001", share="0.5", generator=generator) for _ in range(60)
    ]
    zeros = sum(not rows["z1"].any() for rows in made)
    ones = sum(bool(rows["z1"].all()) for rows in made)
    assert zeros > 1.3 * ones > 0


def test_undefined_tests_and_dropped_runs_are_counted() -> None:
    """At a tiny ε few runs are kept, and power among them is above that among all."""
    setting = {"method": "as printed", "epsilon": "0.01", "beta": "0.5", "runs": 60, "rows": 500}
    found = copula.power_of({**setting, "seed": 1})
    assert 0 < found["kept"]["dependent"] < 0.5
    shares = found["z1-z2"]
    assert shares["power"]["share"] > shares["of_all"]["share"]


def test_the_histogram_columns_have_the_correlation_of_the_seed() -> None:
    """Spearman's coefficient is about 0.94, and all values are between 0 and 1."""
    from scipy.stats import spearmanr

    rows = correlated(10_000, np.random.default_rng(0))
    assert 0.94 == pytest.approx(float(spearmanr(*rows).statistic), abs=0.01)
    assert (0 <= rows).all()
    assert (rows <= 1).all()


def test_the_seven_attributes_have_the_entropy_of_the_seed() -> None:
    """5.12 bits, exactly computed, over 192 rows whose chances add up to 1."""
    assert 5.12 == pytest.approx(seven.entropy(seven.seven_attributes()[1]))
    assert 1.0 == pytest.approx(seven.chances().sum())
    assert 192 == seven.every_row().rows


def test_families_are_seen_in_the_smallest_table() -> None:
    """Weights of a family are a released table's own, summed over what is not in it."""
    domain = Domain({"a": 2, "b": 2, "c": 2})
    counts = np.arange(8.0).reshape(2, 2, 2)
    tables = {("a", "b", "c"): counts, ("b", "c"): np.array([[0.0, 0.0], [3.0, 1.0]])}
    assert [[0, 0], [3, 1]] == family_weights(Family("c", ("b",)), tables, domain).tolist()
    summed = counts.sum(axis=1)
    assert np.allclose(summed, family_weights(Family("c", ("a",)), tables, domain))


def test_tables_without_noise_agree_also_where_columns_are_coarsened() -> None:
    """At a huge ε rows from released tables are as near as those of the consistent model."""
    schema = integer_schema({"a": 100, "b": 80, "c": 3, "d": 90})
    table = dependent(Domain.of(schema), 20_000)
    kept = RawTape()
    method = Nist(schema, epsilon="2000", delta="1e-9", theta=40.0)
    instruments = Instruments(SeededNoise(1), kept)
    model = method.with_instruments(instruments).fit(MemorySource(table), ledger=None).model_
    assert any(family.copies for family in model.network)
    sets = workload(table.domain, 2)
    found = [
        total_variation(
            table, nist_tasks._drawn(model, draw, np.random.default_rng(0)), sets
        ).mean()
        for draw in nist_tasks._samplers(kept).values()
    ]
    assert found[0] == pytest.approx(found[2], abs=0.02)


@pytest.mark.slow
def test_diabetes_is_prepared_as_in_the_seed() -> None:
    """One row for each patient, diagnoses in nine groups, no identifiers."""
    shelf = DataFolder(shared_file("data", "diabetes_130us.parquet").parents[1])
    schema, table = diabetes(shelf)
    assert 71_518 == table.rows_read
    assert [10, 10, 10] == [schema.attributes[f"diag_{i}"] for i in (1, 2, 3)]
    assert not {"patient_nbr", "encounter_id"} & set(schema.columns)
    description = shelf.description("data/diabetes_130us.json")
    assert "patient_nbr" in published_columns(description, ids=True)
    # Half of the first diagnoses are of the heart or none of the groups.
    shares = np.bincount(table.codes["diag_1"], minlength=10) / table.rows
    assert 0.2 < shares[0] < 0.4
    assert isinstance(table, Table)


# Charts and pages.


def test_charts_hold_every_point_band_and_name() -> None:
    """Well-formed SVG with a circle for each point, a band, a legend and a caption."""
    line = Line(
        name="a < b",
        across=(0.1, 1.0, 10.0),
        up=(0.0, 0.5, 1.0),
        low=(0.0, 0.4, 0.9),
        high=(0.1, 0.6, 1.0),
    )
    panels = [Panel("first", "ε", "power", [line, Line("c", (0.1,), (0.3,))], log_across=True)]
    text = chart_sheet(panels * 3, caption="what it says " * 30)
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    found = [len(list(root.iter(space + tag))) for tag in ("circle", "polygon")]
    assert [12, 3] == found
    assert {"a < b", "c", "first", "ε", "power"} <= {t.text for t in root.iter(space + "text")}
    assert sum(t.text is not None and "what it says" in t.text for t in root.iter()) > 1


def test_no_two_lines_of_a_chart_look_alike() -> None:
    """Ten lines have ten different colours and dashes together."""
    lines = [Line(f"line {i}", (1, 2), (i, i)) for i in range(10)]
    root = ElementTree.fromstring(chart_sheet([Panel("", "x", "y", lines)]))
    drawn = [line.attrib for line in root.iter("{http://www.w3.org/2000/svg}line")]
    looks = {(a["stroke"], a["stroke-dasharray"]) for a in drawn if "stroke-dasharray" in a}
    assert 10 == len(looks)


def test_heat_maps_hold_every_number_and_name() -> None:
    """A square for each number and step of colour, inside the sheet; equal numbers look alike."""
    heat = HeatMap("map", ("a", "b < c"), [[None, 0.5], [0.5, -3.0]], reach=0.5)
    line = Panel("line", "x", "y", [Line("", (1, 2), (1, 2))])
    root = ElementTree.fromstring(chart_sheet([heat, line]))
    space = "{http://www.w3.org/2000/svg}"
    squares = [rect.attrib for rect in root.iter(space + "rect") if "x" in rect.attrib]
    assert 4 + 9 == len(squares)
    colours = [square["fill"] for square in squares]
    assert ["#ffffff", colours[-1], colours[-1], colours[4]] == colours[:4]
    assert {"a 1", "b < c 2", "map", "-0.5", "0.5"} <= {t.text for t in root.iter(space + "text")}
    lowest = max(float(t.attrib["y"]) for t in root.iter(space + "text"))
    assert lowest < float(root.attrib["height"])


@pytest.mark.parametrize("values", [(0.0, 0.0), (5.0, 5.0), (-3.0, 2.0), (1e-9, 1e9)])
def test_charts_of_odd_numbers_are_charts(values: tuple[float, ...]) -> None:
    """Equal, negative and far apart numbers find room inside the sheet."""
    root = ElementTree.fromstring(chart_sheet([Panel("", "x", "y", [Line("", (1, 2), values)])]))
    places = [float(c.attrib["cy"]) for c in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert all(0 <= place <= float(root.attrib["height"]) for place in places)


def test_a_page_says_what_the_record_holds(whole_record: str, tmp_path: Path) -> None:
    """Date, command, claim, sentence, chart and every line of the summary are on the page."""
    document = json.loads(whole_record)
    (tmp_path / f"{NAME}.json").write_text(whole_record, encoding="utf-8")
    write_page(NAME, tmp_path / f"{NAME}.json", tmp_path / "pages" / f"{NAME}.md")
    page = (tmp_path / "pages" / f"{NAME}.md").read_text(encoding="utf-8")
    assert page == page_of(NAME, document)
    for part in (document["date"], f"`{document['command']}`", document["sentence"], "smoke size"):
        assert part in page
    assert find(NAME).claim in page
    assert f"]({NAME}.svg)" in page
    found = find(NAME).findings(Results(tuple(Cell.of(c) for c in document["cells"])))
    assert all(" | ".join(finding.line) in page for finding in found)
    lines = len(document["summary"]) + len(found) + 4
    assert lines == sum(line.startswith("|") for line in page.splitlines())
    copy = json.loads((tmp_path / "pages" / f"{NAME}.json").read_text(encoding="utf-8"))
    assert document == copy


@pytest.mark.parametrize("name", STUDIES)
def test_pages_on_record_are_made_of_their_records(name: str) -> None:
    """Each study has a page, a chart and a record in docs/studies, and they agree."""
    document = finished(PAGES / f"{name}.json", name)
    assert document["size"] != Size.SMOKE
    assert page_of(name, document) == (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert picture(name, document) == (PAGES / f"{name}.svg").read_text(encoding="utf-8")
    for file, data in pictures(name, document).items():
        assert data == (PAGES / file).read_bytes()
    assert derived(name, [Cell.of(c) for c in document["cells"]])["summary"] == document["summary"]
    assert f"({name}.md)" in (PAGES / "README.md").read_text(encoding="utf-8")


# Studies whose record on the page was measured under an earlier law; this list may only shrink.
OUT_OF_DATE: tuple[str, ...] = ()


@pytest.mark.parametrize("name", STUDIES)
def test_records_of_an_earlier_law_say_so(name: str) -> None:
    """A full-size record has the present numbers of all laws, or its page says which it has not."""
    document, study = finished(PAGES / f"{name}.json", name), find(name)
    cells = [Cell.of(cell) for cell in document["cells"]]
    outdated = sum(bool(cell.outdated(study.laws(cell.setting))) for cell in cells)
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert bool(outdated) == (f"**Out of date:** {outdated} of {len(cells)} cells" in page)
    assert bool(outdated) == (name in OUT_OF_DATE)


# Studies whose record lists settings that are still to be measured; this list may only shrink.
INCOMPLETE = ("gan-mnist",)


@pytest.mark.parametrize("name", STUDIES)
def test_records_list_the_settings_that_are_missing(name: str) -> None:
    """What the plan has and the record has not is in the record by name, and the page counts it."""
    document, study = finished(PAGES / f"{name}.json", name), find(name)
    assert (name in INCOMPLETE) == (not document["complete"]) == ("missing" in document)
    if name in INCOMPLETE:
        held = [Cell.of(cell).setting for cell in document["cells"]]
        plan = study.settings(Size(document["size"]))
        assert [s for s in plan if s not in held] == document["missing"]
        page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        assert f"**Not complete:** {len(document['missing'])} of the {len(plan)} settings" in page


# Studies whose record was made before their plan changed; this list may only shrink.
OF_ANOTHER_PLAN: tuple[str, ...] = ()


@pytest.mark.parametrize("name", STUDIES)
def test_records_have_the_settings_of_the_present_plan(name: str) -> None:
    """Those that a run would measure today, each once, or the page says how many are not there."""
    document = finished(PAGES / f"{name}.json", name)
    planned, missing, other = against_plan(name, document)
    assert len(document["cells"]) == planned - missing + other
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    said = f"**Not of the present plan:** {missing:,} of the {planned:,} settings"
    changed = missing != len(document.get("missing", ())) or other > 0
    assert changed == (said in page)
    assert changed == (name in OF_ANOTHER_PLAN)


def test_what_is_said_of_released_tables_follows_the_record() -> None:
    """Ours are worse in clustering as they were released, those of the paper better, at every ε."""
    cells = Results(
        tuple(Cell.of(c) for c in finished(PAGES / "nist-tasks.json", "nist-tasks")["cells"])
    )
    found: dict[str, set[bool]] = {}
    for name, ways in _clustering(cells).items():
        released, agreed = ways["inconsistent tables"], ways["without replacement"]
        found.setdefault(name[1], set()).add(released > agreed)
    assert {"priced": {False}, "capped": {False}, "as published": {True}} == found


def _clustering(cells: Results) -> dict[tuple[str, str, str], dict[str, float]]:
    """Mean scores of clustering by table, tables and ε, for each way of drawing rows."""
    study = find("nist-tasks")
    lines = study.summary(cells).lines
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for table, tables, epsilon, way, clustering, *_ in lines:
        found.setdefault((str(table), str(tables), str(epsilon)), {})[str(way)] = float(clustering)
    return found


def test_what_is_said_of_flags_follows_the_record() -> None:
    """On real rows one classifier suffers, two gain much on Poker, and others change little."""
    document = finished(PAGES / "tuc2-classifiers.json", "tuc2-classifiers")
    gains: dict[tuple[str, str], list[float]] = {}
    for cell in map(Cell.of, document["cells"]):
        if cell.setting.get("epsilon") == "real rows" and "flags" in cell.numbers:
            numbers, flags = cell.numbers["accuracy"], cell.numbers["flags"]["accuracy"]
            for name in numbers:
                if numbers[name] is not None and flags.get(name) is not None:
                    gain = 100 * (flags[name] - numbers[name])
                    gains.setdefault((str(cell.setting["table"]), name), []).append(gain)
    means = {key: float(np.mean(values)) for key, values in gains.items()}
    worse = {name for (_, name), gain in means.items() if gain < -15}
    better = {key for key, gain in means.items() if gain > 10}
    assert {"naive-bayes"} == worse
    assert {("poker", "xgboost"), ("poker", "gradient-boosting")} == better
    others = [g for key, g in means.items() if key[1] not in worse and key not in better]
    assert max(map(abs, others)) < 6


def test_pages_begin_with_what_became_of_each_claim() -> None:
    """The first table of every page is of claims, numbers and verdicts."""
    for name in STUDIES:
        page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        first = next(line for line in page.splitlines() if line.startswith("|"))
        assert "| the paper says | measured here | verdict |" == first


def test_processes_are_ended_with_the_run() -> None:
    """A run that is given up leaves no process behind."""
    settings: list[Setting] = [{"epsilon": "5", "runs": 10**6, "seed": s} for s in range(2)]
    crew = partial(processes._crew, NAME, NOWHERE, 2)
    with crew() as started:
        for connection, setting in zip(started, settings, strict=True):
            connection.send(setting)
        members = list(started.values())
        assert all(process.is_alive() for process in members)
    assert not any(process.is_alive() for process in members)
