"""The abilities of each kind of database, and how it is asked: one frozen value for each of them.

A kind that is not listed here is refused by its name, before anything is read or spent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from understudy.errors import UsageError

if TYPE_CHECKING:
    import ibis.expr.types as ir


# What sqlglot writes for control characters, each after a backslash.
_CONTROLS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
# Names, which may hold the mark of a text, and texts.
_QUOTED = re.compile(r"""\[(?:[^]]|]])*\]|"(?:[^"]|"")*"|'(?:[^']|'')*'""")
_TEXT = "'"
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class OneReading(Enum):
    """How all questions of a run come to see the same rows."""

    TRANSACTION = "a transaction of the database is open from the first question to the last"
    CODES = "rows are encoded once, and every question counts those codes"


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one kind of database is asked.

    Attributes:
        backend: the name that ibis has for it.
        title: its name for readers.
        held: how all questions see the same rows; None where tests never run the database but
            translate its queries to DuckDB, so that this cannot be promised.
        trim: the function that strips given characters from both ends of a text; None where there
            is none, and positions are computed instead.
        translate: the function that replaces characters one by one; None where there is none.
        trims_by_pattern: whether a regular expression strips them instead.
        empties_are_null: whether a text without characters is null.
        compose: the function that brings a text to Unicode's composed form, NFC; None where there
            is none, and persons cannot be named by text.
        composes_bytes: whether that function is given bytes, since texts need not be UTF-8.
        holds_nul: whether texts may hold the character 0.
        bytewise: a column of texts, such that equality compares its bytes, as SQL.
        pads: whether equality passes over spaces at the end of a text.
        escapes: the letters that stand for a control character after a backslash in a text; None
            where a backslash is a character like others.
        national: whether texts of all characters have the letter N before them.
        quote: what is put around names.
        knows_nan: whether doubles can be NaN.
        knows_infinity: whether doubles can be infinite.
        parses_exactly: whether a text becomes the nearest double when it is cast.
        binds_types: whether every cell of a column has the column's type.
        zero_days: whether a date may have the month or the day 0, as 0000-00-00 does.
        grouping_sets: whether one query groups rows in several ways; else queries are united.
        counts_jointly: whether tables of several sets are summed from one count of a few columns
            together, because each grouping reads all rows.
        most_sets: how many tables one query counts.
        writes_codes: whether codes are written to a temporary table in memory because that pays.
        by_cursor: whether rows of a result are fetched from a cursor; else they are collected.
    """

    backend: str
    title: str
    held: OneReading | None = None
    trim: str | None = "trim"
    translate: str | None = None
    trims_by_pattern: bool = False
    empties_are_null: bool = False
    compose: str | None = None
    composes_bytes: bool = False
    holds_nul: bool = True
    bytewise: str = "{}"
    pads: bool = False
    escapes: str | None = None
    national: bool = False
    quote: str = '"'
    knows_nan: bool = True
    knows_infinity: bool = True
    parses_exactly: bool = True
    binds_types: bool = True
    zero_days: bool = False
    grouping_sets: bool = True
    counts_jointly: bool = False
    most_sets: int = 10
    writes_codes: bool = False
    by_cursor: bool = True

    @property
    def reading(self) -> str:
        """The meaning of one reading of a table here, for the statement."""
        held = self.held.value if self.held else "questions may see different rows"
        return f"{self.title}: {held}"

    def as_read(self, query: str) -> str:
        """A query whose texts hold as they are the control characters without a letter here.

        sqlglot writes a letter for each of them, and a database would read an unknown one as that
        letter: white space to be stripped would be the letter f.
        """
        if self.national:
            query = _QUOTED.sub(lambda found: f"{'N' * (found[0][0] == _TEXT)}{found[0]}", query)
        if self.escapes is None:
            return query
        raw = {letter: plain for letter, plain in _CONTROLS.items() if letter not in self.escapes}
        return _ESCAPED.sub(lambda found: raw.get(found[1], found[0]), query)

    def quoted(self, name: str) -> str:
        """A name as SQL takes it, whatever its characters."""
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote


# A type of its own, as one that folds case, becomes plain text before it is compared.
_STANDARD = 'CAST({} AS TEXT) COLLATE "C"'

DUCKDB = Dialect(
    backend="duckdb",
    title="DuckDB",
    held=OneReading.TRANSACTION,
    compose="nfc_normalize",
    bytewise=_STANDARD,
    # It counts fastest from codes that it has written down, few tables at a time.
    writes_codes=True,
)
POSTGRES = Dialect(
    backend="postgres",
    title="PostgreSQL",
    held=OneReading.TRANSACTION,
    trim="btrim",
    compose="normalize",
    holds_nul=False,
    bytewise=_STANDARD,
    # Its temporary tables are not read in parallel and not everyone's to make: it counts as it
    # reads, many tables at a time.
    most_sets=100,
)
SQLITE = Dialect(
    backend="sqlite",
    title="SQLite",
    held=OneReading.TRANSACTION,
    # A function of ours, which every connection is given before it is asked.
    compose="understudy_compose",
    composes_bytes=True,
    bytewise="{} COLLATE BINARY",
    knows_nan=False,
    # It rounds some texts to a neighbour of the nearest double.
    parses_exactly=False,
    binds_types=False,
    grouping_sets=False,
    most_sets=100,
)
MYSQL = Dialect(
    backend="mysql",
    title="MariaDB or MySQL",
    held=OneReading.TRANSACTION,
    trim=None,
    bytewise="CONVERT({} USING utf8mb4) COLLATE utf8mb4_bin",
    pads=True,
    escapes="bnrt",
    quote="`",
    knows_nan=False,
    knows_infinity=False,
    zero_days=True,
    grouping_sets=False,
)
SPARK = Dialect(
    backend="pyspark",
    title="Spark",
    held=OneReading.CODES,
    trim="btrim",
    # A function of ours, which every session is given before it is asked.
    compose="understudy_compose",
    bytewise="CAST({} AS STRING) COLLATE UTF8_BINARY",
    escapes="bnrt",
    quote="`",
    counts_jointly=True,
    most_sets=120,
    by_cursor=False,
)
SNOWFLAKE = Dialect(backend="snowflake", title="Snowflake", escapes="bfnrt")
BIGQUERY = Dialect(backend="bigquery", title="BigQuery", quote="`")
TRINO = Dialect(backend="trino", title="Trino", trim=None, translate="translate")
MSSQL = Dialect(
    backend="mssql",
    title="SQL Server",
    trim=None,
    translate="translate",
    national=True,
    bytewise="{} COLLATE Latin1_General_100_BIN2_UTF8",
    pads=True,
    knows_nan=False,
    knows_infinity=False,
)
ORACLE = Dialect(
    backend="oracle",
    title="Oracle",
    trim=None,
    translate="translate",
    empties_are_null=True,
    knows_nan=False,
    knows_infinity=False,
)
CLICKHOUSE = Dialect(
    backend="clickhouse",
    title="ClickHouse",
    # Its other functions strip bytes, of which a white space may have several.
    trims_by_pattern=True,
    # Its grouping sets have zero for a column outside of a set, which is a code.
    grouping_sets=False,
)

DIALECTS = {
    dialect.backend: dialect
    for dialect in (
        DUCKDB,
        POSTGRES,
        SQLITE,
        MYSQL,
        SPARK,
        SNOWFLAKE,
        BIGQUERY,
        TRINO,
        MSSQL,
        ORACLE,
        CLICKHOUSE,
    )
}


def dialect_of(rows: ir.Table) -> Dialect:
    """The dialect of the database that an ibis table is in.

    Raises:
        UsageError: the kind of database is not known here, or cannot promise one reading.
    """
    from ibis.common.exceptions import IbisError

    try:
        name = str(rows.get_backend().name)
    except (IbisError, AttributeError):
        raise UsageError(
            "the ibis expression is not a table of one open database; give such a table"
        ) from None
    return dialect_named(name)


def dialect_named(name: str) -> Dialect:
    """Return the dialect of an ibis backend.

    Raises:
        UsageError: the kind of database is not known here, or cannot promise one reading.
    """
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise UsageError(
            f"ibis backend {name!r} is not known here; known are {_listed(known_titles())}; "
            "copy the table to one of them, or export it to Parquet"
        )
    return _promising(dialect)


def _promising(dialect: Dialect) -> Dialect:
    if dialect.held is None:
        raise UsageError(
            f"{dialect.title} was never run by the tests of this version, so that it cannot be "
            "promised that all questions see the same rows; copy the table to a database that was, "
            f"which are {_listed(known_titles())}, or export it to Parquet"
        )
    return dialect


def known_titles() -> list[str]:
    """The kinds of databases that count rows, by their names for readers."""
    return [dialect.title for dialect in DIALECTS.values() if dialect.held is not None]


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
