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


# Names that methods of others must not have, by the reason.
ODD = ("Toy", "federated model", "schema infer", "7up", "to_y", "tôy")
TAKEN = ("evaluate", "federated", "persons", "stream")


@pytest.fixture
def plugged(tmp_path: Path) -> Path:
    """A folder with a tiny distribution that adds `toy`, and would replace `nist` and `auto`."""
    return _plugged(tmp_path)


def _plugged(folder: Path) -> Path:
    (folder / "toy_method.py").write_text(TOY, encoding="utf-8")
    _add(
        *(folder, "toy-method"),
        "toy = toy_method:Toy\nnist = toy_method:Toy\n"
        "auto = toy_method:Toy\nimpostor = toy_method:Impostor",
    )
    (folder / "table.csv").write_text("smoker,coughs\n" + "yes,yes\nno,no\n" * 50)
    (folder / "schema.toml").write_text(SCHEMA)
    return folder


def _add(folder: Path, distribution: str, entry_points: str) -> None:
    """Put one more distribution into the folder, which adds methods."""
    info = folder / f"{distribution.replace('-', '_')}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(
        f"[understudy.methods]\n{entry_points}\n", encoding="utf-8"
    )


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


@pytest.mark.slow
def test_a_method_of_another_distribution_makes_rows(plugged: Path) -> None:
    """The statement bears its name, what it cost, and that nobody here knows its proof."""
    words = ("table.csv", "--schema", "schema.toml", "--epsilon", 1, "--output", "made.csv")
    statement = _command(plugged, "synth", *words, "--method", "toy")["statement"]
    assert ("toy", 1) == (statement["method"], statement["epsilon"])
    assert "less proven" == statement["assurance"]["level"]
    assert "does not know the method" in statement["assurance"]["sentence"]
    assert "smoker,coughs" == (plugged / "made.csv").read_text().splitlines()[0]


@pytest.mark.slow
def test_a_method_of_another_distribution_is_audited_and_planned(plugged: Path) -> None:
    """Attack, replay and rehearsal need nothing but the class."""
    found = _command(plugged, "audit", "toy", "--epsilon", 1, "--runs", 40, "--processes", 1)
    assert ("toy", []) == (found["method"], found["reasons"])
    words = ("plan", "--schema", "schema.toml", "--rows", 100, "--epsilon", 1, "--method", "toy")
    planned = _command(plugged, *words)
    assert ["one-way tables"] == [stage["stage"] for stage in planned["stages"]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the list of methods says to a process for which many distributions are installed.

    One process for all questions: it takes most of a second to start.
    """
    folder = _plugged(tmp_path_factory.mktemp("plugged"))
    inner = "\n\nclass Outer:\n    class Inner(Toy):\n        method = 'inner'\n"
    (folder / "toy_method.py").write_text(TOY + inner, encoding="utf-8")
    _add(folder, "odd-method", "\n".join(f"{name} = toy_method:Toy" for name in (*ODD, *TAKEN)))
    _add(folder, "one-twin", "twin = toy_method:Toy")
    _add(folder, "another-twin", "twin = toy_method:Toy")
    _add(folder, "inner-toy", "inner = toy_method:Outer.Inner [fast]")
    code = """
import json
from understudy.errors import UsageError
from understudy.methods import registry

def asked(name):
    try:
        return registry.method(name).__module__ + ":" + registry.method(name).__qualname__
    except UsageError as error:
        return str(error)

print(json.dumps({name: asked(name) for name in registry.names()}))
"""
    done = _run(folder, "-c", code)
    assert 0 == done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_no_distribution_replaces_a_method(answers: dict[str, Any]) -> None:
    """Names that are taken stay as they are, and a class under another name is refused."""
    assert {"impostor", "toy"} <= answers.keys()
    assert "auto" not in answers
    assert "understudy.methods.nist:Nist" == answers["nist"]
    assert "toy_method:Toy" == answers["toy"]
    assert "calls itself 'nist'" in answers["impostor"]


@pytest.mark.parametrize("name", ODD)
def test_a_name_with_other_characters_is_refused(name: str, answers: dict[str, Any]) -> None:
    """A name cannot look like another method's, nor like that of another release."""
    message = f"method {name!r}: the name of a method is small letters, digits and hyphens"
    assert answers[name].startswith(message)
    assert "odd-method" in answers[name]


@pytest.mark.parametrize("name", TAKEN)
def test_a_name_of_another_release_is_refused(name: str, answers: dict[str, Any]) -> None:
    """No method can claim the assurance that another kind of release has."""
    assert "statements call another kind of release so" in answers[name]


def test_two_distributions_that_add_one_name_are_refused(answers: dict[str, Any]) -> None:
    """Which of the two would run is not left to the order of a path; the message names both."""
    message = "method 'twin': another-twin and one-twin both add it; remove one of them"
    assert message == answers["twin"]


def test_a_class_inside_a_class_is_found(answers: dict[str, Any]) -> None:
    """The place of a class may have several parts, and extras in brackets, as entry points do."""
    assert "toy_method:Outer.Inner" == answers["inner"]


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
