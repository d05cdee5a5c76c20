"""`inspect` shows a network and how well its tables can be read, draws it, and exports it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import SECRET, Desk
from support.pictures import Picture


@pytest.fixture
def model(desk: Desk) -> Path:
    """A model of both columns, name given age."""
    structure, path = desk.folder / "given.json", desk.folder / "m.zip"
    structure.write_text('{"name": ["age"]}')
    wanted = ("--structure", structure, "--epsilon", 1, "-o", path)
    assert 0 == desk.run("fit", desk.data, "--schema", desk.schema, *wanted).code
    return path


def test_networks_and_tables_are_listed(desk: Desk, model: Path) -> None:
    """Each attribute with its parents and scores, each table with its signal and noise."""
    shown = desk.run("inspect", model).out
    [line] = [line.split() for line in shown.splitlines() if line.startswith(" name ")]
    assert ["name", "3", "age"] == line[:3]
    assert 0 <= float(line[3]) <= 1
    [line] = [line.split() for line in shown.splitlines() if "counts of age × name" in line]
    assert "51" == line[5]
    assert {"clear", "faint", "drowned"} & set(line)
    assert "total variation distance from independence, exact" in shown


def test_json_holds_all_that_is_shown(desk: Desk, model: Path) -> None:
    """Edges with scores, how they came about, and the tables."""
    found = desk.run("inspect", model, "--json").document
    [edge] = found["edges"]
    assert ("age", "name") == (edge["parent"], edge["child"])
    assert {"exact": True, "rows": None} == {k: found["scores"][k] for k in ("exact", "rows")}
    [table] = [t for t in found["tables"] if ["age", "name"] == t["attributes"]]
    assert 51 == table["cells"]
    assert pytest.approx(found["rows"] / 51) == table["average"]
    assert pytest.approx(table["average"] / table["noise"]) == table["ratio"]
    named = [e["question"] for e in found["statement"]["events"]]
    asked = [q for q in named if "counts of" in q or q == "number of rows"]
    assert len(asked) == len(found["tables"])


def test_pictures_are_written_by_suffix(desk: Desk, model: Path) -> None:
    """SVG and PNG, beside what is shown; the message goes to stderr."""
    for suffix, start in ((".svg", b"<svg"), (".png", b"\x89PNG")):
        picture = desk.folder / f"picture{suffix}"
        done = desk.run("inspect", model, "-o", picture)
        assert (0, True) == (done.code, f"network → {picture}" in done.err)
        assert picture.read_bytes().startswith(start)
    svg = (desk.folder / "picture.svg").read_text(encoding="utf-8")
    assert {"age", "name"} == Picture.of(svg).boxes.keys()
    assert {"people": 1.0} == desk.spent


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-o", "picture.jpg"), "suffix '.jpg' is unknown; use .svg, .png, .bif"),
        (("-o", "nowhere/picture.svg"), "cannot be written"),
        (("-o", "p.svg", "--theme", "pink"), "theme 'pink' is unknown"),
    ],
)
def test_pictures_that_cannot_be_made_are_refused(
    desk: Desk, model: Path, arguments: tuple[str, ...], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With exit code 2, and nothing is left behind."""
    monkeypatch.chdir(desk.folder)
    before = desk.files
    refused = desk.run("inspect", model, *arguments)
    assert (2, True) == (refused.code, says in refused.err)
    assert before == desk.files


def test_models_of_rows_have_no_picture(desk: Desk) -> None:
    """They are shown, and refused to be drawn."""
    path = desk.folder / "rows.zip"
    wanted = ("--method", "histogram", "--rows", 2, "-e", 1, "-o", path)
    assert 0 == desk.run("fit", desk.data, "-s", desk.schema, *wanted).code
    assert 0 == desk.run("inspect", path).code
    assert [] == desk.run("inspect", path, "--json").document["edges"]
    for name in ("p.svg", "p.png", "p.bif"):
        refused = desk.run("inspect", path, "-o", desk.folder / name)
        assert (2, True) == (refused.code, "holds released rows" in refused.err)
        assert not (desk.folder / name).exists()


def test_an_exported_network_can_be_given(desk: Desk, model: Path) -> None:
    """BIF goes out of one model and into the next fit."""
    bif, second = desk.folder / "network.bif", desk.folder / "second.zip"
    assert 0 == desk.run("inspect", model, "-o", bif).code
    wanted = ("--structure", bif, "--epsilon", 1, "-o", second)
    assert 0 == desk.run("fit", desk.data, "--schema", desk.schema, *wanted).code
    networks = [desk.run("inspect", m, "--json").document["network"] for m in (model, second)]
    assert networks[0] == networks[1]


def test_a_matrix_of_predictors_can_be_given(desk: Desk) -> None:
    """A 1 says that the column is a parent of the row."""
    matrix, model = desk.folder / "predictors.csv", desk.folder / "m.zip"
    matrix.write_text(",name,age\nname,0,0\nage,1,0\n")
    wanted = ("--structure", matrix, "--epsilon", 1, "-o", model)
    assert 0 == desk.run("fit", desk.data, "--schema", desk.schema, *wanted).code
    assert {"name": [], "age": ["name"]} == desk.run("inspect", model, "--json").document["network"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("n.csv", ",name,agee\nname,0,1\nagee,0,0\n", "'agee' is unknown; known are name, age"),
        ("n.csv", ",name,age\nname,0,1\nage,1,0\n", "break the cycle"),
        ("n.csv", ",name,age\nname,0,x\nage,0,0\n", "row 'name', column 'age' is not 0 or 1"),
        ("n.bif", "variable agee { } probability ( agee ) { }", "'agee' is unknown"),
        ("n.bif", "variables", "is not BIF"),
        (
            "n.xml",
            "<network/>",
            "unknown; use greedy, pairwise, tree, genetic or a file (.json, .bif, .csv)",
        ),
    ],
)
def test_networks_that_cannot_be_used_cost_nothing(
    desk: Desk, name: str, text: str, says: str
) -> None:
    """They are refused by name with exit code 2, before rows are read."""
    structure = desk.folder / name
    structure.write_text(text)
    refused = desk.synth("--structure", structure, data=desk.folder / "not there.csv")
    assert (2, True) == (refused.code, says in refused.err)
    assert {} == desk.spent


def test_rows_given_for_a_network_are_not_quoted(desk: Desk) -> None:
    """A mistaken file of private rows stays private."""
    refused = desk.synth("--structure", desk.data)
    assert 2 == refused.code
    said = refused.err.replace(str(desk.folder), "")
    assert not any(cell in said for cell in (SECRET, "Ann", "Bob", "41"))
