"""Reading failures in our words: those of the libraries may quote rows."""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from understudy.errors import DataError, UnderstudyError, UsageError
from understudy.system.files.suffixes import TEXTS, suffix_of


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Whatever goes wrong while a file is read becomes a sentence about the file."""
    suffix = suffix_of(Path(path))
    try:
        yield
    except UnderstudyError:
        raise
    except (UnicodeError, pa.ArrowException, csv.Error) as error:
        if suffix.startswith(TEXTS) and (isinstance(error, UnicodeError) or "UTF8" in str(error)):
            raise DataError(_not_decodable(path)) from None
        what = f"{suffix or Path(path).suffix} file".lstrip(".")
        raise DataError(f"{path}: is not a readable {what}; export it again") from None
    except LookupError:
        raise UsageError("the encoding is unknown; use a name such as utf-8 or cp1252") from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "it is damaged or no such file"
        raise DataError(f"{path}: cannot be read: {reason}; check the path") from None


def _not_decodable(path: Path | str) -> str:
    other = "utf-16" if _is_marked(Path(path)) else "cp1252"
    return f"{path}: is not text in this encoding; name it, for example --encoding {other}"


def _is_marked(path: Path) -> bool:
    """Whether a file begins with the mark of UTF-16, which is not part of a row."""
    try:
        with path.open("rb") as file:
            return file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    except OSError:
        return False
