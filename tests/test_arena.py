"""The arena measures as the shared referee does, resumes, and its page shows what is on record."""

from __future__ import annotations

import copy
import importlib.util
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import report
from benchmarks.__main__ import main
from benchmarks.arena import (
    asked,
    cells,
    default,
    entrants,
    exported,
    measures,
    page,
    processes,
    running,
    tables,
)
from benchmarks.arena.processes import DID_NOT_FINISH, FAILED, FINISHED, Limits, run_limited
from benchmarks.arena.records import Record, Records
from benchmarks.environments import SDNIST, Unavailable, environment
from benchmarks.peers import with_outside
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard, Size
from understudy.facts.domain import Domain
from understudy.rows.table import Table

REFEREE = SHARED / "benchmark" / "metrics.py"
needs_tables = pytest.mark.skipif(not REFEREE.exists(), reason="the public tables are not there")


def _referee() -> Any:
    spec = importlib.util.spec_from_file_location("referee", REFEREE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _frame(values: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(dict(values))


def _rough(table: tables.ArenaTable) -> dict[str, Any]:
    """Resampled rows of which one column is shuffled, and some values are not declared."""
    generator = np.random.default_rng(3)
    made = {n: c.astype(np.int64) for n, c in entrants.resampled(table, generator).items()}
    first, second, *_ = made
    made[first] = generator.permutation(made[first])
    made[second][:500] = table.learned.domain[second] + 3
    return made


@pytest.mark.slow
@needs_tables
def test_distances_on_adult_equal_those_of_the_shared_referee() -> None:
    """All 1- and 2-way marginals and the same 300 triples, undeclared values counted apart."""
    table = tables.load("adult")
    made = _rough(table)
    domain = dict(table.learned.domain.sizes)
    expected = _referee().marginals(_frame(table.learned.codes), _frame(made), domain)
    found = measures.measured(table, made)
    for ways in (1, 2, 3):
        assert pytest.approx(expected[f"tvd{ways}"], rel=1e-12) == found[f"{ways}-way"]


@pytest.mark.slow
@needs_tables
def test_predictions_on_adult_equal_those_of_the_shared_referee() -> None:
    """The same boosted trees, learned from the same rows, score the same on the test split."""
    table = tables.load("adult")
    made = {n: c[:4_000] for n, c in entrants.resampled(table, np.random.default_rng(3)).items()}
    domain = dict(table.learned.domain.sizes)
    assert table.test is not None
    expected = _referee().tstr(_frame(made), _frame(table.test.codes), domain, "income")
    found = measures.prediction(table, with_outside(table.learned.domain, made))
    assert (expected["hgb_acc"], expected["hgb_auc"]) == (found["accuracy"], found["AUROC"])


@pytest.mark.slow
def test_the_k_marginal_score_equals_that_of_sdnist(tmp_path: Path) -> None:
    """The published formula gives what SDNist's own function gives, where it is installed."""
    try:
        environment(SDNIST, may_make=False)
    except Unavailable as unavailable:
        pytest.skip(str(unavailable))
    board = Scoreboard("arena", Size.SMOKE, only=("xor/shuffled",))
    running.Runner(board, Records(tmp_path), referee=True).do(cells.Cell("xor", "shuffled", "none"))
    [record] = Records(tmp_path).all()
    assert record["k-marginal"] == record["by SDNist"]


def test_range_queries_are_fixed_and_inside_the_domain() -> None:
    """The same queries every time: three ordered attributes, and both ends among their codes."""
    table = _small_table()
    first, again = (list(measures.range_queries(table)) for _ in range(2))
    assert first == again
    assert {measures.RANGE_ATTRIBUTES} == {len(query.ranges) for query in first}
    assert all(
        0 <= low <= high < table.levels(attribute)
        for query in first
        for attribute, (low, high) in query.ranges.items()
    )


def test_range_errors_are_shares_of_rows() -> None:
    """The same rows have no error; rows in one corner have that of every query about it."""
    table = _small_table()
    nowhere = {name: np.zeros_like(codes) for name, codes in table.learned.codes.items()}
    corner = with_outside(table.learned.domain, nowhere)
    asked = list(measures.range_queries(table))
    expected = np.mean([abs(q.share(table.learned) - q.share(corner)) for q in asked])
    assert 0 == measures.range_error(table, table.learned, table.learned)
    assert expected == measures.range_error(table, table.learned, corner) > 0


@pytest.mark.slow
def test_a_class_of_a_single_row_is_not_learned() -> None:
    """The trees hold out a part of each class, which one row does not have; others are learned."""
    _, rows = tables.xor(rows=14_000)
    learned, test = tables.split(rows)
    target = rows.domain.attributes[0]
    wider = Domain({**dict(rows.domain.sizes), target: 3})
    codes = {**learned.codes, target: learned.codes[target].copy()}
    codes[target][0] = 2
    made = Table(wider, codes, learned.rows)
    table = replace(_small_table(), learned=made, test=Table(wider, test.codes, test.rows))
    found = measures.prediction(replace(table, target=target, ordered=()), made)
    assert 0.3 < found["accuracy"]


def test_several_classes_are_scored_each_against_the_others() -> None:
    """A perfect order has AUROC 1, a constant one 0.5; absent classes are not asked for."""
    actual = np.array([0, 1, 2, 2])
    right = np.eye(4)[actual]
    assert {"accuracy": 1.0, "AUROC": 1.0} == measures.scored(actual, right)
    assert {"accuracy": 0.25, "AUROC": 0.5} == measures.scored(actual, np.full((4, 4), 0.25))


@pytest.mark.slow
@needs_tables
@pytest.mark.parametrize("name", [n for n in tables.ENTRIES if n not in ("randhie", "fair")])
def test_tables_have_the_shape_that_the_page_shows(name: str) -> None:
    """Rows that methods learn from and attributes are as listed, and ordered ones are there."""
    table = tables.load(name)
    assert tables.ENTRIES[name].shape == (table.learned.rows, len(table.learned.domain))
    assert set(table.ordered) <= set(table.learned.domain)
    assert (table.target is None) == (table.test is None)


def test_a_fifth_is_held_out_and_nothing_is_lost() -> None:
    """The split is fixed, and its two parts have all rows."""
    _, table = tables.xor(rows=1_000)
    (learned, test), (again, _) = tables.split(table), tables.split(table)
    assert (800, 200) == (learned.rows, test.rows)
    for name in table.domain.attributes:
        assert table.codes[name].sum() == learned.codes[name].sum() + test.codes[name].sum()
        assert learned.codes[name].tolist() == again.codes[name].tolist()


def test_parities_of_the_xor_table_hold() -> None:
    """Every group of the real rows is even, and half of the groups of shuffled columns are."""
    table = tables.load("xor", rows=2_000)
    made = entrants.shuffled(table, np.random.default_rng(0))
    shuffled = measures.parities(with_outside(table.learned.domain, made))
    assert {1.0} == set(measures.parities(table.learned).values())
    assert all(0.4 < share < 0.6 for share in shuffled.values())


def test_bins_of_exported_tables_have_all_values() -> None:
    """A value on a border is in the upper bin, and values beyond all borders are in the last."""
    codes, sizes = exported.binned({"a": np.array([-5.0, 0, 1, 2.5, 99])}, {"a": (1, 2)})
    assert ([0, 0, 1, 2, 2], {"a": 3}) == (codes["a"].tolist(), sizes)


@pytest.mark.parametrize(
    ("code", "seconds", "status"),
    [
        (-24, 866.0, DID_NOT_FINISH),
        (-9, 899.0, DID_NOT_FINISH),
        (-9, 5.0, FAILED),
        (1, 899.0, FAILED),
    ],
)
def test_the_signal_of_the_limit_says_that_a_fit_did_not_finish(
    code: int, seconds: float, status: str
) -> None:
    """The limit's own signal counts, whatever the seconds reported; other ends are failures."""
    found, _ = processes.verdict(code, seconds, 0, Limits(), io.StringIO())
    assert status == found


@pytest.mark.slow
def test_a_process_over_a_limit_did_not_finish() -> None:
    """CPU seconds and memory are limited; a failure is told apart, without places of files."""
    busy = "while True: pass"
    large = "import time; held = bytearray(300 << 20); time.sleep(60)"
    broken = "raise OSError('no file /home/somebody/rows.csv')"
    little = Limits(cpu_seconds=1, memory_bytes=200 << 20)
    ended = [run_limited([sys.executable, "-c", code], little) for code in (busy, large, broken)]
    assert [DID_NOT_FINISH, DID_NOT_FINISH, FAILED] == [each.status for each in ended]
    expected = ["more than 1 CPU seconds", "more than 0 GiB of memory", "OSError: no file ..."]
    assert expected == [each.why for each in ended]


@pytest.mark.slow
def test_a_finished_process_says_what_it_took() -> None:
    """CPU seconds and peak memory are those of the process itself."""
    code = "import time; held = bytearray(100 << 20); sum(range(3_000_000)); time.sleep(0.3)"
    ended = run_limited([sys.executable, "-c", code], Limits())
    assert FINISHED == ended.status
    assert 0 < ended.cpu_seconds < 30
    assert 100e6 < ended.peak_bytes < 200e6


@pytest.mark.slow
def test_did_not_finish_is_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped fit leaves a record, is not tried again, and is shown on the page."""
    monkeypatch.setattr(entrants, "LIMITS", Limits(memory_bytes=1 << 20))
    records, cell = Records(tmp_path), cells.Cell("xor", "nist", "1")
    for _ in range(2):
        running.Runner(Scoreboard("arena", Size.SMOKE), records).do(cell)
    [record] = records.all()
    assert DID_NOT_FINISH == record["status"]
    stopped = f"| 1 | `nist` | {DID_NOT_FINISH}: stopped at the limit of 0 GiB of memory |"
    assert stopped in page.results_tables([record])


@pytest.mark.slow
def test_a_second_arena_has_nothing_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on record is not run again; what depends on another setting is."""
    asked = ["arena", "--smoke", "--results", str(tmp_path), "--only", "xor/shuffled"]
    assert 0 == main(asked)
    [path] = tmp_path.glob("arena/*/*.json")
    before = path.read_bytes()
    calls: list[str] = []

    def fake(table: tables.ArenaTable, made: object) -> measures.Found:
        del made
        calls.append(table.name)
        return {"3-way": 0.5}

    monkeypatch.setattr(running, "measured", fake)
    assert 0 == main(asked)
    assert ([], before) == (calls, path.read_bytes())
    monkeypatch.setattr(running, "MEASURES", running.MEASURES + 1)
    assert 0 == main(asked)
    assert ["xor"] == calls
    assert [0.5] == [record["3-way"] for record in Records(tmp_path / "arena").all()]


def test_records_are_kept_by_budget_and_run(tmp_path: Path) -> None:
    """A run replaces the same run, stays in order, and other facts begin the file again."""
    file = Records(tmp_path).file("table", "tool")
    for epsilon, run, value in (("10", 0, 1), ("0.1", 1, 2), ("0.1", 0, 3), ("10", 0, 4)):
        file.add({"version": 1}, {"epsilon": epsilon, "run": run, "value": value})
    assert [3, 2, 4] == [record["value"] for record in file.runs()]
    assert file.has({"version": 1}, "0.1", 1)
    assert not file.has({"version": 2}, "0.1", 1)
    file.add({"version": 2}, {"epsilon": "1", "run": 0, "value": 5})
    assert [5] == [record["value"] for record in Records(tmp_path).all()]
    assert ["tool.json"] == [path.name for path in (tmp_path / "table").iterdir()]


def test_cells_are_selected_by_patterns() -> None:
    """A pattern names a table, an entrant and a budget, each of which may be open."""
    every = list(cells.full_cells())
    assert len(every) == len(set(every))
    assert every == list(cells.chosen(every, ()))
    assert {"adult"} == {cell.table for cell in cells.chosen(every, ("adult",))}
    assert {"dpmm-aim", "dpmm-aim-30", "dpmm-mst", "dpmm-privbayes"} == {
        cell.entrant for cell in cells.chosen(every, ("*/dpmm-*/1",))
    }
    both = cells.chosen(every, ("cmc/nist/1", "heart/nist/0.1"))
    assert ["cmc/nist/1", "heart/nist/0.1"] == [cell.name for cell in both]


def test_only_belongs_to_the_arena() -> None:
    """Other benchmarks have no parts to select."""
    with pytest.raises(SystemExit, match="2"):
        main(["pairs", "--only", "adult"])


def test_methods_that_are_not_registered_are_refused() -> None:
    """A method that does not exist yet can be on the list, and is left out of a run."""
    unknown = entrants.OurMethod("unknown", "unknown", "no-such-method")
    with pytest.raises(Unavailable, match="not a registered method"):
        unknown.check(may_make=True)


def _record(entrant: str, epsilon: str, distance: float | None, table: str = "cmc") -> Record:
    about: Record = {"table": table, "entrant": entrant, "epsilon": epsilon, "run": 0}
    facts = {"settings": {"rounds": 3} if entrant == "dpmm-aim" else {}}
    if distance is None:
        return {**about, "facts": facts, "status": DID_NOT_FINISH, "why": "more than 1 CPU seconds"}
    return {**about, "facts": facts, "status": FINISHED, "3-way": distance}


FOUND = [
    _record("nist", "1", 0.1),
    _record("dpmm-aim", "1", 0.2),
    _record("dpmm-mst", "1", 0.4),
    _record("nist", "1", 0.3, "heart"),
    _record("dpmm-aim", "1", None, "heart"),
    _record("nist", "1", 0.2, "adult"),
    _record("dpmm-aim", "1", 0.1, "adult"),
    _record("nist", "10", 0.1),
]


def test_ours_is_compared_with_the_best_other_tool_that_finished() -> None:
    """Ratios are to the least distance on the same table and budget, and means are geometric."""
    assert {("nist", "1"): {"adult": 2.0, "cmc": 0.5}} == page.ratios(FOUND)
    assert "| `nist` |  | 1.00 (2) |  |  |  |  |" in page.summary_table(FOUND)


def _runs(entrant: str, *distances: float) -> list[Record]:
    return [{**_record(entrant, "1", d), "run": run} for run, d in enumerate(distances)]


def test_the_default_may_be_behind_by_chance_and_a_little() -> None:
    """It is held against the best of ours, and two standard errors and 3 % are allowed."""
    rivals = [*_runs("nist", 0.2, 0.2), *_runs("independent", 0.1, 0.1)]
    [behind] = default.matches([*_runs("adaptive", 0.104, 0.104), *rivals])
    assert ("independent", False) == (behind.rival, behind.holds)
    [close] = default.matches([*_runs("adaptive", 0.1029, 0.1029), *rivals])
    [unsure] = default.matches([*_runs("adaptive", 0.102, 0.106), *rivals])
    assert close.holds
    assert pytest.approx(0.104) == unsure.default
    assert unsure.holds
    table = default.default_table([*_runs("adaptive", 0.104, 0.104), *rivals])
    assert "| `cmc` | **1.04 (`independent`)** |" in table
    assert "the best in 0 of 1, and in 0" in table


def test_what_was_asked_is_beside_what_was_measured() -> None:
    """Distances are at most what was asked and predictions at least; what was not run is named."""
    close = [{**r, "table": "nltcs"} for r in _runs("adaptive", 0.01, 0.0102)]
    wrong = {**_record("adaptive-target", "1", 0.1, "adult"), "AUROC": 0.9, "accuracy": 0.9}
    lines = asked.asked_table([*close, wrong]).splitlines()
    [nltcs] = [line for line in lines if line.startswith("| NLTCS | 1 |")]
    assert "| ≤ 0.01 | 0.0101 ± 0.0001 | missed |" in nltcs
    assert any("| AUROC | ≥ 0.912 | 0.9000 ± 0.0000 | missed; tried" in line for line in lines)
    assert any("| accuracy | ≥ 0.857 | 0.9000 ± 0.0000 |  |" in line for line in lines)
    assert len(asked.ASKED) - 3 == sum("not run" in line for line in lines)


def test_single_tables_have_revisions() -> None:
    """A record is out of date where the rows of its table are made otherwise now."""
    method = entrants.OurMethod("x", "x", "nist", revision=2, revisions={"credit": 3})
    small = _small_table()
    assert {"revision": 2} == method.settings(small)
    assert {"revision": 3} == method.settings(replace(small, name="credit"))


def test_the_page_says_which_rows_are_made_otherwise_now() -> None:
    """A number of older code is marked beside its method, and one of the code of now is not."""
    now = entrants.ENTRANTS["nist"]
    assert isinstance(now, entrants.OurMethod)
    for revision, mark in ((now.revision - 1, " (older code)"), (now.revision, "")):
        record = {**_record("nist", "1", 0.1), "facts": {"settings": {"revision": revision}}}
        assert f"| 1 | `nist`{mark} | 0.100 | 1 |" in page.results_tables([record])


def test_the_page_names_reduced_settings_and_counts_what_did_not_finish() -> None:
    """Settings are beside the number, and a stopped fit is a line of the table."""
    made = page.results_tables(FOUND)
    assert "| 1 | dpmm AIM (rounds 3) | 0.200 | 1 |" in made
    stopped = "did not finish: stopped at the limit of 1 CPU seconds"
    assert f"| 1 | dpmm AIM (rounds 3) | {stopped} | 1 |" in made
    assert "| dpmm AIM | 2 | 1 | 0 | 33 |" in page.counts_table(FOUND)
    assert "rounds 3" in page.settings_table(FOUND)


def test_the_page_would_not_hide_another_result() -> None:
    """A changed run changes the page of the arena."""
    found = report.records()
    path = report.ROOT / "docs" / "arena.md"
    assert path.read_text(encoding="utf-8") == report.texts(found)[path]
    changed = copy.deepcopy(found)
    for record in changed["arena"]["details"]:
        record["3-way"] = 0.99
    assert path.read_text(encoding="utf-8") != report.texts(changed)[path]


def _small_table() -> tables.ArenaTable:
    """Three ordered attributes and one more, 500 rows."""
    generator = np.random.default_rng(5)
    sizes = {"a": 7, "b": 5, "c": 3, "d": 4}
    columns = {name: generator.integers(0, size, 500) for name, size in sizes.items()}
    schema, table = tables.coded(columns, sizes)
    return tables.ArenaTable("small", schema, table, ordered=("a", "b", "c"))
