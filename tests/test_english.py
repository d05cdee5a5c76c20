"""Texts keep to plain English: phrases that readers stumble over become fewer, never more."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest

from pages.english import PATTERNS, counts, found, main
from pages.modules import ROOT, Module
from pages.prose import Kind, Prose, docstrings, literals, prose, without_code

# How often each phrase may occur in docstrings, help texts, messages and pages. Numbers may only
# fall; `scripts/english` prints the places, and CONTRIBUTING.md says what to write instead.
MOST = {
    "is-no": 0,
    "are-no": 0,
    "is-none": 0,
    "comes-to": 0,
    "so-many": 0,
    "stands": 0,
    "tells": 0,
    "comes-by": 0,
    "goes-on": 0,
    "leave-away": 0,
    # The name of an argument.
    "pet-words": 1,
    "anew": 0,
    "somebody": 0,
    "seized": 0,
    "whom": 0,
    "alone": 0,
    "what": 0,
    "of": 0,
    "the-same": 0,
    "noun-only": 0,
}

WRONG = {
    "is-no": ["the file is no model", "texts that can be no number", "it was no\n    table"],
    "are-no": ["these are no images", "copies are  no columns"],
    "is-none": ["a message that is none, or says too much", "refused when they are none"],
    "comes-to": [
        "What a metric came to.",
        "say what the run comes to",
        "what it would have come to",
    ],
    "so-many": ["A table of so many rows.", "So many rows that fit."],
    "stands": ["What may stand in each column.", "the name stands twice", "it stood there"],
    "tells": ["add-remove unless told", "The page tells what was paid.", "an option tells it"],
    "comes-by": ["how many users came by", "everybody who could come by"],
    "goes-on": ["a killed run goes on", "training went on"],
    "leave-away": ["leave them out or leave away the rest"],
    "pet-words": ["a purse for runs", "Handicaps are sent.", "the best is flattered"],
    "anew": ["Anew, with fresh noise.", "the codes are made anew"],
    "somebody": ["Somebody saw the state.", "ask somebody first"],
    "seized": ["a state that may be seized"],
    "whom": ["persons whom a column names", "with an analyst, whom nobody trusts"],
    "alone": ["0 allows pure runs alone."],
    "what": ["What a method may learn.", "Whom the promise protects."],
    "of": ["Of CSV text, for example latin-1."],
    "the-same": ["The same for the readers.", "The same, where it was given."],
    "noun-only": [
        "The number itself.",
        "The box elsewhere.",
        "A choice.\n\n    More of it is here.",
    ],
}
RIGHT = {
    "is-no": [
        "there is no limit",
        "there\n can be no doubt",
        "it is no longer than a day",
        "`is no`",
    ],
    "are-no": ["there are no rows", "they are no more than ten"],
    "is-none": ["None where there is none", "`x is None`", "it is none of these", "x is None"],
    "comes-to": ["models that came to an end", "how rows come to be. What is it"],
    "so-many": ["so many that none fits", "as many rows as asked for"],
    "stands": [
        "a stand-in",
        "a code stands for a value",
        "peaks stand out",
        "standard, understand",
    ],
    "tells": [
        "hard to tell apart",
        "told them apart",
        "tell one from another",
        "The owner is told",
    ],
    "comes-by": ["the law comes from it", "it comes before"],
    "goes-on": ["it goes to the end", "on and on"],
    "leave-away": ["leave it out", "a user goes away"],
    "pet-words": ["a ledger", "cost", "weights"],
    "anew": ["read again", "a new table"],
    "somebody": ["someone saw it", "`somebody`"],
    "seized": ["seize the day"],
    "whom": ["the unit says whom it protects", "check who speaks to whom"],
    "alone": ["0 allows only pure runs."],
    "what": ["Whatever comes is read.", "Return what was read.", "What is declared?"],
    "of": ["Often it is so.", "The encoding of CSV text."],
    "the-same": ["The same seed gives the same rows.", "Rows are the same for all."],
    "noun-only": [
        "The number is returned.",
        "Return the number.",
        "The rows that a filter leaves.",
        "The number of all rows of the table and more.",
        "The rows: two.",
    ],
}


def _hits(name: str, text: str) -> int:
    """How often a pattern is found in the docstring of a function, else in a help text."""
    [pattern] = [each for each in PATTERNS if each.name == name]
    kind = Kind.FUNCTION if Kind.FUNCTION in pattern.kinds else Kind.HELP
    return len(list(pattern.hits(Prose("a.py", 1, kind, text))))


@pytest.mark.slow
def test_phrases_to_avoid_become_fewer() -> None:
    """No phrase occurs more often than its number says, which may only fall."""
    seen = counts(found(prose(ROOT)))
    assert {} == {name: number for name, number in seen.items() if number > MOST[name]}


def test_every_pattern_is_counted_and_shown_to_work() -> None:
    """A pattern has its largest number, and texts that it must find and must not find."""
    names = [pattern.name for pattern in PATTERNS]
    assert names == list(MOST) == list(WRONG) == list(RIGHT)


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, every in WRONG.items() for text in every]
)
def test_a_planted_phrase_is_found(name: str, text: str) -> None:
    """Every pattern finds what it is meant for, once, over ends of lines too."""
    assert 1 == _hits(name, text)


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, every in RIGHT.items() for text in every]
)
def test_good_english_is_not_a_hit(name: str, text: str) -> None:
    """Patterns leave right sentences alone, and what is quoted as code."""
    assert 0 == _hits(name, text)


def test_first_lines_of_pages_and_messages_need_no_verb() -> None:
    """Rules for the first line of a docstring are for docstrings, and for help where it says so."""
    kinds = {kind: found([Prose("a", 1, kind, "Of CSV text.")]) for kind in Kind}
    searched = {kind for kind, hits in kinds.items() if hits}
    assert {Kind.MODULE, Kind.CLASS, Kind.FUNCTION, Kind.HELP} == searched


def test_texts_of_code_are_read_by_kind() -> None:
    """Docstrings, help texts and messages are told apart, f-strings read whole, lines counted."""
    text = '''"""A module."""
class A:
    """A class
    of two lines that is no model."""
    def f(self, name):
        """A function."""
        raise ValueError(f"{name} is no column; use {self!r:>5} now")
option = Option("--name", help="Of CSV text " "in two parts.", default="x y")
pattern = re.compile("is no (?:x|y)")
'''
    module = Module("a.py", "a", text, ast.parse(text))
    read = [*docstrings(module), *literals(module)]
    assert [
        *((Kind.MODULE, 1), (Kind.CLASS, 3), (Kind.FUNCTION, 6)),
        *((Kind.HELP, 8), (Kind.MESSAGE, 8), (Kind.MESSAGE, 7)),
    ] == [(each.kind, each.line) for each in read]
    places = [hit.place for hit in found(read) if hit.pattern == "is-no"]
    assert ["a.py:4", "a.py:7"] == places


@pytest.mark.parametrize(
    "code", ["```\nis no\n```", "`is no`", ">>> print('is no')", "    ... is no"]
)
def test_code_is_blanked_in_its_place(code: str) -> None:
    """Fences, backticks and examples are blanked; lines and lengths stay."""
    text = f"before\n{code}\nafter is no"
    assert [len(line) for line in text.splitlines()] == [
        len(line) for line in without_code(text).splitlines()
    ]
    assert 1 == without_code(text).count("is no")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A repository with one phrase to avoid in each of its folders."""
    for folder in ("src", "benchmarks", "pages", "tests", "docs"):
        (tmp_path / folder).mkdir()
    for folder in ("src", "benchmarks", "pages", "tests"):
        text = '"""This is no module."""\nTEXT = "this is no text"\n'
        (tmp_path / folder / "a.py").write_text(text, encoding="utf-8")
    (tmp_path / "README.md").write_text("# A page\n\nThis is no page.\n", encoding="utf-8")
    (tmp_path / "docs" / "b.md").write_text("This\nis no page.\n", encoding="utf-8")
    return tmp_path


