"""A data sheet in Markdown that may travel with released rows.

Privacy: made of the schema, the statements and the paid summary alone. It holds no number of the
real rows that the summary's statement does not name.
"""

from __future__ import annotations

from collections.abc import Iterator

from understudy.evaluation.report.contents import columns_at_a_time
from understudy.evaluation.report.promise import promise_facts
from understudy.evaluation.report.released import NO_SUM, Release, together
from understudy.facts.schema import Schema
from understudy.privacy.statements.statement import Statement
from understudy.system.printable import replaced
from understudy.system.version import __version__

_LIMITS = (
    "Rows are drawn from a model. One that resembles a person does so by chance, or because many "
    "people are alike.",
    "Rare values, small groups and patterns of more columns than were measured may be wrong.",
    "Do not link these rows with other data to find people, and do not treat counts as exact.",
)


def dataset_card(release: Release, schema: Schema) -> str:
    """The data sheet of synthetic rows, with what is promised about them and about itself."""
    parts = [
        _head(release),
        _section("Verdict", _verdict(release)),
        _section(
            "What is promised about the rows",
            _promise(release.subject.statement, release.subject.unpromised),
        ),
        _section("Columns", _columns(release, schema)),
        _section("Distances from the private rows", _distances(release)),
        _section("Limits", (f"- {line}" for line in _LIMITS)),
        _section("What is promised about this sheet", _own(release)),
    ]
    return replaced("\n".join(parts))


def _head(release: Release) -> str:
    lines = [
        "---",
        "tags:",
        "- synthetic",
        "- differential-privacy",
        "---",
        "",
        f"# {cell(release.subject.synthetic)}",
        "",
        f"Synthetic rows, a stand-in for a private table of about {release.rows_text} rows. "
        f"This sheet was made by understudy {__version__} only from released numbers.",
    ]
    return "\n".join(lines)


def _section(title: str, lines: Iterator[str]) -> str:
    return "\n".join(["", f"## {title}", "", *lines])


def cell(text: str) -> str:
    """A text that Markdown reads as itself, in a table too.

    Example:
        >>> cell("a|b <i>")
        'a\\\\|b &lt;i&gt;'
    """
    safe = text.replace("\\", "\\\\").replace("&", "&amp;")
    safe = safe.replace("<", "&lt;").replace(">", "&gt;")
    for mark in "|*_`[]#":
        safe = safe.replace(mark, f"\\{mark}")
    return " ".join(safe.split())


def _table(head: tuple[str, ...], lines: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for line in lines:
        yield f"| {' | '.join(map(cell, line))} |"


def _verdict(release: Release) -> Iterator[str]:
    verdict = release.verdict
    yield f"**{cell(verdict.sentence)}**"
    yield ""
    yield from _table(
        ("light", "", "number", "meaning"),
        ((one.about, one.colour.words, one.number, one.sentence) for one in verdict.lights),
    )
    for title, uses in (("Good for", verdict.good_for), ("Not good for", verdict.not_good_for)):
        if uses:
            yield ""
            yield f"{title}: {cell('; '.join(uses))}."


def _promise(statement: Statement | None, unpromised: str) -> Iterator[str]:
    if statement is None:
        yield f"The rows were released by other means. {unpromised}"
        return
    yield f"> {cell(statement.sentence)}"
    yield ""
    facts = promise_facts(statement)
    yield from _table(("term", "value"), iter(facts.items()))


def _columns(release: Release, schema: Schema) -> Iterator[str]:
    found = release.summary.columns
    lines = (
        (
            name,
            column.kind,
            f"{schema.learned[name].levels:,}" if name in schema.learned else "made up",
            f"{found[name].value:.3f} ({found[name].low:.3f} to {found[name].high:.3f})"
            if name in found
            else "–",
        )
        for name, column in schema.columns.items()
    )
    yield from _table(("column", "kind", "values or bins", "distance"), lines)


def _distances(release: Release) -> Iterator[str]:
    lines = (
        (
            columns_at_a_time(ways),
            f"{mean.value:.4f}",
            f"{mean.low:.4f} to {mean.high:.4f}",
            f"{release.summary.sets[ways]:,}",
        )
        for ways, mean in release.summary.means.items()
    )
    head = ("marginals of", "mean distance", "holds the exact one 95 times of 100", "compared")
    yield from _table(head, lines)
    yield ""
    yield "Distance is the share of rows that would have to change: 0 is the same, 1 has nothing"
    yield "in common. All numbers carry noise."


def _own(release: Release) -> Iterator[str]:
    yield f"> {cell(release.summary.statement.sentence)}"
    own = release.subject.statement
    both = None if own is None else together(own, release.summary.statement)
    if own is not None:
        yield ""
        yield "Rows and sheet were made from the same table."
        yield f"Together they promise {both}." if both else NO_SUM
