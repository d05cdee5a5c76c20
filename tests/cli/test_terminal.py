"""What a terminal is sent: nothing that a name, a value or a message could make it do."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.hostile import plain_members, signed, zipped
from understudy.cli.console import ProgressLines
from understudy.facts.schema import Schema
from understudy.privacy.spending.ledger import Ledger

# A title, the clipboard, a colour by one byte, an order turned around, nothing at all, and markup.
TITLE, CLIPBOARD, COLOUR = "\x1b]0;pwn\x07", "\x1b]52;c;cHdu\x07", "\x9b31m"
TURNED, HIDDEN = "\u202eevil", "a\u200bb\u2066c"
MARKUP = "[red]x[/red] [link=http://x.example]y[/link] :skull:"
EVIL = f"v{TITLE}{CLIPBOARD}{COLOUR}{TURNED}{HIDDEN}\nerror: forged"
FORBIDDEN = (
    "\x1b]",
    "\x07",
    "\x9b",
    "\u202e",
    "\u200b",
    "\u2066",
    "\u2069",
    "💀",
    "\nerror: forged",
)

_CHILD = """
import json, sys
from understudy.cli.main import run
for arguments in json.loads(sys.argv[1]):
    print("====", arguments[0], run(arguments), flush=True)
"""


def seen_at_a_terminal(folder: Path, commands: list[list[str]]) -> str:
    """All that a terminal receives while some commands run, one after the other."""
    inside, outside = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, json.dumps(commands)],
        stdin=outside,
        stdout=outside,
        stderr=outside,
        cwd=folder,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "400"},
    )
    os.close(outside)
    received = b""
    while True:
        try:
            part = os.read(inside, 1 << 16)
        except OSError:
            break
        if not part:
            break
        received += part
    child.wait()
    os.close(inside)
    return received.decode()


def _schema() -> dict[str, Any]:
    columns = {
        MARKUP: {
            "kind": "categorical",
            "values": [EVIL, MARKUP],
            "missing": [f"?{EVIL}"],
            "note": EVIL,
        },
        "b": {"kind": "categorical", "values": [EVIL, MARKUP, 3]},
    }
    return {"name": EVIL, "columns": columns, "constraints": []}


def _write_all(folder: Path) -> None:
    """A schema, a model, rows and a ledger, all of someone who means no good."""
    schema = Schema.parse(_schema())
    (folder / "s.json").write_text(schema.to_json())
    members = plain_members(schema)
    statement = json.loads(members["statement.json"])
    event = {"question": EVIL, "mechanism": EVIL, "epsilon_exact": "1", "delta_exact": "0"}
    statement |= {"method": EVIL, "accounting": EVIL, "events": [event]}
    members["statement.json"] = json.dumps(statement).encode()
    (folder / "m.zip").write_bytes(zipped(signed(members)))
    refused = _schema()
    refused["columns"] |= {f"name{TITLE}{TURNED}": {"kind": "boolean"}}
    (folder / "refused.json").write_text(json.dumps(refused))
    Ledger(folder / "ledger.jsonl").limit(EVIL, epsilon=Fraction(1))
    (folder / f"{TURNED}{TITLE}.toml").write_text("x")


CODES = [0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 2, 0, 0, 0, 2, 0, 0]
COMMANDS = [
    ["inspect", "m.zip"],
    ["inspect", "m.zip", "--json"],
    ["query", "m.zip", "P(b)"],
    ["query", "m.zip", "P(b)", "--json"],
    ["query", "m.zip", f"P({MARKUP})"],
    ["sample", "m.zip", "-o", "out.csv"],
    ["sample", "m.zip", "-o", "out.csv", "--where", f"{EVIL} = 3"],
    ["schema", "check", "s.json"],
    ["schema", "check", "s.json", "--json"],
    ["schema", "check", "refused.json"],
    ["schema", "check", f"{TURNED}{TITLE}.toml"],
    ["plan", "-s", "s.json", "-e", "1", "--rows", "50", "-m", "independent"],
    ["ledger", "show", "--ledger", "ledger.jsonl"],
    ["ledger", "limit", EVIL, "-e", "2", "--ledger", "ledger.jsonl"],
    ["schema", "check", "s.json", f"extra{TITLE}"],
    ["inspect", "m.zip", "-o", "network.svg"],
    ["evaluate", "out.csv", "out.csv", "-s", "s.json", "-o", "report.html", "--model", "m.zip"],
]


@pytest.mark.slow
def test_a_terminal_obeys_no_name(tmp_path: Path) -> None:
    """Commands at a real terminal show names, values and messages; none of them is obeyed."""
    _write_all(tmp_path)
    seen = seen_at_a_terminal(tmp_path, COMMANDS)
    for forbidden in FORBIDDEN:
        assert forbidden not in seen.replace("\r\n", "\n"), (forbidden, seen)
    assert "\\x1b]0;pwn\\x07" in seen
    assert "\\u202eevil" in seen
    assert "[red]x[/red] [link=http://x.example]y[/link] :skull:" in seen
    assert CODES == [int(line.split()[-1]) for line in seen.splitlines() if "====" in line]
    _check_pages(tmp_path)


def _check_pages(folder: Path) -> None:
    """Pictures and pages are whole, and hold none of these characters either."""
    ElementTree.fromstring((folder / "network.svg").read_text())
    for name in ("network.svg", "report.html"):
        text = (folder / name).read_text()
        assert not any(forbidden in text for forbidden in FORBIDDEN[:-1])
        assert "\x1b" not in text
        assert "[red]x[/red]" in text


def test_a_log_gets_a_line_now_and_then() -> None:
    """At most one a minute, with steps and the time left; none for short jobs."""
    now, said = [0.0], list[str]()
    lines = ProgressLines("training", said.append, clock=lambda: now[0])
    for done in range(1, 31):
        lines(done, 121, "training, ε = 1 so far")
        now[0] += 10
    assert "training, ε = 1 so far: 7 of 121, about 19 min left" == said[0]
    assert 4 == len(said)
    ProgressLines("training", said.append, clock=lambda: 1.0)(1, 2)
    assert 4 == len(said)
