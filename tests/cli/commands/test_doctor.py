"""`understudy doctor`: versions, extras, the machine, and whether the ledger is in order."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from support.commands import Desk
from support.documents import ROOT
from understudy.jobs import doctor
from understudy.jobs.doctor import EXTRAS, ExtraState, java_version

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DECLARED = PROJECT["optional-dependencies"]
CORE = {Requirement(line).name for line in [*PROJECT["dependencies"], "numpy"]}


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
    assert set(DECLARED) - {"all", "test", "docs"} == set(EXTRAS)


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_every_package_of_an_extra_is_looked_for(extra: str) -> None:
    """A lake of Delta tables is not said to be ready for want of Delta's package alone."""
    asked = [Requirement(line) for line in DECLARED[extra]]
    names = {each.name for each in asked} | _of_their_extras(asked)
    assert names - {"understudy"} - CORE == set(EXTRAS[extra][0])


def _of_their_extras(asked: list[Requirement]) -> set[str]:
    """What Spark needs for Spark Connect; ibis asks for its drivers, which are listed here too."""
    if not any("connect" in each.extras for each in asked):
        return set()
    listed = [Requirement(line) for line in metadata.requires("pyspark") or []]
    return {each.name for each in listed if each.marker and "connect" in str(each.marker)}


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "21.0.2" 2024-01-16', 21),
        ('java version "1.8.0_402"', 1),
        ("no version at all", None),
    ],
)
def test_java_is_that_of_java_home(
    said: str, version: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Spark takes it, whatever is on the path; an old one is said to be missing."""
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert version == java_version()
    [spark] = [each for each in doctor.diagnose().extras if each.name == "spark"]
    assert ("Java 17" in spark.missing) == (version != 21)


def test_without_java_only_java_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that holds none is not passed over for one on the path."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_version() is None
    state = ExtraState("spark", "", {"pyspark": "4"}, ["Java 17"])
    assert "install Java 17 or newer" == state.way_out
