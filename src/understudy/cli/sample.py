"""`understudy sample`: rows from a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import options
from understudy.cli.console import Stopwatch, messages, print_json, with_progress
from understudy.cli.keeping import Sealing, write_statement

if TYPE_CHECKING:
    from understudy.sample import Given


def sample(
    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` wrote.")],
    output: options.Output,
    rows: options.RowCount = None,
    where: Annotated[
        str | None,
        typer.Option("--where", help='What all rows must fit, as "sex = Female, age >= 30".'),
    ] = None,
    how: Annotated[
        str | None,
        typer.Option(
            "--how",
            help="With --where: exact, rejection or weighting; exact where the network allows it.",
        ),
    ] = None,
    seed: options.Seed = None,
    sign: options.SignKey = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger", help="The ledger that paid for the model: it seals the rows for `verify`."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw synthetic rows, or images, from a model; this costs no budget, however often."""
    from understudy.cli.images import sample_images
    from understudy.cli.synth import summary
    from understudy.codec import Codec
    from understudy.errors import UsageError
    from understudy.files import check_suffix, check_writable, write_rows
    from understudy.gan.archive import is_archive
    from understudy.model import Model, bound_content
    from understudy.sample import given, sample_blocks

    signer = options.signer_of(sign)
    if how is not None and where is None:
        raise UsageError(f"--how is {how!r}, and there are no conditions; give some by --where")
    if is_archive(model):
        if where is not None:
            raise UsageError("--where is for models of tables; leave it out")
        sealing = Sealing(ledger, signer)
        sample_images(model, output, rows=rows, seed=seed, sealing=sealing, as_json=as_json)
        return
    check_writable(f"{check_writable(check_suffix(output))}.privacy.json")
    loaded = Model.load(model)
    record = Sealing(ledger, signer).record(loaded.statement, bound_content, path=model)
    wanted = loaded.rows if rows is None else rows
    watch = Stopwatch()
    with watch.timed("sample"):
        known = None if where is None else given(loaded, where, how=how)
        blocks = sample_blocks(loaded, rows, seed=seed, where=known)
        written = write_rows(with_progress(blocks, wanted), output, Codec(loaded.schema))
    document = summary(loaded, written) | ({} if known is None else _conditions(known))
    document = write_statement(document, output, record=record, signer=signer)
    if as_json:
        print_json(document | {"seconds": watch.seconds})
        return
    messages().print(f"{written:,} rows → {output}", style="bold")
    if known is not None:
        messages().print(_told(known), style="dim")


def _conditions(known: Given) -> dict[str, Any]:
    """What is said about rows that fit conditions, for machines."""
    document = {
        "where": known.conditions.text,
        "how": str(known.how),
        "evidence_probability": known.chance,
        "evidence_exact": known.known is not None,
    }
    return document | ({} if known.worth is None else {"effective_draws": known.worth})


_WAYS = {
    "exact": "drawn exactly",
    "rejection": "drawn by rejection",
    "weighting": "resampled from weighted draws, which is approximate",
    "filter": "those of the released rows that fit",
}


def _told(known: Given) -> str:
    """The same for people."""
    told = _WAYS[known.how]
    if known.remark:
        told += f", because {known.remark}"
    if known.worth is not None:
        told += f"; the draws are worth {known.worth:,.0f} independent ones"
    if known.chance is None:
        return told
    about = "" if known.known is not None else "about "
    return f"{told}; a row fits with probability {about}{known.chance:.4g}"
