"""Bad input: a clear sentence, the right exit code, no cell quoted, nothing spent or left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.commands import SECRET, Desk


def check_refused(desk: Desk, result: Any, code: int, words: str) -> None:
    """A refusal says why, shows no cell, spends nothing and writes nothing."""
    assert code == result.code, result.err
    assert words in result.err
    assert result.err.startswith("error: ")
    assert "fault in understudy" not in result.err
    assert "" == result.out
    assert SECRET not in result.err
    assert {} == desk.spent
    assert not {name for name in desk.files if "out" in name or "part" in name or "probe" in name}


def text(data: str | bytes) -> Callable[[Path], None]:
    """A file of this text or these bytes."""

    def make(path: Path) -> None:
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    return make


def truncated_parquet(path: Path) -> None:
    """A Parquet file that lost its end."""
    pq.write_table(pa.table({"name": [SECRET] * 99, "age": [1] * 99}), path)
    path.write_bytes(path.read_bytes()[:-30])


def nested_parquet(path: Path) -> None:
    """A Parquet file whose column is a list."""
    pq.write_table(pa.table({"name": [[SECRET]], "age": [1]}), path)


def wrong_parquet(path: Path) -> None:
    """A Parquet file with a date where numbers are declared."""
    days = pa.array([1], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"name": [SECRET], "age": days}), path)


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("x.csv", text(""), "the file is empty; it needs a header"),
        ("x.csv", text("\n\n"), "the file is empty; it needs a header"),
        ("x.csv", text(f"name,age,name\n{SECRET},1,2\n"), "two columns have the same name; rename"),
        ("x.csv", text(f"person,person\nname,age\n{SECRET},2\n"), "by --header-line"),
        ("x.csv", text(f"name,age\n{SECRET}é,1\n".encode("latin-1")), "--encoding cp1252"),
        ("x.csv", text(f"name,agé\n{SECRET},1\n".encode("latin-1")), "--encoding cp1252"),
        (
            "x.csv",
            text(f"name,age\n{SECRET},\xe9{SECRET}\n".encode("latin-1")),
            "--encoding cp1252",
        ),
        (
            "x.csv",
            text(f"name,age\n{SECRET},1,{SECRET}\n"),
            "a line has 3 fields where the header has 2",
        ),
        (
            "x.csv",
            text(f"name,age\nAnn,1\n{SECRET}\n"),
            "a line has 1 fields where the header has 2",
        ),
        ("x.csv", text(f"name,age\nAnn,1\n{SECRET},{SECRET}\n{SECRET}\n"), "a line has 1 fields"),
        ("x.csv", text(f'name,age\n"{SECRET},1\nAnn,2\n'), "a line has 1 fields"),
        ("x.csv", text(f"name\n{SECRET}\n"), "the data has no column 'age'; add it"),
        (
            "x.csv",
            text(f"name,age,more\n{SECRET},1,{SECRET}\n"),
            "column 'more' is not in the schema",
        ),
        (
            "x.csv",
            text(f"{SECRET},41\nBob,7\n"),
            "none of the schema's columns; is its header missing",
        ),
        (
            "x.csv",
            text(f"name;age\n{SECRET};1\n"),
            "give --separator ';', or declare it in [format]",
        ),
        ("x.csv", text(f"name,age\n{SECRET},1\n".encode("utf-16")), "--encoding utf-16"),
        ("x.csv", text(b"PAR1" + bytes(range(256)) * 9), "x.csv"),
        ("x.csv", Path.mkdir, "x.csv: cannot be read: the folder holds no .parquet files"),
        ("x.csv", lambda path: None, "cannot be read: No such file or directory; check the path"),
        ("x.parquet", text(""), "x.parquet: is not a readable parquet file; export it again"),
        ("x.parquet", text(f"name,age\n{SECRET},1\n"), "x.parquet: is not a readable parquet file"),
        ("x.parquet", truncated_parquet, "x.parquet: "),
        ("x.parquet", Path.mkdir, "x.parquet: cannot be read"),
        ("x.parquet", lambda path: None, "x.parquet: cannot be read"),
        ("x.parquet", nested_parquet, "column 'name': the data holds list"),
        (
            "x.parquet",
            wrong_parquet,
            "column 'age': the data holds date32[day], the schema says integer",
        ),
    ],
)
@pytest.mark.parametrize("command", ["synth", "fit"])
def test_data_that_cannot_be_read(
    desk: Desk, command: str, name: str, make: Callable[[Path], None], words: str
) -> None:
    """Exit 4, whatever is wrong with the file."""
    data = desk.folder / name
    make(data)
    output = desk.output if command == "synth" else desk.folder / "out.zip"
    result = desk.run(command, data, "-s", desk.schema, "-e", 1, "-o", output)
    check_refused(desk, result, 4, words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--epsilon", "0"], "epsilon is 0; nothing can be learned for free"),
        (["--epsilon", "-1"], "epsilon is positive"),
        (["--epsilon", "nan"], "epsilon is 'nan'; give a finite number"),
        (["--epsilon", "much"], "epsilon is 'much'; give a finite number"),
        (["--delta", "1"], "delta below 1"),
        (["--delta", "x"], "delta is 'x'; give a finite number"),
        (["--method", "nist"], "nist needs a delta above 0"),
        (["--method", "privbayes", "--delta", "1e-6"], "takes no delta; use nist"),
        (["--method", "independent", "--structure", "tree"], "--structure is for nist"),
        (["--structure", "forest"], "structure 'forest' is unknown; use greedy, pairwise, tree"),
        (["--structure", "none.json"], "cannot be read"),
        (
            ["--method", "magic"],
            "method 'magic' is unknown; use one of auto, adaptive,",
        ),
        (["--neighbours", "next"], "neighbours is 'next'; use add-remove or replace"),
        (["--encoding", "klingon"], "the encoding is unknown; use a name such as utf-8"),
    ],
)
def test_arguments_that_cannot_be_served(desk: Desk, arguments: list[str], words: str) -> None:
    """Exit 2, before the data is touched."""
    check_refused(desk, desk.synth(*arguments), 2, words)


@pytest.mark.parametrize("arguments", [["--rows", "-1"], ["--rows", "x"], ["--nonsense"]])
def test_arguments_that_cannot_be_parsed(desk: Desk, arguments: list[str]) -> None:
    """Exit 2 with the usage."""
    result = desk.synth(*arguments)
    assert (2, "") == (result.code, result.out)
    assert arguments[0] in result.err
    assert {} == desk.spent


def test_epsilon_must_be_said(desk: Desk) -> None:
    """There is no default; random rows of a declared number need none."""
    result = desk.run("synth", desk.data, "-s", desk.schema, "-o", desk.output)
    check_refused(desk, result, 2, "epsilon is not given; say how much privacy loss is allowed")


def test_a_suffix_we_do_not_speak(desk: Desk) -> None:
    """Input and output end in what the message lists, and it says the way out."""
    check_refused(desk, desk.synth(output=desk.folder / "o.doc"), 2, "must end in .csv, .tsv,")
    check_refused(desk, desk.synth(data=desk.folder / "d.xls"), 2, "Save the sheet as .xlsx")


def test_all_problems_of_a_schema_are_told(desk: Desk) -> None:
    """Exit 2, one line for each."""
    desk.schema.write_text(
        '[columns.a]\nkind = "integer"\nmin = 9\nmax = 1\n[columns.b]\nkind = "colour"\n'
    )
    for result in (desk.synth(), desk.run("schema", "check", desk.schema)):
        check_refused(
            desk, result, 2, "column 'a': upper bound 1 is below lower bound 9; swap them"
        )
        assert ["error: column 'a'", "error: column 'b'"] == [
            line.split(": ")[0] + ": " + line.split(": ")[1] for line in result.err.splitlines()
        ]


def unwritable(desk: Desk) -> list[tuple[Path, str]]:
    """Places where no file can be made, also by root."""
    (desk.folder / "folder.csv").mkdir()
    (desk.folder / "stated.csv.privacy.json").mkdir()
    return [
        (desk.folder / "none" / "rows.csv", "No such file or directory; choose another place"),
        (desk.folder / "folder.csv", "is a folder; name a file in it"),
        (desk.data / "rows.csv", "Not a directory; choose another place"),
        (desk.folder / "stated.csv", "is a folder; name a file in it"),
        (desk.folder / ("n" * 300 + ".csv"), "File name too long; choose another place"),
    ]


def test_an_output_that_cannot_be_written_is_refused_before_spending(desk: Desk) -> None:
    """Exit 2, and the ledger shows nothing spent."""
    for output, words in unwritable(desk):
        check_refused(desk, desk.synth(output=output), 2, words)


def test_a_model_that_cannot_be_written_is_refused_before_spending(desk: Desk) -> None:
    """A folder of other things is not replaced, and nothing is spent."""
    (desk.folder / "home").mkdir()
    (desk.folder / "home" / "letter").touch()
    for output in (desk.folder / "home", desk.folder / "no" / "m.zip", desk.folder / "no" / "m"):
        result = desk.run("fit", desk.data, "-s", desk.schema, "-e", 1, "-o", output)
        check_refused(desk, result, 2, "error: ")
    assert (desk.folder / "home" / "letter").exists()


def test_a_file_that_is_not_a_model_is_refused_before_spending(desk: Desk) -> None:
    """Neither notes nor an archive of other things is replaced, and no m.txt is made."""
    notes, letters, absent = (desk.folder / name for name in ("n.txt", "letters.zip", "m.txt"))
    for path in (notes, letters):
        path.write_text("dear")
    for output in (notes, letters, absent):
        result = desk.run("fit", desk.data, "-s", desk.schema, "-e", 1, "-o", output)
        check_refused(desk, result, 2, "a model")
    assert ["dear", "dear"] == [path.read_text() for path in (notes, letters)]
    assert not absent.exists()


def test_the_private_table_is_never_overwritten(desk: Desk) -> None:
    """An output that is an input is refused before anything is spent."""
    before = desk.data.read_bytes()
    for output in (desk.data, desk.folder / "." / desk.data.name):
        result = desk.synth(output=output)
        assert (2, {}) == (result.code, desk.spent)
        assert "is one of the inputs; choose another place" in result.err
    fitted = desk.run("fit", desk.data, "-s", desk.schema, "-e", 1, "-o", desk.schema)
    assert (2, {}) == (fitted.code, desk.spent)
    assert before == desk.data.read_bytes()


def test_a_budget_beyond_the_limit_is_refused(desk: Desk) -> None:
    """Exit 3; what was spent before stays, nothing is written."""
    desk.run("ledger", "limit", "people", "--epsilon", "1.5")
    assert 0 == desk.synth().code
    desk.output.unlink()
    result = desk.synth()
    assert 3 == result.code
    assert {"people": 1.0} == desk.spent
    assert not desk.output.exists()


def test_a_ledger_that_is_damaged_is_refused(desk: Desk) -> None:
    """Exit 3: nothing is spent on the word of a ledger that is not whole."""
    desk.synth()
    path = desk.folder / "ledger.jsonl"
    path.write_text(path.read_text().replace('"epsilon_exact": "1"', '"epsilon_exact": "0"', 1))
    desk.output.unlink()
    result = desk.synth()
    assert 3 == result.code
    assert "damaged" in result.err
    assert not desk.output.exists()


def test_a_ledger_that_cannot_be_opened_is_refused(desk: Desk) -> None:
    """Exit 3 before anything is drawn."""
    result = desk.synth("--ledger", desk.folder)
    assert 3 == result.code
    assert "choose another with --ledger" in result.err
    assert not desk.output.exists()


@pytest.mark.parametrize("command", ["sample", "inspect"])
def test_a_model_that_is_none(desk: Desk, command: str) -> None:
    """Exit 4 with the file's name."""
    (desk.folder / "m.zip").write_text(SECRET)
    more = ["-o", str(desk.output)] if command == "sample" else []
    for name in ("m.zip", "none.zip"):
        result = desk.run(command, desk.folder / name, *more)
        check_refused(desk, result, 4, name)


