"""The lock files hold what the package declares, file by file, and say nothing about a machine."""

from __future__ import annotations

import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "requirements"
LOCKS = ("release", "run", "test", "torch")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def _entries(name: str) -> list[str]:
    """Every package of a lock, with its hashes, on one line."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line)]


def _versions(name: str) -> dict[str, list[str]]:
    """The pinned versions of every package; several where they depend on the Python."""
    found: dict[str, list[str]] = {}
    for entry in _entries(name):
        pinned = Requirement(entry.split("--hash")[0].strip())
        [specifier] = pinned.specifier
        assert "==" == specifier.operator, entry
        found.setdefault(canonicalize_name(pinned.name), []).append(specifier.version)
    return found


def _declared(*extras: str) -> list[Requirement]:
    """What the package declares with some extras, those that they name included."""
    texts = [*PROJECT["dependencies"]]
    for extra in extras:
        texts += PROJECT["optional-dependencies"][extra]
    found = []
    for requirement in map(Requirement, texts):
        inner = requirement.name == PROJECT["name"]
        found += _declared(*requirement.extras) if inner else [requirement]
    return found


@pytest.mark.parametrize(("lock", "extra"), [("test", "test"), ("run", "all")])
def test_locks_hold_what_the_package_declares(lock: str, extra: str) -> None:
    """Every declared package is locked at a version that the declaration allows."""
    locked = _versions(lock) | _versions("torch")
    missing = [
        str(requirement)
        for requirement in _declared(extra)
        if not any(
            requirement.specifier.contains(version, prereleases=True)
            for version in locked.get(canonicalize_name(requirement.name), [])
        )
    ]
    assert [] == missing, "run scripts/lock"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_file_has_its_hash(lock: str) -> None:
    """Each package is pinned to one version and to the hashes of its files."""
    for entry in _entries(lock):
        assert re.search(r"==\S+.*( --hash=sha256:[0-9a-f]{64})+$", " ".join(entry.split())), entry


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_say_nothing_about_a_machine(lock: str) -> None:
    """No lock contains an address, a folder or an index."""
    text = (FOLDER / f"{lock}.txt").read_text(encoding="utf-8")
    assert None is re.search(
        r"://|^-|--(index|extra-index|find-links|trusted)| @ |/home|/opt", text
    )


def test_what_runs_is_what_was_tested() -> None:
    """Packages that the package runs with have the versions that its tests ran with."""
    run, tested = _versions("run"), _versions("test")
    assert {} == {name: found for name, found in run.items() if tested.get(name) != found}


def test_continuous_integration_installs_the_locks_alone() -> None:
    """.ci/run checks every hash, and what comes after may not fetch anything."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    install = script.index("pip install --require-hashes --no-deps --only-binary :all:")
    assert install < script.index("export PIP_NO_INDEX=1") < script.index('eval "$command"')
    assert "-r requirements/test.txt -r requirements/torch.txt" in script


def test_the_wheel_says_that_it_is_typed(built: Path) -> None:
    """`py.typed` is in the wheel, as the classifier promises."""
    [wheel] = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert "understudy/py.typed" in archive.namelist()
    assert "Typing :: Typed" in PROJECT["classifiers"]
