"""Benchmarks run, compare what they say they compare, and pages show what they found."""

from __future__ import annotations

import copy
import importlib
import itertools
import json
import math
import pkgutil
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import benchmarks
from benchmarks import counting, environments, pairs, peers, report, spark
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.counting import Task
from benchmarks.measuring import apart, in_turns, run_child, speed
from benchmarks.plan import WAYS, experience
from benchmarks.plot import Curve, picture
from benchmarks.scoreboard import RESULTS, Line, Scoreboard, Size
from benchmarks.tables import skewed
from support.memory import hold
from support.promised import need
from support.tiers import full_but
from support.torches import need_torch
from understudy.methods.planning.band import EXPERIENCE
from understudy.privacy.accounting.conversions import largest_rho

RECORDS = report.records()


def _clock(*readings: float) -> Iterator[float]:
    yield from readings


def test_every_benchmark_is_listed() -> None:
    """What can be run by name is exactly what the folder holds."""
    modules = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name != "__main__"]
    runs = [n for n in modules if hasattr(importlib.import_module(f"benchmarks.{n}"), "run")]
    assert sorted(BENCHMARKS) == sorted(runs)


# These start servers, or many processes, of which other tests try what they measure: engines on
# Spark, holders and their protocols, the arena's cells, pages, plans, other tools.
LONG = ("spark", "network", "federated", "arena", "page", "plan_populations", "referees", "peers")
SMALL = [name for name in BENCHMARKS if name not in LONG]


@pytest.mark.slow
@pytest.mark.parametrize("name", full_but(SMALL, BENCHMARKS))
def test_every_benchmark_runs_small(name: str, tmp_path: Path) -> None:
    """A small run ends well and leaves a whole record."""
    if name in ("gan", "gan_rows", "images"):
        need_torch()
    assert 0 == main([name, "--smoke", "--results", str(tmp_path)])
    record = json.loads((tmp_path / f"{name}.json").read_text())
    assert set() == set(report.FIELDS) - record.keys()
    assert ("smoke", f"python -m benchmarks {name} --smoke") == (record["size"], record["command"])
    assert record["lines"] or record["left_out"]


def test_small_runs_leave_the_record_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder of their own, small sizes write nothing."""
    before = {path: path.read_bytes() for path in RESULTS.rglob("*.*")}
    monkeypatch.setattr("benchmarks.sampling.run", lambda board: board.add("it", 1.0, "s", 2))
    assert 0 == main(["sampling", "--smoke"])
    assert before == {path: path.read_bytes() for path in RESULTS.rglob("*.*")}


@pytest.mark.parametrize(("measured", "code"), [(1.9, 0), (2.1, 1)])
def test_a_missed_target_shows_in_the_exit_code(
    measured: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full run ends with 1 where a number is on the wrong side of its target."""
    monkeypatch.setattr("benchmarks.sampling.run", lambda board: board.add("it", measured, "s", 2))
    assert code == main(["sampling", "--results", str(tmp_path)])


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["pairs", "table"]])
def test_unknown_names_are_refused(arguments: list[str]) -> None:
    """Nothing is measured unless all names are known."""
    with pytest.raises(SystemExit, match="2"):
        main(arguments)


@pytest.mark.slow
def test_pairs_stay_faster_than_numpy() -> None:
    """On a small table, all pairs are counted several times faster than by bincount."""
    assert pairs.FLOOR <= pairs.small_speed()


@pytest.mark.slow
def test_slow_counting_would_be_noticed() -> None:
    """Counting as numpy does is below the floor."""
    table = skewed(150_000, 20)
    sets = list(itertools.combinations(table.domain.attributes, 2))
    assert pairs.FLOOR > pairs.small_speed(ours=lambda: counting.by_bincount(table, sets))


def test_work_is_taken_in_turns_and_the_least_counts() -> None:
    """A first round is not counted; then each in turn, the least of its rounds."""
    order: list[str] = []
    readings = _clock(0, 5, 10, 13, 20, 22, 30, 37)
    works = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    least = in_turns(works, rounds=2, clock=lambda: next(readings))
    assert list("ababab") == order
    assert {"a": 2, "b": 3} == least


