"""Part of `synth` and `fit` without a schema: learn one with a share of the budget, and keep it.

The whole (ε, δ) is split beforehand: a twentieth learns kinds where the file declares none, a
quarter learns values and ranges, and the rest fits. Costs of the three add up to the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import OutputError, UsageError
from understudy.jobs.kinds import KindRequest, check_file, declared_kinds, kinds_from
from understudy.jobs.method import build
from understudy.jobs.output import write_or_keep
from understudy.jobs.progress import ReadingProgress
from understudy.jobs.schemas import SkeletonRequest, draft_of

if TYPE_CHECKING:
    from understudy.facts.column import Column
    from understudy.facts.formats import Draft
    from understudy.facts.schema import Schema
    from understudy.jobs.learning import LearningRequest
    from understudy.jobs.progress import JobProgress
    from understudy.methods import Synthesizer

KINDS_SHARE, SCHEMA_SHARE = Fraction(1, 20), Fraction(1, 4)


@dataclass(frozen=True)
class LearnedFirst:
    """A request for which a schema was learned.

    Attributes:
        request: the request with the schema, and what is left of its budget.
        place: where the schema is.
        sentence: what the schema cost, for people.
    """

    request: LearningRequest
    place: Path
    sentence: str


def place_of(output: Path) -> Path:
    """Where the schema of an output is kept."""
    return output.with_name(f"{output.stem}.schema.toml")


def learn_first(request: LearningRequest, output: Path, progress: JobProgress) -> LearnedFirst:
    """Learn a schema with a part of the budget of a request, and keep it beside the output.

    Privacy: spends the part from the ledger of the request; what is left pays for the fit, so
    that the statement of the fit, which adds the schema's cost, is about the whole budget.
    """
    from understudy.system.files.writing import check_writable

    data, place = Path(request.data), place_of(output)
    header = _checked(request, data)
    if place.exists():
        raise OutputError(
            f"{place}: is there already, and may have been paid for; use it by --schema, or choose "
            "another output"
        )
    check_writable(place)
    known = declared_kinds(data, header.columns)
    share = SCHEMA_SHARE if known else KINDS_SHARE + SCHEMA_SHARE
    draft = header if known else _kinds(request, data, header, progress)
    schema = _schema(request, draft, progress)
    write_or_keep(schema.text_for(place).encode(), place, what="schema")
    left = _part(request, 1 - share)
    rest = replace(request.fit, epsilon=left["epsilon"], delta=left["delta"])
    percent = float(100 * share)
    sentence = f"the schema was learned with {percent:g} % of the budget, and is in {place}"
    return LearnedFirst(
        replace(request, schema=place, fit=rest), place, f"{sentence}{_unlearned(schema)}"
    )


def _unlearned(schema: Schema) -> str:
    """Name the columns that nothing is learned about, and say how one of them could be."""
    made = [name for name in schema.columns if name not in schema.learned]
    nameless = [name for name in schema.learned if _is_all_other(schema.columns[name])]
    said = f"; generated afresh and not learned: {', '.join(made)}" if made else ""
    if nameless:
        names = ", ".join(nameless)
        said += f"; no value was frequent enough to be found, so that all are other: {names}"
    if not said:
        return ""
    return (
        f"{said}. If one of them holds numbers or dates in a notation of its own, declare it, as "
        "--decimal ',' or in a schema; `understudy schema init --look` shows the owner how"
    )


def _is_all_other(column: Column) -> bool:
    """Whether no value of a column was released, so that a single one stands for all."""
    from understudy.facts.column import CategoricalColumn
    from understudy.methods.discover.skeleton import CATCH_ALL

    return isinstance(column, CategoricalColumn) and column.values == (CATCH_ALL,)


def _checked(request: LearningRequest, data: Path) -> Draft:
    """The header of the data; refuse what could not work before anything is spent."""
    from understudy.privacy.budget import exact
    from understudy.rows.engines.databases.connections import is_database

    missing = (
        "schema is not given; a schema says what each column may contain: give one by --schema"
    )
    if is_database(request.data) or request.reading.cluster is not None:
        raise UsageError(f"{missing}; one is learned from files alone")
    if request.fit.epsilon is None or exact(request.fit.delta, what="delta") == 0:
        raise UsageError(f"{missing}, or learn one with budget, as --epsilon 1 --delta 1e-6")
    request.images.refuse_for_tables()
    header = draft_of(check_file(_skeleton(request))).draft
    build(request.fit, _provisional(header))
    return header


def _provisional(header: Draft) -> Schema:
    """A schema in which every column has the same two values, to check a request with."""
    from understudy.facts.column import CategoricalColumn
    from understudy.facts.schema import Schema

    column = CategoricalColumn(values=("a", "b"))
    return Schema(dict.fromkeys(header.columns, column))


def _kinds(request: LearningRequest, data: Path, header: Draft, progress: JobProgress) -> Draft:
    asked = KindRequest(
        neighbours=_synthesizer(request, header).unit.neighbours,
        people=request.fit.people,
        payer=request.payer,
        **_part(request, KINDS_SHARE),
    )
    access = replace(request.reading.access, persons=request.fit.people.persons)
    return kinds_from(_skeleton(request), asked, access=access, progress=progress).draft


def _skeleton(request: LearningRequest) -> SkeletonRequest:
    return SkeletonRequest(data=request.data, spelling=request.reading.spelling)


def _schema(request: LearningRequest, draft: Draft, progress: JobProgress) -> Schema:
    from understudy.facts.schema import Schema
    from understudy.methods.discover import Skeleton, infer_schema
    from understudy.rows.sources import dataset_name

    if not draft.unfinished:
        return Schema.parse(draft.document())
    access = replace(request.reading.access, persons=request.fit.people.persons)
    with progress.spinner("reading and counting") as show:
        return infer_schema(
            request.data,
            Skeleton.parse(draft.document()),
            neighbours=_synthesizer(request, draft).unit.neighbours,
            ledger=request.payer.opened(),
            dataset=request.payer.dataset or dataset_name(request.data, access),
            access=replace(access, watch=ReadingProgress(show)),
            **_part(request, SCHEMA_SHARE),
        ).schema


def _synthesizer(request: LearningRequest, header: Draft) -> Synthesizer:
    return build(request.fit, _provisional(header))


def _part(request: LearningRequest, share: Fraction) -> dict[str, str]:
    """A part of the budget, as exact texts."""
    from understudy.privacy.budget import exact

    whole = {"epsilon": request.fit.epsilon or "0", "delta": request.fit.delta}
    return {name: str(exact(amount, what=name) * share) for name, amount in whole.items()}
