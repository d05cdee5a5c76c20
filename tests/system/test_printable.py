"""What may be shown: every character by itself, or by its escape."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import SchemaError
from understudy.facts.schema import Schema
from understudy.system.printable import (
    printable,
    printable_json,
    printable_lines,
    unseen_in,
)

BIDIRECTIONAL = ("LRE", "LRO", "RLE", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


@given(st.text())
def test_what_is_printable_is_seen(text: str) -> None:
    """One line without controls, and texts that had none are as they were."""
    shown = printable(text)
    assert shown.isprintable()
    assert (text == shown) or not text.isprintable()


@given(st.text() | st.sampled_from(["\n\na\nb\n", "\n", "", "a\n"]))
def test_breaks_around_a_text_stay(text: str) -> None:
    """Those inside it would make lines that nobody wrote."""
    shown = printable_lines(text)
    assert len(text) - len(text.lstrip("\n")) == len(shown) - len(shown.lstrip("\n"))
    assert shown.strip("\n") == printable(text.strip("\n"))


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_means_the_same(value: object) -> None:
    """Read again, nothing of it has changed; shown, nothing of it is obeyed."""
    text = printable_json({"a": value}, indent=1)
    assert {"a": value} == json.loads(text)
    assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize(
    "name", ["a\x1b]0;pwn\x07b", "a\x7f", "a\x9b", "a\u202eb", "\u200b", "a\u2028b", "a\ufeff"]
)
def test_names_hold_no_character_that_nobody_sees(name: str) -> None:
    """Controls, bidirectional and zero-width characters; the refusal shows their escapes."""
    assert unseen_in(name) is not None
    with pytest.raises(SchemaError, match="which nobody sees; rename the column") as caught:
        Schema.parse({"columns": {name: {"kind": "boolean"}}})
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["Größe", "دانش‌آموز", "income\n(EUR)", "a\tb", "日本", "[red]x"])
def test_names_of_people_are_names(name: str) -> None:
    """Every script, joiners that letters need, and the line breaks of spreadsheets."""
    assert unseen_in(name) is None
    assert [name] == [*Schema.parse({"columns": {name: {"kind": "boolean"}}}).attributes]


@pytest.mark.slow
def test_every_control_is_replaced() -> None:
    """All controls but tabs and line breaks, and nothing that can be printed."""
    every = [chr(c) for c in range(0x110000)]
    kept = [c for c in every if unseen_in(c) is None]
    assert ["\t", "\n", "\r"] == [c for c in kept if unicodedata.category(c) == "Cc"]
    assert not any(unicodedata.category(c) in ("Cs", "Zl", "Zp") for c in kept)
    assert not any(unicodedata.bidirectional(c) in BIDIRECTIONAL for c in kept)
    assert not any(c.isprintable() for c in {*every} - {*kept})
