"""Job of `sample --replicates`: several stand-ins that differ as noise leaves open."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
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
    from understudy.models.model import Model

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
        document=summary(model, rows)
        | {
            "replicates": [str(place) for place in places],
            "modelled_pairs": [list(pair) for pair in model.modelled_pairs],
        },
        remarks=(_REMARK, pairs_remark(model), *_older(output, number)),
        seconds=watch.seconds,
    )


def _older(output: Path, number: int) -> Iterator[str]:
    """Say that files of a run with more replicates are still beside these."""
    beyond = itertools.takewhile(
        Path.exists, (numbered(output, place) for place in itertools.count(number + 1))
    )
    names = [place.name for place in beyond]
    if names:
        which = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        yield f"beside these, {which} are of an earlier run: remove them before you combine files"


def pairs_remark(model: Model) -> str:
    """Say how many pairs of columns rest on the model, because no table holds them."""
    modelled, every = len(model.modelled_pairs), math.comb(len(model.domain), 2)
    if not modelled:
        return "released tables hold every pair of columns, on which means and regressions rest"
    return (
        f"no released table holds {modelled:,} of {every:,} pairs of columns; regressions and "
        "other estimates across them rest on the model, which no interval shows (--json lists them)"
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
