"""Public tables that studies read, coded by schemas made from their published descriptions.

They lie in a folder of data files and description files, `data/NAME.json` beside `data/NAME.csv`
or `.parquet`: the one that was named, else $UNDERSTUDY_SHARED, else ../shared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.rows.reading import read_rows
from understudy.rows.table import Table
from understudy.system.frames import Rows

ADULT = ("data/adult.json", "data/adult_train.parquet", "data/adult_test.parquet")
CMC = ("data/cmc.json", "data/cmc.csv")
CREDIT_CARD = ("data/creditcard_fraud.json", "data/creditcard_fraud.parquet")
DIABETES = ("data/diabetes_130us.json", "data/diabetes_130us.parquet")
HEART = ("data/heart_cleveland.json", "data/heart_cleveland.csv")
POKER = ("data/poker_hand_train.json", "data/poker_hand_train.parquet")

# Ranges of ICD-9 codes, as Strack et al. (2014) group the diagnoses of the Diabetes table.
_DIAGNOSES = {
    "circulatory": ((390, 459), (785, 785)),
    "respiratory": ((460, 519), (786, 786)),
    "digestive": ((520, 579), (787, 787)),
    "diabetes": ((250, 250),),
    "injury": ((800, 999),),
    "musculoskeletal": ((710, 739),),
    "genitourinary": ((580, 629), (788, 788)),
    "neoplasms": ((140, 239),),
}
_OTHER = "other"

Coded = tuple[Schema, Table]


@dataclass(frozen=True)
class DataFolder:
    """The folder of public tables, which need not be there."""

    folder: Path

    @classmethod
    def found(cls, given: Path | None = None) -> DataFolder:
        """The folder that was given, else the environment's, else the one beside this folder."""
        return cls(given or Path(os.environ.get("UNDERSTUDY_SHARED", Path("..") / "shared")))

    def check(self, files: Sequence[str]) -> None:
        """Refuse a folder in which one of the files is missing."""
        missing = [name for name in files if not (self.folder / name).exists()]
        if missing:
            raise DataError(
                f"{self.folder}: has no {', '.join(missing)}, which the study reads; name the "
                "folder of public tables with --data or $UNDERSTUDY_SHARED, or run with --smoke"
            )

    def path(self, name: str) -> Path:
        """Return a file of the folder."""
        self.check([name])
        return self.folder / name

    def description(self, name: str) -> dict[str, Any]:
        """Return the published facts about a table."""
        found: dict[str, Any] = json.loads(self.path(name).read_text(encoding="utf-8"))
        return found


def described(shelf: DataFolder, description: str, *files: str) -> Coded:
    """A table coded by its description file, all of its files one after another."""
    columns = published_columns(shelf.description(description))
    return coded(columns, [shelf.path(file) for file in files])


def coded(columns: dict[str, Any], sources: Sequence[Rows]) -> Coded:
    """Rows coded by declared columns."""
    schema = Schema.parse({"columns": columns})
    codec = Codec(schema)
    return schema, joined(
        [Table.of(codec.encode(read_rows(source, codec, ignore_extra=True))) for source in sources]
    )


def published_columns(description: dict[str, Any], *, ids: bool = False) -> dict[str, Any]:
    """Columns of a schema; those without a published domain are left out, ids unless asked for."""
    kept = [c for c in description["columns"] if ids or "identifier" not in c.get("role", "")]
    columns = {c["name"]: _column(c) for c in kept}
    return {name: column for name, column in columns.items() if column is not None}


def _column(description: dict[str, Any]) -> dict[str, Any] | None:
    """A column of our schema from one of a description file; None where values are unlisted."""
    marker = description.get("missing")
    missing = (
        {"missing": [] if marker is None else [str(marker)]} if "missing" in description else {}
    )
    kind = description["type"]
    if kind in ("integer", "float") and description.get("min") is not None:
        bounds = {"min": description["min"], "max": description["max"]}
        return {"kind": kind, **bounds, **missing}
    values = description.get("values")
    if kind != "categorical" or not values or description.get("domain_source") == "from_data":
        return None
    listed = [v for v in values if str(v) not in missing.get("missing", [])]
    return {"kind": "categorical", "values": listed, **missing}


def diabetes(shelf: DataFolder) -> Coded:
    """The Diabetes table: a patient's first row and diagnoses in nine groups, as in TUC-1.

    The printed bins are not known: 45 columns of up to 30 values are learned, for 43 of up to 118.
    """
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(shelf.path(DIABETES[1]))
    _, first = np.unique(rows["patient_nbr"].to_numpy(), return_index=True)
    rows = rows.take(np.sort(first))
    columns = published_columns(shelf.description(DIABETES[0]))
    for name in ("diag_1", "diag_2", "diag_3"):
        groups = pa.array([_diagnosis(code) for code in rows[name].to_pylist()], pa.string())
        rows = rows.set_column(rows.column_names.index(name), name, groups)
        columns[name] = {"kind": "categorical", "values": [*_DIAGNOSES, _OTHER], "missing": []}
    return coded(columns, [rows])


def _diagnosis(code: str | None) -> str | None:
    """The group of an ICD-9 code; codes of causes and of factors are others."""
    if code in (None, "?"):
        return None
    number = code.partition(".")[0] if code else ""
    if not number.isdigit():
        return _OTHER
    for group, ranges in _DIAGNOSES.items():
        if any(low <= int(number) <= high for low, high in ranges):
            return group
    return _OTHER


def joined(tables: Sequence[Table]) -> Table:
    """The rows of several tables of one domain."""
    if len(tables) == 1:
        return tables[0]
    names = tables[0].domain.attributes
    codes: dict[str, Codes] = {n: np.concatenate([t.codes[n] for t in tables]) for n in names}
    dropped = ~np.concatenate([table.kept for table in tables])
    return Table(tables[0].domain, codes, dropped.size, dropped=dropped)


def parted(table: Table, chance: float, seed: int) -> tuple[Table, Table]:
    """Rows to learn from, and those held out, each with this chance."""
    held = np.random.default_rng(seed).random(table.rows) < chance
    return chosen(table, ~held), chosen(table, held)


def chosen(table: Table, keep: npt.NDArray[np.bool_]) -> Table:
    """Some of a table's rows, as a table of their own."""
    codes: dict[str, Codes] = {name: column[keep] for name, column in table.codes.items()}
    return Table(table.domain, codes, int(keep.sum()))


def at_most(table: Table, rows: int, seed: int) -> Table:
    """Return the table, or `rows` of its rows, chosen by a seed."""
    if table.rows <= rows:
        return table
    keep = np.zeros(table.rows, bool)
    keep[np.random.default_rng(seed).choice(table.rows, rows, replace=False)] = True
    return chosen(table, keep)


def integer_schema(sizes: dict[str, int], **extras: Any) -> Schema:
    """Whole numbers from 0, each a code of its own."""
    columns = {n: {"kind": "integer", "min": 0, "max": s - 1, "bins": s} for n, s in sizes.items()}
    return Schema.parse({"columns": columns, **extras})


def domain_of(sizes: dict[str, int]) -> Domain:
    """Return the domain of such a schema."""
    return Domain.of(integer_schema(sizes))
