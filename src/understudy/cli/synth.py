"""`understudy synth`: the main job in one line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli import methods, options
from understudy.cli.console import Stopwatch, messages, print_json, with_progress
from understudy.cli.groups import grouped
from understudy.cli.keeping import rescued, write_statement
from understudy.cli.learning import Learning

if TYPE_CHECKING:
    from understudy.model import Model


@grouped
def synth(
    output: options.Output,
    learning: Learning,
    seed: options.Seed = None,
    sign: options.SignKey = None,
    as_json: options.AsJson = False,
) -> None:
    """Fit, sample, and write OUTPUT with OUTPUT.privacy.json beside it."""
    from understudy.cli.images import synth_images
    from understudy.codec import Codec
    from understudy.files import check_apart, check_suffix, check_writable, write_rows
    from understudy.sample import sample_blocks

    signer = options.signer_of(sign)
    if learning.of_images:
        synth_images(learning, output, seed=seed, signer=signer, as_json=as_json)
        return
    job = learning.checked()
    check_apart(output, *learning.inputs)
    check_writable(f"{check_writable(check_suffix(output))}.privacy.json")
    watch = Stopwatch()
    model = job.fitted(watch)
    with rescued(model):
        rows = learning.request.rows
        wanted = model.rows if rows is None else rows
        blocks = with_progress(sample_blocks(model, wanted, seed=seed), wanted)
        with watch.timed("sample"):
            written = write_rows(blocks, output, Codec(model.schema))
        record = model.statement.record
        document = write_statement(summary(model, written), output, record=record, signer=signer)
    if as_json:
        print_json(document | {"seconds": watch.seconds})
    else:
        _tell(document, output, methods.remarks(learning.request, model), watch)


def summary(model: Model, rows: int) -> dict[str, Any]:
    """What is said about synthetic rows, for machines."""
    return {
        "method": model.statement.method,
        "rows": rows,
        "columns": len(model.schema.columns),
        "statement": model.statement.document(),
    }


def _tell(document: dict[str, Any], output: Path, remarks: list[str], watch: Stopwatch) -> None:
    say = messages()
    seconds = watch.seconds
    say.print(f"{document['rows']:,} rows × {document['columns']} columns → {output}", style="bold")
    say.print(document["statement"]["sentence"])
    for remark in [*remarks, f"statement in {output}.privacy.json"]:
        say.print(remark, style="dim")
    say.print(f"fit {seconds['fit']:.2f} s, sample {seconds['sample']:.2f} s", style="dim")
