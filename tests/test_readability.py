"""Pages can be read: one sentence per line, few long or passive sentences, each with a reason."""

from __future__ import annotations

import re

import pytest

from pages.readability import MOST_WORDS, PageWaiver, Reading, page_sentences, reading, remarks
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


def test_long_sentences_and_passive_pages_have_a_reason() -> None:
    """What is beyond a limit is waived with a reason, and no waiver is needless."""
    assert [] == remarks()


LONG = "Word " + " ".join(["word"] * MOST_WORDS) + ".\n"
PASSIVE = "The rows are read by it.\n" * 20


def test_long_and_passive_sentences_are_counted() -> None:
    """A planted page exceeds both limits; the same in short and active words exceeds none."""
    found = reading("a.md", LONG + PASSIVE)
    assert (1, True) == (len(found.long), found.is_passive)
    assert ["41 words", "95% of its sentences are passive"] == [
        said.split(":")[0] for said in PageWaiver().remarks(found)
    ]
    fine = reading("a.md", "It reads the rows of a table.\n" * 20)
    assert ((), False) == (fine.long, fine.is_passive)


def test_waivers_are_for_single_sentences() -> None:
    """Another long sentence of the page, a missing reason and a needless waiver are found."""
    found = reading("a.md", LONG + LONG.replace("Word", "Words", 1))
    both = PageWaiver.of(long=["Word word", "Words word"], reason="a list")
    assert [] == [*both.remarks(found)]
    [other] = PageWaiver.of(long=["Word word"], reason="a list").remarks(found)
    assert other.startswith("41 words: Words")
    assert 2 == len([*PageWaiver.of(long=["Word word", "Words word"]).remarks(found)])
    needless = PageWaiver.of(long=["Word", "None"], reason="a list", passive="a list")
    assert ["no long sentence begins so: None", "it is waived as passive, and is not"] == [
        *needless.remarks(found)
    ]


def test_code_counts_as_one_word() -> None:
    """Commands and addresses of links do not make a sentence long."""
    assert ["Run code now, see [here]."] == page_sentences("Run `a b c d` now, see [here](x/y.md).")
    few = Reading(page="a.md", sentences=3, longest=9, passive=1.0)
    assert not few.is_passive