def test_speed_is_theirs_over_ours() -> None:
    """What takes ten times the work is about ten times slower, never faster."""
    once = np.arange(200_000.0)
    measured = speed(lambda: np.sort(once[::-1]), lambda: [np.sort(once[::-1]) for _ in range(10)])
    assert 3 < measured < 30


def test_targets_are_bounds_from_above_or_below() -> None:
    """Numbers are held against targets in the right direction; without one nothing is said."""
    below, above = Line("it", 1.0, "s", 2.0), Line("it", 1.0, "×", 2.0, at_most=False)
    assert (True, False, None) == (below.met, above.met, Line("it", 1.0, "s").met)


def test_small_sizes_miss_no_target() -> None:
    """Targets are claimed for full sizes only."""
    boards = [Scoreboard("it", size) for size in (Size.FULL, Size.SMOKE)]
    for board in boards:
        board.add("it", 3.0, "s", 2.0)
    assert [1, 0] == [len(board.missed) for board in boards]


_BUSY = """
import sys, time
while time.process_time() < 2: pass
print('{"head": {"reason": "done"}, "arrays": []}', flush=True)
sys.stdin.read()
"""
_ASKING = f"""
import sys
from understudy.evaluation.prediction.worker import LearnerProcess
kept = LearnerProcess([sys.executable, "-c", {_BUSY!r}])
print(kept.ask(b"", 300).reason)
"""


@pytest.mark.slow
def test_a_command_is_measured_with_the_learners_that_it_keeps() -> None:
    """Their process ends with the command, and its CPU seconds are counted then."""
    spent = run_child([sys.executable, "-c", _ASKING])
    assert "done\n" == spent.output
    assert spent.cpu_seconds >= 2


def test_a_child_is_measured_to_its_end() -> None:
    """CPU seconds of a child are its own; sleeping costs none, and failing is reported."""
    busy = run_child([sys.executable, "-c", "sum(range(10**7)); print('done')"])
    idle = run_child([sys.executable, "-c", "import time; time.sleep(0.4)"])
    assert "done\n" == busy.output
    assert idle.cpu_seconds < 0.4 <= idle.wall_seconds
    assert idle.cpu_seconds < busy.cpu_seconds
    with pytest.raises(RuntimeError, match="ended with 3"):
        run_child([sys.executable, "-c", "raise SystemExit(3)"])


@pytest.mark.slow
def test_a_peak_is_that_of_the_process_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the parent holds is not counted; what the work holds is."""
    held = np.ones(600 << 17)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    little, much = (apart(hold, megabytes)["peak"] for megabytes in ("1", "400"))
    assert held.nbytes > little
    assert 350e6 < much - little < 450e6


def test_all_ways_of_counting_agree() -> None:
    """numpy and DuckDB give the tables that we give, cell by cell."""
    duckdb = need("duckdb")
    table = skewed(2_000, 6)
    sets = [("c0", "c1"), ("c3", "c2"), ("c0", "c4", "c5")]
    expected = counting.by_understudy(Task(table, sets, 1, 1, 1))
    counting.agree(expected, counting.by_bincount(table, sets))
    with duckdb.connect() as connection:
        connection.register("codes", pa.table(dict(table.codes)))
        counting.agree(expected, counting.by_duckdb(connection, table, sets))


def test_ways_that_disagree_are_not_compared() -> None:
    """One wrong cell ends a comparison."""
    table = skewed(500, 3)
    right = counting.by_bincount(table, [("c0", "c1")])
    wrong = {attributes: counts.copy() for attributes, counts in right.items()}
    wrong["c0", "c1"][0, 0] += 1
    with pytest.raises(AssertionError, match="c0, c1"):
        counting.agree(right, wrong)


def test_distances_of_files_count_what_is_outside(tmp_path: Path) -> None:
    """The same rows are at distance 0; values that nobody declared are as far as can be."""
    table, same, outside = skewed(1_000, 4), tmp_path / "same.csv", tmp_path / "outside.csv"
    rows = pa.table(dict(table.codes))
    pyarrow.csv.write_csv(rows, same)
    beyond = {name: np.full(table.rows, table.domain[name] + 5) for name in table.domain}
    pyarrow.csv.write_csv(pa.table(beyond), outside)
    assert (0.0, 1.0) == (peers.distance(table, same), peers.distance(table, outside))


def test_environments_are_made_by_full_runs_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small run uses what is there, and an environment of other versions counts as none."""
    monkeypatch.setenv("UNDERSTUDY_BENCH_VENVS", str(tmp_path))
    with pytest.raises(environments.Unavailable, match="no environment yet"):
        environments.environment(environments.DPMM, may_make=False)
    mark = tmp_path / "dpmm" / "installed.txt"
    mark.parent.mkdir()
    mark.write_text("dpmm==0.1.8")
    with pytest.raises(environments.Unavailable, match="no environment yet"):
        environments.environment(environments.DPMM, may_make=False)
    mark.write_text("dpmm==0.1.9")
    found = environments.environment(environments.DPMM, may_make=False)
    assert tmp_path / "dpmm" / "bin" / "python" == found


