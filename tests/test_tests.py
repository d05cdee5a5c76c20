"""How tests are written: they say what they check, go by the front, and know every module."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.order import SHARED, place
from support.promised import need
from support.source import nodes_of

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src"

# What looks private and is not: of named tuples, of the system, of notebooks, of other packages.
PUBLIC = {"_replace", "_fields", "_exit", "_repr_html_", "_"}
# How often a file of tests reaches into what is private to a class or a module. Faults are planted
# and constants are found that way; facts are not. The numbers may only shrink.
REACHES = {
    "audit/test_borders.py": 12,
    "audit/test_planted_faults.py": 14,
    "cli/test_adversarial.py": 1,
    "evaluation/disclosure/test_attribution.py": 1,
    "federated/holder/test_holder_replay.py": 3,
    "federated/protocols/test_restrictions.py": 2,
    "federated/wire/test_impostors.py": 3,
    "federated/wire/test_letters.py": 2,
    "federated/wire/test_processes.py": 2,
    "fuzz/readers.py": 2,
    "gan/test_images.py": 1,
    "methods/auditing/test_audit.py": 4,
    "methods/discover/test_inference_replay.py": 1,
    "methods/test_parameters.py": 2,
    "models/pictures/test_pictures.py": 5,
    "models/sampling/test_masks.py": 1,
    "stream/test_statistics.py": 1,
    "studies/test_studies.py": 6,
}
# Modules that no test names, since they are reached through others. The list may only shrink.
UNNAMED = {
    "understudy.cli.commands.schema.skeleton",
    "understudy.cli.commands.stream.answers",
    "understudy.cli.options.data",
    "understudy.cli.options.learning",
    "understudy.cli.options.method",
    "understudy.cli.options.network",
    "understudy.cli.options.output",
    "understudy.cli.options.privacy",
    "understudy.cli.options.stream",
    "understudy.evaluation.report.maps",
    "understudy.evaluation.report.predictions",
    "understudy.facts.constraints.masks",
    "understudy.facts.formats.csvw",
    "understudy.facts.formats.sdv",
    "understudy.facts.formats.sizes",
    "understudy.facts.formats.values",
    "understudy.facts.taxonomy",
    "understudy.federated.analyst.journal",
    "understudy.federated.protocols.modelling",
    "understudy.federated.protocols.parameters",
    "understudy.gan.noise_layer",
    "understudy.gan.optimiser",
    "understudy.jobs.holding",
    "understudy.jobs.output",
    "understudy.methods.abilities",
    "understudy.methods.auditing.replaying",
    "understudy.methods.structure.populations",
    "understudy.models.bif.writing",
    "understudy.models.pictures.elements",
    "understudy.models.pictures.places",
    "understudy.models.pictures.style",
    "understudy.models.sampling.choosing",
    "understudy.models.sampling.masks",
    "understudy.privacy.mechanisms.mechanism",
    "understudy.privacy.spending.entries",
    "understudy.privacy.statements.ledger_check",
    "understudy.privacy.statements.recomputation",
    "understudy.privacy.statements.signing",
    "understudy.rows.engines.batched",
    "understudy.rows.engines.databases.expressions",
    "understudy.rows.engines.databases.texts",
    "understudy.rows.engines.kernels",
    "understudy.stream.union",
    "understudy.system.files.members",
    "understudy.system.files.refusals",
    "understudy.system.lazy",
    "understudy.system.progress",
    "understudy_studies.classifiers",
    "understudy_studies.cross_entropy",
    "understudy_studies.power_over_epsilon",
}


def _files() -> list[Path]:
    return sorted(TESTS.rglob("*.py"))


def _name(path: Path) -> str:
    return str(path.relative_to(TESTS))


def _reaches(path: Path) -> int:
    """How often a file names a private attribute of something that is not itself."""
    attributes = [node for node in nodes_of(path) if isinstance(node, ast.Attribute)]
    return sum(
        node.attr[0] == "_"
        and node.attr[:2] != "__"
        and node.attr not in PUBLIC
        and not ast.unparse(node.value).startswith(("self", "cls", "super()"))
        for node in attributes
    )


def test_tests_reach_into_nothing_that_is_private() -> None:
    """No file reaches further than it did: a missing fact is a property of its class instead."""
    found = {_name(path): _reaches(path) for path in _files()}
    assert REACHES == {name: times for name, times in found.items() if times}


def test_a_planted_reach_is_seen(tmp_path: Path) -> None:
    """The count can fail: attributes of others count, those of oneself and public ones do not."""
    path = tmp_path / "planted.py"
    path.write_text("a = holder._ledger\nb = self._own\nc = row._replace(x=1)\nd = x.__dict__\n")
    assert 1 == _reaches(path)


def test_what_the_locks_promise_is_not_skipped() -> None:
    """A package is asked for by `need`, which fails in CI; pandera is in no lock."""
    asked = {_name(path) for path in _files() if f"import{'orskip'}(" in path.read_text("utf-8")}
    assert {"facts/formats/test_code_books.py"} == asked
    assert "pandera" not in (TESTS.parent / "requirements" / "test.txt").read_text("utf-8")


def test_what_is_promised_fails_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """CI reports a failure, and other machines skip."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no_such_package is not installed"):
        need("no_such_package")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        need("no_such_package")


