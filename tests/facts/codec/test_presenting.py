"""Values come back in the declared types and notations, whatever the frame and the rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy.facts.codec import Codec
from understudy.facts.codec.presenting import arrow_type_of
from understudy.facts.column.dtypes import TYPES as DECLARABLE
from understudy.facts.schema import Schema
from understudy.models.row_writing import write_rows
from understudy.rows.reading import read_rows
from understudy.system.frames import in_brand

WHOLE = {"kind": "integer", "min": 0, "max": 100}
GAPS = {**WHOLE, "missing": []}
REAL = {"kind": "float", "min": 0.0, "max": 1.0}
LISTED = {"kind": "categorical", "values": ["01", "02", "10"]}
DAY = {"kind": "date", "min": "2020-01-01", "max": "2024-12-31"}
MOMENT = {"kind": "datetime", "min": "2020-01-01T00:00", "max": "2024-12-31T00:00"}
BOOLEAN = {"kind": "boolean"}
ZONE = "Europe/Berlin"
ORDERED = pd.CategoricalDtype(["01", "02", "10"], ordered=True)

# A column; its type in Arrow and Parquet, in pandas, and in polars. Those that say more than a kind
# and a type; all others follow from the types that can be declared.
CHOSEN: list[tuple[dict[str, Any], pa.DataType, Any, Any]] = [
    (WHOLE, pa.int64(), "int64", pl.Int64),
    (GAPS, pa.int64(), "Int64", pl.Int64),
    ({**GAPS, "dtype": "int8"}, pa.int8(), "Int8", pl.Int8),
    ({**GAPS, "missing_as": "drop", "dtype": "int8"}, pa.int8(), "int8", pl.Int8),
    (REAL, pa.float64(), "float64", pl.Float64),
    (BOOLEAN, pa.bool_(), "bool", pl.Boolean),
    ({**BOOLEAN, "labels": ["yes", "no"]}, pa.string(), None, pl.String),
    ({**BOOLEAN, "labels": ["yes", "no"], "dtype": "bool"}, pa.bool_(), "bool", pl.Boolean),
    (LISTED, pa.string(), None, pl.String),
    ({**LISTED, "dtype": "category", "ordered": True}, None, ORDERED, None),
    (DAY, pa.date32(), "datetime64[ms]", pl.Date),
    (MOMENT, pa.timestamp("s"), "datetime64[s]", None),
    (
        {**MOMENT, "dtype": "datetime64[us]", "zone": ZONE},
        pa.timestamp("us", ZONE),
        f"datetime64[us, {ZONE}]",
        pl.Datetime("us", ZONE),
    ),
]

_BODIES: dict[str, dict[str, Any]] = {
    "integer": WHOLE,
    "float": REAL,
    "boolean": BOOLEAN,
    "categorical": LISTED,
    "date": DAY,
    "datetime": MOMENT,
    "id": {"kind": "id"},
    "text": {"kind": "text", "pattern": "[a-z]{4}"},
}
# The types of Arrow whose names are not those of pandas in small letters.
_IN_ARROW = {
    "float32": pa.float32(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "boolean": pa.bool_(),
    "object": pa.string(),
    "category": None,
    "decimal": pa.decimal128(4, 2),
    **{f"datetime64[{unit}]": pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
}


def declared(kind: str, dtype: str) -> tuple[dict[str, Any], pa.DataType | None, Any, Any]:
    """A column of a kind with a type, and what the frames must have."""
    body = {**_BODIES[kind], "dtype": dtype}
    if kind == "categorical" and dtype not in ("string", "object", "category"):
        values = {"b": [True, False], "f": [0.5, 1.5]}.get(dtype[0].lower(), [1, 2])
        body["values"] = values
    if dtype == "decimal":
        body["decimals"] = 2
    name = dtype.lower()
    arrow = _IN_ARROW[name] if name in _IN_ARROW else pa.type_for_alias(name)
    pandas = "object" if dtype in ("date", "decimal") else dtype
    # Polars has no whole seconds.
    known = arrow is not None and arrow != pa.timestamp("s")
    polars = in_brand(pa.table({"x": pa.array([], arrow)}), "polars")["x"].dtype if known else None
    return body, arrow, pandas, polars


TYPES = [
    *CHOSEN,
    *(declared(kind, dtype) for kind, types in DECLARABLE.items() for dtype in types),
]


def _id(column: Mapping[str, Any]) -> str:
    """What a case is called: its kind and type."""
    return f"{column['kind']} {column.get('dtype', '')}".strip()


def made(column: dict[str, Any], rows: int = 40) -> tuple[Codec, pa.Table]:
    """Rows with every code of a column, beside one that is learned."""
    codec = Codec(Schema.parse({"columns": {"x": column, "other": BOOLEAN}}))
    codes = {n: (np.arange(rows) % size).astype(np.uint8) for n, size in codec.domain.sizes.items()}
    return codec, codec.decode(codes, generator=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("column", "arrow", "pandas", "polars"),
    [pytest.param(*case, id=_id(case[0])) for case in TYPES],
)
def test_every_frame_gets_the_declared_type(
    column: dict[str, Any], arrow: pa.DataType | None, pandas: Any, polars: Any, tmp_path: Path
) -> None:
    """Arrow, Parquet, pandas and polars; with pandas' own reader of Parquet too."""
    codec, rows = made(column)
    kind = rows.schema.field("x").type
    assert kind == arrow if arrow is not None else pa.types.is_dictionary(kind)
    path = tmp_path / "rows.parquet"
    write_rows([rows], path, codec)
    if arrow is not None:
        # Parquet has no whole seconds.
        stored = pa.timestamp("ms") if arrow == pa.timestamp("s") else arrow
        assert stored == pq.read_table(path).schema.field("x").type
    if pandas is not None:
        assert pandas == in_brand(rows, "pandas")["x"].dtype
    if polars is not None:
        assert polars == in_brand(rows, "polars")["x"].dtype


