"""Workloads: which marginals count more, read from files, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.workload import USUAL_WEIGHT, NamedSet, Workload

DOMAIN = Domain({"age": 4, "sex": 2, "income": 2})


@pytest.mark.parametrize(
    ("columns", "weight"),
    [
        (("age", "income"), 5.0),
        (("age", "income", "job"), 5.0),
        (("age",), 5.0),
        (("sex", "job"), 2.0),
        (("age", "job"), 1.0),
        ((), 5.0),
    ],
)
def test_what_a_marginal_counts(columns: tuple[str, ...], weight: float) -> None:
    """As much as the heaviest set that it lies in, or that lies in it; others count one."""
    workload = Workload((NamedSet(("age", "income"), 5.0), NamedSet(("sex",), 2.0)))
    assert weight == workload.weight(columns)


def test_a_target_is_a_column_that_counts() -> None:
    """Every marginal that holds the target counts as if the target had been named alone."""
    towards = Workload().towards("income")
    assert (USUAL_WEIGHT, 1.0) == (towards.weight(("age", "income")), towards.weight(("age",)))
    assert Workload() == Workload().towards(None)


SETS = [["age", "income"], {"columns": ["sex"], "weight": 2}]
READ = Workload((NamedSet(("age", "income")), NamedSet(("sex",), 2.0)))
TOML = 'sets = [["age", "income"], {columns = ["sex"], weight = 2}]'


@pytest.mark.parametrize(
    ("name", "text"),
    [("w.json", json.dumps(SETS)), ("w.json", json.dumps({"sets": SETS})), ("w.toml", TOML)],
)
def test_files_are_read(tmp_path: Path, name: str, text: str) -> None:
    """JSON has a list, or a table with one; TOML has the table."""
    path = tmp_path / name
    path.write_text(text)
    assert READ == Workload.load(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[", "is not JSON"),
        ("7", "is not a list of sets of columns"),
        ("[]", "is not a list of sets of columns"),
        ('{"sets": 1}', "is not a list of sets of columns"),
        ("[[]]", "set 1: does not list columns by name"),
        ('[["age"], [1]]', "set 2: does not list columns by name"),
        ('["age"]', "set 1: does not list columns by name"),
        ('[["age", "age"]]', "set 1: names a column twice"),
        ('[{"columns": ["age"], "wieght": 3}]', "and nothing else"),
        ('[{"weight": 3}]', "and nothing else"),
        ('[{"columns": ["age"], "weight": 0}]', "above 0 and up to 100"),
        ('[{"columns": ["age"], "weight": 101}]', "above 0 and up to 100"),
        ('[{"columns": ["age"], "weight": NaN}]', "above 0 and up to 100"),
        ('[{"columns": ["age"], "weight": true}]', "above 0 and up to 100"),
        ('[{"columns": ["age"], "weight": "3"}]', "above 0 and up to 100"),
        (json.dumps([["age"]] * 10_001), "name at most 10,000"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_not_a_workload_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """The message names the file, the set and the rule."""
    path = tmp_path / "w.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"workload .*w\.json") as refusal:
        Workload.load(path)
    assert says in str(refusal.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    """A missing file, and one that is not text."""
    with pytest.raises(UsageError, match="cannot be read"):
        Workload.load(tmp_path / "nowhere.toml")
    (tmp_path / "w.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is not TOML"):
        Workload.load(tmp_path / "w.toml")


def test_unknown_columns_are_refused() -> None:
    """All of them are named at once."""
    READ.check(DOMAIN)
    with pytest.raises(UsageError, match="names 'job', 'town', which the schema does not have"):
        Workload.of([["job", "age"], ["town"]]).check(DOMAIN)
