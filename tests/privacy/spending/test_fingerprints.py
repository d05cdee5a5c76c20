"""Copies of rows under other names are reported at a terminal, and nowhere else."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from support.commands import Desk, desk_in
from understudy.facts.schema import Schema
from understudy.jobs.moving import export_ledger
from understudy.privacy.spending.fingerprints import (
    Sighting,
    known_elsewhere,
    other_ledgers,
    place,
    sentence_of_ledgers,
)
from understudy.privacy.spending.ledger import Ledger, default_path
from understudy.rows.sources import Access, open_source

SCHEMA = Schema.parse(
    {
        "columns": {
            "sex": {"kind": "categorical", "values": ["f", "m"]},
            "age": {"kind": "integer", "min": 0, "max": 99},
        }
    }
)
ROWS = pa.table({"sex": ["f", "m", "m"] * 20, "age": list(range(60))})


def _seen(folder: Path, data: object, name: str, access: Access | None = None) -> list[str]:
    """The other names of some rows that a run under this name would report."""
    with open_source(data, SCHEMA, access or Access()) as source:  # type: ignore[arg-type]
        return known_elsewhere(folder / "ledger.jsonl", name, Sighting(data, source, SCHEMA))


def test_copies_in_other_formats_and_orders_are_known(tmp_path: Path) -> None:
    """CSV, Parquet, a database's table under two names, a frame: one table."""
    csv, parquet = tmp_path / "patients.csv", tmp_path / "p.parquet"
    pyarrow.csv.write_csv(ROWS, csv)
    pyarrow.parquet.write_table(ROWS.take(list(range(59, -1, -1))), parquet)
    base = tmp_path / "base.duckdb"
    with duckdb.connect(str(base)) as connection:
        connection.execute("create schema clinic")
        connection.execute(f"create table clinic.patients as from '{parquet}'")
        connection.execute("create view patients as from clinic.patients")
    assert [] == _seen(tmp_path, csv, "patients")
    assert ["patients"] == _seen(tmp_path, parquet, "p")
    assert ["p"] == _seen(tmp_path, base, "patients", Access(table="patients"))
    known = _seen(tmp_path, base, "clinic.patients", Access(table="clinic.patients"))
    assert {"patients", "p"} == set(known)
    assert 3 == len(_seen(tmp_path, ROWS, "frame"))


def test_a_renamed_file_is_known_whatever_its_schema(tmp_path: Path) -> None:
    """The bytes are enough where rows were not opened; a folder is known by its files."""
    ledger, first, second = (tmp_path / name for name in ("ledger", "a.csv", "b.csv"))
    for path in (first, second):
        pyarrow.csv.write_csv(ROWS, path)
    assert [] == known_elsewhere(ledger, "a", Sighting(first))
    assert ["a"] == known_elsewhere(ledger, "b", Sighting(str(second)))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for part in range(2):
            file = tmp_path / name / f"{name}{part}.parquet"
            pyarrow.parquet.write_table(ROWS.slice(30 * part, 30), file)
    assert [] == known_elsewhere(ledger, "one", Sighting(tmp_path / "one"))
    assert ["one"] == known_elsewhere(ledger, "two", Sighting(tmp_path / "two"))


def test_other_rows_and_the_same_name_are_no_copies(tmp_path: Path) -> None:
    """One cell that differs, no rows at all, or the same name again: nothing is reported."""
    other = ROWS.set_column(1, "age", pa.array([98, *range(1, 60)]))
    none = ROWS.slice(0, 0)
    assert [] == _seen(tmp_path, ROWS, "a")
    assert [] == _seen(tmp_path, ROWS, "a")
    assert [] == _seen(tmp_path, other, "b")
    assert [[], []] == [_seen(tmp_path, none, name) for name in ("c", "d")]


