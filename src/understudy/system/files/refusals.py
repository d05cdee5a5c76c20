"""Reading failures in our words: those of the libraries may quote rows."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from understudy.errors import DataError, UnderstudyError, UsageError


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong while a file is read becomes a sentence about the file."""
    try:
        yield
    except UnderstudyError:
        raise
    except (UnicodeError, pa.ArrowException, csv.Error) as error:
        is_text = path.suffix == ".csv"
        if is_text and (isinstance(error, UnicodeError) or "UTF8" in str(error)):
            raise DataError(_not_decodable(path)) from None
        raise DataError(
            f"{path}: is not a readable {path.suffix[1:]} file; export it again"
        ) from None
    except LookupError:
        raise UsageError("the encoding is unknown; use a name such as utf-8 or latin-1") from None
    except OSError as error:
        reason = error.strerror or "it is damaged or no such file"
        raise DataError(f"{path}: cannot be read: {reason}; check the path") from None


def _not_decodable(path: Path) -> str:
    return f"{path}: is not text in this encoding; name it, for example --encoding latin-1"
