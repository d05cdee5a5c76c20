"""A method of another distribution, found by its entry point, is a method like any other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

TOY = '''
"""Each column's own counts, all with the same share: a method of eleven lines."""

from dataclasses import dataclass
from typing import ClassVar

from understudy.methods import Learned, Synthesizer
from understudy.methods.estimation.parameters import estimated, measure_one_way
from understudy.models.network import Network
from understudy.privacy.curator import Curator


@dataclass(kw_only=True, eq=False, repr=False)
class Toy(Synthesizer):
    """Counts every column, and draws columns independently."""

    method: ClassVar[str] = "toy"
    summary: ClassVar[str] = "each column's own counts"

    def learn(self, curator: Curator) -> Learned:
        """One table for each attribute."""
        marginals = measure_one_way(curator, curator.budget)
        network = Network.without_edges(curator.domain.attributes)
        return estimated(curator, network, marginals, self.schema)


class Impostor(Toy):
    """Would bear the name of a method that is proven."""

    method: ClassVar[str] = "nist"
'''
SCHEMA = """
[columns.smoker]
kind = "boolean"

[columns.coughs]
kind = "boolean"
"""


@pytest.fixture
def plugged(tmp_path: Path) -> Path:
    """A folder with a tiny distribution that adds `toy`, and would replace `nist` and `auto`."""
    (tmp_path / "toy_method.py").write_text(TOY, encoding="utf-8")
    info = tmp_path / "toy_method-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-method\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(
        "[understudy.methods]\ntoy = toy_method:Toy\nnist = toy_method:Toy\n"
        "auto = toy_method:Toy\nimpostor = toy_method:Impostor\n"
    )
    (tmp_path / "table.csv").write_text("smoker,coughs\n" + "yes,yes\nno,no\n" * 50)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def _run(plugged: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Python in that folder, with the distribution and this package on its path."""
    paths = os.pathsep.join([str(plugged), str(ROOT / "src"), str(ROOT / "tests"), str(ROOT)])
    settings = {"PYTHONPATH": paths, "UNDERSTUDY_LEDGER": str(plugged / "ledger.jsonl")}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env=os.environ | settings,
        cwd=plugged,
        capture_output=True,
        text=True,
        check=False,
    )


def _command(plugged: Path, *words: object) -> dict[str, Any]:
    """What a command prints with `--json`."""
    main = "from understudy.cli.main import main; main()"
    done = _run(plugged, "-c", main, *words, "--json")
    assert 0 == done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_method_of_another_distribution_makes_rows(plugged: Path) -> None:
    """The statement bears its name, what it cost, and that nobody here knows its proof."""
    words = ("table.csv", "--schema", "schema.toml", "--epsilon", 1, "--output", "made.csv")
    statement = _command(plugged, "synth", *words, "--method", "toy")["statement"]
    assert ("toy", 1) == (statement["method"], statement["epsilon"])
    assert "less proven" == statement["assurance"]["level"]
    assert "does not know the method" in statement["assurance"]["sentence"]
    assert "smoker,coughs" == (plugged / "made.csv").read_text().splitlines()[0]


def test_a_method_of_another_distribution_is_audited_and_planned(plugged: Path) -> None:
    """Attack, replay and rehearsal need nothing but the class."""
    found = _command(plugged, "audit", "toy", "--epsilon", 1, "--runs", 40, "--processes", 1)
    assert ("toy", []) == (found["method"], found["reasons"])
    words = ("plan", "--schema", "schema.toml", "--rows", 100, "--epsilon", 1, "--method", "toy")
    planned = _command(plugged, *words)
    assert ["one-way tables"] == [stage["stage"] for stage in planned["stages"]]


def test_no_distribution_replaces_a_method(plugged: Path) -> None:
    """Names that are taken stay as they are, and a class under another name is refused."""
    code = """
from understudy.errors import UsageError
from understudy.methods import registry
print(*registry.names())
print(registry.method("nist").__module__)
try:
    registry.method("impostor")
except UsageError as error:
    print(error)
"""
    done = _run(plugged, "-c", code)
    names, module, refused = done.stdout.splitlines()
    assert ["impostor", "toy"] == names.split()[-2:]
    assert "auto" not in names.split()
    assert "understudy.methods.nist" == module
    assert "calls itself 'nist'" in refused


def _add(folder: Path, distribution: str, entry_points: str) -> None:
    """Put one more distribution into the folder, which adds methods."""
    info = folder / f"{distribution.replace('-', '_')}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(f"[understudy.methods]\n{entry_points}\n")


def _refused(plugged: Path, name: str) -> str:
    """What is said to somebody who synthesizes by a method, while others can be used."""
    code = f"""
import understudy
from understudy.errors import UsageError
from understudy.methods import registry
assert {name!r} in registry.names()
assert "nist" == registry.method("nist").method
try:
    registry.method({name!r})
except UsageError as error:
    print(error)
"""
    done = _run(plugged, "-c", code)
    assert 0 == done.returncode, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["Toy", "federated model", "schema infer", "7up", "to_y", "tôy"])
def test_a_name_with_other_characters_is_refused(plugged: Path, name: str) -> None:
    """A name cannot look like another method's, nor like that of another release."""
    _add(plugged, "odd-method", f"{name} = toy_method:Toy")
    message = f"method {name!r}: the name of a method is small letters, digits and hyphens"
    assert _refused(plugged, name).startswith(message)
    assert "odd-method" in _refused(plugged, name)


@pytest.mark.parametrize("name", ["evaluate", "federated", "persons", "stream"])
def test_a_name_of_another_release_is_refused(plugged: Path, name: str) -> None:
    """No method can claim the assurance that another kind of release has."""
    _add(plugged, "odd-method", f"{name} = toy_method:Toy")
    assert "statements call another kind of release so" in _refused(plugged, name)


def test_two_distributions_that_add_one_name_are_refused(plugged: Path) -> None:
    """Which of the two would run is not left to the order of a path; the message names both."""
    _add(plugged, "another-toy", "toy = toy_method:Toy")
    message = "method 'toy': another-toy and toy-method both add it; remove one of them"
    assert message == _refused(plugged, "toy")


def test_a_class_inside_a_class_is_found(plugged: Path) -> None:
    """The place of a class may have several parts, and extras in brackets, as entry points do."""
    inner = "\n\nclass Outer:\n    class Inner(Toy):\n        method = 'inner'\n"
    (plugged / "toy_method.py").write_text(TOY + inner, encoding="utf-8")
    _add(plugged, "inner-toy", "inner = toy_method:Outer.Inner [fast]")
    code = "from understudy.methods import registry; print(registry.method('inner').__qualname__)"
    assert "Outer.Inner" == _run(plugged, "-c", code).stdout.strip()


@pytest.mark.slow
def test_a_method_of_another_distribution_sits_the_exam(plugged: Path) -> None:
    """Where it is installed, the exam of all synthesizers has it under each relation."""
    entry_points = plugged / "toy_method-0.1.dist-info" / "entry_points.txt"
    entry_points.write_text("[understudy.methods]\ntoy = toy_method:Toy\n")
    exam = ROOT / "tests" / "contracts" / "test_synthesizers.py"
    done = _run(plugged, "-m", "pytest", "-q", "-p", "no:cacheprovider", exam, "-k", "toy")
    assert 0 == done.returncode, done.stdout
    assert "failed" not in done.stdout
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 20
