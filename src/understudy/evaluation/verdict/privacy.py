"""The light of privacy: from the statement, and from rows that were copied."""

from __future__ import annotations

from understudy.evaluation.failures.copies import Copies
from understudy.evaluation.verdict.criteria import COPIED, EXPOSED, RIGHT_GUESSES
from understudy.evaluation.verdict.light import Colour, Finding, Light
from understudy.privacy.statements.meaning import guesses_about
from understudy.privacy.statements.statement import Statement

NOTHING_PROMISED = (
    "Nothing is promised about these rows: no statement came with them. Treat them as if they were "
    "real."
)
OTHER_ROWS = (
    "Nothing is promised about these rows: the statement beside them belongs to other rows, or "
    "these were changed after it was written. Treat them as if they were real."
)
NOT_PRIVATE = "The statement itself says that these rows are not private."


def privacy_light(
    statement: Statement | None,
    *,
    rows: int,
    copied: Copies | None = None,
    unpromised: str = NOTHING_PROMISED,
) -> Light:
    """Judge what is promised, and whether rows were copied.

    Comparing rows cannot show that they are private. It can show that they are not: copies beyond
    chance are bad whatever is promised.

    Args:
        statement: what is promised about the synthetic rows; None where nothing is.
        rows: of the table that is protected, about.
        copied: synthetic rows that equal real ones; None where that was not looked at.
        unpromised: why nothing is promised, for rows without a statement of their own.
    """
    findings = [_promise(statement, unpromised), *_exposed(statement, rows), *_copied(copied)]
    numbers = [_number(finding) for finding in findings]
    light = Light.of("privacy", findings, numbers)
    if light.colour is Colour.GREEN and findings[0].colour is Colour.UNKNOWN:
        return Light.of("privacy", findings[:1], numbers[:1])
    return light


def _number(finding: Finding) -> str:
    known = {criterion.name: criterion for criterion in (RIGHT_GUESSES, EXPOSED, COPIED)}
    return "no promise" if finding.value is None else known[finding.name].text(finding.value)


def _promise(statement: Statement | None, unpromised: str) -> Finding:
    if statement is None:
        return RIGHT_GUESSES.finding(None, unpromised)
    found = guesses_about(statement)
    if found is None:
        return Finding(
            name=RIGHT_GUESSES.name,
            colour=Colour.RED,
            value=None,
            sentence=NOT_PRIVATE,
            rule=RIGHT_GUESSES.rule,
        )
    return RIGHT_GUESSES.finding(found.in_100, found.sentence)


def _exposed(statement: Statement | None, rows: int) -> list[Finding]:
    if statement is None or not statement.private or not statement.bound.delta:
        return []
    value = float(statement.bound.delta) * rows
    said = f"δ times {rows:,} rows is {value:.2g}: for that number of rows the promise may fail."
    return [EXPOSED.finding(value, said)]


def _copied(found: Copies | None) -> list[Finding]:
    if found is None or not found.rows:
        return []
    said = (
        f"{found.copied:,} of {found.rows:,} synthetic rows equal a real row in every cell; chance "
        f"makes about {found.by_chance:,.0f}."
    )
    return [COPIED.finding(found.beyond_chance, said)]