def test_all_folders_are_read(planted: Path) -> None:
    """Docstrings and messages of code, docstrings of tests and all pages are searched."""
    hits = found(prose(planted))
    assert {
        *("src/a.py:1", "src/a.py:2", "benchmarks/a.py:1", "benchmarks/a.py:2"),
        *("pages/a.py:1", "pages/a.py:2", "tests/a.py:1", "README.md:3", "docs/b.md:2"),
    } == {hit.place for hit in hits}
    assert 9 == counts(hits)["is-no"] == sum(counts(hits).values())


def test_the_command_prints_places_and_counts(
    planted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines have place, pattern and words; one pattern or the counts alone can be asked for."""
    assert 0 == main(["--root", str(planted)])
    lines = capsys.readouterr().out.splitlines()
    assert "README.md:3: is-no: # A page This is no page." in lines
    assert 9 + len(PATTERNS) == len(lines)
    assert 0 == main(["--root", str(planted), "--pattern", "are-no"])
    assert 1 == len(capsys.readouterr().out.splitlines())
    assert 0 == main(["--root", str(planted), "--count"])
    assert len(PATTERNS) == len(capsys.readouterr().out.splitlines())


def test_the_script_prints_json(planted: Path) -> None:
    """`scripts/english --json` prints counts and places, from any folder."""
    script = [str(ROOT / "scripts" / "english"), "--json", "--root", str(planted)]
    ran = subprocess.run(script, cwd=planted, capture_output=True, text=True, check=True)
    printed = json.loads(ran.stdout)
    assert 9 == printed["counts"]["is-no"] == len(printed["hits"])
    assert {"pattern", "place", "kind", "around"} == set(printed["hits"][0])
