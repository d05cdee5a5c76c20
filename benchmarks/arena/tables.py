"""The tables of the arena: rows to learn from, rows to predict, and the facts queries need.

Where a table has a natural target, a fixed fifth of its rows is held out: the last fifth of a
permutation by a fixed seed. Adult has its own test split. Tables without a target are learned
whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet

from benchmarks.arena.exported import fair, randhie
from benchmarks.real_tables import SHARED, TABLES, adult, credit_card, described
from benchmarks.tables import integers
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.rows.table import Table
from understudy_studies.tables import DataFolder, chosen

SPLIT_SEED = 20_261_117
TEST_SHARE = 0.2
XOR_GROUPS = (3, 4, 5, 6, 7)
XOR_ROWS = 20_000

Loaded = tuple[Schema, Table]


@dataclass(frozen=True, repr=False, eq=False)
class ArenaTable:
    """A table that methods learn from, and what is asked of their rows.

    Attributes:
        name: as records and `--only` call it.
        schema: the public domain.
        learned: the rows that methods are given.
        test: real rows that predictions are tested on; None where there is no target.
        target: the attribute to predict.
        ordered: attributes whose codes have an order, for range queries.
    """

    name: str
    schema: Schema
    learned: Table
    test: Table | None = None
    target: str | None = None
    ordered: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Tell this table from another: the first digits of a hash of everything measures read."""
        about = (dict(self.learned.domain.sizes), self.target, self.ordered)
        text = hashlib.sha256(repr(about).encode())
        for table in filter(None, (self.learned, self.test)):
            for name in table.domain.attributes:
                text.update(np.ascontiguousarray(table.codes[name]).tobytes())
        return text.hexdigest()[:12]

    def levels(self, attribute: str) -> int:
        """The number of codes that have an order: all but that of missing cells."""
        missing = getattr(self.schema.columns[attribute], "missing_code", None)
        return int(self.learned.domain[attribute] if missing is None else missing)


@dataclass(frozen=True)
class TableEntry:
    """One line of the list of tables: how to load it, and what is known before it is loaded.

    Attributes:
        title: as the page calls it.
        shape: how many rows are learned from, and how many attributes they have.
        load: makes the schema and all rows.
        target: the attribute to predict, where there is a natural one.
        ordered: attributes whose codes have an order; None takes all numbers but the target.
        held_out: whether it was named before any constant was chosen, and not looked at until then.
        is_shared: whether it needs the folder of public tables.
    """

    title: str
    shape: tuple[int, int]
    load: Callable[[], Loaded]
    target: str | None = None
    ordered: tuple[str, ...] | None = None
    held_out: bool = False
    is_shared: bool = True


def load(name: str, *, rows: int | None = None) -> ArenaTable:
    """Load a table, or only its first rows."""
    entry = ENTRIES[name]
    schema, table = entry.load()
    if rows is not None:
        table = chosen(table, np.arange(table.rows) < rows)
    kinds = {n: c.kind for n, c in schema.columns.items() if n != entry.target}
    numbers = tuple(name for name, kind in kinds.items() if kind in ("integer", "float"))
    ordered = numbers if entry.ordered is None else entry.ordered
    learned, test = (table, None) if entry.target is None else split(table)
    if name == "adult" and rows is None:
        learned, test = table, _adult_test(schema)
    return ArenaTable(name, schema, learned, test, entry.target, ordered)


def split(table: Table) -> tuple[Table, Table]:
    """Four fifths of the rows to learn from, and a fifth to test predictions on."""
    order = np.random.default_rng(SPLIT_SEED).permutation(table.rows)
    held = np.zeros(table.rows, bool)
    held[order[table.rows - round(TEST_SHARE * table.rows) :]] = True
    return chosen(table, ~held), chosen(table, held)


