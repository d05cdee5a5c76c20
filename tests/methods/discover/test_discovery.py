"""A schema from private rows: what is asked for is found, paid for, and everything else refused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from support.databases import duckdb_file
from support.discovery import opening, seeded_schema
from support.shared import shared_file
from understudy.errors import BudgetExceeded, DataError, SchemaError, UsageError
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.codec import Codec
from understudy.facts.codec.categories import ListedCodec
from understudy.facts.column import CategoricalColumn, DatetimeColumn, FloatColumn
from understudy.facts.schema import Schema
from understudy.facts.unlisted import substitutes
from understudy.facts.workload import workload
from understudy.methods import Independent, Nist
from understudy.methods.discover import Discovery, Skeleton, infer_schema
from understudy.privacy.curator import Instruments
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import KeySource
from understudy.rows.sources import Access
from understudy.rows.table import Table
from understudy.testing import SeededNoise


def _skeleton(**columns: dict[str, Any]) -> Skeleton:
    return Skeleton.parse({"name": "a table", "columns": columns})


def _values(cells: Sequence[Any] | pa.Array, **body: Any) -> dict[str, Any]:
    """The column that an all but unlimited budget finds."""
    skeleton = _skeleton(x={"kind": "categorical", **body})
    inferred = infer_schema({"x": cells}, skeleton, epsilon=50, delta="1e-3", ledger=None)
    return inferred.schema.columns["x"].document()


MANY = ["b", " a ", "a"] * 500


def test_values_that_many_rows_have_are_found() -> None:
    """Blanks around them count for nothing; rare ones are left to the catch-all."""
    document = _values([*MANY, *"defg", None, "", "", ""])
    expected = {"kind": "categorical", "values": ["a", "b", "other"], "outside": "other"}
    assert expected | {"missing": []} == document


def test_rare_values_are_grouped_by_prefixes() -> None:
    """What is too rare by itself counts with others of the same beginning, the longest first."""
    rare = [f"{start}{i}" for start in ("42", "7") for i in range(100, 400)]
    cells = ["428"] * 500 + rare + ["x"]
    document = _values(cells, prefix_lengths=[2, 1], missing=[])
    assert document["prefixes"] is True
    assert {"428", "42*"} <= set(document["values"])
    column = CategoricalColumn(**{key: v for key, v in document.items() if key != "kind"})
    known = ListedCodec("x", column)
    codes = [known.code_of(text) for text in ("428", "42100", " 42999 ", "7100", "zzz", "")]
    texts = [(*column.texts, "missing")[code] for code in codes]
    assert ["428", "42*", "42*"] == texts[:3]
    assert texts[3].startswith("7")
    assert (column.outside, "missing") == (texts[4], texts[5])


@pytest.mark.parametrize("lengths", [[], [1, 2], [0], "2", [2, 2], [True], [5, 4, 3, 2, 1]])
def test_lengths_of_prefixes_that_make_no_sense_are_refused(lengths: Any) -> None:
    """They are whole numbers that fall; only columns whose values are learned have them."""
    with pytest.raises(SchemaError, match="prefix_lengths"):
        _skeleton(x={"kind": "categorical", "prefix_lengths": lengths})
    with pytest.raises(SchemaError, match="no values are learned"):
        _skeleton(x={"kind": "float", "prefix_lengths": [2]})


@pytest.mark.parametrize("share", [0, -1, "2", True, 10**6, float("nan")])
def test_shares_that_make_no_sense_are_refused(share: Any) -> None:
    """A share is a number above 0, of a column that is learned."""
    with pytest.raises(SchemaError, match="share"):
        _skeleton(x={"kind": "categorical", "share": share})
    with pytest.raises(SchemaError, match="nothing is learned"):
        _skeleton(x={"kind": "categorical"}, y={"kind": "boolean", "share": 2})


def test_a_share_buys_less_noise() -> None:
    """Four times the share halves the Gaussian noise beside many columns."""
    bodies: dict[str, dict[str, Any]] = {str(i): {"kind": "categorical"} for i in range(30)}
    plain = Discovery(_skeleton(**bodies), "0.5", "1e-6").shares.values("3").threshold
    bodies["3"]["share"] = 4
    large = Discovery(_skeleton(**bodies), "0.5", "1e-6").shares.values("3").threshold
    assert 0.5 < large / plain < 0.6


def test_a_catch_all_is_there_only_where_something_is_left() -> None:
    """Where no cell has another value there is none; no row is lost to one that is never seen."""
    assert {"kind": "categorical", "values": ["a", "b"], "outside": "a"} == _values(MANY)


@pytest.mark.parametrize("own", ["Other", "other", "OTHER"])
def test_a_value_that_means_other_takes_the_others(own: str) -> None:
    """`other` is not listed beside a real one."""
    for others in ("defghij", ""):
        document = _values([*MANY, *[own] * 400, *others])
        assert ({"a", "b", own}, own) == (set(document["values"]), document["outside"])


@pytest.mark.parametrize(
    ("cells", "body"),
    [(MANY, {"missing": ["?"]}), (MANY, {"missing": []}), ([*MANY, *[""] * 400], {})],
)
def test_unlisted_values_count_as_missing_where_that_is_a_level(
    cells: list[str], body: dict[str, Any]
) -> None:
    """A value that noise hides is missing, and not the most frequent one, declared or learned."""
    found = Schema.parse({"columns": {"x": _values(cells, **body)}})
    column = found.columns["x"]
    assert isinstance(column, CategoricalColumn)
    assert ("", column.missing_code) == (column.outside, column.outside_code)
    assert {} == substitutes(found)


def test_missing_rows_that_are_dropped_do_not_take_unlisted_values_along() -> None:
    """Where missing rows are dropped, a rare value takes the most frequent one."""
    assert "a" == _values(MANY, missing=[], missing_as="drop")["outside"]


@pytest.mark.parametrize(
    ("body", "values", "outside"),
    [
        ({"outside": "drop"}, ["a", "b"], None),
        ({"outside": "rest"}, ["a", "b", "rest"], "rest"),
        ({"outside": "a"}, ["b", "a"], "a"),
        ({"missing": ["?"], "outside": "?"}, ["a", "b"], "?"),
        ({"missing": ["other"]}, ["a", "b", "other_"], "other_"),
        ({"missing": ["b"]}, ["a", "other"], "other"),
        ({"values": [], "missing": []}, ["a", "b", "other"], "other"),
    ],
)
def test_undeclared_values_go_where_the_skeleton_says(
    body: dict[str, Any], values: list[str], outside: str | None
) -> None:
    """Dropped, to a value that is then listed, or to the level of missing cells."""
    found = _values([*MANY, *"defghij"], **body)
    assert (values, outside) == (found["values"], found.get("outside"))
    assert body.get("missing") == found.get("missing")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (pa.array([3, 20, 100] * 300), [3, 20, 100]),
        (pa.array([0.5, 2.0] * 300), [0.5, 2.0]),
        (pa.array([True, False] * 300), [False, True]),
        (pa.array([0.5, 2.0, None] * 300), [0.5, 2.0]),
        (pa.array([3.0, 20.0, 100.0] * 300), [3, 20, 100]),
        (pa.array(["3", "20"] * 300), [3, 20]),
        (pa.array(["3", "20", "020"] * 300), ["020", "20", "3"]),
        (pa.array([2.0, float("inf")] * 300), ["2", "inf"]),
        (pa.array(["x", "y"] * 300).dictionary_encode(), ["x", "y"]),
    ],
)
def test_values_are_in_the_type_that_they_spell(cells: pa.Array, values: list[Any]) -> None:
    """Numbers are listed as numbers, by size, whatever type the data declares."""
    found = _values(cells, outside="drop")["values"]
    assert (values, list(map(type, values))) == (found, list(map(type, found)))


def test_long_texts_are_released_as_they_are() -> None:
    """There is no limit on the length of a category."""
    assert "x" * 10_000 in _values(["x" * 10_000] * 500)["values"]


@pytest.mark.parametrize("cells", [[], ["secret"]])
@pytest.mark.parametrize("outside", [{}, {"outside": "drop"}])
def test_next_to_no_rows_give_a_legal_column(cells: list[str], outside: dict[str, str]) -> None:
    """With no value released everything goes to the catch-all."""
    skeleton = _skeleton(x={"kind": "categorical", **outside})
    inferred = infer_schema(
        {"x": pa.array(cells, pa.string())}, skeleton, epsilon=1, delta="1e-9", ledger=None
    )
    assert ["other"] == inferred.schema.columns["x"].document()["values"]


def test_what_is_declared_is_left_alone() -> None:
    """Order, notes, free keys and whole columns stay; nothing is asked about them."""
    skeleton = _skeleton(
        id={"kind": "id", "prefix": "P"},
        age={"kind": "integer", "min": 0, "max": 99, "bins": 3},
        city={"kind": "categorical", "note": "of birth"},
        smoker={"kind": "boolean", "outside": "false"},
    )
    data = {"age": [5] * 900, "city": ["A"] * 900, "smoker": [True] * 900}
    inferred = infer_schema(data, skeleton, epsilon=5, delta="1e-3", ledger=None)
    document = inferred.schema.document()
    assert ["id", "age", "city", "smoker"] == list(document["columns"])
    assert {"kind": "integer", "min": 0, "max": 99, "bins": 3} == document["columns"]["age"]
    assert ("a table", "of birth") == (document["name"], document["columns"]["city"]["note"])
    asked = ["values of city", "counts of city that are missing or have other values"]
    assert asked == [charge.question for charge in inferred.statement.charges]


@pytest.mark.parametrize(("missing", "level"), [(0, False), (60, True)])
def test_a_boolean_has_a_level_for_missing_cells_where_they_show(missing: int, level: bool) -> None:
    """Its rows would be dropped otherwise, and so be missing from every count."""
    skeleton = _skeleton(age={"kind": "integer"}, smoker={"kind": "boolean"})
    smoker = [None] * missing + [True, False] * 1000
    data = {"age": [30 + i % 20 for i in range(len(smoker))], "smoker": smoker}
    inferred = seeded_schema(data, skeleton, epsilon=2, delta="1e-6")
    assert level == ("missing" in inferred.schema.document()["columns"]["smoker"])
    asked = [charge.question for charge in inferred.statement.charges]
    assert "count of smoker that is missing" == asked[-1]


def test_the_cost_stands_in_schema_ledger_and_statement(tmp_path: Path) -> None:
    """All three say the same, and the schema can be written and read in both formats."""
    ledger = Ledger(tmp_path / "l.jsonl")
    skeleton = _skeleton(x={"kind": "categorical"}, y={"kind": "float"})
    data = {"x": MANY, "y": np.linspace(0, 9, 1500)}
    inferred = infer_schema(
        data, skeleton, epsilon="0.7", delta="1e-6", ledger=ledger, dataset="people"
    )
    inference = inferred.schema.inference
    assert inference is not None
    assert (Fraction(7, 10), Fraction("1e-6")) == (inference.epsilon, inference.delta)
    assert ("add-remove", "people", True) == (
        inference.neighbours,
        inference.dataset,
        inference.private,
    )
    assert ("gaussian key release", "discrete gaussian") == inference.mechanisms
    [run] = ledger.account("people").runs
    assert ("schema infer", False, 4) == (run["method"], run["open"], run["charges"])
    assert "epsilon = 0.7, delta = 1e-06" == str(ledger.account("people").spent)
    assert 0.7 == inferred.statement.document()["epsilon"]
    for name in ("s.toml", "s.json"):
        inferred.schema.dump(tmp_path / name)
        assert inferred.schema == Schema.load(tmp_path / name)


def test_a_schema_can_be_learned_in_two_steps() -> None:
    """What the first step cost is added to the second's, under the same relation alone."""
    data = {"x": MANY, "y": np.linspace(0, 9, 1500)}
    range_ = {"min": 0.0, "max": 9.0}
    first = infer_schema(
        data,
        _skeleton(x={"kind": "categorical"}, y={"kind": "float", **range_}),
        epsilon=1,
        delta="1e-6",
        ledger=None,
    ).schema.document()
    del first["columns"]["y"]["min"]
    again = Skeleton.parse(first)
    second = infer_schema(data, again, epsilon=2, ledger=None).schema.inference
    assert second is not None
    assert (Fraction(3), Fraction("1e-6")) == (second.epsilon, second.delta)
    with pytest.raises(UsageError, match="ask for neighbours add-remove"):
        infer_schema(data, again, epsilon=2, neighbours="replace", ledger=None)


