"""`understudy stream`: from ids to numbers that may leave, with every bad input."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.commands import SECRET, Desk, Result
from understudy.jobs.streams import AnswerSchedule
from understudy.stream import DensityEstimator
from understudy.stream.reading import line_batches

USERS = 5000


def _ids(desk: Desk, lines: str | None = None, name: str = "visits.txt") -> Path:
    path = desk.folder / name
    text = "\n".join(map(str, range(USERS // 2))) if lines is None else lines
    path.write_text(text)
    return path


def _density(desk: Desk, data: object, *more: object) -> Result:
    command = ("stream", "density", data, "--epsilon", 2, "--json")
    return desk.run(*command, *(more or ("--universe", USERS)))


def _off(document: dict[str, Any], density: float) -> float:
    return abs(float(document["density"]) - density) / float(document["standard_error"])


def test_density_prints_what_was_promised(desk: Desk) -> None:
    """One object with the estimate, its error, and both epsilons; the ledger has two charges."""
    found = _density(desk, _ids(desk)).document
    assert {"density", "distinct", "m", "epsilon_state", "epsilon_total", "standard_error"} <= {
        *found
    }
    assert (USERS, 2, 4) == (found["m"], found["epsilon_state"], found["epsilon_total"])
    assert 6 > _off(found, 0.5)
    assert pytest.approx(found["density"] * USERS) == found["distinct"]
    assert {"visits": 4.0} == desk.spent
    assert 2 == desk.ledger.account("visits").runs[0]["charges"]


def test_what_is_left_is_said(desk: Desk) -> None:
    """Every paid command ends with the ledger's total on stderr; JSON stays alone."""
    desk.run("ledger", "limit", "people", "--unit", "user", "--epsilon", "5")
    who, state = ("--dataset", "people"), desk.folder / "s.state"
    asked = ("stream", "density", _ids(desk), "--universe", USERS, "--epsilon", 1, *who)
    said = desk.run(*asked, "--state", state, "--answers", 2).err
    assert "ledger: epsilon = 1.5, delta = 0 spent on people so far" in said
    assert "left: epsilon = 3.5, delta = 0" in said
    said = desk.run("stream", "merge", state, *who).err
    assert "left: epsilon = 3, delta = 0" in said
    said = desk.run("stream", "intrusion", state, *who).err
    assert "ledger: epsilon = 3, delta = 0 spent on people so far" in said
    assert "ledger" not in _density(desk, _ids(desk)).err


def test_both_epsilons_are_printed_for_people(desk: Desk) -> None:
    """On stdout, beside the numbers."""
    found = desk.run("stream", "density", _ids(desk), "--universe", USERS, "--epsilon", "0.25")
    assert "epsilon 0.25 for the state, 0.5 in all" in found.out


@pytest.mark.slow
def test_ids_come_from_standard_input(desk: Desk) -> None:
    """As text, the last line without a line break."""
    command = [sys.executable, "-m", "understudy.cli.main", "stream", "density"]
    found = subprocess.run(
        [*command, "--universe", str(USERS), "--epsilon", "2", "--json"],
        input=_ids(desk).read_bytes(),
        capture_output=True,
        check=True,
    )
    assert 6 > _off(json.loads(found.stdout), 0.5)


