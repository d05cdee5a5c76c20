"""The page as one HTML document that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from understudy.evaluation.disclosure.exposure import Disclosure
from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.report import (
    analyses,
    contents,
    disclosures,
    failures,
    maps,
    predictions,
    promise,
)
from understudy.evaluation.report.figure import decimal
from understudy.evaluation.report.subject import Subject
from understudy.evaluation.verdict.criteria import CRITERIA
from understudy.system.printable import replaced
from understudy.system.version import __version__

if TYPE_CHECKING:
    import jinja2


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("understudy.evaluation.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: str, **parts: Any) -> str:
    """A template filled in; every text is escaped, and nothing in it is unseen."""
    page = _environment().get_template(template)
    return replaced(page.render(version=__version__, coded=coded, raised=raised, **parts))


def coded(text: str) -> Markup:
    """A text whose parts between backticks are commands; everything in it is escaped."""
    parts = [escape(part) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part
        for place, part in enumerate(parts)
    )


def raised(text: str) -> Markup:
    """A text whose powers of e are typeset as such; everything in it is escaped.

    Example:
        >>> raised("at most e^0.5 times")
        Markup('at most e<sup>0.5</sup> times')
    """
    return Markup(_POWER.sub(r"e<sup>\1</sup>", str(escape(text))))


_POWER = re.compile(r"\be\^([0-9]+(?:\.[0-9]+)?)")


def evaluation_page(
    found: Evaluation, subject: Subject, *, disclosure: Disclosure | None = None
) -> str:
    """The page from which the owner of the data decides.

    Args:
        found: what was measured.
        subject: what the tables are called and what is promised about them.
        disclosure: the results of attacks; its section appears when there were any.

    Privacy: private as the evaluation is; the page says so at its top.
    """
    statement = subject.statement
    prediction = found.prediction
    return rendered(
        "page.html",
        subject=subject,
        verdict=subject.verdict(found),
        criteria=CRITERIA,
        losses=failures.raw_losses(found),
        raw_numbers=failures.raw_numbers(found),
        raw_values=failures.raw_values(found),
        usable=failures.usable_counts(found),
        worst_cells=failures.worst_cells(found),
        lost_groups=failures.lost_groups(found),
        subgroups=found.subgroups,
        subgroup_table=failures.subgroup_table(found),
        detection=found.detection,
        detection_table=failures.detection_table(found),
        extremes=failures.extreme_numbers(found),
        repeated=failures.repeated_rows(found),
        constraints=failures.broken_constraints(found),
        analyses=analyses.analysis_results(found),
        coefficients=analyses.coefficients(found),
        regression=found.regression,
        tested_pairs=analyses.tested_pairs(found),
        aggregates=analyses.aggregate_table(found),
        remarks=subject.remarks(found.sides["synthetic"].read),
        facts={} if statement is None else promise.promise_facts(statement),
        events=None if statement is None else promise.events(statement),
        tiles=contents.tiles(found),
        bands=contents.bands(found),
        notes=found.notes,
        sides=contents.sides(found),
        worst=contents.worst_sets(found),
        measures=contents.other_measures(found),
        marks=contents.REAL_AND_SYNTHETIC,
        columns=contents.column_figures(found),
        shown=contents.OPEN_COLUMNS,
        maps=maps.maps(found),
        network=maps.network(subject),
        edges=None if subject.model is None else maps.network_edges(subject),
        prediction=prediction,
        prediction_notes=predictions.prediction_notes(prediction),
        prediction_figures=predictions.prediction_figures(prediction),
        learner_notes=predictions.learner_notes(prediction),
        prediction_table=predictions.prediction_table(prediction),
        disclosure=[] if disclosure is None else disclosures.disclosure_figures(disclosure),
        disclosure_notes=[] if disclosure is None else disclosures.disclosure_notes(disclosure),
        singled_out=None if disclosure is None else disclosures.singled_out(disclosure),
        linked=None if disclosure is None else disclosures.linked(disclosure),
        seed=found.seed,
        draws=found.draws,
        decimal=decimal,
    )
