"""Texts of a pattern match it, and a pattern without a longest text is refused."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.facts.column.patterns import UnsafePattern, read_pattern

PATTERNS = (
    "[A-Z]{2}[0-9]{6}",
    r"\d{3}-\d{2}-\d{4}",
    "(DE|AT|CH)[0-9]{2,4}",
    r"^P\.[a-f0-9]{8}(-x)?$",
    r"[^a-z]{3}\w{1,2}\s[.+*]",
    r"a\$",
)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(st.integers(0, 2**64))
def test_texts_match_their_pattern(pattern: str, seed: int) -> None:
    """Python's own reader of patterns is the referee."""
    part = read_pattern(pattern)
    text = part.text(Random(seed))
    assert re.fullmatch(pattern, text)
    assert len(text) <= part.longest
    assert text == part.text(Random(seed))


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a*", "repeats without end"),
        ("[0-9]+", "repeats without end"),
        ("a{2,}", "repeats without end"),
        ("(a{1000}){1000}", "up to 1000000 characters"),
        ("((){9999}){9999}", "repeats of repeats"),
        (".", "no bounded meaning"),
        ("(a", "is not closed"),
        ("a)", "closes nothing"),
        ("[", "ends too early"),
        ("[]", "is empty"),
        ("[z-a]", "not a range"),
        ("a{5,2}", "swapped"),
        ("a{x}", "not a number of repeats"),
        ("(" * 30 + "a" + ")" * 30, "deep"),
        (r"\p", "is not known"),
        ("", "use 1 to"),
        ("a" * 500, "use 1 to"),
    ],
)
def test_patterns_without_a_bounded_meaning_are_refused(pattern: str, problem: str) -> None:
    """The message names what is wrong."""
    with pytest.raises(UnsafePattern, match=re.escape(problem)):
        read_pattern(pattern)


@given(st.text("ab[]{}()|?*+.^$\\0123,-", max_size=30))
def test_any_pattern_is_read_or_refused(pattern: str) -> None:
    """No text makes the reader fail in another way, and none takes long."""
    try:
        part = read_pattern(pattern)
    except UnsafePattern:
        return
    assert len(part.text(Random(0))) <= part.longest <= 1000
