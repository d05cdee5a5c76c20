"""Synthetic rows to standard output, so that another program can read them from a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.jobs.output import JobResult

STANDARD_OUTPUT = Path("-")
_NO_STATEMENT = "no statement is written beside standard output; -o FILE writes one"


def written(output: Path, work: Callable[[Path], JobResult], *, as_json: bool) -> JobResult:
    """The result of a job that writes rows to a file, or for - to standard output as CSV.

    Rows are written whole to a temporary file first, so that a pipe never gets a part of them.
    """
    if output != STANDARD_OUTPUT:
        return work(output)
    if as_json:
        raise UsageError("--json and -o - both write to standard output; give a file by -o")
    with TemporaryDirectory(prefix="understudy-") as folder:
        place = Path(folder) / "rows.csv"
        result = work(place)
        with place.open("rb") as rows:
            shutil.copyfileobj(rows, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    kept = tuple(remark for remark in result.remarks if folder not in remark)
    return replace(result, output=output, remarks=(*kept, _NO_STATEMENT))