def test_exponents_are_those_of_power_laws() -> None:
    """A square has exponent 2 and a fixed cost lowers the fitted one, not the last."""
    points = (10.0, 100.0, 1000.0)
    square = Curve("square", "n", points, tuple(n**2 for n in points))
    slow_start = Curve("start", "n", points, tuple(n**2 + 1000 for n in points))
    assert pytest.approx(2) == square.exponent
    assert slow_start.exponent < slow_start.last_exponent < 2.0001


def test_pictures_hold_every_point() -> None:
    """The SVG is well-formed, with a panel for each curve and a circle for each point."""
    curve = Curve("a < b", "n", (1.0, 10.0, 100.0), (0.1, 0.2, 4.0))
    root = ElementTree.fromstring(picture([curve, curve, curve]))
    spaces = {"svg": "http://www.w3.org/2000/svg"}
    assert (3, 9) == (
        len(root.findall("svg:g", spaces)),
        len(root.findall(".//svg:circle", spaces)),
    )


def test_every_size_of_spark_says_what_it_was_measured_on() -> None:
    """A later run of another size does not take over the machine and the version of an earlier."""
    record = RECORDS["spark"]
    for size in record["details"]:
        assert {"size", "date", "machine", "load", "versions"} <= size.keys()
    early = record["details"][0] | {
        "size": "1 × 2",
        "machine": {"processor": "old", "cores": 3, "memory_gib": 4},
        "load": 5.5,
        "versions": {"understudy": "0.1.9"},
    }
    late = early | {"size": "6 × 7", "versions": {"understudy": "0.2.0"}, "load": 8.5}
    late["machine"] = early["machine"] | {"processor": "new"}
    table = report.measured_table({"spark": record | {"details": [early, late]}})
    assert "on old, 3 cores, 4 GiB; the load was 5.5." in table
    assert "on new, 3 cores, 4 GiB; the load was 8.5." in table
    assert "Version 0.1.9: `spark` (1 × 2).\nVersion 0.2.0: `spark` (6 × 7)." in table


def test_another_size_of_spark_adds_to_the_record(tmp_path: Path) -> None:
    """A run keeps the lines of other sizes, and replaces those of its own."""
    record = RECORDS["spark"]
    (tmp_path / "spark.json").write_text(json.dumps(record))
    kept, replaced = (Scoreboard("spark", folder=tmp_path) for _ in range(2))
    spark.keep_other_sizes(kept, rows=123, columns=15)
    assert [line["what"] for line in record["lines"]] == [line.what for line in kept.lines]
    assert record["details"] == kept.details
    spark.keep_other_sizes(replaced, rows=20_000_000, columns=15)
    own = [line for line in kept.lines if "20,000,000 × 15," in line.what]
    assert 2 == len(own)
    assert [line for line in kept.lines if line not in own] == replaced.lines
    assert len(kept.details) - 1 == len(replaced.details)


@pytest.mark.parametrize("name", sorted(BENCHMARKS))
def test_results_on_record_are_whole(name: str) -> None:
    """Every benchmark has a record of full size with machine, versions and true verdicts."""
    record = RECORDS[name]
    assert set() == set(report.FIELDS) - record.keys()
    assert ("full", name) == (record["size"], record["benchmark"])
    assert {"processor", "cores", "memory_gib"} == record["machine"].keys()
    assert {"python", "understudy", "numpy", "numba"} <= record["versions"].keys()
    for line in record["lines"]:
        fields = {key: value for key, value in line.items() if key != "met"}
        assert line["met"] == Line(**fields).met


