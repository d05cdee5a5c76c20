"""What a person is called: one function of the cell, the same in memory and in databases."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.databases import TYPES, connection_to, duckdb_file, fill_postgres
from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.codec.names import BLANKS, names_of, number_names
from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.rows.counting import KeyCounts
from understudy.rows.engines.keyed import tallied
from understudy.rows.engines.memory import MemorySource
from understudy.rows.sources import Access, open_keyed, open_source
from understudy.rows.table import Table
from understudy.system.frames import Rows

SCHEMA = Schema.parse(
    {
        "columns": {
            "who": {"kind": "id"},
            "a": {"kind": "integer", "min": 0, "max": 4},
            "b": {"kind": "categorical", "values": ["x", "y", "z"]},
        }
    }
)
TEXTS = (
    *("p", " p", "p\t", "\u00a0p\u3000", "p\x1f", "P", "\u200bp", "\ufeffp"),
    *("\u00e9", "e\u0301", "e\u0301 ", "e", "\u212a", "K", "\u1112\u1161\u11ab", "\ud55c"),
    *("a\u0323\u0307", "a\u0307\u0323", "\u00df", "ss", "\ufb01", "fi"),
    *("7", "07", "7 ", "7.0", "nan", "null", "None", " \u0301", "\u0301"),
)
MISSING = (None, "", " ", "\t\n", "\u2003\u00a0\u2028")
Cells = list[Any]


def _by_hand(text: str | None) -> str | None:
    """The rule as documents state it."""
    if text is None or "\0" in text:
        return None
    return unicodedata.normalize("NFC", text.strip()) or None


@given(texts=st.lists(st.none() | st.sampled_from(TEXTS) | st.text(max_size=6), max_size=20))
def test_a_name_is_trimmed_and_composed(texts: list[str | None]) -> None:
    """As Python strips and normalises; a name is its own name."""
    # What Unicode has added lately, one library may compose and another not yet.
    known = [t and "".join(c for c in t if unicodedata.category(c) != "Cn") for t in texts]
    names = names_of("who", pa.chunked_array([pa.array(known, pa.string())]))
    assert [_by_hand(text) for text in known] == names.to_pylist()
    assert names.to_pylist() == names_of("who", names).to_pylist()


def test_white_space_is_what_the_promise_lists() -> None:
    """The 29 characters of `docs/promise.md`, and no others."""
    ranges = [(0x9, 0xD), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680)]
    ranges += [(0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F)]
    expected = [
        chr(i) for first, last in [*ranges, (0x3000, 0x3000)] for i in range(first, last + 1)
    ]
    assert expected == list(BLANKS)


@pytest.mark.parametrize(
    ("kind", "cells", "numbers"),
    [
        (pa.string(), ["a", "a ", None, "", "A", "a\0"], [0, 0, -1, -1, 1, -1]),
        (pa.large_string(), ["07", "7", " 7"], [0, 1, 1]),
        (pa.string_view(), ["07", "7", " 7"], [0, 1, 1]),
        (pa.dictionary(pa.int8(), pa.string()), ["a", " a", None, "b", " "], [0, 0, -1, 1, -1]),
        (pa.int8(), [0, 7, None, 7], [0, 1, -1, 1]),
        (pa.uint64(), [2**64 - 1, 2**64 - 2], [0, 1]),
        (pa.float32(), [7.0, 0.0, -0.0, float("nan"), None, 7.0], [0, 1, 1, -1, -1, 0]),
        (pa.float64(), [2.0**53, 2.0**53 + 2, float("inf")], [0, 1, 2]),
        (pa.decimal128(9, 2), [Decimal("7.00"), Decimal("7"), None], [0, 0, -1]),
        (pa.bool_(), [True, False, None, True], [0, 1, -1, 0]),
        (pa.date32(), [date(1, 1, 1), None, date(1, 1, 1)], [0, -1, 0]),
        (pa.time64("us"), [time(1), time(2), time(1)], [0, 1, 0]),
        (pa.timestamp("us", "UTC"), [datetime(2020, 1, 1), None], [0, -1]),
        (pa.binary(), [b"a", b"", None, b"a ", b"a"], [0, -1, -1, 1, 0]),
        (pa.binary(2), [b"ab", b"cd", None], [0, 1, -1]),
        (pa.uuid(), [b"0123456789abcdef", b"0123456789abcdef"], [0, 0]),
        (pa.null(), [None, None], [-1, -1]),
    ],
    ids=str,
)
def test_other_cells_are_named_by_their_value(
    kind: pa.DataType, cells: Cells, numbers: list[int]
) -> None:
    """Nulls, NaN and nothing at all have no name; zero has one, whatever its sign."""
    found = number_names("who", pa.chunked_array([pa.array(cells, kind)]))
    assert numbers == found.tolist()


def test_cells_without_a_value_to_compare_are_refused() -> None:
    """By their type, which is public."""
    with pytest.raises(DataError, match=r"'who' names persons and holds list.*convert it to text"):
        number_names("who", pa.chunked_array([pa.array([[1], [2]])]))


def test_text_that_is_not_utf8_is_refused_without_a_word_of_it() -> None:
    """Bytes that are not UTF-8 have no characters to trim."""
    bad = pa.array([b"\xff\xfesecret"]).cast(pa.string(), safe=False)
    with pytest.raises(DataError, match="not UTF-8") as caught:
        number_names("who", pa.chunked_array([bad]))
    assert "secret" not in str(caught.value)


def _rows(names: Cells, kind: pa.DataType, seed: int = 5) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "who": pa.array(names, kind),
            "a": pa.array([draw.randint(0, 4) for _ in names], pa.int64()),
            "b": pa.array([draw.choice("xyzw") for _ in names], pa.string()),
        }
    )


def _kept(rows: pa.Table, most: int) -> Counter[tuple[int, ...]]:
    table = Table.of(Codec(SCHEMA, Persons("who", most)).encode(rows))
    return Counter(zip(*(table.codes[name].tolist() for name in "ab"), strict=True))


def _texts(count: int) -> Cells:
    draw = random.Random(3)
    return [draw.choice((*TEXTS, *MISSING)) for _ in range(count)]


@pytest.mark.parametrize("most", [1, 2, 5])
def test_memory_keeps_what_a_twin_keeps(most: int) -> None:
    """Nameless rows taken out and names replaced by numbers, by hand: the same rows stay."""
    texts = _texts(400)
    names = [_by_hand(text) for text in texts]
    rows = _rows(texts, pa.string())
    numbers = {name: place for place, name in enumerate(dict.fromkeys(names))}
    numbered = rows.set_column(0, "who", pa.array([numbers[name] for name in names], pa.int64()))
    named = numbered.filter(pa.array([name is not None for name in names]))
    assert _kept(named, most) == _kept(rows, most)
    assert 0 < named.num_rows < rows.num_rows


TYPED: dict[pa.DataType, Cells] = {
    pa.int16(): [0, 7, -7, None],
    pa.int64(): [2**53, 2**53 + 1, None],
    pa.float32(): [0.0, -0.0, 7.5, float("nan"), float("inf"), None],
    pa.float64(): [0.0, -0.0, 7.0, 7.000000001, float("nan"), None],
    pa.bool_(): [True, False, None],
    pa.decimal128(18, 3): [Decimal("7.000"), Decimal("7.001"), Decimal("0"), None],
    pa.date32(): [date(2020, 1, 1), date(1, 1, 1), None],
    pa.timestamp("us"): [datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1), None],
    pa.timestamp("us", "UTC"): [datetime(2020, 1, 1), datetime(2020, 1, 1, 1), None],
}


def _put(engine: str, rows: pa.Table, request: pytest.FixtureRequest) -> Rows:
    if engine == "duckdb":
        return ibis.duckdb.connect().create_table("people", rows)  # type: ignore[no-any-return]
    return fill_postgres(request.getfixturevalue("postgres_server"), rows)


def _check_alike(data: Rows, rows: pa.Table, most: int) -> None:
    persons = Persons("who", most)
    memory = MemorySource(Table.of(Codec(SCHEMA, persons).encode(rows)))
    with open_source(data, SCHEMA, Access(table="people", persons=persons)) as source:
        [ours], [theirs] = (s.count([("a", "b")]) for s in (source, memory))
        assert np.array_equal(theirs.counts, ours.counts)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_databases_tell_persons_apart_as_memory_does(
    engine: str, request: pytest.FixtureRequest
) -> None:
    """Texts with blanks, accents in either form, zeros in front, and nothing at all."""
    rows = _rows(_texts(400), pa.string())
    data = _put(engine, rows, request)
    for most in (1, 3):
        _check_alike(data, rows, most)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@pytest.mark.parametrize("kind", TYPED, ids=str)
def test_databases_compare_other_cells_by_value(
    engine: str, kind: pa.DataType, request: pytest.FixtureRequest
) -> None:
    """Numbers, truth, days and moments, as memory has them."""
    assert kind in TYPES
    draw = random.Random(4)
    rows = _rows([draw.choice(TYPED[kind]) for _ in range(60)], kind)
    _check_alike(_put(engine, rows, request), rows, 2)


def test_a_text_with_a_nul_is_nobody_in_duckdb() -> None:
    """DuckDB would end the text there, and take two names for one."""
    rows = _rows(["\u00e9\0a", "\u00e9\0b", "a\0", "\u00e9", None, "\0"] * 5, pa.string())
    _check_alike(ibis.duckdb.connect().create_table("people", rows), rows, 2)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("uuid", [None, *(f"{i:08x}-0000-4000-8000-000000000000" for i in (1, 2, 2))]),
        ("bytea", [None, b"", b"a", b"a ", b"a"]),
        ("numeric", [None, "NaN", "7", "7.00", "7e300", "-7e300", "0.5"]),
        ("char(4)", [None, "", "7", "7 ", "07"]),
    ],
)
def test_types_that_postgres_alone_has_are_compared_by_value(
    column: str, values: Cells, postgres_server: str
) -> None:
    """Nulls, NaN and nothing have no name; digits behind the point or padding change none."""
    with connection_to(postgres_server) as connection:
        connection.execute("DROP TABLE IF EXISTS people")
        connection.execute(f"CREATE TABLE people (who {column}, a bigint, b text)")
        for value in values * 3:
            connection.execute("INSERT INTO people VALUES (%s, 1, 'x')", [value])
    names = {None: None, "NaN": None, "": None, b"": None, "7.00": "7", "7 ": "7"}
    different = {names.get(value, value) for value in values} - {None}
    access = Access(table="people", persons=Persons("who", 1))
    with open_source(postgres_server, SCHEMA, access) as source:
        [rows] = source.count([()])
        assert len(different) == int(rows.counts)


# Texts of PostgreSQL that are equal whatever their case, and what makes them.
FOLDING = {
    "text COLLATE alike": "CREATE COLLATION IF NOT EXISTS alike "
    "(provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    "citext": "CREATE EXTENSION IF NOT EXISTS citext",
}


def _folding(address: str, kind: str) -> str:
    """An empty table whose texts are of such a kind."""
    with connection_to(address) as connection:
        connection.execute("DROP TABLE IF EXISTS people")
        try:
            connection.execute(FOLDING[kind])
        except psycopg.errors.FeatureNotSupported:
            pytest.skip(f"this PostgreSQL was built without {kind}")
        connection.execute(f"CREATE TABLE people (who {kind}, a bigint, b {kind})")
    return address


COLLATED = (["p", "P", "\u00e9", "e", "p ", "\u200b"] * 8, ["x", "X", "y", "\u00fd", "z", "Z"])


def _fill_collated(connection: Any, mark: str) -> pa.Table:
    names, values = COLLATED
    rows = [(n, i % 5, values[i * 7 % 6]) for i, n in enumerate(names)]
    for row in rows:
        connection.execute(f"INSERT INTO people VALUES ({mark}, {mark}, {mark})", list(row))
    who, a, b = zip(*rows, strict=True)
    return pa.table({"who": who, "a": a, "b": b})


@pytest.mark.parametrize("kind", ["VARCHAR COLLATE nocase.noaccent", *FOLDING])
def test_a_collation_has_no_say(kind: str, request: pytest.FixtureRequest) -> None:
    """Neither in who a person is, nor in which category a text is, nor in which texts there are."""
    if kind in FOLDING:
        data: Rows = _folding(request.getfixturevalue("postgres_server"), kind)
        with connection_to(str(data)) as connection:
            rows = _fill_collated(connection, "%s")
    else:
        backend = ibis.duckdb.connect()
        backend.raw_sql("SET default_collation = 'nocase.noaccent'")
        backend.raw_sql(f"CREATE TABLE people (who {kind}, a BIGINT, b {kind})")
        rows = _fill_collated(backend.con, "?")
        data = backend.table("people")
    for most in (1, 4):
        _check_alike(data, rows, most)
    with (
        open_keyed(data, SCHEMA, ["b"], Access(table="people")) as ours,
        open_keyed(rows, SCHEMA, ["b"]) as theirs,
    ):
        assert theirs.keys("b").counts == ours.keys("b").counts
        assert 6 == len(ours.keys("b").counts)


def _moved(before: list[np.ndarray[Any, Any]], after: list[np.ndarray[Any, Any]]) -> int:
    return max(int(np.abs(x - y).sum()) for x, y in zip(before, after, strict=True))


def _tables(rows: pa.Table, most: int, engine: str) -> list[np.ndarray[Any, Any]]:
    persons = Persons("who", most)
    data = ibis.duckdb.connect().create_table("people", rows) if engine == "duckdb" else rows
    with open_source(data, SCHEMA, Access(persons=persons)) as source:
        return [marginal.counts for marginal in source.count([("a",), ("b",)])]


NEWCOMERS: dict[str, Cells] = {
    "named": ["new"] * 5,
    "named in several ways": ["new", " new", "new\u00a0", "\tnew", "new"],
    "composed and not": ["\u00e9", "e\u0301", " e\u0301", "\u00e9 ", "\u00e9"],
    "nameless": [None, "", " ", "\t", "\u2003"],
}


@pytest.mark.parametrize(
    ("engine", "most"), [("memory", 1), ("memory", 2), ("memory", 3), ("duckdb", 2)]
)
@pytest.mark.parametrize("kind", NEWCOMERS)
def test_one_person_moves_a_table_by_their_allowance(kind: str, most: int, engine: str) -> None:
    """c at most, whatever their rows are; those without a name move nothing."""
    crowd = _rows([*"pqrstu", *MISSING, None, None, ""] * 4, pa.string())
    bound = 0 if kind == "nameless" else most
    before = _tables(crowd, most, engine)
    for seed in range(4 if engine == "memory" else 1):
        newcomer = _rows(NEWCOMERS[kind], pa.string(), seed)
        together = pa.concat_tables([newcomer, crowd])
        assert _moved(before, _tables(together, most, engine)) <= bound


def _tally(rows: pa.Table, most: int) -> KeyCounts:
    codec = Codec(SCHEMA, Persons("who", most))
    return tallied([rows], codec, ["b"])["b"]


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("kind", NEWCOMERS)
def test_one_person_moves_the_count_of_keys_by_their_allowance(kind: str, most: int) -> None:
    """What `schema infer` asks of texts, undeclared ones among them."""
    crowd = _rows([*"pqrstu", *MISSING, None, None, ""] * 4, pa.string())
    together = pa.concat_tables([_rows(NEWCOMERS[kind], pa.string(), 1), crowd])
    moved = (_tally(together, most) - _tally(crowd, most)).counts.values()
    assert sum(map(abs, moved)) <= (0 if kind == "nameless" else most)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".duckdb"])
def test_files_and_databases_drop_the_nameless_alike(suffix: str, tmp_path: Path) -> None:
    """From the names of some data on, as a command reaches them."""
    import pyarrow.csv
    import pyarrow.parquet

    rows = _rows(["p", "p ", None, "", "q", " "] * 6, pa.string())
    path = tmp_path / f"rows{suffix}"
    if suffix == ".duckdb":
        duckdb_file(path, rows)
    else:
        (pyarrow.csv.write_csv if suffix == ".csv" else pyarrow.parquet.write_table)(rows, path)
    access = Access(table="people" if suffix == ".duckdb" else None, persons=Persons("who", 1))
    with open_source(path, SCHEMA, access) as source:
        [count] = source.count([()])
        assert (2, rows.num_rows) == (int(count.counts), source.rows_read)