def test_sample_refuses_a_place_that_cannot_be_written(desk: Desk) -> None:
    """Exit 2, as for every command."""
    desk.run("fit", desk.data, "-s", desk.schema, "-e", 9, "-o", desk.folder / "m.zip")
    for output, words in unwritable(desk)[:3]:
        result = desk.run("sample", desk.folder / "m.zip", "-o", output)
        assert 2 == result.code
        assert words in result.err


def test_schema_init_refuses_what_it_cannot_read_or_write(desk: Desk) -> None:
    """Exit 4 for the data, 2 for the place."""
    assert 4 == desk.run("schema", "init", desk.folder / "none.csv").code
    assert 2 == desk.run("schema", "init", desk.data, "-o", desk.folder / "no" / "s.toml").code


def test_schema_init_keeps_a_schema_that_is_there(desk: Desk) -> None:
    """A schema someone filled in is not overwritten by a skeleton."""
    before = desk.schema.read_text()
    result = desk.run("schema", "init", desk.data, "-o", desk.schema)
    assert 2 == result.code
    assert "is there already" in result.err
    assert before == desk.schema.read_text()


def test_demo_refuses_a_folder_that_cannot_be_made(desk: Desk) -> None:
    """Exit 2 with the reason."""
    result = desk.run("demo", "--folder", desk.data)
    assert 2 == result.code
    assert "File exists; choose another place" in result.err
    (desk.folder / "demo" / "clinic.toml").mkdir(parents=True)
    assert 2 == desk.run("demo", "--folder", desk.folder / "demo").code