def test_there_is_no_record_without_a_benchmark() -> None:
    """Results of benchmarks that are gone do not stay behind."""
    assert set(BENCHMARKS) == RECORDS.keys()


@pytest.mark.parametrize("document", report.DOCUMENTS)
def test_documents_show_the_results_on_record(document: str) -> None:
    """The tables are what `python -m benchmarks table --write` makes of the records."""
    path = report.ROOT / document
    assert report.texts(RECORDS)[path] == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["pairs", "peers", "growth", "utility", "cross_entropy"])
def test_benchmarks_would_not_hide_another_result(name: str) -> None:
    """A changed number changes the tables."""
    changed = copy.deepcopy(RECORDS)
    for line in changed[name]["lines"]:
        line["measured"] *= 1.5
    for detail in changed[name]["details"]:
        for key in {"3-way", "bits", "exponent"} & detail.keys():
            detail[key] = detail[key] * 2
    path = report.ROOT / "docs" / "benchmarks.md"
    assert report.texts(changed)[path] != path.read_text(encoding="utf-8")


def test_the_page_explains_the_missed_mean_by_its_numbers() -> None:
    """The means are those on record, and the noise is that of 30 pairs with all or half of ρ."""
    page = (report.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    [means] = (d for d in RECORDS["schema_inference"]["details"] if "mean V17 of frauds" in d)
    found = sum(means["mean V17 of frauds"]) / 5
    assert f"{means['real']:.2f} among real frauds and {found:.2f} among" in page.replace("−", "-")
    rho = float(largest_rho(1, 1e-6))
    whole, half = (round(math.sqrt(30 / (2 * rho * part))) for part in (1, 0.5))
    assert f"standard deviation of {whole} rows, and {half} rows with half of it" in page


@pytest.mark.parametrize("name", ["arena", "noise", "census", "blocks"])
def test_the_readme_would_not_hide_another_result(name: str) -> None:
    """A changed number changes the reasons that the README gives."""
    changed = copy.deepcopy(RECORDS)
    for line in changed[name]["lines"]:
        line["measured"] *= 1.5
    for detail in changed[name]["details"] if name == "arena" else ():
        detail.update({"3-way": 0.5} if "3-way" in detail else {})
    path = report.ROOT / "README.md"
    assert report.texts(changed)[path] != path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "document"),
    [("sampling", "constraints"), ("federated", "federated"), ("plan", "planning")],
)
def test_pages_would_not_hide_another_result(name: str, document: str) -> None:
    """A changed number changes the page that shows it."""
    changed = copy.deepcopy(RECORDS)
    for line in changed[name]["lines"]:
        line["measured"] *= 1.5
    for detail in changed[name]["details"]:
        detail["1-way"]["ratio"] *= 2
    path = report.ROOT / "docs" / "guides" / f"{document}.md"
    assert report.texts(changed)[path] != path.read_text(encoding="utf-8")


def test_plans_use_the_experience_on_record() -> None:
    """The constants that make ranges of forecasts are those of the last measurement."""
    record = json.loads((RESULTS / "plan.json").read_text(encoding="utf-8"))
    for method, known in EXPERIENCE.items():
        lines = [line for line in record["details"] if line["method"] == method]
        for way, constant in zip(WAYS, known, strict=True):
            found = experience([line[way] for line in lines])
            assert (found.shift, found.scatter) == pytest.approx(
                (constant.shift, constant.scatter), abs=0.0051
            )


def test_referees_agree_on_record() -> None:
    """Distances are equal, rates of attacks within chance, and both tools find the leak."""
    record = RECORDS["referees"]
    assert [] == [line["what"] for line in record["lines"] if line["met"] is False]
    assert {"sdmetrics", "sdnist", "anonymeter"} <= record["versions"].keys()
    risks = {
        (detail["attack"], detail["with"]): (detail["ours"]["risk"], detail["Anonymeter"]["risk"])
        for detail in record["details"]
        if "attack" in detail
    }
    for attack in ("singling-out", "linkage"):
        assert max(risks[attack, "the stand-in"]) < 0.1
        assert min(risks[attack, "copied rows"]) > 0.3