def test_columns_of_files_hold_ids(desk: Desk) -> None:
    """CSV and Parquet, numbers or texts."""
    half = list(range(USERS // 2))
    pq.write_table(pa.table({"who": half, "name": list(map(str, half))}), desk.folder / "v.parquet")
    rows = "when,who\n" + "".join(f'"a, b",{i}\n' for i in half)
    for data, column in ((desk.folder / "v.parquet", "who"), (desk.folder / "v.parquet", "name")):
        assert 6 > _off(_density(desk, data, "--universe", USERS, "--column", column).document, 0.5)
    data = _ids(desk, rows, "v.csv")
    assert 6 > _off(_density(desk, data, "--universe", USERS, "--column", "who").document, 0.5)
    assert 2 == _density(desk, data).code
    assert 2 == _density(desk, data, "--universe", USERS, "--column", "whom").code
    assert 2 == _density(desk, desk.folder / "v.parquet").code


def test_universes_are_given_in_five_ways(desk: Desk) -> None:
    """By size, by keys, as a hash space, as a sketch, as the edges of a graph; one of them."""
    names = _ids(desk, "\n".join(f"user {i}" for i in range(USERS)), "names.txt")
    some = _ids(desk, "\n".join(f"user {i}" for i in range(USERS // 2)), "some.txt")
    assert 6 > _off(_density(desk, some, "--users", names).document, 0.5)
    hashed = _density(desk, some, "--hash-space", 4 * USERS).document
    assert 6 > abs(hashed["distinct"] - USERS / 2) / hashed["distinct_error"]
    sketched = _density(desk, some, "--sketch", 200).document
    assert 7 > abs(sketched["distinct"] - USERS / 2) / sketched["distinct_error"]
    edges = _ids(desk, "\n".join(f"{i} {j}" for i in range(100) for j in range(50)), "edges.txt")
    assert 6 > _off(_density(desk, edges, "--vertices", 100).document, 1 - 25 * 49 / 4950)
    two = ("--sketch", 9, "--universe", 9)
    for ways in (("--vertices", 9, "--universe", 9), two, ("--sketch", 0), ("--column", "x")):
        assert 2 == _density(desk, _ids(desk), *ways).code


def test_deletions_are_lines_with_a_minus(desk: Desk) -> None:
    """Lines count in their order; without the option such a line names no user."""
    lines = "\n".join(f"+{i}\n-{i}\n{i if i % 2 else -i}" for i in range(1, USERS))
    data = _ids(desk, lines)
    assert 6 > _off(_density(desk, data, "--universe", USERS, "--deletions").document, 0.5)
    assert 2 == _density(desk, data, "--hash-space", USERS, "--deletions").code
    assert 2 == _density(desk, data, "--sketch", USERS, "--deletions").code


@pytest.mark.parametrize("lines", ["", "\n\n", SECRET, f"{USERS}\n-1\n1.5\n{'9' * 40}\n0x1\n"])
def test_lines_that_are_nobody_change_nothing(desk: Desk, lines: str) -> None:
    """No exit code and no message depends on them."""
    found = _density(desk, _ids(desk, lines))
    assert (0, True) == (found.code, 6 > _off(found.document, 0))
    assert SECRET not in found.err + found.out


def test_strict_runs_end_where_an_id_is_nobody(desk: Desk) -> None:
    """Quoting nothing; what was charged for the state stays charged."""
    found = _density(desk, _ids(desk, SECRET), "--universe", USERS, "--strict")
    assert (4, "", {"visits": 2.0}) == (found.code, found.out, desk.spent)
    assert "nobody's" in found.err
    assert SECRET not in found.err


def test_a_state_is_resumed_until_its_answers_are_given(desk: Desk) -> None:
    """Events come in several runs, and every answer is one of those declared."""
    state = desk.folder / "visits.state"
    start = ("--universe", USERS, "--answers", 2, "--state", state)
    assert 0 == _density(desk, _ids(desk), *start, "--no-answer").code
    assert {"visits": 2.0} == desk.spent
    more = _ids(desk, "\n".join(map(str, range(USERS // 2, USERS))), "more.txt")
    again = ("stream", "density", more, "--state", state, "--json")
    answers = [desk.run(*again).document for _ in range(2)]
    assert [6 > _off(answer, 1) for answer in answers] == [True, True]
    assert [1, 0] == [answer["answers_left"] for answer in answers]
    refused = desk.run(*again)
    assert (3, {"visits": 4.0}) == (refused.code, desk.spent)
    assert "declared answers" in refused.err
    assert 2 == desk.run(*again, "--universe", 7).code


def test_an_intrusion_is_announced(desk: Desk) -> None:
    """It costs another epsilon, and answers know both epochs."""
    state = desk.folder / "visits.state"
    assert (
        0 == _density(desk, _ids(desk), "--universe", USERS, "--state", state, "--no-answer").code
    )
    assert 0 == desk.run("stream", "intrusion", state).code
    assert {"visits": 4.0} == desk.spent
    more = _ids(desk, "\n".join(map(str, range(USERS // 2, USERS))), "more.txt")
    found = desk.run("stream", "density", more, "--state", state, "--json").document
    assert (2, 6.0, True) == (found["epochs"], found["epsilon_total"], 6 > _off(found, 1))


def test_shards_are_merged(desk: Desk) -> None:
    """Those of shared users at their part of epsilon, disjoint ones when that is said."""
    one, other = (desk.folder / name for name in ("one.state", "other.state"))
    shared = ("--universe", USERS, "--shards", 2, "--no-answer")
    assert 0 == _density(desk, _ids(desk), *shared, "--state", one).code
    assert 0 == _density(desk, _ids(desk), *shared, "--state", other, "--like", one).code
    assert {"one": 1.0, "other": 1.0} == desk.spent
    found = desk.run("stream", "merge", one, other, "--json").document
    assert (4.0, True) == (found["epsilon_total"], 6 > _off(found, 0.5))
    assert 3 == desk.run("stream", "merge", one, other).code
    assert 2 == desk.run("stream", "merge", one).code
    assert 2 == desk.run("stream", "merge", one, other, "--disjoint").code
    assert 2 == _density(desk, _ids(desk), "--universe", USERS, "--shards", 2).code


def test_answers_come_by_the_clock(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while no event comes; the last is for the end of the stream."""
    reader, writer = os.pipe()
    told = threading.Semaphore(0)
    really = DensityEstimator.answer

    def answer(visits: DensityEstimator) -> Any:
        told.release()
        return really(visits)

    def feed() -> None:
        os.write(writer, b"1\n2\n")
        for _ in range(2):
            told.acquire(timeout=30)
        os.close(writer)

    monkeypatch.setattr(DensityEstimator, "answer", answer)
    threading.Thread(target=feed).start()
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(pipe)))
        found = _density(desk, "-", "--universe", 9, "--answers", 3, "--every", 0.2)
        answers = [json.loads(line) for line in found.out.splitlines()]
    assert [1, 2, 3] == [answer["answer"] for answer in answers]
    assert {"stream": 4.0} == desk.spent


def test_events_do_not_put_answers_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left until an answer depends on the clock alone, and the last has no time."""
    now = [100.0]
    monkeypatch.setattr("understudy.jobs.streams.time.monotonic", lambda: now[0])
    schedule, waits = AnswerSchedule(0.25, 3), []
    for now[0] in (100.0, 100.125, 100.25, 100.375, 100.5, 101.0):
        waits.append(schedule.wait())
        schedule.is_due()
    assert [0.25, 0.125, 0, 0.125, 0, None] == waits


def test_an_answer_that_is_due_comes_before_more_events() -> None:
    """Lines that are there already wait for it."""
    reader, writer = os.pipe()
    os.write(writer, b"1\n2\n")
    os.close(writer)
    waits = iter([0.0, 1.0, None])
    sizes = [len(texts) for texts in line_batches(reader, lambda: next(waits))]
    os.close(reader)
    assert [0, 2] == sizes


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--universe", 9), 2),
        (("--universe", 9, "--epsilon", 0), 2),
        (("--universe", 9, "--epsilon", "much"), 2),
        (("--universe", 0, "--epsilon", 1), 2),
        (("--universe", 9, "--epsilon", 2, "--estimator", "dwork"), 2),
        (("--universe", 9, "--epsilon", 1, "--no-answer"), 2),
        (("--universe", 9, "--epsilon", 1, "--answers", 0), 2),
        (("--epsilon", 1), 2),
        (("--users", "nowhere.txt", "--epsilon", 1), 4),
        (("--universe", 9, "--epsilon", 1, "--state", "nowhere/state"), 2),
        (("--universe", 9, "--epsilon", 1, "--like", "nowhere"), 4),
    ],
)
def test_bad_requests_spend_nothing(desk: Desk, options: tuple[object, ...], code: int) -> None:
    """They are refused before a line is read."""
    assert code == desk.run("stream", "density", _ids(desk), *options).code
    assert {} == desk.spent


def test_files_that_are_not_there_spend_nothing(desk: Desk) -> None:
    """Neither as data nor as a state."""
    assert 4 == _density(desk, desk.folder / "nowhere.txt").code
    assert 4 == desk.run("stream", "intrusion", desk.folder / "nowhere").code
    assert 4 == desk.run("stream", "density", _ids(desk), "--state", _ids(desk, "x", "bad")).code
    assert {} == desk.spent


def test_a_limit_refuses_a_stream_before_it_is_read(desk: Desk) -> None:
    """The whole cost of a run is set aside first."""
    desk.run("ledger", "limit", "visits", "--epsilon", 3)
    found = _density(desk, _ids(desk))
    assert (3, {"visits": 0.0}) == (found.code, desk.spent)


def test_lines_may_not_be_endless(desk: Desk) -> None:
    """A line longer than the buffer is refused."""
    assert 4 == _density(desk, _ids(desk, "1" * 5_000_000)).code


def test_blocks_are_joined_where_they_meet(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id that a block cuts in two is read whole."""
    monkeypatch.setattr("understudy.stream.reading._BUFFER", 64)
    seen: list[int] = []
    monkeypatch.setattr(
        "understudy.stream.density.DensityEstimator.update",
        lambda self, texts: seen.extend(texts.numbers()[:, 0].tolist()),
    )
    assert 0 == _density(desk, _ids(desk)).code
    assert list(range(USERS // 2)) == seen


def test_plan_gives_the_sample_and_the_reverse(desk: Desk) -> None:
    """A sample of m* is within α at β, a smaller one is not; nothing is spent."""
    planned = desk.run("stream", "plan", "--epsilon", 0.25, "--json").document
    assert (0.05, 0.05) == (planned["alpha"], planned["beta"])
    least = planned["sample_size"]
    for sample, enough in ((least, True), (least - 1, False)):
        found = desk.run("stream", "plan", "--epsilon", 0.25, "--sample", sample, "--json").document
        assert enough == (found["beta_of_m"] <= 0.05)
        assert pytest.approx(0.05, abs=1e-4) == found["alpha_of_m"]
    people = desk.run("stream", "plan", "--epsilon", 0.25, "--universe", USERS)
    assert "a sample of" in people.out
    for wrong in (("--alpha", 2), ("--sample", -5), ("--universe", 0), ("--answers", 0)):
        assert 2 == desk.run("stream", "plan", "--epsilon", 0.25, *wrong).code
    assert 2 == desk.run("stream", "plan").code
    assert {} == desk.spent


def test_numbers_beyond_all_bounds_are_ids_of_nobody() -> None:
    """Parsing neither wraps nor fails on digits without end."""
    from understudy.stream.texts import Texts

    lines = [str(10**18 - 1), str(10**18), "0" * 30, str(2**63), "007", "", "+5", "5 ", "٣"]
    texts = Texts.lines(np.frombuffer("\n".join(lines).encode(), np.uint8))
    expected = [10**18 - 1, -1, -1, -1, 7, -1, 5, -1]
    assert expected == texts.numbers()[:, 0].tolist()
