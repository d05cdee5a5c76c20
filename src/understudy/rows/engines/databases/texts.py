"""Texts inside a database, as files have them: compared byte by byte, and named as `codec.names`.

A column's collation, or a type that folds case, would make a database find texts equal that differ
in a file. So every column of texts is read under a collation that compares bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from understudy.errors import DataError
from understudy.facts.codec.names import BLANKS, unnameable
from understudy.rows.engines.databases.dialects import Dialect

if TYPE_CHECKING:
    import ibis.expr.types as ir

_ALIAS = "understudy_rows"
# The character 0 as a pattern: a query that held it would end there.
_NUL = r"\x00"


def stripped(text: ir.Value, dialect: Dialect) -> ir.Value:
    """A text without white space around it, as Python strips it."""
    if dialect.trims_by_pattern:
        return text.re_replace(f"^[{BLANKS}]+|[{BLANKS}]+$", "")
    if dialect.trim is None:
        return _between_blanks(text, dialect)
    return _trimming(dialect.trim)(text, BLANKS)


def _between_blanks(text: ir.Value, dialect: Dialect) -> ir.Value:
    """A text from its first character that is not white space to its last, by their places.

    Every white space becomes a plain space, which all databases strip, and keeps its place.
    """
    import ibis

    # MariaDB 10.11 replaces within the very text that is taken apart below, unless another one is
    # made before; so a character is put in front of it, and taken off again.
    spaced = _spaced(ibis.literal(".").concat(text), dialect).substr(1)
    before = spaced.length() - spaced.lstrip().length()
    return text.substr(before, spaced.strip().length())


def _spaced(text: ir.Value, dialect: Dialect) -> ir.Value:
    """A text whose every white space is a plain space."""
    if dialect.translate is not None:
        return _translating(dialect.translate)(text, BLANKS, " " * len(BLANKS))
    for blank in BLANKS.replace(" ", ""):
        text = text.replace(blank, " ")
    return text


def _named(column: str, text: ir.Value, dialect: Dialect) -> ir.Value:
    """The name that a text says, null where it says none."""
    import ibis

    if dialect.compose is None:
        raise DataError(
            f"column {column!r} names persons by text, which {dialect.title} cannot compare as "
            "files are; name them by numbers, or use DuckDB, PostgreSQL, SQLite, Spark or a file"
        )
    bare = stripped(text, dialect)
    if dialect.composes_bytes:
        # It also says which texts are not names: other functions refuse what is not UTF-8.
        return _composing(dialect.compose, of=bytes)(bare.cast("binary"))
    absent = bare == ""
    if dialect.holds_nul:
        absent |= bare.re_search(_NUL)
    return absent.ifelse(ibis.null("string"), _composing(dialect.compose, of=str)(bare))


def compared_by_bytes(rows: ir.Table, dialect: Dialect) -> ir.Table:
    """The same rows, whose texts are equal where their bytes are, whatever their collation."""
    import ibis.expr.operations as ops

    kinds = rows.schema()
    texts = {name for name, kind in kinds.items() if kind.is_string()}
    if not texts or dialect.bytewise == "{}":
        return rows
    columns = ", ".join(_bytewise(n, dialect) if n in texts else dialect.quoted(n) for n in kinds)
    query = f"SELECT {columns} FROM {_ALIAS}"
    # `Table.sql` would have the database tell the types, by a view that a reader may not make.
    view: ir.Table = ops.SQLStringView(rows.alias(_ALIAS).op(), query, kinds).to_expr()
    return view


def _bytewise(name: str, dialect: Dialect) -> str:
    quoted = dialect.quoted(name)
    return f"{dialect.bytewise.format(quoted)} AS {quoted}"


def name_of(column: str, cell: ir.Column, dialect: Dialect) -> ir.Value:
    """The name of the person whose row this is, null where the cell has none."""
    import ibis

    kind = cell.type()
    if kind.is_string():
        return _named(column, cell, dialect)
    if kind.is_floating():
        real = cell.cast("float64")
        absent = [(real.isnan(), ibis.null("float64"))] if dialect.knows_nan else []
        return ibis.cases(*absent, (real == 0, 0.0), else_=real)
    if kind.is_decimal():
        # PostgreSQL's decimals know NaN, and a text is the one question that none of them defeats.
        return (cell.cast("string") == "NaN").ifelse(ibis.null(kind), cell)
    if kind.is_binary():
        return (cell == ibis.literal(b"")).ifelse(ibis.null("binary"), cell)
    by_value = (kind.is_integer(), kind.is_boolean(), kind.is_uuid(), kind.is_date())
    if any(by_value) or kind.is_time() or kind.is_timestamp():
        return cell
    raise unnameable(column, kind)


def _trimming(name: str) -> Callable[[ir.Value, str], ir.StringValue]:
    import ibis

    def trim(text: str, characters: str) -> str:
        raise NotImplementedError  # the database has it

    declared: Callable[[ir.Value, str], ir.StringValue]
    declared = ibis.udf.scalar.builtin(trim, name=name, signature=((str, str), str))
    return declared


def _translating(name: str) -> Callable[[ir.Value, str, str], ir.StringValue]:
    import ibis

    def translate(text: str, characters: str, others: str) -> str:
        raise NotImplementedError  # the database has it

    declared: Callable[[ir.Value, str, str], ir.StringValue]
    declared = ibis.udf.scalar.builtin(translate, name=name, signature=((str, str, str), str))
    return declared


def _composing(name: str, *, of: type) -> Callable[[ir.Value], ir.StringValue]:
    import ibis

    def compose(text: str) -> str:
        raise NotImplementedError  # the database has it

    declared: Callable[[ir.Value], ir.StringValue]
    declared = ibis.udf.scalar.builtin(compose, name=name, signature=((of,), str))
    return declared
