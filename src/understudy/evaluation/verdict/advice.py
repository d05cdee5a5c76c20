"""How a stand-in could be improved: budget, columns, schema, method.

Advice rests on measured numbers and is a suggestion to try, on public rows or with `plan`. Trying
several and keeping the best by private numbers is a choice that no ε covers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.verdict.criteria import CHANGED, DEPENDENCE, RIGHT_GUESSES
from understudy.evaluation.verdict.fidelity import badly_changed, lost_part, out_of_range_columns
from understudy.evaluation.verdict.light import Colour, Light
from understudy.evaluation.verdict.uses import named
from understudy.privacy.statements.meaning import guesses_about
from understudy.privacy.statements.statement import Statement
from understudy.system.amounts import at_most_text

# Methods that keep no dependence between columns.
_WITHOUT_PAIRS = ("independent", "random")
_BEST = "adaptive"
_MANY_LEVELS = 20
_MOST_NAMED = 3


def advice(
    found: Evaluation, statement: Statement | None, *, privacy: Light, fidelity: Light
) -> list[str]:
    """List what would help, the most promising first."""
    return [
        *_promise(statement, privacy),
        *_schema(found),
        *_method(found, statement),
        *_budget(found, statement, privacy=privacy, fidelity=fidelity),
        *_coarser(found, fidelity),
    ]


def _promise(statement: Statement | None, privacy: Light) -> Iterator[str]:
    if statement is None:
        yield "Make the rows with `understudy synth`, which writes a statement beside them."
    elif privacy.colour is not Colour.GREEN and statement.bound.epsilon is not None:
        yield "Give a smaller ε: fewer right guesses, at the price of larger distances."


def _schema(found: Evaluation) -> Iterator[str]:
    strays = out_of_range_columns(found)
    if strays:
        names = named((column.column for column in strays), _MOST_NAMED)
        yield (
            f"Declare bounds or values of {names} from a code book or by what is possible, not by "
            "this page: rows are drawn up to the bounds."
        )
    changed = badly_changed(found)
    if changed:
        names = named((column.column for column in changed), _MOST_NAMED)
        yield (
            f"Widen the bounds or list more values of {names}, from a code book or by "
            "`schema infer`: what the schema cannot hold, no method can keep."
        )
    real = found.sides["real"]
    if real.read and CHANGED.colour(1 - real.fitting / real.read) is not Colour.GREEN:
        yield "Run `understudy check`: it shows which columns drop rows, and how to mend it."


def _method(found: Evaluation, statement: Statement | None) -> Iterator[str]:
    part = lost_part(found.variations[1])
    if statement is None or part is None or DEPENDENCE.colour(part) is Colour.GREEN:
        return
    if statement.method in _WITHOUT_PAIRS:
        yield (
            f"Use `--method {_BEST}`: `{statement.method}` keeps no dependence between columns, "
            "whatever the budget."
        )


def _budget(
    found: Evaluation, statement: Statement | None, *, privacy: Light, fidelity: Light
) -> Iterator[str]:
    """More ε where the promise leaves room for it: elsewhere a smaller one is advised."""
    if fidelity.colour is Colour.GREEN or privacy.colour is not Colour.GREEN:
        return
    if statement is None or statement.method in _WITHOUT_PAIRS:
        return
    epsilon = statement.bound.epsilon
    if not statement.private or not epsilon:
        return
    rows = found.sides["synthetic"].read
    nearby = 10 ** math.floor(math.log10(max(rows, 1)))
    about = round(rows / nearby) * nearby
    yield (
        f"Give more ε: noise falls about as 1/ε, sampling error does not{_guesses(statement)}. "
        f"`understudy plan "
        f"--schema SCHEMA --rows {about} --epsilon {at_most_text(2 * epsilon)}{_delta(statement)}` "
        "forecasts the distances for twice as much, and spends nothing."
    )


def _guesses(statement: Statement) -> str:
    """Say the promise of twice as much ε, by the rule of the light of privacy."""
    bound = statement.bound
    assert bound.epsilon is not None
    twice = guesses_about(replace(statement, bound=replace(bound, epsilon=2 * bound.epsilon)))
    if twice is None:
        return ""
    colour, number = RIGHT_GUESSES.colour(twice.in_100), RIGHT_GUESSES.text(twice.in_100)
    return f", and with twice as much the light of privacy is {colour} ({number} right guesses)"


def _delta(statement: Statement) -> str:
    delta = statement.bound.delta
    return f" --delta {at_most_text(delta)}" if delta else ""


def _coarser(found: Evaluation, fidelity: Light) -> Iterator[str]:
    """Columns of many levels that are in the worst pairs."""
    if fidelity.colour is Colour.GREEN:
        return
    levels = {column.column: len(column.labels) for column in found.distributions}
    worst = [name for distance in found.variations[1].worst for name in distance.columns]
    wide = [name for name in dict.fromkeys(worst) if levels.get(name, 0) >= _MANY_LEVELS]
    if wide:
        sizes = (f"{name} ({levels[name]} values)" for name in wide)
        yield (
            f"Make {named(sizes, _MOST_NAMED)} coarser (fewer bins, a hierarchy), or drop what you "
            "do not need: every value shares the same noise."
        )
