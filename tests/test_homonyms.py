"""One name has one meaning in the whole tree, and calls say what their arguments are."""

from __future__ import annotations

import ast
import re
import sys

import pytest

from pages.measures import positional
from pages.modules import ROOT, Module, modules
from pages.naming import alike, glossary_entries, homonyms, underscored

# Public classes and type aliases that several modules define, and how many do. The list may only
# shrink: a new type takes a free word. `scripts/measure --list homonyms` prints where they are.
HOMONYMS: dict[str, int] = {}
# Names that are shared if one leading underscore is ignored. The list may only shrink.
UNDERSCORED = {
    "Aim",
    "Answer",
    "Batch",
    "Blocks",
    "Cell",
    "Cells",
    "Colours",
    "Event",
    "Held",
    "Line",
    "Maker",
    "Noisy",
    "Pair",
    "Parts",
    "Shape",
    "Side",
    "Standing",
    "Sums",
    "Tally",
    "Task",
    "Turn",
    "View",
}
# Words of the glossary that have a second meaning, and say it. The list may only shrink.
TWO_MEANINGS = {"cell", "outside"}
# Calls with five or more positional arguments, for each 1,000 lines. The bound may only fall.
MOST_POSITIONAL = 0.5
# Entries of the glossary that differ by a prefix alone, or not at all. The list may only shrink.
ALIKE: set[tuple[str, str]] = set()


@pytest.fixture(scope="module")
def tree() -> tuple[Module, ...]:
    """The modules of this repository, parsed once for all tests of this file."""
    return modules(ROOT, "src")


def _module(path: str, text: str) -> Module:
    return Module(path, path, text, ast.parse(text))


def test_names_have_one_meaning(tree: tuple[Module, ...]) -> None:
    """No name is defined by more modules than a list allows, which may only shrink."""
    found = {name: len(places) for name, places in homonyms(tree).items()}
    assert {} == {name: n for name, n in found.items() if n > HOMONYMS.get(name, 1)}


def test_private_names_are_not_those_of_other_types(tree: tuple[Module, ...]) -> None:
    """A leading underscore does not give a name its second meaning, but for a list of old ones."""
    assert UNDERSCORED == set(underscored(tree))


def test_an_underscore_does_not_hide_a_homonym() -> None:
    """A private class with the name of a public one elsewhere is found, with both places."""
    planted = [_module("a.py", "class Run:\n    pass"), _module("b.py", "class _Run:\n    pass")]
    assert {"Run": ("a.py:1", "b.py:1")} == underscored(planted)
    assert {} == homonyms(planted)


def test_words_of_the_glossary_have_one_meaning() -> None:
    """An entry with a second meaning says so, and is listed here and at the head of the page."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    also = re.findall(r"^\| ([^|]+) \| [^|]*It is also [^|]*\|$", text, re.MULTILINE)
    assert TWO_MEANINGS == set(also)
    head = text.split("## ")[0]
    assert TWO_MEANINGS == set(re.findall(r"`(\w+)`", head))
    assert "(Of " not in text


def test_calls_name_their_arguments(tree: tuple[Module, ...]) -> None:
    """Calls with five or more positional arguments are rare."""
    calls = sum(len(list(positional(module))) for module in tree)
    assert 1000 * calls / sum(module.lines for module in tree) <= MOST_POSITIONAL


def test_entries_of_the_glossary_differ_by_more_than_a_prefix() -> None:
    """No entry is another one with a word before it, but for a list that may only shrink."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = glossary_entries(text)
    assert "curator" in entries
    assert ALIKE == alike(entries)


@pytest.mark.parametrize(
    "text",
    [
        "class Run:\n    pass",
        "Run = Callable[[int], None]",
        "Run = Fast | Slow",
        "Run: TypeAlias = dict[str, int]",
        'Run = TypeVar("Run")',
        pytest.param(
            "type Run = int | str",
            marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is newer"),
        ),
    ],
)
def test_a_planted_homonym_is_found(text: str) -> None:
    """Classes and aliases of every form count as definitions, with the line of each."""
    planted = [_module("a.py", "class Run:\n    pass"), _module("b.py", f"\n{text}")]
    assert {"Run": ("a.py:1", "b.py:2")} == homonyms(planted)


@pytest.mark.parametrize(
    "text",
    [
        "from a import Run",
        "import a\ndef run():\n    Run = 1",
        "class _Run:\n    pass",
        "RUN = 1",
        "run = 1",
        "def f():\n    class Run:\n        pass",
    ],
)
def test_other_uses_of_a_name_are_not_homonyms(text: str) -> None:
    """Imports, private names, constants and names inside functions do not count."""
    planted = [_module("a.py", "class Run:\n    pass\nRUN = 1"), _module("b.py", text)]
    assert {} == homonyms(planted)


def test_one_module_is_not_its_own_homonym() -> None:
    """A name that one module defines in two branches of itself has one place."""
    assert {} == homonyms([_module("a.py", "class Run:\n    pass\nclass Run:\n    x = 1")])


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("f(1, 2, 3, 4, 5)", ["a.py:1 f (5)"]),
        ("\nself.f(1, 2, 3, 4, 5, 6, x=7)", ["a.py:2 self.f (6)"]),
        ("f(1, 2, 3, 4, x=5)", []),
        ("f(1, 2, 3, 4, *rest)", []),
        ("f(*(1, 2, 3, 4, 5), x=6)", ["a.py:1 f (5)"]),
        ("f(1, *[2, *(3, 4)], 5)", ["a.py:1 f (5)"]),
        ("f(1, 2, 3, *(4, *rest))", []),
    ],
)
def test_planted_positional_arguments_are_found(text: str, seen: list[str]) -> None:
    """Five positional arguments are too many, also in a tuple; named ones do not count."""
    assert seen == list(positional(_module("a.py", text)))


def test_planted_entries_that_are_alike_are_found() -> None:
    """A word with another before it, or twice, is found; other words are not."""
    text = """
| word | means |
|---|---|
| run | One. |
| paid run | Two. |
| key | Three. |
| key (of an attack) | Four. |
| attack by laws | Five. |
| attack without laws | Six. |
| GCAP, CAP | Seven. |
"""
    entries = glossary_entries(text)
    assert ["run", "paid run", "key", "key (of an attack)"] == entries[:4]
    assert ["GCAP", "CAP"] == entries[-2:]
    assert {("paid run", "run"), ("key", "key")} == alike(entries)


def test_entries_with_different_prefixes_are_alike() -> None:
    """Two kinds of run differ by a prefix alone, whichever comes first."""
    assert {("audit run", "holder run")} == alike(["holder run", "audit run", "grant"])
