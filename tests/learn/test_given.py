"""Networks that somebody wrote down: completed, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.domain import Domain
from understudy.errors import UsageError
from understudy.learn.given import check_network, read_network
from understudy.network import Family, Network

DOMAIN = Domain({"age": 5, "sex": 2, "income": 3})


def _written(folder: Path, text: str) -> Path:
    path = folder / "network.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_network_is_read_and_completed(tmp_path: Path) -> None:
    """Parents without a line of their own, and attributes left out, stand alone."""
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
        ("age -> income", "is no JSON"),
        ('{"age": [', "is no JSON"),
        ("[" * 100_000, "is no JSON"),
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


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A picture is no network."""
    path = tmp_path / "network.json"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UsageError, match="is no JSON"):
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
