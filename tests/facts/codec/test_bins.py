"""Numbers and dates: bins, draws inside them, and cells that hold no declared value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.tables import day, integer, moment, real
from understudy.facts.codec import Codec, bins
from understudy.facts.codec.ordinates import arrow_type
from understudy.facts.column import BinnedColumn
from understudy.facts.schema import Schema
from understudy.rows.table import Table
from understudy.system.jit import uncompiled


def codec_of(column: dict[str, Any]) -> Codec:
    """A codec for one column named x."""
    return Codec(Schema.parse({"columns": {"x": column}}))


def codes_of(column: dict[str, Any], cells: Any) -> list[int]:
    """The codes of the cells that are kept."""
    return list(codec_of(column).encode(pa.table({"x": cells})).codes["x"].tolist())


AGE = {"kind": "integer", "edges": [18, 30, 65], "max": 90}


@pytest.mark.parametrize(
    ("value", "code"), [(17, 0), (18, 0), (29, 0), (30, 1), (64, 1), (65, 2), (90, 2), (91, 2)]
)
def test_left_edges_are_closed_and_the_last_bin_ends_at_max(value: int, code: int) -> None:
    """A value on an edge is in the bin to its right; out of bounds it is clipped."""
    assert [code] == codes_of(AGE, [value])


@given(st.one_of(integer(), real(), day(), moment()), st.data())
def test_draws_lie_inside_their_bin_and_have_the_declared_type(
    document: dict[str, Any], data: st.DataObject
) -> None:
    """A decoded value is of the kind's own type, at or above its left edge, below the next one."""
    codec = codec_of(document)
    column = codec.schema.learned["x"]
    assert isinstance(column, BinnedColumn)
    code = data.draw(st.integers(0, column.levels - 1))
    codes = np.full(5, code, np.uint16)
    values = codec.columns["x"].decode(codes, np.random.default_rng(0))
    assert arrow_type(column) == values.type
    edges = [*column.left_edges, column.bounds[1]]
    for value in values.to_pylist():
        place = column.ordinate(value)
        is_last = code == column.levels - 1
        assert edges[code] <= place
        assert place <= edges[-1] if is_last else place < edges[code + 1]


class HighestDraw:
    """A generator that always draws the largest number there is below one."""

    def random(self, size: int) -> Any:
        """All but one."""
        return np.full(size, np.nextafter(1.0, 0.0))


def test_rounding_never_carries_a_draw_into_the_next_bin() -> None:
    """Even the highest draw stays below the next edge, and at most at max in the last bin."""
    edges = [-1e300, -0.1, 0.0, 5e-324, 1e-323, 0.1, 1.0, 1.1, 1e16, 1e300]
    codec = codec_of({"kind": "float", "edges": edges, "max": 1e300})
    generator: Any = HighestDraw()
    codes = np.arange(10, dtype=np.uint8)
    values = codec.decode({"x": codes}, generator=generator).column("x").to_pylist()
    ends = zip(edges, [*edges[1:], np.inf], values, strict=True)
    assert all(low <= value < end for low, end, value in ends)
    assert 1e300 == values[-1]


def test_every_whole_number_of_a_short_range_is_a_bin() -> None:
    """A range of up to 32 whole numbers keeps every value apart."""
    assert [0, 1, 31] == codes_of({"kind": "integer", "min": 1, "max": 32}, [1, 2, 32])


@pytest.mark.parametrize("bins", [64, 65, 5000])
def test_many_edges_are_searched_as_few_are(bins: int) -> None:
    """Both searches agree with counting edges at or below the value."""
    column = {"kind": "integer", "min": 0, "max": 9999, "bins": bins}
    values = np.random.default_rng(1).integers(-10, 10_010, 500)
    edges = np.array(codec_of(column).schema.learned["x"].left_edges)  # type: ignore[union-attr]
    expected = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    assert expected.tolist() == codes_of(column, values)


BASE = {"kind": "integer", "min": 18, "max": 20}


