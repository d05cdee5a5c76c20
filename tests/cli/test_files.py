"""Commands take and give files of every ordinary format, and rows through pipes."""

from __future__ import annotations

import gzip
import io
import sys
from types import SimpleNamespace

import openpyxl
import pandas as pd
import pytest

from support.commands import ROWS, SCHEMA, SECRET, Desk

OFFICE = '[format]\nseparator = ";"\ndecimal = ","\nencoding = "cp1252"\n'
PAY = '\n[columns.pay]\nkind = "float"\nmin = 0.0\nmax = 9.0\n'


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Let these bytes come through standard input."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def test_rows_come_and_go_through_pipes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stdout holds rows alone, messages go to stderr, and the ledger has the given name."""
    piped(monkeypatch, ROWS.encode())
    asked = ("synth", "-", "--format", "csv", "-s", desk.schema, "-e", 1, "-o", "-")
    result = desk.run(*asked, "--dataset", "people")
    assert 0 == result.code, result.err
    assert "name,age" == result.out.splitlines()[0]
    assert "rows × 2 columns → -" in result.err
    assert "no statement is written beside standard output" in result.err
    assert ["people"] == list(desk.spent)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "csv"], "no name for the ledger; give one by --dataset"),
        (["--dataset", "people"], "give one, as --format csv"),
        (["--dataset", "people", "--format", "xlsx"], "cannot be read from a pipe"),
        (["--dataset", "people", "--format", "csv", "--json"], "both write to standard output"),
    ],
)
def test_pipes_that_cannot_be_served(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    """Exit 2, before anything is spent."""
    piped(monkeypatch, ROWS.encode())
    result = desk.run("synth", "-", "-s", desk.schema, "-e", 1, "-o", "-", *options)
    assert (2, "", {}) == (result.code, result.out, desk.spent)
    assert words in result.err


def test_an_office_file_becomes_one_that_the_same_code_reads(desk: Desk) -> None:
    """pandas reads the stand-in with the arguments that read the real file."""
    real = desk.folder / "office.csv"
    real.write_text("name;age;pay\n" + "Ann;41;1,5\nBob;7;2,25\n" * 50, encoding="cp1252")
    desk.schema.write_text(OFFICE + SCHEMA + PAY)
    assert 0 == desk.synth(data=real).code

    def read(path: object) -> pd.DataFrame:
        return pd.read_csv(path, sep=";", decimal=",", encoding="cp1252")

    expected = {name: str(kind) for name, kind in read(real).dtypes.items()}
    made = read(desk.output)
    assert expected["pay"] == str(made.dtypes["pay"])
    assert list(expected) == list(made.columns)


def test_options_tell_how_a_file_is_read(desk: Desk) -> None:
    """Without them the header is one name, and the refusal says which option to give."""
    desk.data.write_text(ROWS.replace(",", ";"))
    refused = desk.synth()
    assert (4, {}) == (refused.code, desk.spent)
    assert "give --separator ';'" in refused.err
    assert 0 == desk.synth("--separator", ";").code
    assert "name,age" == desk.output.read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--separator", "ab"], "separator is 'ab'; give one character"),
        (["--decimal", "x"], "decimal is 'x'; give . or ,"),
        (["--thousands", "."], "thousands and decimal are both '.'"),
        (["--quote", "ab"], "quote is 'ab'"),
    ],
)
def test_formats_that_do_not_exist(desk: Desk, options: list[str], words: str) -> None:
    """Exit 2, and nothing is spent."""
    refused = desk.synth(*options)
    assert (2, {}) == (refused.code, desk.spent)
    assert words in refused.err


def test_broken_files_cost_nothing_and_quote_nothing(desk: Desk) -> None:
    """A workbook with a formula and a cut archive are refused by exit code 4."""
    book = openpyxl.Workbook()
    for line in (["name", "age"], [SECRET, "=1+1"]):
        book.active.append(line)
    book.save(desk.folder / "x.xlsx")
    (desk.folder / "x.csv.gz").write_bytes(gzip.compress(ROWS.encode())[:-12])
    for name in ("x.xlsx", "x.csv.gz"):
        refused = desk.synth(data=desk.folder / name)
        assert (4, {}) == (refused.code, desk.spent)
        assert SECRET not in refused.err


def test_an_unreviewed_format_is_refused(desk: Desk) -> None:
    """What a look at rows proposed is unusable until it is confirmed."""
    desk.schema.write_text('[format]\nencoding = "utf-8"\nunreviewed = true\n' + SCHEMA)
    refused = desk.synth()
    assert (2, {}) == (refused.code, desk.spent)
    assert "format: unreviewed" in refused.err
    assert 0 == desk.run("schema", "confirm", desk.schema).code
    assert 0 == desk.synth().code


def test_a_title_above_the_header_is_asked_about(desk: Desk) -> None:
    """A skeleton of one column says how to name the header's line, and one of two does not."""
    rows = desk.folder / "ward.csv"
    rows.write_text("Ward 7\nage,sex\n1,f\n")
    assert "--header-line" in desk.run("schema", "init", rows).err
    assert "--header-line" not in desk.run("schema", "init", rows, "--header-line", 2).err
