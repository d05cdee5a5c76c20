"""What every command does when all is well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from support.commands import SECRET, Desk
from support.replay import leaving
from understudy import __version__
from understudy.facts.schema import Schema
from understudy.models.model import Model

PROMISED = {"epsilon", "delta", "unit", "neighbours", "accounting", "events"}


def check_summary(document: dict[str, Any]) -> None:
    """The keys that every result for machines has."""
    assert {"method", "rows", "columns", "seconds", "statement"} <= set(document)
    assert set(document["statement"]) >= PROMISED
    assert isinstance(document["rows"], int)
    assert 2 == document["columns"]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "o[/u]t [kg] :x:.csv"])
def test_synth_writes_rows_and_their_statement(desk: Desk, name: str) -> None:
    """Rows to the output, the promise beside it, messages to stderr, the spending to the ledger."""
    output = desk.folder / name
    output.parent.mkdir(exist_ok=True)
    result = desk.synth("--rows", 30, output=output)
    assert (0, "") == (result.code, result.out)
    assert str(output) in result.err
    read = pc.read_csv if output.suffix == ".csv" else pq.read_table
    assert 30 == read(output).num_rows
    statement = json.loads(Path(f"{output}.privacy.json").read_text())
    assert (1.0, 30) == (statement["statement"]["epsilon"], statement["rows"])
    assert "seconds" not in statement
    assert {"people": 1.0} == desk.spent
    assert SECRET not in result.err + output.read_bytes().decode("latin-1")


def test_synth_prints_one_object(desk: Desk) -> None:
    """`--json` prints the whole summary on stdout and nothing else."""
    result = desk.synth("--json", "--method", "independent")
    document = result.document
    check_summary(document)
    assert {"fit", "sample"} == set(document["seconds"])
    assert all(seconds >= 0 for seconds in document["seconds"].values())
    assert document["rows"] == pc.read_csv(desk.output).num_rows
    statement = document["statement"]
    assert (1.0, 0.0, "row", "add-remove") == tuple(
        statement[key] for key in ("epsilon", "delta", "unit", "neighbours")
    )
    questions = [event["question"] for event in statement["events"]]
    assert ["counts of name", "counts of age"] == questions


def test_a_seed_repeats_rows_but_not_noise(desk: Desk) -> None:
    """A seed makes the rows of one model repeatable; the model itself is drawn afresh.

    Two fits agree only where noise of scale 2 agrees on the four counts of many rows, each once in
    eight, and is below zero or equal on the counts of none, each once in two: 16 of them.
    """
    made = ("fit", desk.data, "--schema", desk.schema, "--epsilon", 1, "--method", "independent")
    for name in ("first.zip", "second.zip"):
        desk.run(*made, "-o", desk.folder / name)
    first, second = (Model.load(desk.folder / name) for name in ("first.zip", "second.zip"))
    assert leaving(first) != leaving(second)
    for name in ("one.csv", "two.csv"):
        desk.run("sample", desk.folder / "first.zip", "-o", desk.folder / name, "--seed", 7)
    assert (desk.folder / "one.csv").read_bytes() == (desk.folder / "two.csv").read_bytes()


@pytest.mark.slow
def test_a_seed_of_synth_does_not_reach_its_noise(desk: Desk) -> None:
    """Of twenty stand-ins with one seed, not all have the same number of rows, which is noisy.

    Noise of scale 1 is zero in 46 % of runs, so that all twenty agree once in two million.
    """
    more = ("--json", "--seed", 7, "--method", "random")
    outputs = [desk.folder / f"{number}.csv" for number in range(20)]
    sizes = {desk.synth(*more, output=output).document["rows"] for output in outputs}
    assert len(sizes) > 1


def test_replace_keeps_the_number_of_rows(desk: Desk) -> None:
    """Under replace the number of rows is public, dropped ones included."""
    document = desk.synth("--json", "--neighbours", "replace").document
    assert (102, "replace") == (document["rows"], document["statement"]["neighbours"])


def test_delta_buys_another_accounting(desk: Desk) -> None:
    """With a delta the statement names the argument that proves it."""
    statement = desk.synth("--json", "--delta", "1e-6").document["statement"]
    assert 1e-6 == statement["delta"]
    assert statement["epsilon"] <= 1
    assert "pure composition" != statement["accounting"]


def test_random_rows_of_a_declared_number_are_free(desk: Desk) -> None:
    """Without an epsilon nothing is spent, and the statement says so."""
    where = ("--schema", desk.schema, "-o", desk.output)
    result = desk.run("synth", desk.data, *where, "--method", "random", "--rows", 5, "--json")
    assert 0 == result.code
    assert 0 == result.document["statement"]["epsilon"]
    assert 0 == sum(desk.spent.values())


@pytest.mark.parametrize("name", ["m.zip", "m"])
def test_fit_sample_and_inspect(desk: Desk, name: str) -> None:
    """A model is paid for once, and sampled and looked at for free."""
    model = desk.folder / name
    fitted = desk.run(
        "fit", desk.data, "--schema", desk.schema, "--epsilon", 1, "-o", model, "--json"
    )
    check_summary(fitted.document)
    sampled = desk.run("sample", model, "-o", desk.output, "--rows", 12, "--json")
    check_summary(sampled.document)
    assert 12 == sampled.document["rows"] == pc.read_csv(desk.output).num_rows
    inspected = desk.run("inspect", model, "--json")
    check_summary(inspected.document | {"seconds": {}})
    assert {"name", "age"} == set(inspected.document["network"])
    assert fitted.document["statement"] == inspected.document["statement"]
    assert {"people": 1.0} == desk.spent


def test_people_are_told_too(desk: Desk) -> None:
    """Without --json, fit and sample speak on stderr, inspect on stdout."""
    model = desk.folder / "m.zip"
    fitted = desk.run("fit", desk.data, "-s", desk.schema, "-e", 1, "-o", model)
    sampled = desk.run("sample", model, "-o", desk.output, "-n", 0)
    inspected = desk.run("inspect", model)
    assert ("", "") == (fitted.out, sampled.out)
    assert "any one row added or removed" in fitted.err
    assert "method adaptive, the default" in fitted.err
    assert "0 rows" in sampled.err
    assert all(word in inspected.out for word in ("adaptive", "counts of name", "ε ="))


def test_names_with_brackets_are_shown_as_they_are(desk: Desk) -> None:
    """A column, a dataset or a file may be called weight [kg], x[/y] or :key:."""
    desk.schema.write_text('[columns."a[/b] [kg] :key:"]\nkind = "boolean"\n')
    desk.data.write_text("a[/b] [kg] :key:\ntrue\n")
    model = desk.folder / "m[x].zip"
    fitted = desk.run(
        *("fit", desk.data, "-s", desk.schema, "-e", 1, "-o", model, "--dataset", "d[/e]")
    )
    assert (0, True) == (fitted.code, "m[x].zip" in fitted.err)
    assert "counts of a[/b] [kg] :key:" in desk.run("inspect", model).out
    assert "a[/b] [kg] :key:" in desk.run("schema", "check", desk.schema).out
    assert "d[/e]\n" in desk.run("ledger", "show").out


def test_schema_init_writes_a_skeleton_without_values(desk: Desk) -> None:
    """From CSV names alone; a filled-in skeleton passes the check."""
    result = desk.run("schema", "init", desk.data)
    assert all(line in result.out for line in ("[columns.name]", "[columns.age]"))
    assert SECRET not in result.out
    assert "Ann" not in result.out
    path = desk.folder / "new.toml"
    assert 0 == desk.run("schema", "init", desk.data, "-o", path).code
    path.write_text(path.read_text().replace('kind = ""', 'kind = "boolean"'))
    assert ["name", "age"] == [*Schema.load(path).columns]


def test_schema_init_reads_the_types_of_parquet(desk: Desk) -> None:
    """Parquet declares types, and types are public."""
    path = desk.folder / "people.parquet"
    pq.write_table(pc.read_csv(desk.data), path)
    assert 2 == desk.run("schema", "init", path).out.count('kind = "categorical"')


def test_schema_check_shows_what_becomes_of_each_column(desk: Desk) -> None:
    """For people a table, for machines sizes and the fingerprint."""
    assert all(word in desk.run("schema", "check", desk.schema).out for word in ("name", "integer"))
    document = desk.run("schema", "check", desk.schema, "--json").document
    fingerprint = Schema.load(desk.schema).fingerprint
    columns = {"name": 3, "age": 17}
    expected = {"columns": columns, "constraints": [], "unreviewed": []}
    assert expected | {"fingerprint": fingerprint} == document


def test_schema_check_tells_constraints_in_words(desk: Desk) -> None:
    """With how many combinations each forbids; and no row of a stand-in has one of them."""
    kinds = "[columns.name]\nkind = 'categorical'\nvalues = ['Ann', 'Bob']\noutside = 'Bob'\n"
    years = "[columns.age]\nkind = 'integer'\nedges = [0, 18]\nmax = 99\n"
    desk.schema.write_text(f"constraints = ['if name = Ann then age < 18']\n{kinds}{years}")
    shown = " ".join(desk.run("schema", "check", desk.schema).out.split())
    assert "where name is Ann: age is below 18 1 of 4 combinations of name × age" in shown
    [constraint] = desk.run("schema", "check", desk.schema, "--json").document["constraints"]
    assert {
        "text": "if name = Ann then age < 18",
        "words": "where name is Ann: age is below 18",
        "forbidden": 1,
        "combinations": 4,
    } == constraint
    assert 0 == desk.synth("--rows", 300).code
    rows = pc.read_csv(desk.output).to_pylist()
    assert [] == [row for row in rows if row["name"] == "Ann" and row["age"] >= 18]


def test_what_constraints_get_wrong_is_told_at_once(desk: Desk) -> None:
    """Exit 2, one line for each finding, the columns' own ones included, and nothing is spent."""
    constraints = "constraints = ['if age < 999 then name = Eve', 'age = 3']\n"
    broken = "[columns.flag]\nkind = 'wonder'\n"
    desk.schema.write_text(constraints + desk.schema.read_text() + broken)
    result = desk.synth()
    starts = [
        "column 'flag'",
        *["constraint 'if age < 999 then name = Eve'"] * 2,
        "constraint 'age",
    ]
    lines = result.err.splitlines()
    assert (2, len(starts), {}) == (result.code, len(lines), desk.spent)
    assert all(
        line.startswith(f"error: {start}") for line, start in zip(lines, starts, strict=True)
    )


