"""An open database and its dialect: queries go in, rows of their results come out.

Whatever the database or its driver raises is said in our words, because theirs may quote cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from understudy.errors import DataError
from understudy.rows.engines.databases.dialects import Dialect, dialect_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

# Of an error that says that a connection broke.
_LOST = ("OperationalError", "InterfaceError", "ConnectionException", "IOException")
_LOST_SPARK = ("Py4JNetworkError", "ConnectionRefusedError", "RetriesExceeded", "RpcError")
# Of the block that a lost executor kept: the rows are not encoded again from what is there by then.
_LOST_CODES = "Checkpoint block"
# Spark Connect has one kind for what the server said, and subclasses for what is wrong with it.
_CONNECT_SPARK = "SparkConnectGrpcException"
# PostgreSQL's state, and MySQL's and MariaDB's numbers, of an account that may not read.
_FORBIDDEN_STATE = "42501"
_FORBIDDEN_NUMBERS = (1044, 1142, 1143, 1227)
# PostgreSQL's states of a character that the database's encoding lacks, or cannot be.
_OTHER_LETTERS = ("22P05", "22021")
# ibis cannot write a query: a matter of the schema and the column's type, never of a cell.
_UNWRITTEN = ("IbisError", "UnsupportedError", "SqlglotError")


@dataclass(frozen=True, repr=False)
class Database:
    """An open database.

    Attributes:
        backend: the connection, as ibis has it.
        dialect: how it is asked.
    """

    backend: Any
    dialect: Dialect

    @classmethod
    def of(cls, rows: ir.Table) -> Database:
        """The database that a table is in; one of an unknown kind is refused by name."""
        dialect = dialect_of(rows)
        return cls(rows.get_backend(), dialect)

    def written(self, expression: ir.Expr) -> str:
        """An expression as SQL of this database."""
        with asking():
            return self.dialect.as_read(str(self.backend.compile(expression)))

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a query's result."""
        with asking():
            found = self.backend.raw_sql(query)
            rows = found.fetchall() if self.dialect.by_cursor else found.collect()
            return [tuple(row) for row in rows]

    def value(self, scalar: ir.Scalar) -> Any:
        """The one value of an expression that has one."""
        [(found,)] = self.fetch(self.written(scalar))
        return found

    def __repr__(self) -> str:
        return f"Database({self.dialect.title})"


@contextmanager
def asking() -> Iterator[None]:
    """Raise a database's failures in our words: its own may quote cells."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        raise refusal(error) from None


def refusal(error: Exception) -> DataError:
    """Say in our words what a database or its driver raised."""
    return DataError(f"the database {_reason(error)}")


def _reason(error: Exception) -> str:
    if _is_forbidden(error):
        return "refuses to show these rows; ask its owner for the right to SELECT"
    if is_any_of(error, "OutOfMemoryException"):
        return (
            "needs more memory for these rows than it may take, and private rows are not "
            "written to the disk; use a larger machine, or export the table to Parquet"
        )
    if is_any_of(error, *_LOST, *_LOST_SPARK) or type(error).__name__ == _CONNECT_SPARK:
        return "stopped answering; nothing of this question was used, run again when it is back"
    if _LOST_CODES in str(error):
        return (
            "lost a part of the rows as they were encoded, with an executor of Spark's; nothing of "
            "this question was used, run again"
        )
    if isinstance(error, UnicodeError) or getattr(error, "sqlstate", None) in _OTHER_LETTERS:
        return (
            "has another encoding than UTF-8, which lacks letters or white space that texts are "
            "compared with; copy the table to a database in UTF-8, or export it to Parquet"
        )
    if is_any_of(error, *_UNWRITTEN):
        return (
            "has no expression for what the schema says of these columns; convert them in a view, "
            "or export the table to Parquet"
        )
    return "rejects the query that counts these rows; check the table and its types"


def _is_forbidden(error: Exception) -> bool:
    number = error.args[0] if error.args else None
    state = getattr(error, "sqlstate", None)
    return state == _FORBIDDEN_STATE or number in _FORBIDDEN_NUMBERS


def is_any_of(error: Exception, *kinds: str) -> bool:
    """Whether an error is of some kind, by the names that drivers share."""
    return not {kind.__name__ for kind in type(error).__mro__}.isdisjoint(kinds)