# A number of 32 bits may lie on the other side of an edge, and what is made up is not read.
READ = [c for c, *_ in TYPES if c["kind"] not in ("id", "text")]
READ = [c for c in READ if (c["kind"], str(c.get("dtype")).lower()) != ("float", "float32")]


@pytest.mark.parametrize("column", READ, ids=_id)
@pytest.mark.parametrize("brand", ["pandas", "polars", "pyarrow"])
def test_what_comes_back_can_go_in(column: dict[str, Any], brand: str) -> None:
    """A stand-in in any frame is read as the codes that it was made of."""
    codec, rows = made(column)
    frame = in_brand(rows, brand)
    again = codec.encode(read_rows(frame, codec))
    expected = (np.arange(rows.num_rows) % codec.domain["x"]).tolist()
    assert expected == again.codes["x"].tolist()


def test_every_declarable_type_is_in_the_table() -> None:
    """Each kind of column is tried in each of its types, and the plain type of a kind is known."""
    tried = {(c["kind"], c["dtype"]) for c, *_ in TYPES if "dtype" in c}
    assert {(kind, dtype) for kind, types in DECLARABLE.items() for dtype in types} == tried
    plain = Schema.parse({"columns": {"x": WHOLE}}).columns["x"]
    assert arrow_type_of(plain) is None


def test_types_do_not_depend_on_what_occurs() -> None:
    """Rows without a gap have the same types as rows with some."""
    codec = Codec(Schema.parse({"columns": {"x": GAPS, "c": {**LISTED, "dtype": "category"}}}))
    generator = np.random.default_rng(0)
    frames = [
        in_brand(
            codec.decode(
                {"x": np.array([x], np.uint8), "c": np.array([0], np.uint8)}, generator=generator
            ),
            "pandas",
        )
        for x in (0, codec.domain["x"] - 1)
    ]
    assert list(frames[0].dtypes) == list(frames[1].dtypes)
    assert ["01", "02", "10"] == list(frames[0]["c"].cat.categories)