def test_a_fault_of_ours_shows_no_message(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of an unforeseen error may quote rows, so it is kept back; the place is shown."""

    def fail(*_: object, **__: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr("understudy.facts.codec.Codec.encode", fail)
    result = desk.synth()
    assert 1 == result.code
    assert "this is a fault in understudy (ValueError at test_bad_input.py:" in result.err
    assert SECRET not in result.err + result.out
    assert {} == desk.spent


def test_memory_that_ran_out_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 2 with the way out."""

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("understudy.facts.codec.Codec.encode", fail)
    result = desk.synth()
    assert (2, True) == (result.code, "memory ran out; use fewer bins" in result.err)


def test_json_is_told_nothing_when_refused(desk: Desk) -> None:
    """Stdout stays empty, so that no half object is read."""
    result = desk.synth("--json", data=desk.folder / "none.csv")
    assert (4, "") == (result.code, result.out)
    with pytest.raises(json.JSONDecodeError):
        json.loads(result.out)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (
            {"kind": "integer", "min": 0, "max": 10**6, "bins": 70_000},
            "column 'age': bins is 70000, more than 65535; use fewer, for example bins = 16",
        ),
        (
            {"kind": "integer", "edges": [*range(70_000)], "max": 10**6},
            "column 'age': 70000 values are more than 65535; group them",
        ),
        (
            {"kind": "categorical", "values": [*range(70_000)]},
            "column 'age': 70000 values are more than 65535; group them",
        ),
    ],
    ids=["bins", "edges", "values"],
)
def test_more_values_than_codes_are_refused_before_rows_are_read(
    desk: Desk, column: dict[str, Any], words: str
) -> None:
    """One sentence from the schema alone: the data need not even be there."""
    desk.data.unlink()
    name = {"kind": "categorical", "values": ["Ann", "Bob"]}
    desk.schema.write_text(json.dumps({"columns": {"name": name, "age": column}}))
    schema = desk.schema.rename(desk.folder / "people.json")
    where = ("--schema", schema, "-o", desk.output, "--epsilon", 1)
    result = desk.run("synth", desk.data, *where)
    check_refused(desk, result, 2, words)
    assert 1 == result.err.count("column")


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (("--epsilon", "100"), "right at most 100 times in 100"),
        (("--epsilon", "1", "--delta", "0.1"), "publish each row as it is with this chance"),
        (("--epsilon", "1", "--delta", "1e-6"), None),
    ],
)
def test_a_large_budget_is_said_on_the_terminal(
    desk: Desk, budget: tuple[str, ...], words: str | None
) -> None:
    """The run continues; standard error says what such a budget promises."""
    done = desk.synth(*budget, "--method", "independent")
    assert (0, words is not None) == (done.code, " is large: it " in done.err)
    assert words is None or words in done.err


def test_a_target_names_every_method_that_takes_one(desk: Desk) -> None:
    """Among them the default."""
    refused = desk.synth("--method", "independent", "--target", "age")
    assert (2, True) == (refused.code, "--target is for adaptive, " in refused.err)
    assert all(name in refused.err for name in ("nist", "privbayes", "dpgan"))
