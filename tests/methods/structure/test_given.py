"""Networks and predictors that someone wrote down: completed, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.methods.structure.given import (
    SUFFIXES,
    check_network,
    read_network,
    read_predictors,
)
from understudy.models.network import Family, Network

DOMAIN = Domain({"age": 5, "sex": 2, "income": 3})


def _written(folder: Path, text: str) -> Path:
    path = folder / "network.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_network_is_read_and_completed(tmp_path: Path) -> None:
    """Parents without a separate line, and attributes left out, have no parents."""
    network = check_network(read_network(_written(tmp_path, '{"income": ["age"]}')), DOMAIN)
    assert {Family("age"), Family("sex"), Family("income", ("age",))} == set(network)
    assert network.order.index("age") < network.order.index("income")


def test_order_in_the_file_does_not_matter(tmp_path: Path) -> None:
    """Children may be written before their parents."""
    text = '{"income": ["sex", "age"], "sex": ["age"], "age": []}'
    assert ("age", "sex", "income") == read_network(_written(tmp_path, text)).order


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"age": ["income"], "income": ["age"]}', "age, income; break the cycle"),
        ('{"age": ["age"]}', "age; break the cycle"),
        ('{"age": [], "sex": [], "age": ["sex"]}', "'age' twice"),
        ("age -> income", "is not JSON"),
        ('{"age": [', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('["age"]', "write"),
        ('{"age": "sex"}', "write"),
        ('{"age": [3]}', "write"),
        ('{"age": null}', "write"),
    ],
)
def test_what_is_no_network_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """The message names the attribute or the file, and the way out."""
    with pytest.raises(UsageError, match=says):
        read_network(_written(tmp_path, text))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, suffix: str) -> None:
    """A picture is not a network."""
    path = tmp_path / f"network{suffix}"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_network(path)


MATRIX = ' "","age","sex","income"\n"age",0,0,0\n"sex",0,0,0\n"income",1,1,0\n'


@pytest.mark.parametrize(
    "text",
    [MATRIX, MATRIX.replace("\n", "\r\n"), "\ufeff" + MATRIX, MATRIX.replace('"', "") + "\n"],
)
def test_a_matrix_of_predictors_is_read(tmp_path: Path, text: str) -> None:
    """As R writes it, with or without quotes, marks of order and empty lines."""
    path = tmp_path / "predictors.csv"
    path.write_bytes(text.encode())
    expected = {Family("age"), Family("sex"), Family("income", ("age", "sex"))}
    assert expected == set(read_network(path))


def test_a_matrix_may_have_rows_and_columns_in_any_order(tmp_path: Path) -> None:
    """A row is a child whatever the header above it says."""
    path = tmp_path / "predictors.csv"
    path.write_text("child,sex,age\nage,1,0\nsex,0,0\n")
    assert ("sex", "age") == read_network(path).order


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (",a,b\na,0,1\nb,1,0\n", "a, b; break the cycle"),
        (",a\na,1\n", "a; break the cycle"),
        (",a,a\na,0,0\n", "column 'a' is there twice"),
        (",a,b\na,0,0\na,0,0\nb,0,0\n", "row 'a' is there twice"),
        (",a,b\na,0,0\n", "row 'b' is missing"),
        (",a\na,0\nZZZ,0\n", "line 3 begins with no name of the header"),
        (",a,b\na,0,2\nb,0,0\n", "row 'a', column 'b' is not 0 or 1"),
        (",a,b\na,0,\nb,0,0\n", "row 'a', column 'b' is not 0 or 1"),
        (",a,b\na,0\nb,0,0\n", "row 'a' has 1 cells, the header names 2"),
        ("", "has no header"),
        ("a;b;c\n", "has no header"),
        (',"a\n', "is not CSV"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """The refusal quotes the names of the header, and never a cell."""
    path = tmp_path / "predictors.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=says) as caught:
        read_network(path)
    assert "ZZZ" not in str(caught.value)


def test_what_is_no_bif_is_refused_with_its_path(tmp_path: Path) -> None:
    """And with the line."""
    path = tmp_path / "network.bif"
    path.write_text("variable a {}\nprobability a {}")
    with pytest.raises(
        UsageError, match=r"network\.bif: is not BIF: line 2: \( is expected; check"
    ):
        read_network(path)


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    """Its path and the reason."""
    with pytest.raises(UsageError, match=r"nowhere\.json: cannot be read: No such file"):
        read_network(tmp_path / "nowhere.json")


def test_an_unknown_attribute_is_refused_by_name() -> None:
    """With the ones that are known."""
    network = Network.from_parents({"agee": [], "sex": ["agee"]})
    with pytest.raises(UsageError, match="'agee' is unknown; known are age, sex, income"):
        check_network(network, DOMAIN)


def test_a_parent_named_twice_is_refused_by_name() -> None:
    """A table has one axis for each attribute."""
    with pytest.raises(UsageError, match="'sex' names a parent twice"):
        Network((Family("age"), Family("sex", ("age", "age"))))


def _matrix(folder: Path, text: str) -> Path:
    path = folder / "matrix.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_predictors_are_read_line_by_line(tmp_path: Path) -> None:
    """A line is a child; the header may have its own order, and spaces do not matter."""
    text = "\ufeffchild,sex,age\nage, 0,0\n\nsex,0,1\n"
    assert {"age": (), "sex": ("age",)} == read_predictors(_matrix(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "predictors .* has no header"),
        (",age,sex\nage,0,0\n", "row 'sex' is missing"),
        (",age,sex\nage,0,0\nsex,1\n", "row 'sex' has 1 cells, the header names 2"),
        (",age,sex\nage,0,yes\nsex,1,0\n", "row 'age', column 'sex' is not 0 or 1"),
        (",age,sex\nage,1,0\nsex,1,0\n", "'age' does not predict itself"),
    ],
)
def test_what_are_no_predictors_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """The message names the line and the way out."""
    with pytest.raises(UsageError, match=says):
        read_predictors(_matrix(tmp_path, text))


def test_a_matrix_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """A picture is not a matrix."""
    path = tmp_path / "matrix.csv"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_predictors(path)
