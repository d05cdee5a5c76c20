"""Neighbours on both sides of every border in the code, from raw rows on.

Engines count few rows otherwise than many, narrow codes otherwise than wide ones, small tables
otherwise than large ones, and files in blocks. Where a border lies in the rows, two neighbours
are on either side of it; where it lies in the schema, which is public, each side has its pair.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.raw_neighbours import REPLACED, ROW, RawPair, Texts, nested
from support.raw_neighbours import SCHEMA as PEOPLE
from support.raw_replay import Ask, leaks
from support.tiers import slow_but
from support.ways_in import WAYS, Way
from understudy.facts.codec import bins
from understudy.facts.codes import code_type
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure import scores
from understudy.rows.counting import Marginal
from understudy.rows.engines import bitmaps, memory
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.reading import csv as reading
from understudy.rows.reading import parquet
from understudy.rows.sources import Access, open_source

UNITS = {"row": ROW, "replaced": REPLACED}


@dataclass(frozen=True)
class Border:
    """Columns of whole numbers, a bin for each number, and the tables that are asked for.

    What lies outside a column is dropped.
    """

    sizes: dict[str, int]
    sets: Sequence[Attributes]

    @property
    def schema(self) -> Schema:
        """The columns as declared."""
        columns = {
            name: {"kind": "integer", "min": 0, "max": size - 1, "bins": size, "outside": "drop"}
            for name, size in self.sizes.items()
        }
        return Schema.parse({"columns": columns})

    @property
    def domain(self) -> Domain:
        """The attributes."""
        return Domain.of(self.schema)

    def rows(self, count: int) -> Texts:
        """Rows in which the last value of no column occurs."""
        steps = [(k + 1, max(size - 1, 1)) for k, size in enumerate(self.sizes.values())]
        return tuple(tuple(str(i * k % size) for k, size in steps) for i in range(count))

    def pairs(self, count: int, unit: Unit, places: Sequence[int]) -> Iterator[RawPair]:
        """A row unlike all others, and one that is dropped, come in the end or at some places."""
        rows = self.rows(count)
        alone = tuple(str(size - 1) for size in self.sizes.values())
        dropped = tuple(str(size) for size in self.sizes.values())
        for name, row in (("unlike all others", alone), ("dropped", dropped)):
            if unit.neighbours is Neighbours.ADD_REMOVE:
                yield RawPair(f"{name} is added to {count}", unit, rows, (*rows, row))
            else:
                for place in places:
                    other = (*rows[:place], row, *rows[place + 1 :])
                    yield RawPair(f"{place} becomes {name}", unit, rows, other)

    def csv(self, rows: Texts, folder: Path) -> Path:
        """The rows in a file of texts."""
        path = folder / "rows.csv"
        path.write_text("\n".join([",".join(line) for line in ([*self.sizes], *rows)]) + "\n")
        return path

    def parquet(self, rows: Texts, folder: Path) -> Path:
        """The rows in a file of numbers."""
        path = folder / "rows.parquet"
        columns = zip(*rows, strict=True)
        table = {name: pa.array(map(int, c)) for name, c in zip(self.sizes, columns, strict=True)}
        pq.write_table(pa.table(table), path)
        return path


# --- borders in the number of rows ------------------------------------------------------------

# Ten of them make pairs worth their bitmaps; two wide ones make tables too large to be split.
NARROW = [f"n{i}" for i in range(10)]
MANY = Border(
    dict.fromkeys(NARROW, 3) | {"wide": 150, "wider": 300},
    [
        *((), ("wider",), ("n0", "wide"), ("wide", "wider")),
        *itertools.combinations(NARROW, 2),
        *(("n0", "n1", "wide"), ("n1", "wider", "wide")),
    ],
)
ROWS = {"a word of bits": 64, "a block of keys": 4096, "a block of bitmaps": bitmaps._ROWS}


def test_the_pairs_stand_where_the_borders_are() -> None:
    """Bitmaps, split histograms and numbered cells are all asked for, by the engine's own rules."""
    pairs = [*itertools.combinations(NARROW, 2)]
    assert pairs == bitmaps.worth_bitmaps(MANY.domain, MANY.sets)
    split, whole = MANY.domain.cells(("n0", "wide")), MANY.domain.cells(("wide", "wider"))
    assert split <= memory._SPLIT_CELLS < whole
    assert (64 * bitmaps._WORDS, 65_536) == (bitmaps._ROWS, memory._BLOCK)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("border", ROWS)
