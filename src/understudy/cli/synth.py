"""`understudy synth`: the main job in one line."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from understudy.cli import methods, options
from understudy.cli.console import Stopwatch, messages, print_json, with_progress
from understudy.cli.wishes import Wishes
from understudy.errors import DiskError, UnderstudyError, UsageError

if TYPE_CHECKING:
    from understudy.model import Model


class Savable(Protocol):
    """A model, of rows or of images."""

    def save(self, path: str) -> None:
        """Write it down."""


def synth(
    data: options.Data,
    output: options.Output,
    schema: options.OptionalSchemaFile = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = "0",
    method: options.MethodName = "auto",
    structure: options.StructureName = None,
    degree: options.Degree = None,
    target: options.Target = None,
    protect: options.Protect = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    require: options.Require = None,
    forbid: options.Forbid = None,
    tier: options.Tier = None,
    predictors: options.Predictors = None,
    neighbours: options.NeighboursName = None,
    rows: options.RowCount = None,
    person_id: options.PersonId = None,
    rows_per_person: options.RowsPerPerson = None,
    epochs: options.Epochs = None,
    batch: options.BatchSize = None,
    clip: options.Clip = None,
    pace: options.Pace = None,
    dataset: options.DatasetName = None,
    ledger: options.LedgerFile = None,
    seed: options.Seed = None,
    ignore_extra: options.IgnoreExtra = False,
    encoding: options.Encoding = "utf-8",
    memory: options.Memory = None,
    table: options.TableName = None,
    cluster: options.Cluster = None,
    cluster_timeout: options.ClusterTimeout = 60,
    height: options.Height = None,
    width: options.Width = None,
    classes: options.Classes = None,
    checkpoint: options.CheckpointFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Fit, sample, and write OUTPUT with OUTPUT.privacy.json beside it."""
    from understudy.cli.images import ImageRequest, Purse, refuse_for_tables, synth_images
    from understudy.codec import Codec
    from understudy.files import check_apart, check_suffix, check_writable, write_rows
    from understudy.sample import sample_blocks
    from understudy.schema import Schema

    wishes = Wishes(target, protect, quasi_identifiers, require, forbid, tier, predictors)
    training = methods.Training(epochs, batch, clip, pace)
    if data.endswith(".npz"):
        asked = ImageRequest(
            *(method, epsilon, delta, training, height, width, classes, checkpoint, rows, seed),
            schema=schema,
            neighbours=neighbours,
            wishes=wishes,
        )
        synth_images(asked, Path(data), output, Purse(ledger, dataset), as_json=as_json)
        return
    if schema is None:
        raise UsageError("schema is not given; say what may stand in each column, by --schema")
    refuse_for_tables(height=height, width=width, classes=classes, checkpoint=checkpoint)
    loaded = Schema.load(schema)
    request = methods.Request(
        method,
        epsilon,
        delta,
        neighbours,
        rows,
        structure,
        degree,
        person_id,
        rows_per_person,
        wishes,
        training,
    )
    synthesizer = methods.build(request, loaded)
    access = options.access(
        ignore_extra=ignore_extra,
        encoding=encoding,
        memory=memory,
        table=table,
        cluster=cluster,
        cluster_timeout=cluster_timeout,
    )
    check_apart(output, data, schema)
    statement_path = check_writable(f"{check_writable(check_suffix(output))}.privacy.json")
    watch = Stopwatch()
    with watch.stage("fit", "reading and fitting") as readings:
        model = methods.fitted(
            synthesizer,
            data,
            replace(access, watch=readings),
            dataset=dataset,
            ledger=options.open_ledger(ledger),
        )
    with rescued(model):
        wanted = model.rows if rows is None else rows
        blocks = with_progress(sample_blocks(model, wanted, seed=seed), wanted)
        with watch.timed("sample"):
            written = write_rows(blocks, output, Codec(loaded))
        document = summary(model, written)
        write_json(statement_path, document)
    if as_json:
        print_json(document | {"seconds": watch.seconds})
    else:
        _tell(document, output, methods.remarks(request, model), watch)


def summary(model: Model, rows: int) -> dict[str, Any]:
    """What is said about synthetic rows, for machines."""
    return {
        "method": model.statement.method,
        "rows": rows,
        "columns": len(model.schema.columns),
        "statement": model.statement.document(),
    }


def write_json(path: Path, document: dict[str, Any]) -> None:
    """A JSON file, whole or not at all."""
    from understudy.files import atomic

    with atomic(path) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")


@contextmanager
def rescued(model: Savable) -> Iterator[None]:
    """Keep a model that has been paid for when its rows could not be written."""
    try:
        yield
    except (UnderstudyError, KeyboardInterrupt) as error:
        kept = _keep(model)
        if kept is None:
            raise
        note = f"the fitted model is kept: understudy sample {kept} -o OUTPUT"
        if isinstance(error, KeyboardInterrupt):
            messages().print(note)
            raise
        raise DiskError(f"{error}\n{note}") from None


def _keep(model: Savable) -> Path | None:
    handle, name = tempfile.mkstemp(prefix="understudy-", suffix=".zip")
    os.close(handle)
    try:
        model.save(name)
    except (UnderstudyError, OSError):
        Path(name).unlink(missing_ok=True)
        return None
    return Path(name)


def _tell(document: dict[str, Any], output: Path, remarks: list[str], watch: Stopwatch) -> None:
    say = messages()
    seconds = watch.seconds
    say.print(f"{document['rows']:,} rows × {document['columns']} columns → {output}", style="bold")
    say.print(document["statement"]["sentence"])
    for remark in [*remarks, f"statement in {output}.privacy.json"]:
        say.print(remark, style="dim")
    say.print(f"fit {seconds['fit']:.2f} s, sample {seconds['sample']:.2f} s", style="dim")
