"""Every error this package raises on purpose.

    UnderstudyError
    ├── UsageError           a request that cannot be served as asked          exit 2
    │   ├── SchemaError      a schema that contradicts itself, all problems at once
    │   ├── CapacityError    a table that would not fit in memory, or constraints too entangled
    │   └── OutputError      a place that cannot be written
    ├── BudgetError          privacy budget refused                            exit 3
    │   ├── BudgetExceeded   more asked for than is left
    │   └── LedgerError      a ledger that cannot be trusted to be whole
    │       └── FateUnknown  a connection lost while entries were written
    ├── DataError            input that cannot be read                         exit 4
    │   ├── ModelError       a model file that is damaged or too new
    │   └── MessageError     a message that is damaged, or asks for what was not agreed
    ├── RunError             a run that began and could not be finished        exit 4
    │   ├── Diverged         training whose numbers became infinite or NaN
    │   ├── DiskError        a disk that is full or broken
    │   └── HolderError      too few holders that answer, or answers that cannot be true
    ├── ClaimRefuted         a statement or a seal that does not hold          exit 5
    └── WorkerLost           a process that died over its work: a fault        exit 1

A message gives the thing and its value, the rule, and the way out. It never quotes a private value.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """The codes that commands end with, and what each means."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        """Keep the meaning beside the number."""
        found = int.__new__(cls, code)
        found._value_ = code
        found.meaning = meaning
        return found

    DONE = 0, "The command is done."
    FAULT = 1, "understudy has a fault; its message is not shown, since it may quote rows."
    USAGE = (
        2,
        "The request or schema is wrong, a table is too large for memory, or a place cannot be "
        "written.",
    )
    BUDGET = 3, "The budget was refused, or the ledger cannot be trusted."
    DATA = (
        4,
        "Data or a model cannot be read, `check` found rows that do not fit the schema, too few "
        "rows fit for a fit to begin, training diverged, a disk is full, or the other side of a "
        "federation failed.",
    )
    REFUTED = (
        5,
        "What was checked does not hold: an audit refuted a statement, `verify` cannot show that "
        "statement, file and ledger belong together, or `sample --ledger` was given a model that "
        "the ledger did not seal.",
    )
    INTERRUPTED = 130, "The command was interrupted."


class UnderstudyError(Exception):
    """The root: anything this package refuses to do, or could not do."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAULT


class UsageError(UnderstudyError):
    """The request cannot be served as asked; nothing was read or spent."""

    exit_code = ExitCode.USAGE


class SchemaError(UsageError):
    """The schema contradicts itself; `problems` holds every finding, one sentence each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class CapacityError(UsageError):
    """A table would not fit in the memory at hand, or constraints are too entangled to check."""


class OutputError(UsageError):
    """The output cannot be written where it was asked for."""


class BudgetError(UnderstudyError):
    """Privacy budget was refused."""

    exit_code = ExitCode.BUDGET


class BudgetExceeded(BudgetError):
    """More budget was asked for than is left; carries `requested` and `remaining`."""

    def __init__(self, message: str, *, requested: object, remaining: object) -> None:
        self.requested = requested
        self.remaining = remaining
        super().__init__(message)


class LedgerError(BudgetError):
    """The ledger cannot be trusted to be whole, so nothing may be spent on its word."""


class FateUnknown(LedgerError):
    """The connection was lost while entries were written: they may be there, and count as spent."""


class DataError(UnderstudyError):
    """The input cannot be read as the table the schema describes."""

    exit_code = ExitCode.DATA


class ModelError(DataError):
    """The model file is damaged, is not one, or was written by a newer version."""


class MessageError(DataError):
    """A message is damaged, is not one of ours, or asks for what was not agreed."""


class RunError(UnderstudyError):
    """A run began and could not be finished; the message says what is kept."""

    exit_code = ExitCode.DATA


class Diverged(RunError):
    """Training reached infinity or NaN; the last good state, which is paid for, is kept."""


class DiskError(RunError):
    """The disk stopped taking bytes while a result was being written."""


class HolderError(RunError):
    """Too few holders of data answered, or an answer cannot be true."""


class ClaimRefuted(UnderstudyError):
    """An audit has found a method's statement untrue, or a ledger did not seal a model."""

    exit_code = ExitCode.REFUTED


class WorkerLost(UnderstudyError):
    """A process ended before its work was done; nothing can be said of what it worked on."""