def test_a_contradiction_is_refused_before_rows_are_read(desk: Desk) -> None:
    """Exit 2, naming the constraints that clash."""
    constraints = "constraints = ['if name = Ann then name = Bob', 'not (name != Ann)']\n"
    kinds = "[columns.name]\nkind = 'categorical'\nvalues = ['Ann', 'Bob']\n"
    desk.schema.write_text(constraints + kinds)
    result = desk.synth(data=desk.folder / "nowhere.csv")
    assert (2, True) == (result.code, "no row can satisfy all of this; change or" in result.err)


def test_ledger_show_and_limit(desk: Desk) -> None:
    """What was spent, what remains, and that no limit is set."""
    assert "nothing was spent" in desk.run("ledger", "show").out
    desk.synth("--dataset", "survey")
    assert "no limit is set" in desk.run("ledger", "show", "survey").out
    assert 0 == desk.run("ledger", "limit", "survey", "--epsilon", "2.5").code
    [dataset] = desk.run("ledger", "show", "--json").document["datasets"]
    assert ("survey", 2.5, 1.0, 1.5) == (
        dataset["dataset"],
        *(dataset[key]["epsilon"] for key in ("limit", "spent", "remaining")),
    )
    [run] = dataset["runs"]
    assert ("adaptive", Schema.load(desk.schema).fingerprint) == (run["method"], run["schema"])