def test_fits_under_a_learned_schema_say_so() -> None:
    """From rows to a model: the sum is promised."""
    data = {"x": MANY, "y": np.linspace(0, 9, 1500)}
    skeleton = _skeleton(x={"kind": "categorical"}, y={"kind": "float"})
    schema = infer_schema(data, skeleton, epsilon=1, delta="1e-6", ledger=None).schema
    statement = Independent(schema, epsilon=1).fit(data, ledger=None).model_.statement
    assert (Fraction(2), Fraction("1e-6")) == (statement.bound.epsilon, statement.bound.delta)


def test_predictable_noise_is_named(tmp_path: Path) -> None:
    """A seeded inference says NOT PRIVATE in schema and statement, and no ledger takes it."""
    skeleton = _skeleton(x={"kind": "float"})
    seeded = Discovery(skeleton, 1, instruments=Instruments(noise=SeededNoise(1)))
    rows = opening(["x"], [(1.0,)] * 50)
    first, second = (
        replace(seeded, instruments=Instruments(noise=SeededNoise(1))).run(
            rows, dataset="t", ledger=None
        )
        for _ in range(2)
    )
    assert first == second
    assert first.statement.sentence.startswith("NOT PRIVATE")
    assert first.schema.inference is not None
    assert not first.schema.inference.private
    with pytest.raises(UsageError, match="must not be recorded in a ledger"):
        seeded.run(rows, dataset="t", ledger=Ledger(tmp_path / "l.jsonl"))


