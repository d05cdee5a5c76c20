"""Job of `sample --fill`: fill the gaps of a public file from a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from understudy.jobs.output import (
    JobResult,
    check_stated_output,
    check_unpaid,
    summary,
    write_statement,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.jobs.signing import Sealing
    from understudy.models.model import Model

_PUBLIC = (
    "The file that was filled is copied into the output and is not protected: "
    "it must be public or synthetic."
)


def fill_file(
    model_path: Path,
    gaps: Path,
    output: Path,
    *,
    sealing: Sealing,
    seed: int | None,
    force: bool = False,
) -> JobResult:
    """Fill the missing cells of a public file by draws from a model, given each row's cells.

    Privacy: post-processing of a released model; costs nothing. The file itself is not protected.
    """
    from understudy.models.gap_filling import fill_table
    from understudy.models.model import Model
    from understudy.rows.reading.whole import read_whole
    from understudy.system.files.suffixes import check_suffix
    from understudy.system.files.writing import check_apart

    model = Model.load(model_path)
    check_apart(check_suffix(output), model_path)
    check_apart(output, gaps)
    check_stated_output(output)
    check_unpaid(output, force=force, drawn_from=model.statement)
    record = sealing.record(model.statement, path=model_path)
    filled = fill_table(model, read_whole(gaps), seed=seed)
    _write(filled.rows, output)
    rows = filled.rows.num_rows
    document = _document(model, rows, filled.cells)
    document = write_statement(document, output, record=record, signer=sealing.signer)
    return JobResult(
        output=output,
        headline=f"{rows:,} rows, {filled.cells:,} cells filled",
        document=document,
        sentences=(_PUBLIC,),
    )


def _document(model: Model, rows: int, cells: int) -> dict[str, object]:
    return {**summary(model, rows), "filled_cells": cells, "filled_file": _PUBLIC}


def _write(rows: pa.Table, output: Path) -> None:
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    from understudy.system.files.writing import atomic

    with atomic(output) as file:
        if output.suffix == ".csv":
            pc.write_csv(rows, file)
        else:
            pq.write_table(rows, file, compression="zstd")
