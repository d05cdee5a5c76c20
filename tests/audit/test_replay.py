"""Replay from raw rows: no method, holder or job separates neighbouring files, frames or tables.

Neighbours are texts as files hold them. Both of them go through reading, codec, persons and engine
afresh; releases alone are frozen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.databases import fill_mysql, fill_postgres
from support.federated import PLANS
from support.methods import BUILDERS, EVERYDAY
from support.raw_neighbours import (
    NOTED,
    PERSONS,
    REPLACED,
    ROW,
    SCHEMA,
    RawPair,
    Row,
    Texts,
    crowd,
    pairs_for,
    persons_of,
)
from support.raw_replay import Ask, Fit, Held, Inference, Kinds, Released, leaks
from support.tiers import full_but, in_turns, slow_but, slow_then_full
from support.ways_in import WAYS, Way, texts, typed
from understudy.evaluation.released.summary import Summarizer
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.facts.unit import Unit
from understudy.federated import Collaboration
from understudy.methods import (
    AdaptiveMarginals,
    Independent,
    Nist,
    PrivBayes,
    Random,
    Synthesizer,
)
from understudy.methods.discover import Discovery, KindDiscovery, Skeleton
from understudy.methods.discover.shares import QuestionShares
from understudy.methods.network import NetworkSynthesizer
from understudy.models.network import Family, Network
from understudy.privacy.preflight import Preflight
from understudy.rows.counting import Counts, NumbersRows
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.sources import Access, open_source
from understudy.rows.table import Table

UNITS = {"row": ROW, "replaced": REPLACED, **{f"person {c}": unit for c, unit in PERSONS.items()}}


def _rows_of(count: int, seed: int) -> MemorySource:
    """Rows that are nobody's concern: those of other holders, or made by a model."""
    return MemorySource(Table.of(Codec(SCHEMA).encode(texts(crowd(count, seed)))))


# --- every method -----------------------------------------------------------------------------


# With little to spend on few rows a network asks for nothing but single columns.
PLENTY = 200
# One of each way of learning, but for training, which takes seconds for all pairs.
QUICK = ("random", "privbayes greedy replace", "nist pairwise", "histogram replace")
# Settings of a method that makes a pool of rows in every fit.
SELDOM = ("adaptive replace", "adaptive declared", "adaptive pure")
# One of every family of methods, learner, relation and measure; others differ from one of these in
# an option, and meet every third pair before they meet all.
LEARNERS = (
    *(*QUICK, *EVERYDAY, "independent", "privbayes pairwise", "privbayes greedy", "nist greedy"),
    *("nist tree", "privbayes genetic replace", "dpgan", "dpgan started"),
)
SPARED = [name for name in BUILDERS if name not in LEARNERS]
# Methods that ask for more than single columns only where there is budget for it.
WITH_PLENTY = (NetworkSynthesizer, AdaptiveMarginals)


