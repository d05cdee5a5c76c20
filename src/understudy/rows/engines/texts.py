"""Texts inside a database, as files have them: compared byte by byte, and named as `codec.names`.

A column's collation, or a type that folds case, would make a database find texts equal that differ
in a file. So every column of texts is read under the collation "C", which compares bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from understudy.errors import DataError
from understudy.facts.codec.names import BLANKS, unnameable

if TYPE_CHECKING:
    import ibis.expr.types as ir

_BYTEWISE = ("duckdb", "postgres")
_ALIAS = "understudy_rows"
# The character 0 as a pattern: a query that held it would end there.
_NUL = r"\x00"


@dataclass(frozen=True)
class TextFunctions:
    """The names of a database's functions for texts.

    Attributes:
        trim: strips given characters from both ends.
        compose: brings a text to Unicode's composed form, NFC; none where it is not known.
        holds_nul: whether texts may hold the character 0, which PostgreSQL takes nowhere.
    """

    trim: str
    compose: str | None = None
    holds_nul: bool = True

    def stripped(self, text: ir.Value) -> ir.Value:
        """A text without white space around it, as Python strips it."""
        return _trimming(self.trim)(text, BLANKS)

    def named(self, column: str, text: ir.Value) -> ir.Value:
        """The name that a text says, null where it says none."""
        import ibis

        if self.compose is None:
            raise DataError(
                f"column {column!r} names persons by text, which this database cannot compare as "
                "files are; use DuckDB, PostgreSQL or a file"
            )
        bare = self.stripped(text)
        absent = bare == ""
        if self.holds_nul:
            absent |= bare.re_search(_NUL)
        return absent.ifelse(ibis.null("string"), _composing(self.compose)(bare))


FUNCTIONS = {
    "duckdb": TextFunctions("trim", "nfc_normalize"),
    "postgres": TextFunctions("btrim", "normalize", holds_nul=False),
}


def functions_of(backend: str) -> TextFunctions:
    """The functions of a database, by the name that ibis has for it."""
    return FUNCTIONS.get(backend, TextFunctions("trim"))


def compared_by_bytes(rows: ir.Table) -> ir.Table:
    """The same rows, whose texts are equal where their bytes are, whatever their collation."""
    import ibis.expr.operations as ops

    kinds = rows.schema()
    texts = {name for name, kind in kinds.items() if kind.is_string()}
    if not texts or rows.get_backend().name not in _BYTEWISE:
        return rows
    columns = ", ".join(_bytewise(n) if n in texts else _quoted(n) for n in kinds)
    query = f"SELECT {columns} FROM {_ALIAS}"
    # `Table.sql` would have the database tell the types, by a view that a reader may not make.
    view: ir.Table = ops.SQLStringView(rows.alias(_ALIAS).op(), query, kinds).to_expr()
    return view


def _bytewise(name: str) -> str:
    quoted = _quoted(name)
    # A type of its own, as one that folds case, becomes plain text before it is compared.
    return f'CAST({quoted} AS TEXT) COLLATE "C" AS {quoted}'


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def name_of(column: str, cell: ir.Column, functions: TextFunctions) -> ir.Value:
    """The name of the person whose row this is, null where the cell has none."""
    import ibis

    kind = cell.type()
    if kind.is_string():
        return functions.named(column, cell)
    if kind.is_floating():
        real = cell.cast("float64")
        return ibis.cases((real.isnan(), ibis.null("float64")), (real == 0, 0.0), else_=real)
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


def _composing(name: str) -> Callable[[ir.Value], ir.StringValue]:
    import ibis

    def compose(text: str) -> str:
        raise NotImplementedError  # the database has it

    declared: Callable[[ir.Value], ir.StringValue]
    declared = ibis.udf.scalar.builtin(compose, name=name, signature=((str,), str))
    return declared
