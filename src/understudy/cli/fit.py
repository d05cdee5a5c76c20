"""`understudy fit`: learn a model and keep it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli import methods, options
from understudy.cli.console import Stopwatch, messages, print_json
from understudy.cli.groups import grouped
from understudy.cli.keeping import rescued
from understudy.cli.learning import Learning


@grouped
def fit(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the model goes: NAME.zip, or a folder.")
    ],
    learning: Learning,
    sign: options.SignKey = None,
    as_json: options.AsJson = False,
) -> None:
    """Learn a model of a private table, or of images; draw from it later at no cost."""
    from understudy.cli.images import fit_images
    from understudy.cli.synth import summary
    from understudy.files import check_apart
    from understudy.model import check_place

    signer = options.signer_of(sign)
    if learning.of_images:
        fit_images(learning, output, signer=signer, as_json=as_json)
        return
    job = learning.checked()
    check_apart(output, *learning.inputs)
    check_place(output)
    watch = Stopwatch()
    model = job.fitted(watch)
    with rescued(model):
        model.save(output, signer=signer)
    if as_json:
        print_json(summary(model, model.rows) | {"seconds": watch.seconds})
        return
    messages().print(f"model → {output}", style="bold")
    messages().print(model.statement.sentence)
    for remark in methods.remarks(learning.request, model):
        messages().print(remark, style="dim")