def test_the_ledger_named_on_the_command_line_wins(desk: Desk) -> None:
    """--ledger goes before $UNDERSTUDY_LEDGER."""
    other = desk.folder / "books" / "other.jsonl"
    assert 0 == desk.synth("--ledger", other).code
    assert other.exists()
    assert {} == desk.spent


def test_a_header_alone_and_latin_1_work(desk: Desk) -> None:
    """No rows is a table; text is decoded in the given encoding."""
    desk.data.write_text("name,age\n")
    assert 0 == desk.synth("--json").code
    desk.data.write_bytes("name,age\nZoë,5\n".encode("latin-1"))
    assert 0 == desk.synth("--encoding", "latin-1").code


def test_extra_columns_may_be_ignored(desk: Desk) -> None:
    """--ignore-extra passes over what the schema does not declare."""
    desk.data.write_text(f"age,more,name\n1,{SECRET},Ann\n")
    assert 0 == desk.synth("--ignore-extra").code


def test_demo_runs_in_a_folder_of_its_own(desk: Desk) -> None:
    """It leaves a table, a schema, rows, a statement and a ledger, and shows how alike they are."""
    folder = desk.folder / "demo"
    result = desk.run("demo", "--folder", folder)
    assert (0, "") == (result.code, result.err)
    assert "Promise" in result.out
    assert {
        *("clinic.csv", "clinic.toml", "synthetic.csv", "synthetic.csv.privacy.json"),
        *("ledger.jsonl", "ledger.jsonl.secret"),
    } == {path.name for path in folder.iterdir()}
    assert {} == desk.spent


