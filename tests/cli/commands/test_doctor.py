"""`understudy doctor`: versions, extras, the machine, and whether the ledger is in order."""

from __future__ import annotations

import tomllib

import pytest
from packaging.requirements import Requirement

from support.commands import Desk
from support.documents import ROOT
from understudy.jobs import doctor
from understudy.jobs.doctor import EXTRAS

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_doctor_says_what_there_is(desk: Desk) -> None:
    """Versions, cores, memory and extras, for people and for machines."""
    desk.synth()
    shown = desk.run("doctor", "--ledger", desk.ledger.path)
    assert (0, "") == (shown.code, shown.err)
    assert "all whole; 1 dataset; 0 runs never closed" in shown.out
    found = desk.run("doctor", "--ledger", desk.ledger.path, "--json").document
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["memory_bytes"] >= found["machine"]["free_memory_bytes"] > 0
    assert set(EXTRAS) == set(found["extras"])
    assert ("", 1) == (found["ledger"]["trouble"], found["ledger"]["datasets"])


def test_a_missing_extra_is_said_with_what_it_brings(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how to install it."""
    known = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda n: None if n == "openpyxl" else known(n))
    shown = " ".join(desk.run("doctor").out.split())
    assert "lacks openpyxl workbooks (.xlsx) pip install 'understudy[excel]'" in shown


def test_a_damaged_ledger_is_found(desk: Desk) -> None:
    """The exit code is that of a ledger that cannot be trusted."""
    desk.synth()
    text = desk.ledger.path.read_text()
    desk.ledger.path.write_text(text.replace('"epsilon_exact": "1"', '"epsilon_exact": "0"', 1))
    shown = desk.run("doctor", "--ledger", desk.ledger.path)
    assert (3, True) == (shown.code, "is damaged or out of place" in shown.err)


def test_every_extra_is_known() -> None:
    """What `pyproject.toml` offers to users is what `doctor` looks for."""
    offered = set(DECLARED) - {"all", "test", "docs"}
    assert offered == set(EXTRAS)
    for name, (packages, _) in EXTRAS.items():
        assert set(packages) <= {Requirement(each).name for each in DECLARED[name]}


@pytest.mark.parametrize("extra", ["lake", "mysql", "excel", "statistics", "stream", "fakes"])
def test_every_package_of_an_extra_is_looked_for(extra: str) -> None:
    """A lake of Delta tables is not said to be ready for want of Delta's package alone."""
    names = [Requirement(line).name for line in DECLARED[extra]]
    assert [name for name in names if name != "understudy"] == list(EXTRAS[extra][0])