@pytest.mark.parametrize("cells", [[None], [""], ["  "], [float("nan")], ["NaN"], pa.nulls(1)])
def test_null_blank_and_nan_are_missing(cells: Any) -> None:
    """They take the missing level whatever `outside` says, also when bounds exclude zero."""
    for outside in ("clip", "drop", 19):
        assert [3] == codes_of(BASE | {"missing": [], "outside": outside}, cells)


@pytest.mark.parametrize("cells", [["-999"], [-999], [-999.0], [" -999 "], ["-999.0"]])
def test_a_marker_that_is_a_number_is_missing_by_its_value(cells: list[Any]) -> None:
    """Marker -999 is missing as text and as number, also where strays are dropped."""
    for outside in ("clip", "drop", 19):
        assert [3] == codes_of(BASE | {"missing": [-999], "outside": outside}, cells)


def test_without_a_missing_level_missing_cells_go_where_strays_go() -> None:
    """A missing cell of a column that declares none follows `outside`, else its row is dropped."""
    cells = pa.array([None, 18], pa.int64())
    assert [1, 0] == codes_of(BASE | {"outside": 19}, cells)
    assert [0] == codes_of(BASE | {"outside": "drop"}, cells)
    assert [0] == codes_of(BASE, cells)


@pytest.mark.parametrize(
    ("outside", "codes"),
    [("clip", [0, 2]), ("drop", []), (19, [1, 1, 1]), ("?", [3, 3, 3])],
)
def test_outside_says_where_strays_go(outside: Any, codes: list[int]) -> None:
    """Strays are clipped, dropped, or take a stand-in; a word has no nearest bin to clip to."""
    column = BASE | {"outside": outside, "missing": ["?"]}
    assert codes == codes_of(column, ["17", "21", "a word"])


def test_a_row_with_one_dropped_cell_is_dropped_whole() -> None:
    """What one column drops is gone from all; rows_read still counts it."""
    schema = Schema.parse({"columns": {"a": BASE | {"outside": "drop"}, "b": {"kind": "boolean"}}})
    rows = pa.table({"a": [18, 99, 20], "b": [True, True, False]})
    table = Table.of(Codec(schema).encode(rows))
    assert [0, 2] == table.codes["a"].tolist()
    assert [1, 0] == table.codes["b"].tolist()
    assert (2, 3) == (table.rows, table.rows_read)


@pytest.mark.parametrize(
    ("missing", "expected"),
    [([], None), (["?", "NA"], None), ([-999, "NA"], -999), (["NA", -999], None)],
)
def test_missing_decodes_to_the_first_marker_else_null(missing: list[Any], expected: Any) -> None:
    """In Arrow a marker that is not a number is null; files spell it."""
    codec = codec_of(BASE | {"missing": missing})
    rows = codec.decode({"x": np.array([3], np.uint8)}, generator=np.random.default_rng(0))
    assert [expected] == rows.column("x").to_pylist()
    spelled = codec.spell(rows).column("x").to_pylist()
    assert [str(missing[0]) if missing else None] == spelled


@pytest.mark.parametrize("number", [1, 3, 64, 65, 200])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_few_values_are_binned_as_compiled_loops_bin_them(number: int, kind: type) -> None:
    """On edges, beside them, beyond them, and where there is no number."""
    draw = np.random.default_rng(number)
    edges: npt.NDArray[Any] = np.unique(draw.integers(-500, 500, number)).astype(kind)
    values = np.concatenate([edges, edges - 1, edges + 1, draw.integers(-(9**9), 9**9, 50)])
    values = values.astype(kind)
    if kind is np.float64:
        strange = [np.nan, np.inf, -np.inf, -0.0, np.nextafter(edges[0], -np.inf)]
        values = np.concatenate([values, strange])
    for search in (bins.count_edges_below, bins.halve_edges):
        codes = np.empty(values.size, np.uint16)
        uncompiled(search)(values, edges, codes)
        assert codes.tolist() == bins.searched(values, edges).tolist()
