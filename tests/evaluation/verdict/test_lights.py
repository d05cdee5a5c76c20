"""The parts of a verdict one by one: each light, uses in words, and advice."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from support.stand_ins import honest, rows_of, schema_of, spoiled
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.failures.copies import Copies
from understudy.evaluation.report.failures import (
    lost_groups,
    raw_losses,
    raw_numbers,
    raw_values,
    usable_counts,
    worst_cells,
)
from understudy.evaluation.verdict.advice import advice
from understudy.evaluation.verdict.criteria import PREDICTION, SINGLE_COLUMN
from understudy.evaluation.verdict.fidelity import fidelity_light, lost_part, lost_value
from understudy.evaluation.verdict.light import Colour
from understudy.evaluation.verdict.privacy import NOTHING_PROMISED, OTHER_ROWS, privacy_light
from understudy.evaluation.verdict.usefulness import relations, usefulness_light
from understudy.evaluation.verdict.uses import bad_uses, good_uses, named


@cache
def _found(flaw: str | None) -> Evaluation:
    rows = honest("clinic") if flaw is None else spoiled("clinic", flaw)
    return evaluate(*rows, schema_of("clinic"), classifiers="none")


def test_copies_outweigh_a_missing_promise() -> None:
    """Nothing is promised: unknown. Copies beyond chance: red, with their number."""
    chance = Copies(5, 1_000, 6.0, is_more=False)
    light = privacy_light(None, rows=1_000, copied=chance)
    assert (Colour.UNKNOWN, NOTHING_PROMISED) == (light.colour, light.sentence)
    light = privacy_light(None, rows=1_000, copied=Copies(50, 1_000, 6.0, is_more=True))
    assert (Colour.RED, "4.4 %") == (light.colour, light.number)


def test_a_statement_of_other_rows_is_not_called_missing() -> None:
    """The light says why nothing is promised."""
    assert OTHER_ROWS == privacy_light(None, rows=1_000, unpromised=OTHER_ROWS).sentence


def test_the_largest_distance_is_named_where_no_column_is_beyond_fresh_rows() -> None:
    """The first column is not called the worst where all are as near as fresh real rows."""
    near = _with_distances({"age": 0.001, "region": 0.004})
    said = _sentence(near, "worst column")
    assert "No column is farther off than fresh real rows" in said
    assert "region" in said
    far = _with_distances({"age": 0.2, "region": 0.004})
    assert "The worst column is age: 0.200" in _sentence(far, "worst column")


def _with_distances(distances: dict[str, float]) -> Evaluation:
    """An honest evaluation of some columns with these distances and a floor of 0.01."""
    found = _found(None)
    columns = tuple(
        replace(column, distance=distances[column.column], floor=0.01)
        for column in found.distributions
        if column.column in distances
    )
    return replace(found, distributions=columns)


def _sentence(found: Evaluation, name: str) -> str:
    return next(each.sentence for each in fidelity_light(found).findings if each.name == name)


def test_red_is_below_the_limit_where_more_is_better() -> None:
    """The rule says on which side of amber red is."""
    assert PREDICTION.rule.endswith("amber from 70 %, red below.")
    assert SINGLE_COLUMN.rule.endswith("amber up to 10 %, red beyond.")


def test_dependence_is_measured_from_fresh_rows() -> None:
    """Nothing is lost of honest rows, and everything of independent columns."""
    parts = [lost_part(_found(flaw).variations[1]) for flaw in (None, "independent columns")]
    assert parts[0] is not None
    assert parts[1] is not None
    assert parts[0] < 0.25
    assert parts[1] > 0.6


def test_lost_values_are_those_that_were_to_be_expected() -> None:
    """A value that eight in a hundred real rows have, and no synthetic one."""
    column = next(c for c in _found("lost group").distributions if c.column == "region")
    found = lost_value(column, 2_000)
    assert found is not None
    assert "far" == found[0]
    assert lost_value(column, 100) is None
    assert "lost value" in [each.name for each in fidelity_light(_found("lost group")).findings]


def test_few_rows_are_never_green() -> None:
    """A near stand-in of few rows cannot be told from a far one."""
    real, made = rows_of("clinic", 0, 150), rows_of("clinic", 1, 150)
    light = fidelity_light(evaluate(real, made, schema_of("clinic"), classifiers="none"))
    assert light.colour in (Colour.AMBER, Colour.RED)
    assert "few rows" in [each.name for each in light.findings]


def test_relations_are_kept_lost_or_invented() -> None:
    """Independent columns keep none, and the sentence counts them."""
    assert all(pair.is_kept for pair in relations(_found(None)) if pair.is_clear)
    lost = [pair for pair in relations(_found("independent columns")) if pair.is_clear]
    assert lost
    assert not any(pair.is_kept for pair in lost)
    assert "0 of 5 relations" in usefulness_light(_found("independent columns")).sentence


def test_lists_of_names_are_short() -> None:
    """One, two, a few, and how many more there are."""
    assert "a" == named("a")
    assert "a and b" == named("ab")
    assert "a, b and c" == named("abc")
    assert "a, b and 2 more" == named("abcd", 2)


def test_uses_follow_from_what_was_found() -> None:
    """What is good for an honest stand-in is not for a spoiled one."""
    good = {flaw: _good_words(flaw) for flaw in (None, "collapsed values")}
    assert any("every single column" in use for use in good[None])
    bad = [use.words for use in bad_uses(_found("collapsed values"))]
    assert any("the distribution of age" in use for use in bad)
    assert not any("cross tables" in use for use in good["collapsed values"])


def _good_words(flaw: str | None) -> list[str]:
    found = _found(flaw)
    colours = {"fidelity": fidelity_light(found).colour, "usefulness": Colour.GREEN}
    return [use.words for use in good_uses(found, bad_uses(found), **colours)]


def test_rows_without_a_statement_are_to_be_made_again() -> None:
    """The first advice is a statement; a good stand-in with one needs none."""
    found = _found(None)
    lights = {"privacy": privacy_light(None, rows=2_000), "fidelity": fidelity_light(found)}
    assert ["Make the rows"] == [line[:13] for line in advice(found, None, **lights)]


def test_failures_are_listed_for_the_page() -> None:
    """Raw columns, quantiles of numbers, rare values, cells and groups."""
    found = _found("lost group")
    columns = list(schema_of("clinic").learned)
    assert sorted(columns) == sorted(line[0] for line in raw_losses(found).lines)
    assert ["age", "age", "weight", "weight"] == [line[0] for line in raw_numbers(found).lines]
    assert ("region", "far (7.6\u00a0%)") == raw_values(found).lines[0][:2]
    assert usable_counts(found) is not None
    assert worst_cells(found).lines
    gone = lost_groups(_found("collapsed values")).lines
    assert gone
    assert all("age = " in line[0] for line in gone)
