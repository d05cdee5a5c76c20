"""Nothing paid is overwritten unasked, and a paid command says what is spent and what is left."""

from __future__ import annotations

import pytest

from support.commands import Desk


def _again(desk: Desk, command: str, output: str, *more: object) -> tuple[int, str]:
    found = desk.run(
        *(command, desk.data, "-s", desk.schema, "-e", 1, "-o", desk.folder / output),
        *("--unchecked", *more),
    )
    return found.code, found.err


@pytest.mark.parametrize(
    ("command", "output"), [("synth", "x.csv"), ("fit", "x.zip"), ("fit", "x")]
)
def test_a_paid_output_is_not_overwritten(desk: Desk, command: str, output: str) -> None:
    """The same command again is refused before it spends; `--force` overwrites."""
    assert 0 == _again(desk, command, output)[0]
    code, said = _again(desk, command, output)
    assert (2, True) == (code, "give --force to overwrite it" in said)
    assert {"people": 1.0} == desk.spent
    assert 0 == _again(desk, command, output, "--force")[0]
    assert {"people": 2.0} == desk.spent


def test_rows_of_a_model_overwrite_nothing_that_was_paid_for(desk: Desk) -> None:
    """Rows of the same model may be drawn again; those of another run stay, unless forced."""
    _again(desk, "fit", "x.zip")
    _again(desk, "synth", desk.output.name)
    drawn = ("sample", desk.folder / "x.zip", "-n", 5, "-o")
    before = desk.output.read_text()
    for more in ((), ("--fill", desk.data)):
        refused = desk.run("sample", desk.folder / "x.zip", "-o", desk.output, *more)
        assert (2, before) == (refused.code, desk.output.read_text())
        assert "give --force to overwrite it" in refused.err
    for _ in range(2):
        assert 0 == desk.run(*drawn, desk.folder / "y.csv").code
    assert 0 == desk.run(*drawn, desk.output, "--force").code
    assert 6 == len(desk.output.read_text().splitlines())


def test_a_statement_that_cannot_be_read_counts_as_paid(desk: Desk) -> None:
    """Whatever is beside the rows, nothing is lost unasked."""
    _again(desk, "fit", "x.zip")
    for text in ("", "[]", '{"statement": {"ledger": null}}'):
        (desk.folder / "y.csv.privacy.json").write_text(text)
        drawn = desk.run("sample", desk.folder / "x.zip", "-o", desk.folder / "y.csv")
        assert 2 == drawn.code


def test_a_file_without_a_statement_is_not_overwritten(desk: Desk) -> None:
    """It may be a private table: nothing is spent, and --force continues."""
    desk.output.write_text("age\n1\n")
    code, said = _again(desk, "synth", desk.output.name)
    assert 2 == code
    assert "may hold data of yours" in said
    assert "age\n1\n" == desk.output.read_text()
    assert 0 == _again(desk, "synth", desk.output.name, "--force")[0]


def test_a_paid_command_says_what_is_spent(desk: Desk) -> None:
    """After each run the ledger's total is shown, and what a limit leaves."""
    _, said = _again(desk, "synth", "x.csv")
    assert "ledger: epsilon = 1, delta = 0 spent on people so far" in said
    assert "no limit is set" in said
    desk.run("ledger", "limit", "people", "--epsilon", "3")
    _, said = _again(desk, "fit", "x.zip")
    assert "ledger: epsilon = 2, delta = 0 spent on people so far" in said
    assert "left: epsilon = 1, delta = 0" in said


def test_a_limit_below_what_is_spent_is_warned_of(desk: Desk) -> None:
    """`ledger limit` says that every further run will be refused."""
    _again(desk, "synth", "x.csv")
    assert "is spent already" in desk.run("ledger", "limit", "people", "-e", "0.5").err
    assert "is spent already" not in desk.run("ledger", "limit", "people", "-e", "5").err


def test_a_few_rows_are_printed(desk: Desk) -> None:
    """`sample --head` prints rows, needs no file and writes none."""
    _again(desk, "fit", "x.zip")
    before = set(desk.files)
    found = desk.run("sample", desk.folder / "x.zip", "--head", 3)
    assert 0 == found.code
    assert 4 == len(found.out.splitlines())
    assert ["name", "age"] == found.out.splitlines()[0].split()
    assert before == desk.files
    document = desk.run("sample", desk.folder / "x.zip", "--head", 3, "--json").document
    assert 3 == len(document["rows"])
    assert {"name", "age"} == set(document["rows"][0])


@pytest.mark.parametrize(
    ("options", "said"),
    [((), "look by --head 5"), (("--head", 3, "-o", "x.csv"), "--head prints; give one")],
)
def test_rows_go_to_one_place(desk: Desk, options: tuple[object, ...], said: str) -> None:
    """A file or the screen: neither and both are refused."""
    _again(desk, "fit", "x.zip")
    found = desk.run("sample", desk.folder / "x.zip", *options)
    assert (2, True) == (found.code, said in found.err)


def test_a_picture_comes_alone(desk: Desk) -> None:
    """`inspect -o` writes the picture and prints its place, and nothing else."""
    _again(desk, "fit", "x.zip")
    found = desk.run("inspect", desk.folder / "x.zip", "-o", desk.folder / "network.svg")
    assert "" == found.out
    assert f"network → {desk.folder / 'network.svg'}" == found.err.strip()


def test_a_skeleton_is_sent_to_infer(desk: Desk) -> None:
    """`schema check` of a skeleton ends with the command that completes it."""
    desk.schema.write_text('columns.name = {kind = "categorical", values = []}\n')
    found = desk.run("schema", "check", desk.schema)
    assert 2 == found.code
    assert f"understudy schema infer DATA --schema {desk.schema}" in found.err
    desk.schema.write_text('columns.name = {kind = "nonsense"}\n')
    assert "schema infer" not in desk.run("schema", "check", desk.schema).err
