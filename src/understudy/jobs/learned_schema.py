"""Part of `synth` and `fit` without a schema: learn one with a share of the budget, and keep it.

A twentieth of the whole (ε, δ) learns kinds where the file declares none, a quarter learns values
and ranges where a column has any, and the rest fits. Costs of the three add up to the whole, which
is fixed beforehand; that the fit gets the quarter where all columns are booleans or ids follows
from kinds that were released.
Where what was learned is of no use, the job stops before the rest is spent; that is decided by
released numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import BudgetExceeded, DataError, OutputError, UsageError
from understudy.jobs.kinds import KindRequest, check_file, declared_kinds, kinds_from
from understudy.jobs.method import build
from understudy.jobs.output import write_or_keep
from understudy.jobs.progress import ReadingProgress
from understudy.jobs.schemas import SkeletonRequest, draft_of

if TYPE_CHECKING:
    from understudy.facts.formats import Draft
    from understudy.facts.schema import Schema
    from understudy.facts.unit import Unit
    from understudy.jobs.learning import LearningRequest
    from understudy.jobs.method import FitRequest
    from understudy.jobs.privacy_forecast import PrivacyForecast
    from understudy.jobs.progress import JobProgress
    from understudy.methods import Synthesizer
    from understudy.methods.discover import LearnedKinds
    from understudy.methods.discover.prospects import Prospects
    from understudy.privacy.spending.grant import Grant
    from understudy.rows.checking import DataCheck

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

    place = place_of(output)
    header = _checked(request)
    _warn(request, header, progress)
    if place.exists():
        raise OutputError(
            f"{place}: is there already, and may have been paid for; use it by --schema, or choose "
            "another output"
        )
    check_writable(place)
    known = declared_kinds(request.data, header.columns)
    learned = None if known else _kinds(request, header, progress)
    draft = header if learned is None else learned.draft
    share = _share(request, header) - (0 if draft.unfinished else SCHEMA_SHARE)
    schema, prospects = _schema(request, draft, progress)
    write_or_keep(schema.text_for(place).encode(), place, what="schema")
    left = _part(request, 1 - share)
    if prospects is not None and not request.unchecked:
        unit = _synthesizer(request, draft).unit
        _stop_if_useless(prospects, left, unit, f"{_spent(request, share)}; {_kept(place)}")
    rest = _fit_with(request, 1 - share)
    percent = f"was learned with {float(100 * share):g} % of the budget"
    sentence = f"the schema {percent if share else 'cost nothing'}, and is in {place}"
    doubts = "" if learned is None else _doubts(learned)
    return LearnedFirst(
        replace(request, schema=place, fit=rest), place, f"{sentence}{_unlearned(schema)}{doubts}"
    )


def without_rows(request: LearningRequest) -> DataCheck | None:
    """An empty check where the data has no rows; None where it has some.

    Privacy: exact, for an owner who looks on, and for nobody else. Bad requests are refused first.
    """
    from understudy.facts.codec import Codec
    from understudy.rows.checking import DataCheck
    from understudy.rows.sources import opened_blocks

    header = _checked(request)
    access = replace(request.reading.access, format=header.format)
    with opened_blocks(request.data, Codec(_provisional(header)), access) as blocks:
        if any(block.num_rows for block in blocks):
            return None
    return DataCheck(rows=0, lost=0, unnamed=0, columns=())


def _unlearned(schema: Schema) -> str:
    """Name the columns that nothing is learned about, and say how one of them could be."""
    from understudy.methods.discover.prospects import is_all_other

    made = [name for name in schema.columns if name not in schema.learned]
    nameless = [name for name in schema.learned if is_all_other(schema.columns[name])]
    said = f"; generated afresh and not learned: {', '.join(made)}" if made else ""
    if nameless:
        names = ", ".join(nameless)
        said += f"; no value was frequent enough to be found, so that all are other: {names}"
    if not said:
        return ""
    each = ' If each row has its own value there, it is an identifier: declare kind = "id".'
    return (
        f"{said}.{each if nameless else ''} If one of them holds numbers or dates in a notation of "
        "its own, declare it, as --decimal ',' or in a schema; `understudy schema init --look` "
        "shows the owner how"
    )


def _doubts(learned: LearnedKinds) -> str:
    """Name the columns of numbers that may be codes."""
    if not learned.doubtful:
        return ""
    return (
        f"; code or number? {_some(learned.doubtful)} was learned as numbers, and noise may hide "
        'cells with leading zeros, which numbers lose: declare kind = "categorical" if it is a code'
    )


def _checked(request: LearningRequest) -> Draft:
    """The header of the data; refuse what could not work before anything is spent."""
    from understudy.privacy.budget import exact
    from understudy.rows.engines.databases.connections import is_database

    missing = (
        "schema is not given; a schema says what each column may contain: give one by --schema"
    )
    if is_database(request.data) or request.reading.cluster is not None:
        raise UsageError(f"{missing}; {_elsewhere(request)}")
    if request.fit.epsilon is None or exact(request.fit.delta, what="delta") == 0:
        raise UsageError(f"{missing}, or learn one with budget, as --epsilon 1 --delta 1e-6")
    request.images.refuse_for_tables()
    header = draft_of(check_file(_skeleton(request))).draft
    synthesizer = build(request.fit, _provisional(header))
    synthesizer.check()
    _check_room(request, header, synthesizer)
    return header


def _elsewhere(request: LearningRequest) -> str:
    """Say how a schema is learned from rows that are not in a file, where it can be."""
    if request.reading.cluster is not None:
        return "one is not learned on a cluster; leave --cluster out, or use `schema infer` first"
    # An address may hold a password, so that it is not repeated.
    table = f"ADDRESS --table {request.reading.table or 'NAME'}"
    return (
        "this command learns one only from files. For a database write a skeleton, `understudy "
        f"schema init {table} -o skeleton.toml`, and learn the rest, `understudy schema infer "
        f"{table} --schema skeleton.toml --epsilon 0.5 --delta 1e-6 -o whole.toml`"
    )


def _warn(request: LearningRequest, header: Draft, progress: JobProgress) -> None:
    """Say before anything is spent that `evaluate` will advise against a release, if it will.

    Where values and ranges turn out to be declared, the schema costs less, and the light may be
    another one.
    """
    share = _share(request, header)
    dear, cheap = (_forecast(request, header, part) for part in (share, share - SCHEMA_SHARE))
    said = dear.warning if cheap.warning else dear.warning.replace("will say", "may say")
    if said:
        progress.warning(said)


def _forecast(request: LearningRequest, header: Draft, share: Fraction) -> PrivacyForecast:
    """Foresee what the whole will promise if learning the schema costs this part of it."""
    from understudy.jobs.privacy_forecast import forecast_privacy
    from understudy.privacy.accounting.composition import BASIC, Bound
    from understudy.privacy.preflight import Preflight

    part = {name: Fraction(amount) for name, amount in _part(request, share).items()}
    return forecast_privacy(
        build(_fit_with(request, 1 - share), _provisional(header)),
        preflight=None if request.unchecked else Preflight(),
        schema_cost=Bound(BASIC, part["epsilon"], part["delta"]),
    )


def _check_room(request: LearningRequest, header: Draft, synthesizer: Synthesizer) -> None:
    """Refuse parts that the ledger has no room for, before the first of them is spent.

    By basic composition the parts are the whole. In zCDP each has its own cost.
    """
    from understudy.privacy.accounting.adjacency import Adjacency
    from understudy.privacy.spending.grant import Grant
    from understudy.privacy.spending.limits import Rule
    from understudy.rows.sources import dataset_name

    dataset = request.payer.dataset or dataset_name(request.data, request.reading.access)
    ledger = request.payer.opened()
    limit = ledger.account(dataset).limit
    if limit is None:
        return
    whole = [Grant(synthesizer.budget, pricing=synthesizer.pricing)]
    grants = whole if limit.rule is Rule.BASIC else _grants(request, header)
    whom = Adjacency.of(synthesizer.unit, synthesizer.person_id)
    try:
        ledger.check_room(dataset, grants, adjacency=whom)
    except BudgetExceeded as error:
        raise BudgetExceeded(
            f"{error}. Nothing was spent: the schema, which is learned first, and the fit have to "
            "find room together; a schema that is given by --schema needs none",
            requested=error.requested,
            remaining=error.remaining,
        ) from None


def _grants(request: LearningRequest, header: Draft) -> list[Grant]:
    """The grants of all parts, with the most that a schema may reserve.

    Which noise it takes follows from kinds, which are not known yet.
    """
    from understudy.privacy.budget import Budget
    from understudy.privacy.spending.grant import Grant
    from understudy.privacy.spending.pricing import BasicSums

    share = _share(request, header)
    rest = build(_fit_with(request, 1 - share), _provisional(header))
    shares = [*([KINDS_SHARE] if share > SCHEMA_SHARE else []), SCHEMA_SHARE]
    parts = [_part(request, share) for share in shares]
    budgets = [Budget.approximate(part["epsilon"], part["delta"]) for part in parts]
    # Kinds have no key whose release has a delta of its own.
    first = [replace(budget, delta=Fraction(0)) for budget in budgets[:-1]]
    schema = [Grant(budget, pricing=BasicSums()) for budget in (*first, budgets[-1])]
    return [*schema, Grant(rest.budget, pricing=rest.pricing)]


def _provisional(header: Draft) -> Schema:
    """A schema in which every column has the same two values, to check a request with."""
    from understudy.facts.column import CategoricalColumn
    from understudy.facts.schema import Schema

    column = CategoricalColumn(values=("a", "b"))
    return Schema(dict.fromkeys(header.columns, column))


def _kinds(request: LearningRequest, header: Draft, progress: JobProgress) -> LearnedKinds:
    asked = KindRequest(
        neighbours=_synthesizer(request, header).unit.neighbours,
        people=request.fit.people,
        payer=request.payer,
        **_part(request, KINDS_SHARE),
    )
    access = replace(request.reading.access, persons=request.fit.people.persons)
    learned = kinds_from(_skeleton(request), asked, access=access, progress=progress)
    if learned.lacks_kinds and not request.unchecked:
        raise DataError(
            f"no kind stands out of the noise in {_some(learned.unclear)}: there are too few rows "
            f"for this budget. {_spent(request, KINDS_SHARE)}, and nothing was written; {_WAYS_OUT}"
        )
    return learned


def _skeleton(request: LearningRequest) -> SkeletonRequest:
    reading = request.reading
    return SkeletonRequest(data=request.data, spelling=reading.spelling, table=reading.table)


def _schema(
    request: LearningRequest, draft: Draft, progress: JobProgress
) -> tuple[Schema, Prospects | None]:
    """The whole schema, and what it is worth where something of it was learned."""
    from understudy.facts.schema import Schema
    from understudy.methods.discover import Skeleton, infer_schema
    from understudy.rows.sources import dataset_name

    if not draft.unfinished:
        return Schema.parse(draft.document()), None
    access = replace(request.reading.access, persons=request.fit.people.persons)
    with progress.spinner("reading and counting") as show:
        inferred = infer_schema(
            request.data,
            Skeleton.parse(draft.document()),
            neighbours=_synthesizer(request, draft).unit.neighbours,
            ledger=request.payer.opened(),
            dataset=request.payer.dataset or dataset_name(request.data, access),
            access=replace(access, watch=ReadingProgress(show)),
            **_part(request, SCHEMA_SHARE),
        )
    return inferred.schema, inferred.prospects


_WAYS_OUT = (
    "give more epsilon, or a schema by --schema: from a code book by `understudy schema import`, "
    "or from `understudy schema init --look`, which proposes one to the owner; with "
    "--unchecked it is fitted all the same"
)
_NAMED = 5


def _stop_if_useless(
    prospects: Prospects, left: Mapping[str, str], unit: Unit, so_far: str
) -> None:
    """Stop before the rest is spent where noise would be most of what comes out.

    Privacy: decided by what is released and by public facts, so that stopping says nothing more.
    """
    if prospects.lacks_columns:
        raise DataError(
            f"nothing useful was learned about {_some(prospects.useless)}: no value was frequent "
            f"enough to be found, or no range stood out of the noise. {so_far}; {_WAYS_OUT}"
        )
    if prospects.lacks_rows(left["epsilon"], left["delta"], unit):
        raise DataError(
            f"there are about {max(round(prospects.rows, -1), 0):,} rows by a noisy count, too few "
            "for this budget: its noise alone would move more than a quarter of the rows of a "
            f"column. {so_far}; {_WAYS_OUT}"
        )


def _some(names: Sequence[str]) -> str:
    """The first few names, and how many there are."""
    listed = ", ".join(map(repr, names[:_NAMED]))
    return f"column {listed}" if len(names) <= _NAMED else f"{len(names)} columns ({listed}, ...)"


def _spent(request: LearningRequest, share: Fraction) -> str:
    from understudy.system.amounts import at_most_text

    epsilon = at_most_text(Fraction(_part(request, share)["epsilon"]))
    return f"Only epsilon = {epsilon} was spent, the share of the schema"


def _kept(place: Path) -> str:
    return f"what was learned is kept in {place} and can be mended and used by --schema"


def _synthesizer(request: LearningRequest, header: Draft) -> Synthesizer:
    return build(request.fit, _provisional(header))


def _share(request: LearningRequest, header: Draft) -> Fraction:
    """The part of the budget that learning a schema may cost: less where kinds are declared."""
    known = declared_kinds(request.data, header.columns)
    return SCHEMA_SHARE if known else KINDS_SHARE + SCHEMA_SHARE


def _fit_with(request: LearningRequest, share: Fraction) -> FitRequest:
    part = _part(request, share)
    return replace(request.fit, epsilon=part["epsilon"], delta=part["delta"])


def _part(request: LearningRequest, share: Fraction) -> dict[str, str]:
    """A part of the budget, as exact texts."""
    from understudy.privacy.budget import exact

    whole = {"epsilon": request.fit.epsilon or "0", "delta": request.fit.delta}
    return {name: str(exact(amount, what=name) * share) for name, amount in whole.items()}