@pytest.mark.parametrize("name", slow_then_full(QUICK, LEARNERS, BUILDERS))
def test_no_method_tells_neighbouring_files_apart(name: str, tmp_path: Path) -> None:
    """The same questions, answers within sensitivity, the same model, whatever a row holds."""
    synthesizer = _with_plenty(name)
    assert {} == leaks(Fit(synthesizer), pairs_for(synthesizer.unit), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", full_but([n for n in SPARED if n not in SELDOM], SPARED))
def test_no_option_tells_neighbouring_files_apart(name: str, tmp_path: Path) -> None:
    """Every setting of every method, on a third of the pairs: the next setting has the next."""
    synthesizer = _with_plenty(name)
    pairs = pairs_for(synthesizer.unit)[SPARED.index(name) % 3 :: 3]
    assert {} == leaks(Fit(synthesizer), pairs, tmp_path)


def _with_plenty(name: str) -> Synthesizer:
    synthesizer = BUILDERS[name](SCHEMA)
    if isinstance(synthesizer, WITH_PLENTY):
        synthesizer.epsilon = PLENTY
    return synthesizer


def _for_persons(method: type[Synthesizer], **given: Any) -> Callable[[int], Synthesizer]:
    persons: dict[str, Any] = {"epsilon": PLENTY, "person_id": "who"}
    return lambda most: method(SCHEMA, **persons | given, rows_per_person=most)


FOR_PERSONS = {
    "random": _for_persons(Random),
    "independent": _for_persons(Independent),
    "independent approximate": _for_persons(Independent, delta=1e-6),
    "privbayes": _for_persons(PrivBayes),
    "nist": _for_persons(Nist, delta=1e-6),
    "nist greedy": _for_persons(Nist, delta=1e-6, structure="greedy"),
}


@pytest.mark.parametrize(("name", "most"), in_turns({"independent"}, FOR_PERSONS, [3, 2, 1]))
def test_no_method_tells_whether_a_person_is_there(name: str, most: int, tmp_path: Path) -> None:
    """A person with all rows, named, nameless, or named in several ways, comes or goes unseen."""
    assert {} == leaks(Fit(FOR_PERSONS[name](most)), pairs_for(PERSONS[most]), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("delta", full_but({1e-6}, [1e-6, 0]))
def test_no_round_tells_whether_a_person_is_there(delta: float, tmp_path: Path) -> None:
    """Errors of models and choices by them hold for persons of two rows."""
    method = _for_persons(AdaptiveMarginals, delta=delta)(2)
    assert {} == leaks(Fit(method), pairs_for(PERSONS[2]), tmp_path)


# --- every other job --------------------------------------------------------------------------

SKELETON = Skeleton.parse(
    {
        "columns": {
            "who": {"kind": "id"},
            "colour": {"kind": "categorical", "missing": []},
            "size": {"kind": "integer", "missing": ["999"]},
            "weight": {"kind": "float", "min": 0.0, "missing": ["?"]},
            "sold": {"kind": "boolean"},
            "one": {"kind": "categorical", "outside": "drop"},
        }
    }
)


@pytest.mark.parametrize("unit", slow_but((REPLACED,), UNITS.values()), ids=UNITS)
def test_no_inferred_schema_tells_neighbours_apart(unit: Unit, tmp_path: Path) -> None:
    """`schema infer`: the same values, ranges and bins, each in the same type."""
    discovery = Discovery(SKELETON, 20, "1e-3", unit)
    assert {} == leaks(Inference(discovery), pairs_for(unit), tmp_path)


# Nothing but names, kinds and a unit: values, bounds and missing cells are all learned.
OPEN = Skeleton.parse(
    {
        "columns": {
            "who": {"kind": "id"},
            "colour": {"kind": "categorical"},
            "size": {"kind": "integer"},
            "weight": {"kind": "float", "unit": "$"},
            "sold": {"kind": "boolean"},
            "one": {"kind": "categorical"},
        }
    }
)


@pytest.mark.parametrize("epsilon", full_but((20,), (20, 200)))
@pytest.mark.parametrize("unit", slow_but((ROW,), UNITS.values()), ids=UNITS)
def test_no_learned_bounds_and_missing_cells_tell_neighbours_apart(
    unit: Unit, epsilon: int, tmp_path: Path
) -> None:
    """Whether cells are missing, and where numbers in a notation begin and end, is released."""
    job = Inference(Discovery(OPEN, epsilon, "1e-3", unit))
    assert {} == leaks(job, pairs_for(unit), tmp_path)


def _kinds(unit: Unit, delta: str = "1e-3") -> Kinds:
    person = "who" if unit.rows_per_person else None
    return Kinds(KindDiscovery(Row._fields, 20, delta, unit=unit, person_id=person))


@pytest.mark.parametrize("delta", ["0", "1e-3"])
@pytest.mark.parametrize("unit", slow_but((ROW, PERSONS[2]), UNITS.values()), ids=UNITS)
def test_no_learned_kind_tells_neighbours_apart(unit: Unit, delta: str, tmp_path: Path) -> None:
    """`schema init --epsilon`: the same kinds, labels and missing cells, whatever a cell holds."""
    assert {} == leaks(_kinds(unit, delta), pairs_for(unit), tmp_path)


class _Half(Unit):
    """A unit that is said to move half of what it does."""

    @property
    def count_l1(self) -> Fraction:
        return super().count_l1 / 2

    @property
    def count_l2_squared(self) -> Fraction:
        return super().count_l2_squared / 4


class _Understated(KindDiscovery):
    """Learns kinds with the noise of such a unit."""

    @cached_property
    def shares(self) -> QuestionShares:
        whole = super().shares
        return replace(whole, unit=_Half(whole.unit.neighbours, whole.unit.rows_per_person))


@pytest.mark.parametrize("delta", ["0", "1e-3"])
@pytest.mark.parametrize("unit", slow_but((ROW, PERSONS[2]), UNITS.values()), ids=UNITS)
def test_learned_kinds_reach_their_sensitivity(unit: Unit, delta: str, tmp_path: Path) -> None:
    """The pairs move the counts as far as is claimed: noise for half of it is found out."""
    whole = _kinds(unit, delta).discovery
    less = _Understated(**{part.name: getattr(whole, part.name) for part in fields(whole)})
    assert {} != leaks(Kinds(less), pairs_for(unit)[:8], tmp_path)


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("unit", slow_but((ROW, PERSONS[2]), UNITS.values()), ids=UNITS)
def test_no_released_summary_tells_neighbours_apart(unit: Unit, delta: str, tmp_path: Path) -> None:
    """`evaluate --release-epsilon`: the same distances."""
    job = Released(Summarizer(SCHEMA, 1, delta, unit), _rows_of(50, 9))
    assert {} == leaks(job, pairs_for(unit), tmp_path)


NETWORK = Network(
    (
        Family("colour"),
        Family("size", ("colour",)),
        Family("weight"),
        Family("sold", ("size", "colour")),
        Family("one"),
    )
)


def _plan(name: str, most: int | None = None) -> Collaboration:
    own = {"epsilon": PLENTY, "deadline": 600.0, "attempts": 2, "rows_per_person": most}
    given = PLANS[name] | own
    return Collaboration(SCHEMA, **given | ({"network": NETWORK} if "network" in given else {}))


def _some(name: str, pairs: Sequence[RawPair], *, every: bool) -> Sequence[RawPair]:
    """Half of the pairs: of a protocol under one relation, the other noise has the other half."""
    return pairs if every else pairs[[*PLANS].index(name) % 2 :: 2]


@pytest.mark.parametrize("every", full_but({False}, [False, True]))
@pytest.mark.parametrize("name", slow_but([*PLANS][:1], PLANS))
def test_no_holder_tells_neighbouring_files_apart(name: str, every: bool, tmp_path: Path) -> None:
    """Each role in each protocol: every reply is the same, byte by byte."""
    plan = _plan(name)
    job = Held(plan, {"south": _rows_of(80, 1), "west": _rows_of(40, 2)})
    assert {} == leaks(job, _some(name, pairs_for(plan.unit), every=every), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("every", full_but({False}, [False, True]))
@pytest.mark.parametrize("name", [name for name in PLANS if "add-remove" in name])
def test_no_holder_tells_whether_a_person_is_there(name: str, every: bool, tmp_path: Path) -> None:
    """Replays hold with persons of at most two rows."""
    plan = _plan(name, 2)
    codec = Codec(SCHEMA, persons_of(plan.unit))
    others = {
        name: MemorySource(Table.of(codec.encode(texts(crowd(60, seed)))))
        for seed, name in enumerate(("south", "west"))
    }
    pairs = _some(name, pairs_for(plan.unit), every=every)
    assert {} == leaks(Held(plan, others), pairs, tmp_path)


# --- every way in -----------------------------------------------------------------------------

# A method that counts, one that scores, and one that needs the order of rows.
FEW = ("independent", "privbayes greedy replace", "noise-gan replace")
# A database takes its time to open: every fifth pair, of all kinds, will do.
COUNTED_THERE = ("duckdb", "sqlite counted there")
IN_PROCESS = [way for way in WAYS if way not in ("csv", *COUNTED_THERE)]


@pytest.mark.parametrize(("way", "name"), in_turns(IN_PROCESS[::3], IN_PROCESS, FEW))
def test_no_way_in_tells_neighbours_apart(way: str, name: str, tmp_path: Path) -> None:
    """In memory or in blocks, from files and from frames of any brand."""
    synthesizer = BUILDERS[name](SCHEMA)
    synthesizer.epsilon = PLENTY
    assert {} == leaks(Fit(synthesizer), pairs_for(synthesizer.unit)[::3], tmp_path, WAYS[way])


@pytest.mark.parametrize("way", slow_but({"parquet"}, (w for w in IN_PROCESS if WAYS[w].persons)))
def test_no_way_in_tells_whether_a_person_is_there(way: str, tmp_path: Path) -> None:
    """Names are compared alike in files and frames."""
    job = Fit(FOR_PERSONS["independent"](2))
    assert {} == leaks(job, pairs_for(PERSONS[2]), tmp_path, WAYS[way])


# --- columns in a notation --------------------------------------------------------------------


@pytest.mark.parametrize(
    "unit", slow_but((ROW,), (ROW, REPLACED, PERSONS[2])), ids=["row", "replaced", "person 2"]
)
@pytest.mark.parametrize("way", slow_but(("csv", "csv of an office"), [*IN_PROCESS, "csv"]))
def test_no_notation_tells_neighbours_apart(way: str, unit: Unit, tmp_path: Path) -> None:
    """Units, thousands, brackets for minus and labels: a preflight, and counts of what was read."""
    if unit.rows_per_person and not WAYS[way].persons:
        pytest.skip("persons are not bounded in blocks")
    person = "who" if unit.rows_per_person else None
    method = Independent(
        NOTED, epsilon=PLENTY, neighbours=str(unit.neighbours), person_id=person,
        rows_per_person=unit.rows_per_person,
    )  # fmt: skip
    pairs = [replace(p, rows=_written(p.rows), neighbour=_written(p.neighbour))
             for p in pairs_for(unit)[::2]]  # fmt: skip
    job = Fit(method, Preflight(share=Fraction(1, 4), least=Fraction(1, 2)))
    assert {} == leaks(job, pairs, tmp_path, WAYS[way])


def _written(rows: Texts) -> Texts:
    """The same rows, those of even sizes with a unit and a label, each by itself."""
    return tuple(
        row._replace(weight=f"${row.weight}", sold={"yes": "ja"}.get(row.sold, row.sold))
        if row.size[-1:] in ("0", "2", "4", "6", "8") and row.weight[:1].isdigit()
        else row
        for row in (Row(*cells) for cells in rows)
    )


@pytest.mark.parametrize("way", slow_but(("csv", "csv of an office"), [*IN_PROCESS, "csv"]))
def test_a_row_in_a_notation_is_read_by_itself(way: str, tmp_path: Path) -> None:
    """A cell that no notation knows does not change how the others are read."""
    if not WAYS[way].numbers:
        pytest.skip("rows have no numbers there")
    for pair in pairs_for(REPLACED)[::2]:
        sides = (_written(pair.rows), _written(pair.neighbour))
        here, there = (_lines(rows, way, tmp_path, NOTED) for rows in sides)
        place = [a != b for a, b in zip(*sides, strict=True)].index(True)
        assert np.array_equal(np.delete(here, place, 0), np.delete(there, place, 0)), pair.name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "unit"),
    [
        *(
            (place, unit)
            for place in (*COUNTED_THERE, "postgres")
            for unit in (ROW, REPLACED, PERSONS[2])
        ),
        # It cannot compose names of persons, and refuses.
        *(("mariadb", unit) for unit in (ROW, REPLACED)),
        # A cluster does not see all rows of a person together, and refuses.
        *(("cluster", unit) for unit in (ROW, REPLACED)),
    ],
    ids=lambda given: given if isinstance(given, str) else f"{given.neighbours} {given.label}",
)
def test_no_server_tells_neighbours_apart(
    place: str, unit: Unit, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Rows that stay in a database, or are counted on a cluster."""
    way = WAYS[place] if place in COUNTED_THERE else _served(place, request)
    job = Ask(SCHEMA, unit, [(), ("colour",), ("size", "weight"), ("sold", "one", "colour")])
    assert {} == leaks(job, pairs_for(unit)[::5], tmp_path, way)


def _served(place: str, request: pytest.FixtureRequest) -> Way:
    if place == "postgres":
        address = request.getfixturevalue("postgres_server")
        return Way(lambda rows, _: fill_postgres(address, typed(rows)), Access(table="people"))
    if place == "mariadb":
        server = request.getfixturevalue("mariadb_server")
        return Way(lambda rows, _: fill_mysql(server, typed(rows)), Access(table="people"))
    scheduler = request.getfixturevalue("dask_scheduler")
    return replace(WAYS["partitions"], access=Access(cluster=scheduler.scheduler_address))


CATEGORIES = Skeleton.parse(
    {
        "columns": {
            "who": {"kind": "id"},
            **{name: {"kind": "categorical"} for name in Row._fields[1:]},
        }
    }
)


@pytest.mark.parametrize("way", IN_PROCESS)
def test_the_type_of_a_column_does_not_show_in_an_inferred_schema(way: str, tmp_path: Path) -> None:
    """In a frame an empty cell makes reals of whole numbers, and a word makes texts of them."""
    rows = tuple(Row(size=str(1 + i % 3), weight=f"{i % 2}.5", sold="true") for i in range(60))
    pairs = [
        RawPair(f"{name} is added", ROW, rows, (*rows, row))
        for name, row in {
            "an empty cell": Row(size="", weight="", sold=""),
            "a word": Row(size="many", weight="heavy", sold="perhaps"),
            "a fraction": Row(size="2.5"),
            "a whole number": Row(weight="7"),
        }.items()
    ]
    job = Inference(Discovery(CATEGORIES, 60, "1e-3"))
    assert {} == leaks(job, pairs, tmp_path, WAYS[way])


@pytest.mark.parametrize("way", slow_but(("csv",), [w for w in WAYS if WAYS[w].numbers]))
def test_a_row_is_read_by_itself(way: str, tmp_path: Path) -> None:
    """When one raw row changes, whatever it holds, the lines of all others stay as they are."""
    for pair in pairs_for(REPLACED):
        here, there = (_lines(rows, way, tmp_path) for rows in (pair.rows, pair.neighbour))
        place = [a != b for a, b in zip(pair.rows, pair.neighbour, strict=True)].index(True)
        assert np.array_equal(np.delete(here, place, 0), np.delete(there, place, 0)), pair.name


def _lines(rows: Texts, way: str, folder: Path, schema: Schema = SCHEMA) -> Counts:
    with open_source(WAYS[way].put(rows, folder), schema, WAYS[way].access) as source:
        assert isinstance(source, NumbersRows)
        assert ("blocks" in way) == isinstance(source, ChunkedSource) or not rows
        return source.number_rows([(attribute,) for attribute in schema.learned])
