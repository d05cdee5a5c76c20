"""`synth` and `fit` look first whether rows fit: the owner is asked, a script buys the answer."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from support.commands import SECRET, Desk, Result
from understudy.privacy.preflight import QUESTION
from understudy.privacy.spending.limits import Spent

GOOD = "name,age\n" + "Ann,41\nBob,7\n" * 8000
BAD = "name,age\n" + "Ann,41\n" * 1000 + f"{SECRET},7\n" * 3000
_CHILD = "import sys\nfrom understudy.cli.main import run\nsys.exit(run(sys.argv[1:]))"


def _synth(desk: Desk, *more: object) -> Result:
    """The main job with its preflight, as a script runs it."""
    where = ("--schema", desk.schema, "-o", desk.output, "--epsilon", 1, "--force")
    return desk.run("synth", desk.data, *where, *more)


def test_a_script_does_not_pay_for_rows_that_do_not_fit(desk: Desk) -> None:
    """Three of four rows do not fit: exit code 4, a fiftieth is spent, and nothing is written."""
    desk.data.write_text(BAD)
    found = _synth(desk)
    assert 4 == found.code
    assert "only epsilon = 0.02 was spent" in found.err
    assert "`understudy check`" in found.err
    assert SECRET not in found.out + found.err
    assert not desk.output.exists()
    assert Spent(Fraction(1, 50), Fraction(0)) == desk.ledger.account("people").spent


def test_a_script_goes_on_where_rows_fit(desk: Desk) -> None:
    """The count is a remark, a charge in the ledger, and the first event of the statement."""
    desk.data.write_text(GOOD)
    found = _synth(desk)
    assert 0 == found.code
    assert "rows fit the schema; this count has noise" in found.err
    written = json.loads((desk.folder / "out.csv.privacy.json").read_text())
    assert QUESTION == written["statement"]["events"][0]["question"]
    assert 1 == written["statement"]["epsilon"]
    assert {"people": 1.0} == desk.spent


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_what_was_bought_can_be_verified(desk: Desk, delta: str) -> None:
    """Statement, file and ledger belong together, by pure sums and by the Gaussian curve."""
    desk.data.write_text(GOOD)
    assert 0 == _synth(desk, "--delta", delta).code
    assert 0 == desk.run("verify", desk.output, "--ledger", desk.ledger.path).code


def test_unchecked_asks_nothing(desk: Desk) -> None:
    """`--unchecked` spends the whole budget on the method."""
    desk.data.write_text(BAD)
    found = _synth(desk, "--unchecked", "--json")
    assert 0 == found.code
    questions = [event["question"] for event in found.document["statement"]["events"]]
    assert QUESTION not in questions


def test_a_limit_has_room_for_the_whole_run_or_none(desk: Desk) -> None:
    """A run that the limit refuses has bought no preflight either."""
    desk.run("ledger", "limit", "people", "--epsilon", "0.5")
    assert 3 == _synth(desk).code
    assert 0 == desk.ledger.account("people").spent.epsilon


# --- at a terminal ---------------------------------------------------------------------------


def _at_terminal(desk: Desk, answer: str, *more: str) -> tuple[int, str]:
    """The exit code of `synth` at a terminal, and all that the terminal is sent."""
    inside, outside = pty.openpty()
    command = ["synth", str(desk.data), "-s", str(desk.schema), "-e", "1", "-o", str(desk.output)]
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, *command, *more],
        stdin=outside,
        stdout=subprocess.DEVNULL,
        stderr=outside,
        env=os.environ | {"TERM": "dumb", "COLUMNS": "300"},
    )
    os.close(outside)
    os.write(inside, answer.encode())
    received = b""
    while part := _read(inside):
        received += part
    os.close(inside)
    return child.wait(), received.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""


@pytest.mark.slow
def test_the_owner_may_say_no(desk: Desk) -> None:
    """The exact losses are shown; after a no nothing is spent, written or kept."""
    desk.data.write_text(BAD)
    before = set(desk.files)
    code, seen = _at_terminal(desk, "n\n")
    assert 4 == code
    assert "3,000 of 4,000 rows (75 %) do not fit the schema and are lost: 3,000 by name" in seen
    assert "nothing was spent" in seen
    assert before == desk.files


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "more"), [("y\n", ()), ("", ("--yes",))])
def test_the_owner_may_go_on(desk: Desk, answer: str, more: tuple[str, ...]) -> None:
    """After a yes the whole budget is the method's, and no exact number is in a file."""
    desk.data.write_text(BAD)
    code, seen = _at_terminal(desk, answer, *more)
    assert 0 == code
    assert "3,000 by name" in seen
    written = json.loads(Path(f"{desk.output}.privacy.json").read_text())
    assert QUESTION not in [event["question"] for event in written["statement"]["events"]]
    assert {"people": 1.0} == desk.spent
    kept = "".join(path.read_text(errors="replace") for path in _outputs(desk))
    assert "3,000" not in kept
    assert SECRET not in kept


def _outputs(desk: Desk) -> list[Path]:
    return [path for path in desk.folder.iterdir() if path not in (desk.data, desk.schema)]


@pytest.mark.slow
def test_a_few_lost_rows_are_told_and_not_asked_about(desk: Desk) -> None:
    """Up to one row in a hundred is lost without a question."""
    desk.data.write_text(GOOD + f"{SECRET},7\n")
    code, seen = _at_terminal(desk, "")
    assert 0 == code
    assert "1 of 16,001 rows" in seen
    assert "[y/N]" not in seen
