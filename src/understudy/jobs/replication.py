"""Job of `sample --replicates`: several stand-ins that differ as noise leaves open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.output import (
    JobResult,
    check_stated_output,
    check_unpaid,
    summary,
    write_statement,
)
from understudy.jobs.progress import Stopwatch

if TYPE_CHECKING:
    from understudy.jobs.sampling import SampleRequest
    from understudy.jobs.signing import Sealing

_MOST = 1_000
_REMARK = (
    "each comes from its own draw of the tables given the released ones; combine estimates of them "
    "by understudy.combine_replicates"
)


def sample_replicates(
    request: SampleRequest, output: Path, number: int, *, sealing: Sealing
) -> JobResult:
    """Refit a model to draws of its tables, and write the rows of each to a file of its own.

    Args:
        request: the model, the number of rows and the seed.
        output: the name of the files; each gets its number before the suffix.
        number: how many stand-ins.
        sealing: how their statements are sealed and signed.

    Privacy: post-processing of released tables; costs nothing, however often it is done.
    """
    from understudy.models.model import Model
    from understudy.models.sampling import sample_blocks, sample_codes
    from understudy.system.files.writing import check_apart

    _check(request, number)
    model, watch = Model.load(request.model), Stopwatch()
    places = [numbered(output, place + 1) for place in range(number)]
    for place in places:
        check_apart(model.decoder.check_output(place), request.model)
        check_stated_output(place)
        check_unpaid(place, force=request.force, drawn_from=model.statement)
    record = sealing.record(model.statement, path=request.model)
    rows = 0
    with watch.timed("sample"):
        replicates = model.replicates(number, seed=request.seed)
        for at, (replicate, place) in enumerate(zip(replicates, places, strict=True)):
            seed = None if request.seed is None else request.seed + at
            blocks = sample_blocks(replicate, request.rows, seed=seed, sampler=sample_codes)
            rows = replicate.decoder.write(blocks, place)
            write_statement(summary(model, rows), place, record=record, signer=sealing.signer)
    return JobResult(
        output=places[0].with_name(f"{places[0].name} to {places[-1].name}"),
        headline=f"{number:,} stand-ins of {rows:,} {model.decoder.noun}",
        document=summary(model, rows) | {"replicates": [str(place) for place in places]},
        remarks=(_REMARK,),
        seconds=watch.seconds,
    )


def numbered(output: Path, number: int) -> Path:
    """The name of one of several files.

    Example:
        >>> numbered(Path("rows.csv.gz"), 3).name
        'rows-3.csv.gz'
    """
    from understudy.system.files.suffixes import stem_of

    stem = stem_of(output)
    return output.with_name(f"{stem}-{number}{output.name[len(stem) :]}")


def _check(request: SampleRequest, number: int) -> None:
    if not 2 <= number <= _MOST:
        raise UsageError(f"--replicates is {number}; use 2 to {_MOST:,}, better 10 or more")
    for option in ("where", "fill", "head"):
        if getattr(request, option) is not None:
            raise UsageError(f"--replicates makes whole stand-ins; leave out --{option}")