def test_rows_that_were_spent_in_two_ledgers_are_known(tmp_path: Path) -> None:
    """Each would allow a whole limit; one that was moved, or is gone, allows nothing."""
    one, two, three = (
        Ledger(place)
        for place in (tmp_path / "1.jsonl", f"sqlite:///{tmp_path}/2.db", tmp_path / "3.jsonl")
    )
    path = tmp_path / "rows.csv"
    pyarrow.csv.write_csv(ROWS, path)
    for ledger in (one, two):
        ledger.limit("rows", epsilon=Fraction(1))
    assert [] == other_ledgers(one, Sighting(path))
    assert [str(one.path.resolve())] == other_ledgers(two, Sighting(str(path)))
    assert [f"sqlite:///{two.path.resolve()}"] == other_ledgers(one, Sighting(path))
    export_ledger(three.path, two.place, move=True)
    assert [str(one.path.resolve())] == other_ledgers(three, Sighting(path))
    one.path.unlink()
    assert [] == other_ledgers(three, Sighting(path))
    assert "in the ledger a.jsonl; b.jsonl does not know of it" in sentence_of_ledgers(
        ["a.jsonl"], "b.jsonl"
    )


def test_fingerprints_are_keyed_and_their_owners_alone(tmp_path: Path) -> None:
    """Another ledger has other fingerprints of the same rows; nobody else may read either."""
    held = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _seen(tmp_path / name, ROWS, "d")
        path = place(tmp_path / name / "ledger.jsonl")
        assert 0o600 == stat.S_IMODE(path.stat().st_mode)
        held.append(json.loads(path.read_text()))
    assert held[0]["key"] != held[1]["key"]
    assert not set(held[0]["names"]) & set(held[1]["names"])


@pytest.mark.parametrize("content", ["{", "[]", '{"key": 3, "names": {}}', '{"key": "zz"}'])
def test_a_damaged_memory_fails_nothing(tmp_path: Path, content: str) -> None:
    """The warning is a kindness: without it the run continues, and the file stays as it is."""
    place(tmp_path / "ledger.jsonl").write_text(content)
    assert [] == _seen(tmp_path, ROWS, "d")
    assert content == place(tmp_path / "ledger.jsonl").read_text()


def test_without_a_terminal_nothing_is_read_or_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither command nor fit leaves fingerprints where nobody looks on."""
    from understudy.methods import Independent

    desk = desk_in(tmp_path, capsys)
    copy = tmp_path / "copy.csv"
    copy.write_text(desk.data.read_text())
    assert 0 == desk.synth("--method", "independent").code
    found = desk.synth("--method", "independent", data=copy)
    assert "spent on before" not in found.err + found.out
    Independent(SCHEMA, epsilon=1).fit(ROWS, dataset="d")
    assert not place(default_path()).exists()


def _at_a_terminal(desk: Desk, *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout, and what a terminal on stderr was shown."""
    terminal, stderr = pty.openpty()
    ran = subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        cwd=desk.folder,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "400"},
    )
    os.close(stderr)
    told = b""
    try:
        while part := os.read(terminal, 4096):
            told += part
    except OSError:
        pass
    out, _ = ran.communicate(timeout=120)
    os.close(terminal)
    return ran.returncode, out, told.decode()


@pytest.mark.slow
def test_a_terminal_is_told_and_nothing_else_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same command says where rows were spent on before; JSON, files and code are as ever."""
    desk = desk_in(tmp_path, capsys)
    copy = desk.folder / "copy.csv"
    copy.write_text(desk.data.read_text())
    place = ("--schema", desk.schema, "-e", 1, "-o", desk.output, "--force", "--unchecked")
    where = (*place, "--method", "independent")
    command = ("-m", "understudy.cli.main", "synth")
    code, _, told = _at_a_terminal(desk, *command, desk.data, *where)
    assert (0, False) == (code, "spent on before" in told)
    code, out, told = _at_a_terminal(desk, *command, copy, *where, "--json")
    assert 0 == code
    assert "these rows were spent on before as 'people'" in told
    for text in (out, Path(f"{desk.output}.privacy.json").read_text()):
        assert "before" not in text
        assert "'people'" not in text
    assert "'people'" not in default_path().read_text().splitlines()[-1]
    code, _, told = _at_a_terminal(desk, *command, desk.data, *where, "--ledger", "other")
    known = f"these rows were spent on before in the ledger {default_path()}; other does not know"
    assert (0, True) == (code, known in told)
    script = (
        "from understudy import Independent, Schema\n"
        f"Independent(Schema.load({str(desk.schema)!r}), epsilon=1)"
        f".fit({str(desk.data)!r}, dataset='again')\n"
    )
    code, _, told = _at_a_terminal(desk, "-c", script)
    assert (0, True) == (code, "spent on before as 'people', 'copy'" in told)
