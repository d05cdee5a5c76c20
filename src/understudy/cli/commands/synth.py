"""`understudy synth`: make synthetic rows from a private table in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.cli.console import TerminalProgress, messages, print_result
from understudy.cli.onlooker import owner_at_terminal
from understudy.cli.options.groups import grouped
from understudy.cli.options.learning import LearningOptions, Yes
from understudy.cli.options.output import AsJson, RowsFile, Seed, SignKey
from understudy.cli.standard_output import written

if TYPE_CHECKING:
    from pathlib import Path

    from understudy.jobs.output import JobResult


@grouped
def synth(
    *,
    learning: LearningOptions,
    output: RowsFile,
    seed: Seed = None,
    sign: SignKey = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Make synthetic rows from a private table: learn a model, sample from it, write OUTPUT.

    The privacy statement goes to OUTPUT.privacy.json. The ledger records what was spent.
    """
    from understudy.jobs.learning import synthesize

    def work(place: Path) -> JobResult:
        return synthesize(
            learning,
            place,
            seed=seed,
            sign=sign,
            progress=TerminalProgress(),
            owner=owner_at_terminal(yes=yes),
        )

    if learning.caution:
        messages().print(learning.caution, style="yellow")
    result = written(output, work, as_json=as_json)
    print_result(result, as_json=as_json)