@pytest.mark.slow
def test_demo_prints_one_object(desk: Desk) -> None:
    """`demo --json` is for machines."""
    document = desk.run("demo", "--folder", desk.folder / "demo", "--json").document
    assert ("adaptive", 9) == (document["method"], document["columns"])
    assert {"fit", "sample"} == set(document["seconds"])


def test_help_and_version(desk: Desk) -> None:
    """Every command explains itself."""
    assert (0, __version__) == (desk.run("--version").code, desk.run("--version").out.strip())
    for command in ("demo", "synth", "fit", "sample", "inspect", "schema", "ledger"):
        assert command in desk.run("--help").out
        assert 0 == desk.run(command, "--help").code


def test_models_are_readable_from_python(desk: Desk) -> None:
    """What the command writes, the library reads."""
    desk.run("fit", desk.data, "-s", desk.schema, "-e", 1, "-o", desk.folder / "m.zip")
    assert "adaptive" == Model.load(desk.folder / "m.zip").statement.method


@pytest.mark.parametrize(
    ("options", "method", "why"),
    [
        (("--delta", "1e-6"), "adaptive", ", the default"),
        (("--degree", 1), "privbayes", ", because --degree shapes a network and no delta"),
        (("--tier", "age", "--delta", "1e-6"), "nist", ", because --tier shapes a network and a"),
        (("--target", "age", "--forbid", "age:name"), "adaptive", ", the default"),
    ],
)
def test_auto_follows_the_options(
    desk: Desk, options: tuple[object, ...], method: str, why: str
) -> None:
    """Auto is adaptive unless an option shapes a network, and the person is told so."""
    result = desk.synth(*options)
    assert f"method {method}{why}" in result.err
    statement = Path(f"{desk.output}.privacy.json")
    assert method == json.loads(statement.read_text())["method"]


def test_a_given_network_is_kept(desk: Desk) -> None:
    """--structure takes a file of each attribute's parents."""
    network = desk.folder / "network.json"
    network.write_text('{"name": ["age"]}')
    model = desk.folder / "m.zip"
    fit = ("fit", desk.data, "-s", desk.schema, "-e", 1, "-o", model, "--structure", network)
    assert 0 == desk.run(*fit).code
    assert {"age": [], "name": ["age"]} == desk.run("inspect", model, "--json").document["network"]


@pytest.mark.parametrize("structure", ["greedy", "pairwise", "tree"])
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_every_structure_with_every_noise(desk: Desk, structure: str, delta: str) -> None:
    """Learners and noise combine freely."""
    result = desk.synth("--structure", structure, "--delta", delta, "--degree", 1, "--json")
    assert 0 == result.code
    assert (result.document["statement"]["epsilon"] or 9) <= 1


def test_a_network_without_edges_is_told(desk: Desk) -> None:
    """Where no structure could be supported, the person hears so."""
    result = desk.synth("--degree", 0)
    assert "no two columns were worth the noise of a table" in result.err


def test_the_command_keeps_to_its_memory(desk: Desk) -> None:
    """`--memory` reads in blocks and makes the same kind of table."""
    assert 0 == desk.synth("--memory", "1kB").code
    assert {"people": 1.0} == desk.spent
    assert "2GB or 500MB" in desk.synth("--memory", "lots").err


def test_rows_of_a_histogram_on_the_command_line(desk: Desk) -> None:
    """As many as asked for come; a note says how few are of the table; the model gives no more."""
    told = desk.synth("--method", "histogram", "--rows", 5)
    assert (0, 6) == (told.code, len(desk.output.read_text().splitlines()))
    assert "rows were drawn from the table" in told.err
    model, where = desk.folder / "model.zip", ("--schema", desk.schema)
    asked = ("--epsilon", 1, "--method", "histogram", "--rows", 5)
    assert 0 == desk.run("fit", desk.data, *where, *asked, "-o", model).code
    assert "5 rows held, no network" in desk.run("inspect", model).out
    refused = desk.run("sample", model, "--rows", 6, "-o", desk.folder / "more.csv")
    assert (2, True) == (refused.code, "holds 5 released rows" in refused.err)
