"""`understudy fit`: learn a model and keep it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli import methods, options
from understudy.cli.console import Stopwatch, messages, print_json
from understudy.cli.wishes import Wishes
from understudy.errors import UsageError


def fit(
    data: options.Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the model goes: NAME.zip, or a folder.")
    ],
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
    """Learn a model of a private table, or of images; draw from it later at no cost."""
    from understudy.cli.images import ImageRequest, Purse, fit_images, refuse_for_tables
    from understudy.cli.synth import rescued, summary
    from understudy.files import check_apart
    from understudy.model import check_place
    from understudy.schema import Schema

    wishes = Wishes(target, protect, quasi_identifiers, require, forbid, tier, predictors)
    training = methods.Training(epochs, batch, clip, pace)
    if data.endswith(".npz"):
        asked = ImageRequest(
            *(method, epsilon, delta, training, height, width, classes, checkpoint, None, None),
            schema=schema,
            neighbours=neighbours,
            wishes=wishes,
        )
        fit_images(asked, Path(data), output, Purse(ledger, dataset), as_json=as_json)
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
    check_place(output)
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
        model.save(output)
    if as_json:
        print_json(summary(model, model.rows) | {"seconds": watch.seconds})
        return
    messages().print(f"model → {output}", style="bold")
    messages().print(model.statement.sentence)
    for remark in methods.remarks(request, model):
        messages().print(remark, style="dim")