def _modules() -> set[str]:
    """Every module of the packages, by its dotted name; packages themselves are left out."""
    paths = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    return {".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in paths}


def _named(path: Path) -> set[str]:
    """Every module that a file imports, by itself or by what its package hands out, or writes."""
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("understudy"):
            names |= {found for alias in node.names for found in _homes(node.module, alias.name)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
        elif isinstance(node, ast.Call | ast.Tuple):
            names.add(_command(node.args if isinstance(node, ast.Call) else node.elts))
    return _begun({name for name in names if name.startswith("understudy")})


def _command(words: Sequence[ast.expr]) -> str:
    """The module of the command that a test runs by its words."""
    texts = [word.value for word in words[:2] if isinstance(word, ast.Constant)]
    return ".".join(["understudy.cli.commands", *map(str, texts)])


def _homes(module: str | None, name: str) -> set[str]:
    """Where something that is imported is defined, and where it was found."""
    found = getattr(importlib.import_module(module or ""), name, None)
    return {f"{module}.{name}", str(getattr(found, "__module__", module))}


def _begun(names: set[str]) -> set[str]:
    """Names and all that they begin with: a text may name something inside of a module."""
    parts = [name.split(".") for name in names]
    return {".".join(part[:length]) for part in parts for length in range(1, len(part) + 1)}


def test_every_module_is_named_by_a_test() -> None:
    """What no test names is listed, and the list may only shrink."""
    files = [path for path in _files() if path != Path(__file__)]
    assert UNNAMED == _modules() - {name for path in files for name in _named(path)}


def _tests(path: Path) -> list[ast.FunctionDef]:
    functions = [node for node in nodes_of(path) if isinstance(node, ast.FunctionDef)]
    return [function for function in functions if function.name.startswith("test_")]


def test_every_test_states_a_fact() -> None:
    """Each has a docstring, whose first line is a whole sentence."""
    silent = [
        f"{_name(path)}: {test.name}"
        for path in _files()
        for test in _tests(path)
        if (ast.get_docstring(test) or "?").splitlines()[0][-1] not in ".:"
    ]
    assert [] == silent


def test_every_test_has_a_name_of_its_own() -> None:
    """A second test of the same name in a file would replace the first, unseen."""
    for path in _files():
        names = Counter(test.name for test in _tests(path))
        assert [] == [name for name, times in names.items() if times > 1], path


def test_no_property_returns_before_it_looked() -> None:
    """A `return` at the top of a property counts as passed; `assume` is counted as left out."""
    for path in _files():
        for test in _tests(path):
            if any("given" in ast.unparse(mark) for mark in test.decorator_list):
                assert not _returns_at_once(test), f"{path}: {test.name}"


def _returns_at_once(test: ast.FunctionDef) -> bool:
    """Whether a branch holds a `return` and nothing that was checked."""
    branches = [node for node in ast.walk(test) if isinstance(node, ast.If)]
    return any(isinstance(branch.body[0], ast.Return) for branch in branches)


# Attacks of other packages; our own, which they judge too, stay. And an attack on critics, which
# takes hundreds of fits; gan/test_image_replay.py finds the same fault by a replay. And how well
# images of three holders teach, which says nothing of privacy.
WHOLLY_FULL = {
    "evaluation/test_referees.py: test_anonymeter_takes_our_rows_and_knows_a_copy",
    "federated/protocols/test_image_holders.py: test_three_holders_teach_nearly_as_well_as_one",
    "gan/test_image_canary.py: test_a_missing_clipping_is_heard",
}


def test_what_is_full_leaves_a_shorter_version() -> None:
    """Whole tests are not of the full tier but a few; others leave some of their parameters."""
    found = {
        f"{_name(path)}: {test.name}"
        for path in _files()
        for test in _tests(path)
        if any("mark.full" in ast.unparse(mark) for mark in test.decorator_list)
    }
    assert WHOLLY_FULL == found


@dataclass
class _Item:
    """A test as it was collected."""

    nodeid: str
    fixturenames: list[str] = field(default_factory=list)


def test_tests_of_a_server_are_neighbours() -> None:
    """They are brought together, by fixture or parameter; the others keep their order behind."""
    collected = [
        _Item("tests/a/a.py::test_one"),
        _Item("tests/a/b.py::test_two[postgres]"),
        _Item("tests/a/b.py::test_two[sqlite]"),
        _Item("tests/a/d.py::test_three", ["tmp_path", "spark_session"]),
        _Item("tests/a/d.py::test_five[spark connect]"),
        _Item("tests/a/e.py::test_four", ["postgres_server"]),
        _Item("tests/test_f.py::test_postgres_is_named"),
    ]
    ordered = [item.nodeid.rpartition("/")[2] for item in sorted(collected, key=place)]
    assert ["d.py::test_five[spark connect]", "d.py::test_three"] == ordered[:2]
    assert ["b.py::test_two[postgres]", "e.py::test_four"] == ordered[2:4]
    assert "test_f.py::test_postgres_is_named" == ordered[4]
    assert ["a.py::test_one", "b.py::test_two[sqlite]"] == ordered[5:]


def test_shared_fixtures_exist() -> None:
    """What tests are brought together by are fixtures of the whole session."""
    text = (TESTS / "conftest.py").read_text(encoding="utf-8")
    scoped = re.findall(r'@pytest.fixture\(scope="session"\)\ndef (\w+)', text)
    assert {*SHARED} == set(scoped)
