"""Pages can be read: one sentence per line, few long or passive sentences, each with a reason."""

from __future__ import annotations

import re

import pytest

from pages.readability import MOST_WORDS, Reading, page_sentences, reading, readings, reasons
from pages.sentences import EXCEPTIONS, ROOT, misplaced, pages, prose_lines


def _exceptions() -> dict[str, float]:
    """Return how many lines of each listed page may break the rule."""
    lines = EXCEPTIONS.read_text(encoding="utf-8").splitlines()[1:]
    return {page: float(number) for number, page in (line.split() for line in lines if line)}


def _faults(text: str) -> list[tuple[int, str]]:
    return [(each.line, each.fault) for each in misplaced("page.md", text)]


def test_a_line_is_a_sentence() -> None:
    """Lines that break the rule become fewer on listed pages, and are on no other."""
    listed = _exceptions()
    found = {
        (name := str(page.relative_to(ROOT))): len([*misplaced(name, page.read_text("utf-8"))])
        for page in pages()
    }
    assert {} == {name: n for name, n in found.items() if n > listed.get(name, 0)}
    assert set() == listed.keys() - found.keys()


def test_the_changelog_of_earlier_versions_has_a_sentence_on_each_line() -> None:
    """Only the newest section, to which several changes are added at a time, may break the rule."""
    head, _newest, *earlier = re.split(
        r"^(?=## )", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE
    )
    assert earlier
    assert [] == [fault for part in (head, *earlier) for fault in _faults(part)]


@pytest.mark.parametrize(
    "text",
    [
        "One sentence.\nAnother one: here.\n",
        "- **Head.** A sentence.\n- Another.\n",
        "See e.g. Smith and K. Jones.\n",
        "| a. B | c. D |\n",
        "```text\nOne. Two.\n```\n",
        "The `Schema. Load` of code.\n",
        "1. First.\n   More of it.\n2. Second.\n",
    ],
)
def test_right_lines_are_left_alone(text: str) -> None:
    """Items, tables, code and abbreviations are not faults."""
    assert [] == _faults(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("One sentence. Another one.\n", (1, "two sentences")),
        ("Is it? It is.\n", (1, "two sentences")),
        ("A sentence that\nis broken.\n", (1, "ends within a sentence")),
        ("Good.\n\n- Also. `Code` begins it.\n", (3, "two sentences")),
    ],
)
def test_planted_faults_are_found(text: str, fault: tuple[int, str]) -> None:
    """The check can fail, and names the line."""
    assert [fault] == _faults(text)


def test_code_is_not_prose() -> None:
    """Blocks, tables and headings are left out, with the numbers of the other lines kept."""
    text = "# Head\n\nProse.\n\n```{toctree}\nx. Y\n```\n\n| a |\nMore.\n"
    assert [(3, "Prose."), (10, "More.")] == [*prose_lines(text)]


def test_long_and_passive_pages_have_a_reason() -> None:
    """Every page beyond a limit is listed with a reason, and every listed page is there."""
    known = reasons()
    found = {each.page: each for each in readings()}
    assert [] == [
        f"{page}: {fault}; split its sentences, or give the reason in pages/readability.toml"
        for page, each in found.items()
        for fault in each.faults
        if not known.get(page, {}).get(fault)
    ]
    assert set() == known.keys() - found.keys()


def test_long_and_passive_sentences_are_counted() -> None:
    """A planted page exceeds both limits; the same in short and active words exceeds none."""
    long = " ".join(["word"] * (MOST_WORDS + 1)) + ".\n"
    passive = "The rows are read by it.\n" * 20
    assert ["longest", "passive"] == reading("a.md", long + passive).faults
    assert [] == reading("a.md", "It reads the rows of a table.\n" * 20).faults


def test_code_counts_as_one_word() -> None:
    """Commands and addresses of links do not make a sentence long."""
    assert ["Run code now, see [here]."] == page_sentences("Run `a b c d` now, see [here](x/y.md).")
    few = Reading(page="a.md", sentences=3, longest=9, passive=1.0)
    assert [] == few.faults