def _unread(schema: Schema, columns: Sequence[str]) -> AbstractContextManager[KeySource]:
    raise AssertionError("rows were read")


def test_a_budget_beyond_the_limit_is_refused_before_rows_are_read(tmp_path: Path) -> None:
    """The grant comes first."""
    ledger = Ledger(tmp_path / "l.jsonl")
    ledger.limit("people", epsilon=Fraction(1), delta=Fraction("1e-9"))
    discovery = Discovery(_skeleton(x={"kind": "categorical"}), 1, "1e-6")
    with pytest.raises(BudgetExceeded, match="people"):
        discovery.run(_unread, dataset="people", ledger=ledger)


def test_data_that_cannot_be_read_costs_nothing(tmp_path: Path) -> None:
    """A column that is not there, one too many, no file: refused, and nothing is spent."""
    ledger = Ledger(tmp_path / "l.jsonl")
    skeleton = _skeleton(x={"kind": "categorical"})
    for data, words in (
        ({"y": ["a"]}, "none of the schema's columns"),
        ({"x": ["a"], "y": ["a"]}, "'y' is not in the schema"),
        (tmp_path / "none.csv", "cannot be read"),
        ({"x": pa.array([b"a"])}, "has no text to match"),
    ):
        with pytest.raises(DataError, match=words):
            infer_schema(data, skeleton, epsilon=1, delta="1e-6", ledger=ledger, dataset="t")
    assert "epsilon = 0, delta = 0" == str(ledger.account("t").spent)


