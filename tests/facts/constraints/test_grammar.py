"""The language of constraints: what it takes, and where it points when it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.facts.constraints.grammar import Condition, ParseError, parse


def told(conditions: tuple[Condition, ...] | None) -> list[tuple[str, ...]] | None:
    """Conditions without the places where they were read."""
    if conditions is None:
        return None
    return [(c.column.text, c.relation, *(v.text for v in c.values)) for c in conditions]


def test_if_then() -> None:
    """Conditions call for others."""
    sentence = parse("if marital = Never-married and age>=18 then spouse_age missing")
    assert [("marital", "=", "Never-married"), ("age", ">=", "18")] == told(sentence.premise)
    assert [("spouse_age", "missing")] == told(sentence.conclusion)


def test_not_together() -> None:
    """Conditions that must not all hold."""
    sentence = parse(
        "not(sex = male and pregnant != no and x in {a, 'b c',-1.5} and y not missing)"
    )
    expected = [
        ("sex", "=", "male"),
        ("pregnant", "!=", "no"),
        ("x", "in", "a", "b c", "-1.5"),
        ("y", "not missing"),
    ]
    assert expected == told(sentence.premise)
    assert told(sentence.conclusion) is None


@pytest.mark.parametrize(
    ("quoted", "text"),
    [
        ("'hours per week'", "hours per week"),
        ('"it\'s"', "it's"),
        ("'it''s'", "it's"),
        ('"say ""so"""', 'say "so"'),
        ("'and'", "and"),
        ("d'Ivoire", "d'Ivoire"),
        ("''", ""),
        ("2020-01-01T10:00:00", "2020-01-01T10:00:00"),
        ("日本", "日本"),
        ("'<=50K'", "<=50K"),
    ],
)
def test_words_and_quotes(quoted: str, text: str) -> None:
    """Quotes hold what would else be read as grammar; doubled they stand for themselves."""
    sentence = parse(f"if x = {quoted} then {quoted} missing" if text else f"not (x = {quoted})")
    assert [("x", "=", text)] == told(sentence.premise)
    assert not text or [(text, "missing")] == told(sentence.conclusion)


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 1, "the end is found where 'if' or 'not ('"),
        ("   ", 1, "the end is found where 'if' or 'not ('"),
        ("age < 3", 1, "'age' is found where 'if' or 'not ('"),
        ("IF age < 3 then x missing", 1, "'IF' is found where 'if'"),
        ("if", 3, "the end is found where a column"),
        ("if age", 7, "the end is found where what is said of 'age'"),
        ("if age 18", 8, "'18' is found where what is said of 'age'"),
        ("if age << 18 then x missing", 9, "'<' is found where a value"),
        ("if age =  then x missing", 11, "'then' is a word of the grammar"),
        ("if age = 1 , b = 2 then x missing", 12, "',' is found where 'and' or 'then'"),
        ("if a = dark blue then x missing", 13, "'blue' is found where 'and' or 'then'"),
        ("if a = 1 then", 14, "the end is found where a column"),
        ("if a = 1 then b = 2 or c = 3", 21, "'or' is found where the end"),
        ("if a = 1 then b = 2)", 20, "')' is found where the end"),
        ("if and = 1 then b = 2", 4, "'and' is a word of the grammar where a column"),
        ("if a in b then c missing", 9, "'b' is found where '{'"),
        ("if a in {} then c missing", 10, "'}' is found where a value"),
        ("if a in {b c} then d missing", 12, "'c' is found where ',' or '}'"),
        ("if a in {b, then c missing", 13, "'then' is a word of the grammar where a value"),
        ("if a not b then c missing", 10, "'b' is found where what is said of 'a'"),
        ("not a = 1", 5, "'a' is found where '('"),
        ("not (a = 1", 11, "the end is found where 'and' or ')'"),
        ("not (a = 1) and b = 2", 13, "'and' is found where the end"),
        ("if 'a = 1 then b missing", 4, "the quote is not closed"),
        ("if a ! 1 then b missing", 6, "'!' is alone; write !="),
        ("not ((a = 1))", 6, "'(' is found where a column"),
    ],
)
def test_errors_point_at_the_character(text: str, position: int, words: str) -> None:
    """The character is counted from 1; the error says what is there and what to do."""
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert (position, True) == (caught.value.position, words in str(caught.value)), caught.value
    assert ";" in str(caught.value)


_PIECES = ("if", "then", "not", "and", "in", "missing", "(", ")", "{", "}", ",", "=", "<=", "!=")


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=12).map(" ".join))
def test_any_text_is_read_or_pointed_into(text: str) -> None:
    """No text makes the parser fail otherwise, or point outside of it."""
    try:
        position = parse(text).premise[0].column.position
    except ParseError as finding:
        position = finding.position
    assert 1 <= position <= len(text) + 1
