"""What is said about how much each promise is proven is true, and complete."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import typer.main

from support.methods import BUILDERS
from understudy.cli.main import app
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import registry
from understudy.privacy.accounting.composition import BASIC, Bound
from understudy.privacy.mechanisms import additive, histogram, keys, sampled, selection
from understudy.privacy.statements.assurance import (
    MECHANISMS,
    METHODS,
    RELEASES,
    Assurance,
    Vetting,
    assurance_of,
)
from understudy.privacy.statements.statement import Statement

ROOT = Path(__file__).parents[3]
OFFERS: dict[str, Assurance] = {**METHODS, **RELEASES}
EVERYTHING: dict[str, Assurance] = {**OFFERS, **MECHANISMS}
SCHEMA = Schema.parse({"columns": {"smoker": {"kind": "boolean"}, "coughs": {"kind": "boolean"}}})


def _mechanisms() -> Iterator[tuple[str, type]]:
    """Every class that draws noise for an answer."""
    for module in (additive, selection, keys, histogram, sampled):
        for name, kind in inspect.getmembers(module, inspect.isclass):
            own = kind.__module__ == module.__name__ and not name.startswith(("_", "Exact"))
            if own and hasattr(kind, "release") and name != "Mechanism":
                yield name, kind


def _help(words: str) -> str:
    """The help of a command and of its parameters, in one line."""
    # Newer Typers have a copy of Click of their own, so that its classes are not asked for.
    command: Any = typer.main.get_command(app)
    for word in words.split():
        command = command.commands[word]
    texts = [command.help, *(getattr(each, "help", None) for each in command.params)]
    return " ".join(" ".join(text.split()) for text in texts if text)


def test_every_method_is_listed() -> None:
    """The registry has the methods that `--method` takes, and no others."""
    assert METHODS.keys() == {entry.name for entry in registry.BUILT_IN}


def test_every_mechanism_is_listed() -> None:
    """The registry has every class that draws noise, and no others."""
    assert {name for name, _ in _mechanisms()} == MECHANISMS.keys()


@pytest.mark.parametrize(("name", "kind"), list(_mechanisms()))
def test_a_mechanism_is_listed_with_its_own_proof(name: str, kind: type) -> None:
    """The proof that a mechanism's docstring names is among those listed."""
    named = re.findall(r"Proof: docs/proofs/(\w+)\.md", inspect.getdoc(kind) or "")
    assert set() != set(named) & set(MECHANISMS[name].proofs)


@pytest.mark.parametrize("name", EVERYTHING)
def test_what_is_named_exists(name: str) -> None:
    """Every proof is a page, and every test a file with tests in it."""
    found = EVERYTHING[name]
    pages = [ROOT / "docs" / "proofs" / f"{proof}.md" for proof in found.proofs]
    assert [] == [page for page in pages if not page.is_file()]
    for path in (*found.replays, *found.attacks, *found.referees):
        assert "\ndef test_" in (ROOT / path).read_text(encoding="utf-8"), path


@pytest.mark.parametrize("name", EVERYTHING)
def test_referees_are_from_outside(name: str) -> None:
    """A test that is named as a referee calls software of someone else."""
    for path in EVERYTHING[name].referees:
        assert re.search("opendp|dp_accounting|opacus", (ROOT / path).read_text(encoding="utf-8"))


def test_every_method_sits_the_replay() -> None:
    """The settings that are replayed and attacked hold every method."""
    assert METHODS.keys() == {build(SCHEMA).method for build in BUILDERS.values()}


@pytest.mark.parametrize("name", EVERYTHING)
def test_what_is_less_proven_says_why(name: str) -> None:
    """A sentence names a missing check, and whatever has such a sentence is less proven."""
    found = EVERYTHING[name]
    whole = bool(found.proofs and found.replays and found.attacks)
    assert (whole and not found.missing) == (found.level is Vetting.WELL_PROVEN)
    assert found.level is Vetting.WELL_PROVEN or found.missing.endswith(".")


@pytest.mark.parametrize("missing", ["proofs", "replays", "attacks"])
def test_one_missing_check_lowers_the_level(missing: str) -> None:
    """Without a proof, a replay or an attack nothing is well proven."""
    whole = Assurance(("a",), ("b",), ("c",))
    assert Vetting.WELL_PROVEN is whole.level
    without: dict[str, Any] = {missing: ()}
    assert Vetting.LESS_PROVEN is replace(whole, **without).level


@pytest.mark.parametrize("name", OFFERS)
def test_help_marks_what_is_less_proven(name: str) -> None:
    """Commands that offer something less proven say so, by its name where they offer several."""
    found = OFFERS[name]
    for command in found.commands:
        _, _, after = _help(command).lower().partition("less proven")
        marked, _, _ = after.partition(". ")
        if name in METHODS:
            assert (found.level is Vetting.LESS_PROVEN) == bool(re.search(rf"\b{name}\b", marked))
        else:
            assert (found.level is Vetting.LESS_PROVEN) == bool(marked)


@pytest.mark.parametrize(
    ("method", "level"),
    [
        ("nist", "well proven"),
        ("adaptive", "well proven"),
        ("dpgan", "less proven"),
        ("federated votes", "less proven"),
        ("schema infer", "less proven"),
        ("a method of tomorrow", "less proven"),
    ],
)
def test_statements_say_how_proven_they_are(method: str, level: str) -> None:
    """A statement's document has the level of its method, and reading it back changes nothing."""
    statement = Statement(method, Bound(BASIC, None, Fraction(0)), Unit(Neighbours.REPLACE), ())
    document = statement.document()
    assert assurance_of(method).document() == document["assurance"]
    assert level == document["assurance"]["level"]
    assert document == Statement.parse(document).document()