def test_values_need_a_delta() -> None:
    """The message names the columns that do, and no others."""
    skeleton = _skeleton(a={"kind": "categorical"}, b={"kind": "float"}, c={"kind": "categorical"})
    with pytest.raises(UsageError, match="column 'a', 'c': no values are listed, and delta is 0"):
        Discovery(skeleton, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": 0}, "nothing can be learned for free"),
        ({"epsilon": "much"}, "finite number"),
        ({"epsilon": 1, "neighbours": "none"}, "add-remove or replace"),
        ({"epsilon": "1e-30"}, "drown any table"),
    ],
)
def test_arguments_that_cannot_be_served(arguments: dict[str, Any], words: str) -> None:
    """In a sentence."""
    with pytest.raises(UsageError, match=words):
        infer_schema({"x": [1.0]}, _skeleton(x={"kind": "float"}), **arguments, ledger=None)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": {"kind": "boolean"}}, "nothing is left to find out"),
        ({"x": {"kind": "integer", "min": 0, "max": 9}}, "nothing is left to find out"),
        ({"x": {"kind": ""}}, "kind is missing or unknown"),
        ({"x": {"kind": "categorical", "valeus": []}}, "valeus is not a key"),
        ({"x": {"kind": "integer", "edges": [1, 2]}}, "max is not given"),
        ({"x": {"kind": "integer", "min": 3, "max": 1, "edges": []}}, "below lower bound"),
        ({"x": {"kind": "integer", "missing": "?"}}, "write a list of markers"),
        ({"x": {"kind": "float", "outside": "far"}}, "outside is 'far'"),
        ({"x": "categorical"}, "kind is missing|not a table"),
    ],
)
def test_skeletons_that_cannot_be_filled_in(columns: dict[str, Any], words: str) -> None:
    """Found before anything is read."""
    with pytest.raises((SchemaError, UsageError), match=words):
        Skeleton.parse({"columns": columns})


def test_a_skeleton_needs_columns() -> None:
    """Anything else is not a schema."""
    with pytest.raises(SchemaError, match="no table 'columns'"):
        Skeleton.parse({"columns": []})