def test_no_number_of_rows_tells_neighbours_apart(border: str, unit: str, tmp_path: Path) -> None:
    """A row comes below the border and above it; the rows beside it change."""
    _check_around(ROWS[border], UNITS[unit], tmp_path, Way(MANY.csv))


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [False, True], ids=["in memory", "in blocks"])
@pytest.mark.parametrize("unit", UNITS)
def test_no_block_of_cells_tells_neighbours_apart(unit: str, blocks: bool, tmp_path: Path) -> None:
    """At 65,536 rows, whose file is also longer than the least block of a CSV file."""
    way = Way(MANY.csv, Access(memory=1 << 22 if blocks else None))
    _check_around(memory._BLOCK, UNITS[unit], tmp_path, way)
    assert (tmp_path / "rows.csv").stat().st_size > reading._LEAST_BLOCK_BYTES


def _check_around(edge: int, unit: Unit, folder: Path, way: Way) -> None:
    job = Ask(MANY.schema, unit, MANY.sets)
    for size in (edge - 1, edge) if unit is ROW else (edge + 1,):
        assert {} == leaks(job, MANY.pairs(size, unit, [edge - 1, edge]), folder, way)


@pytest.mark.slow
def test_no_step_of_a_ladder_tells_neighbours_apart(tmp_path: Path) -> None:
    """Tables of 0, 1, 2, … rows, each a neighbour of the next, with scores that grow to 130."""
    job = Ask(PEOPLE, ROW, (("sold", "colour"), ("size", "one")))
    assert {} == leaks(job, nested(260), tmp_path, WAYS["arrow"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("unit", slow_but({"row"}, UNITS))
def test_no_block_of_a_file_tells_neighbours_apart(
    unit: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last row of a block, the first of the next, and those that a longer row pushes over."""
    monkeypatch.setattr(reading, "_LEAST_BLOCK_BYTES", 128)
    border = Border({"a": 4, "b": 3000}, [(), ("a",), ("a", "b")])
    room = 64 if suffix == "csv" else 4 * 16 * parquet._BYTES_PER_CELL * 2
    way = Way(border.csv if suffix == "csv" else border.parquet, Access(memory=room))
    with open_source(way.put(border.rows(64), tmp_path), border.schema, way.access) as source:
        assert isinstance(source, ChunkedSource)
        assert [16] * 4 == [b.num_rows for b in source.blocks()] or suffix == "csv"
        assert 2 < len([*source.blocks()])
    sizes = range(60, 70) if UNITS[unit] is ROW else [64]
    pairs = (border.pairs(size, UNITS[unit], [*range(14, 50)]) for size in sizes)
    job = Ask(border.schema, UNITS[unit], border.sets, verbs=["measure"])
    assert {} == leaks(job, itertools.chain.from_iterable(pairs), tmp_path, way)


# --- borders in the schema --------------------------------------------------------------------

_PAIR: Sequence[Attributes] = [(), ("a",), ("b",), ("a", "b")]
SCHEMAS = {
    "codes of 8 bits": Border({"a": 256, "b": 3}, _PAIR),
    "codes of 16 bits": Border({"a": 257, "b": 3}, _PAIR),
    "few edges": Border({"a": bins._FEW_EDGES, "b": 3}, _PAIR),
    "many edges": Border({"a": bins._FEW_EDGES + 1, "b": 3}, _PAIR),
    "a pair that is split": Border({"a": 128, "b": 128}, _PAIR),
    "a pair that is not": Border({"a": 129, "b": 128}, _PAIR),
    "pairs just worth bitmaps": Border(
        {f"n{i}": 2 for i in range(9)},
        [*itertools.combinations([f"n{i}" for i in range(9)], 2)],
    ),
    "too few pairs for bitmaps": Border(
        {f"n{i}": 2 for i in range(8)},
        [*itertools.combinations([f"n{i}" for i in range(8)], 2)],
    ),
    "the largest pair in bitmaps": Border(
        {f"n{i}": 2 for i in range(9)} | {"a": 11, "b": 17},
        [*itertools.combinations([*(f"n{i}" for i in range(9)), "a", "b"], 2)],
    ),
    "a pair too large for bitmaps": Border(
        {f"n{i}": 2 for i in range(9)} | {"a": 11, "b": 18},
        [*itertools.combinations([*(f"n{i}" for i in range(9)), "a", "b"], 2)],
    ),
    "the most bins": Border({"a": 2**16 - 1, "b": 2}, _PAIR),
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("border", SCHEMAS)
def test_no_width_tells_neighbours_apart(border: str, unit: str, tmp_path: Path) -> None:
    """Whichever loop counts them, and however wide their codes are."""
    asked = SCHEMAS[border]
    job = Ask(asked.schema, UNITS[unit], asked.sets)
    assert {} == leaks(job, asked.pairs(70, UNITS[unit], [0, 64]), tmp_path, Way(asked.csv))


def test_the_schemas_stand_where_the_borders_are() -> None:
    """Each two of them are on either side of what they are named for."""
    assert (np.uint8, np.uint16) == (code_type(256), code_type(257))
    domains = {name: border.domain for name, border in SCHEMAS.items()}
    assert memory._SPLIT_CELLS == domains["a pair that is split"].cells(("a", "b"))
    by_bitmaps = {
        name: len(bitmaps.worth_bitmaps(domains[name], border.sets))
        for name, border in SCHEMAS.items()
        if "bitmaps" in name
    }
    assert [36, 0, 55, 54] == list(by_bitmaps.values())


# --- borders in the counts --------------------------------------------------------------------


@pytest.mark.parametrize("score", ["MI", "R"])
def test_no_count_tells_neighbours_apart(score: str, tmp_path: Path) -> None:
    """Counts that fall from 2,048, whose logarithms are computed, to those that are looked up."""
    border = Border({"a": 3, "b": 3}, [("a", "b")])
    few = scores._FEW
    rows = (("0", "0"),) * few + (("1", "1"),) * (few - 1)
    job = Ask(border.schema, REPLACED, border.sets, score, verbs=["score", "select"])
    pairs = [
        RawPair(f"the first becomes {row}", REPLACED, rows, (row, *rows[1:]))
        for row in (("1", "1"), ("0", "1"), ("2", "2"), ("3", "3"))
    ]
    assert {} == leaks(job, pairs, tmp_path, Way(border.csv))


@pytest.mark.parametrize("kind", ["even", "lopsided", "wide"])
def test_scores_of_two_thousand_million_rows(kind: str) -> None:
    """Below 2³¹ rows scores are summed in whole numbers, from there on in reals: no step between.

    This number of rows is not read here: the tables are given to the kernel.
    """
    score = scores.total_variation()
    shape = (40, 50) if kind == "wide" else (2, 2)
    counts = np.zeros(shape, np.int64)
    if kind == "even":
        counts[0, 0], counts[1, 1] = 2**30, 2**30 - 1
    elif kind == "lopsided":
        counts[0, 0], counts[1, 1] = 2**31 - 2, 1
    else:
        counts += np.arange(counts.size).reshape(shape) * 1061
        counts[0, 0] += 2**31 - 1 - counts.sum()
    assert 2**31 - 1 == counts.sum()
    # A grid of scores allows for half a step of rounding on either side.
    most = float(score.sensitivity) * (1 + 2 / 2**16)
    before = score.kernel(Marginal(("a", "b"), counts))
    for cell in ((0, 0), (1, 1), (0, 1)):
        after = counts.copy()
        after[cell] += 1
        moved = abs(score.kernel(Marginal(("a", "b"), after)) - before)
        assert moved <= most