@pytest.mark.parametrize(
    ("column", "line"),
    [
        ({**BOOLEAN, "labels": ["ja", "nein"]}, "nein"),
        ({**BOOLEAN, "labels": ["ja", "nein"], "dtype": "bool"}, "nein"),
        ({"kind": "float", "min": -5.0, "max": -5.0, "unit": "$", "decimals": 2}, '"-$5.00"'),
        ({"kind": "float", "min": 19.5, "max": 19.5, "decimals": 2}, "19.50"),
        ({"kind": "integer", "min": 501, "max": 501, "digits": 5}, "00501"),
        ({"kind": "date", "min": "2021-04-18", "max": "2021-04-18", "format": "%d.%m.%Y"}, None),
        ({**LISTED, "dtype": "category"}, "01"),
    ],
)
def test_files_of_text_have_the_declared_notation(
    column: dict[str, Any], line: str | None, tmp_path: Path
) -> None:
    """Code that was written for the real file reads the stand-in."""
    codec, rows = made(column, rows=1)
    path = tmp_path / "rows.csv"
    write_rows([rows], path, codec)
    cell = path.read_text().splitlines()[1].rpartition(",")[0]
    assert (line or "18.04.2021").strip('"') == cell.strip('"')


def test_texts_have_the_notation_in_frames_too() -> None:
    """With dtype = "string" a frame has what a file of texts has."""
    column = {"kind": "float", "min": 0.0, "max": 100.0, "unit": "# %", "dtype": "string"}
    _, rows = made(column)
    assert all(text.endswith(" %") for text in rows.column("x").to_pylist())


WORDS = ["ja", "J", "yes", "wahr", "1", "oui", "sí", "NEIN", "n", "falsch", "0", "non", "Faux"]


def test_booleans_are_read_in_several_languages() -> None:
    """The words are a public list, and cases do not count."""
    codec = Codec(Schema.parse({"columns": {"x": BOOLEAN}}))
    found = codec.encode(pa.table({"x": WORDS})).codes["x"].tolist()
    assert [1] * 7 + [0] * 6 == found


def test_labels_are_read_with_the_words_that_all_know() -> None:
    """A label takes its place beside the public words."""
    column = {"kind": "boolean", "labels": ["Raucher", "Nichtraucher"]}
    codec = Codec(Schema.parse({"columns": {"x": column}}))
    cells = ["raucher", "NICHTRAUCHER", "true", "no"]
    assert [1, 0, 1, 0] == codec.encode(pa.table({"x": cells})).codes["x"].tolist()


@pytest.mark.parametrize("column", [GAPS, {**REAL, "missing": ["x"]}, {**DAY, "missing": []}])
def test_common_markers_are_missing_where_cells_may_be(column: dict[str, Any]) -> None:
    """NA, null, k.A. and others take the missing level, and no row is lost."""
    codec = Codec(Schema.parse({"columns": {"x": column}}))
    cells = ["NA", "N/A", "null", "NULL", "NaN", "nan", "-", ".", "", "k.A.", "#N/A"]
    found = codec.encode(pa.table({"x": cells}))
    assert {codec.domain["x"] - 1} == set(found.codes["x"].tolist())
    assert len(cells) == len(found.codes["x"])


def test_a_declared_value_is_no_marker() -> None:
    """Namibia's NA stays a value where it is declared."""
    column = {"kind": "categorical", "values": ["DE", "NA"], "missing": []}
    codec = Codec(Schema.parse({"columns": {"x": column}}))
    assert [1, 2] == codec.encode(pa.table({"x": ["NA", "N/A"]})).codes["x"].tolist()


@pytest.mark.parametrize(
    "column",
    [GAPS, {**LISTED, "missing": ["?"]}, {**BOOLEAN, "missing": []}, {**DAY, "missing": []}],
)
def test_rows_with_missing_cells_are_dropped_where_asked(column: dict[str, Any]) -> None:
    """`missing_as = "drop"`: no level, and each row goes by its own cell."""
    codec = Codec(Schema.parse({"columns": {"x": {**column, "missing_as": "drop"}}}))
    level = Codec(Schema.parse({"columns": {"x": column}}))
    assert level.domain["x"] - 1 == codec.domain["x"]
    found = codec.encode(pa.table({"x": ["NA", None, ""]}))
    assert 0 == len(found.codes["x"])
    assert 3 == found.rows_read


def test_an_offset_without_a_zone_is_that_of_utc() -> None:
    """Moments are taken to UTC as they are read, and a format with %z says so."""
    codec, rows = made({**MOMENT, "format": "%d.%m.%Y %H:%M:%S %z"})
    texts = codec.spell(rows)["x"].to_pylist()
    assert all(text.endswith(" +0000") for text in texts)
    again = codec.encode(pa.table({"x": texts, "other": ["true"] * len(texts)}))
    assert again.dropped is None or not again.dropped.any()