TABLE = pa.table(
    {
        "x": pa.array(["a", "b", None] * 2000),
        "n": pa.array(list(range(600)) * 10, pa.int64()),
        "day": pa.array([18000 + i % 90 for i in range(6000)], pa.int32()).cast(pa.date32()),
    }
)
EVERYWHERE = {"x": {"kind": "categorical"}, "n": {"kind": "integer"}, "day": {"kind": "date"}}


PLACES = ["t.csv", "t.parquet", "in blocks.csv", pytest.param("t.duckdb", marks=pytest.mark.slow)]


@pytest.mark.parametrize("place", PLACES)
def test_the_same_is_found_wherever_rows_are(place: str, tmp_path: Path) -> None:
    """Files whole and in blocks, databases and data frames: the same noise, the same schema."""
    path, access, data = tmp_path / place, Access(), TABLE
    if path.suffix == ".csv":
        pc.write_csv(TABLE, path)
        data, access = path, Access(memory=10_000 if "blocks" in place else None)
    elif path.suffix == ".parquet":
        pq.write_table(TABLE, path)
        data = path
    elif path.suffix == ".duckdb":
        data, access = duckdb_file(path, TABLE), Access(table="people")
    skeleton = _skeleton(**EVERYWHERE)

    def found(rows: Any, how: Access) -> Schema:
        from understudy.rows.sources import open_keyed

        seeded = Instruments(noise=SeededNoise(5))
        discovery = Discovery(skeleton, 3, "1e-6", instruments=seeded)
        return discovery.run(
            lambda schema, columns: open_keyed(rows, schema, columns, how),
            dataset="t",
            ledger=None,
        ).schema

    assert found(TABLE, Access()) == found(data, access)


def test_many_more_values_than_codes_are_cut_to_the_most_frequent() -> None:
    """A column cannot have more codes than 16 bits number; a paid schema is legal all the same."""
    from understudy.methods.discover.values import listing
    from understudy.rows.counting import ReleasedKeys

    released = ReleasedKeys({str(i): i for i in range(70_000)})
    body = listing(_skeleton(x={"kind": "categorical"}), "x", released)
    schema = Schema.parse({"columns": {"x": {"kind": "categorical", **body}}})
    column = schema.columns["x"]
    assert isinstance(column, CategoricalColumn)
    assert column.size < 2**16
    assert {"69999", "other"} <= set(column.texts)
    assert "0" not in column.texts


@pytest.mark.slow
def test_adult_with_a_learned_schema_comes_near_the_declared_one() -> None:
    """3-way distances at ε = 1, δ = 10⁻⁶ each: about 0.03 above, and never 0.06."""
    rows = pq.read_table(shared_file("data", "adult_train.parquet"))
    declared = Schema.load(shared_file("benchmark", "adult.json"))
    kinds = {name: {"kind": column.kind} for name, column in declared.columns.items()}
    learned = seeded_schema(rows, _skeleton(**kinds), epsilon=1, delta="1e-6").schema
    exam = Codec(_with_catch_all(declared))
    real, sets = Table.of(exam.encode(rows)), workload(exam.domain, 3)
    found = [
        total_variation(
            real,
            Table.of(
                exam.encode(
                    Nist(schema, epsilon=1, delta="1e-6")
                    .fit(rows, ledger=None)
                    .sample(rows.num_rows)
                )
            ),
            sets,
        ).mean()
        for schema in (declared, learned)
    ]
    assert found[1] - found[0] < 0.06


def _with_catch_all(schema: Schema) -> Schema:
    """The declared levels, and one for what was not released: the ruler for both schemas."""
    document = schema.document()
    for column in document["columns"].values():
        if column["kind"] == "categorical":
            column |= {"values": [*column["values"], "other"], "outside": "other"}
    return Schema.parse(document)