def xor(rows: int = XOR_ROWS) -> Loaded:
    """Groups of 3 to 7 bits, each the parity of the others in its group and otherwise random."""
    generator = np.random.default_rng(7)
    codes: dict[str, Codes] = {}
    for size in XOR_GROUPS:
        bits = generator.integers(0, 2, (size - 1, rows)).astype(np.uint8)
        group = [*bits, np.bitwise_xor.reduce(bits)]
        codes |= dict(zip(xor_group(size), group, strict=True))
    return coded(codes, dict.fromkeys(codes, 2))


def xor_group(size: int) -> list[str]:
    """The attributes of a group of the XOR table, its parity last."""
    return [f"bit{size}_{place}" for place in range(1, size)] + [f"parity{size}"]


def _adult_test(schema: Schema) -> Table:
    rows = pyarrow.parquet.read_table(SHARED / "benchmark" / "adult_test_coded.parquet")
    codes: dict[str, Codes] = {
        name: rows[name].to_numpy().astype(code_type(size))
        for name, size in schema.attributes.items()
    }
    return Table(Domain.of(schema), codes, rows.num_rows)


def benchmark_table(stem: str) -> Loaded:
    """A table that papers on marginals have in common, coded by them."""
    sizes = DataFolder(SHARED).description(f"benchmark/{stem}_domain.json")
    rows = pyarrow.parquet.read_table(SHARED / "benchmark" / f"{stem}_coded.parquet")
    return coded({name: rows[name].to_numpy() for name in sizes}, sizes)


def _credit_card() -> Loaded:
    table = credit_card()
    return coded(dict(table.codes), dict(table.domain.sizes))


def coded(columns: Mapping[str, npt.NDArray[Any]], sizes: dict[str, int]) -> Loaded:
    """Columns that are codes already, in a schema of whole numbers from 0."""
    schema = integers(sizes)
    codes: dict[str, Codes] = {
        name: np.ascontiguousarray(columns[name]).astype(code_type(size))
        for name, size in sizes.items()
    }
    return schema, Table(Domain.of(schema), codes, len(next(iter(codes.values()))))


_SCALES = (
    "wife_age",
    "wife_education",
    "husband_education",
    "children_born",
    "living_standard",
)
_CARDS = ("C1", "C2", "C3", "C4", "C5")
_BR2000 = ("x02", "x03", "x04", "x10", "x12")

ENTRIES: dict[str, TableEntry] = {
    "adult": TableEntry("Adult", (39_074, 15), adult, "income"),
    "nltcs": TableEntry("NLTCS", (21_574, 16), partial(benchmark_table, "nltcs"), ordered=()),
    "br2000": TableEntry(
        "BR2000", (38_000, 14), partial(benchmark_table, "br2000"), ordered=_BR2000
    ),
    "cmc": TableEntry(
        "Contraceptive choice", (1_178, 10), TABLES["cmc"], "contraceptive_method", _SCALES
    ),
    "poker": TableEntry("Poker hands", (20_008, 11), TABLES["poker"], "hand", _CARDS),
    "generated": TableEntry(
        "a generated network", (50_000, 20), TABLES["generated"], is_shared=False
    ),
    "diabetes": TableEntry("Diabetes", (81_413, 44), TABLES["diabetes"], "readmitted"),
    "xor": TableEntry("XOR", (16_000, 25), xor, "parity3", ordered=(), is_shared=False),
    "heart": TableEntry(
        "Heart disease",
        (242, 14),
        lambda: described("heart_cleveland", "heart_cleveland.csv"),
        "num",
        held_out=True,
    ),
    "credit": TableEntry("Credit card", (227_846, 31), _credit_card, "Class", held_out=True),
    "randhie": TableEntry(
        "RAND health insurance",
        (16_152, 10),
        lambda: coded(*randhie()),
        "mdvis",
        ("mdvis", "lncoins", "lpi", "fmde", "disea"),
        held_out=True,
        is_shared=False,
    ),
    "fair": TableEntry(
        "Fair's affairs",
        (5_093, 9),
        lambda: coded(*fair()),
        "affairs",
        ("rate_marriage", "age", "yrs_married", "children", "religious", "educ"),
        held_out=True,
        is_shared=False,
    ),
}
