"""`understudy sample`: rows from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli import options
from understudy.cli.console import Stopwatch, messages, print_json, with_progress


def sample(
    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` wrote.")],
    output: options.Output,
    rows: options.RowCount = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw synthetic rows from a model; this costs no budget, however often."""
    from understudy.cli.synth import summary
    from understudy.codec import Codec
    from understudy.files import check_suffix, check_writable, write_rows
    from understudy.model import Model
    from understudy.sample import sample_blocks

    check_writable(check_suffix(output))
    loaded = Model.load(model)
    wanted = loaded.rows if rows is None else rows
    watch = Stopwatch()
    with watch.timed("sample"):
        blocks = with_progress(sample_blocks(loaded, wanted, seed=seed), wanted)
        written = write_rows(blocks, output, Codec(loaded.schema))
    if as_json:
        print_json(summary(loaded, written) | {"seconds": watch.seconds})
        return
    messages().print(f"{written:,} rows → {output}", style="bold")