def test_constraints_on_declared_columns_stay() -> None:
    """Those on columns that are to be learned are refused before anything is paid."""
    columns = {
        "sex": {"kind": "categorical", "values": ["male", "female"]},
        "pregnant": {"kind": "boolean"},
        "city": {"kind": "categorical"},
    }
    rule = "not (sex = male and pregnant = yes)"
    rows = {"sex": ["male", "female"] * 200, "pregnant": [False, True] * 200, "city": ["A"] * 400}
    skeleton = Skeleton.parse({"constraints": [rule], "columns": columns})
    inferred = infer_schema(rows, skeleton, epsilon=5, delta="1e-6", ledger=None)
    assert [rule] == [constraint.text for constraint in inferred.schema.constraints]
    with pytest.raises(UsageError, match="speaks of column 'city', which is to be learned"):
        Skeleton.parse({"constraints": ["if city = other then sex = male"], "columns": columns})


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "integer", "step": 5},
        {"kind": "date", "step": 7},
    ],
)
def test_steps_of_unknown_columns_are_refused(body: dict[str, Any]) -> None:
    """What is found could contradict them, after it was paid for."""
    with pytest.raises(UsageError, match="add it to the schema that is found"):
        Skeleton.parse({"columns": {"x": body}})


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ({"kind": "float", "dtype": "float32"}, "float32"),
        ({"kind": "integer", "dtype": "Int16"}, "Int16"),
        ({"kind": "integer", "dtype": "int8"}, None),
    ],
)
def test_a_declared_type_stays_where_it_holds_what_is_found(
    body: dict[str, Any], kept: str | None
) -> None:
    """Whether it does is decided by released numbers, after they were paid for."""
    rows = {"x": [100, 300] * 400}
    skeleton = Skeleton.parse({"columns": {"x": body}})
    found = infer_schema(rows, skeleton, epsilon=100, delta="1e-6", ledger=None).schema
    assert kept == found.columns["x"].dtype


def test_a_type_that_no_such_column_has_is_refused_before_anything_is_paid() -> None:
    """Types are not part of the provisional schema, and checked all the same."""
    with pytest.raises(SchemaError, match="'x': dtype is 'int8'"):
        Skeleton.parse({"columns": {"x": {"kind": "date", "dtype": "int8"}}})


@pytest.mark.parametrize(
    "key", [{"decimals": -1}, {"decimals": "two"}, {"step": 0.0}, {"decimals": 1, "step": 0.5}]
)
def test_impossible_decimals_are_refused_before_anything_is_paid(key: dict[str, Any]) -> None:
    """They are not part of the provisional schema, and checked all the same."""
    with pytest.raises(SchemaError, match="'x'"):
        Skeleton.parse({"columns": {"x": {"kind": "float", **key}}})


@pytest.mark.parametrize(
    ("key", "scale"), [({"decimals": 1}, 10), ({"step": 0.5}, 2), ({"step": 1.0, "min": 0.0}, 1)]
)
def test_bins_are_cut_at_the_declared_decimals(key: dict[str, Any], scale: int) -> None:
    """Every edge is a value that the column writes, and no row is lost at one."""
    values = np.round(np.random.default_rng(4).normal(70, 9, 4000) * scale) / scale
    skeleton = Skeleton.parse({"columns": {"x": {"kind": "float", **key}}})
    for seed in range(3):
        schema = seeded_schema({"x": values}, skeleton, epsilon=2, seed=seed).schema
        column = schema.columns["x"]
        assert isinstance(column, FloatColumn)
        edges = np.array([*column.left_edges, column.bounds[1]]) * scale
        assert np.allclose(edges, edges.round())
        assert key.items() >= schema.document()["columns"]["x"].items() & key.items()
        assert column.declared_steps is not None


def test_moments_without_seconds_are_cut_at_whole_minutes() -> None:
    """A format without seconds implies a step, and learned bounds and edges keep to it."""
    start = np.datetime64("2023-01-01T00:00", "m")
    moments = [m.strftime("%d.%m.%Y %H:%M") for m in (start + 7 * np.arange(4000)).tolist()]
    skeleton = Skeleton.parse(
        {"columns": {"x": {"kind": "datetime", "format": "%d.%m.%Y %H:%M", "missing": []}}}
    )
    for rows in (moments, moments[:1] * 4000):
        schema = seeded_schema({"x": rows}, skeleton, epsilon=2).schema
        column = schema.columns["x"]
        assert isinstance(column, DatetimeColumn)
        assert 60 == column.step
        assert {0} == {edge % 60 for edge in (*column.left_edges, column.bounds[1])}


def test_decimals_that_doubles_cannot_hold_are_left_out() -> None:
    """Six decimals of numbers near 10 to the 12th would stop a schema that is paid for."""
    values = np.full(4000, 8e11)
    skeleton = Skeleton.parse({"columns": {"x": {"kind": "float", "decimals": 6}}})
    schema = seeded_schema({"x": values}, skeleton, epsilon=2).schema
    assert "decimals" not in schema.document()["columns"]["x"]
    tiny = Skeleton.parse({"columns": {"x": {"kind": "float", "decimals": 0}}})
    schema = seeded_schema({"x": np.full(4000, 0.3)}, tiny, epsilon=2).schema
    assert "decimals" not in schema.document()["columns"]["x"]
