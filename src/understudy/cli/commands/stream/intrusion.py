"""`understudy stream intrusion`: begin a new epoch after someone saw a state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.commands.stream.answers import print_standing
from understudy.cli.console import messages
from understudy.cli.options.groups import grouped
from understudy.cli.options.privacy import LedgerOptions
from understudy.cli.options.stream import UserFile
from understudy.system.amounts import at_most_text


@grouped
def intrusion(
    *,
    state: Annotated[Path, typer.Argument(help="The state that someone saw.")],
    users: UserFile = None,
    payer: LedgerOptions,
) -> None:
    """Announce that someone saw a state: it counts as public, and a new epoch begins."""
    from understudy.jobs.streams import announce_intrusion, state_name

    epoch = announce_intrusion(state, users=users, payer=payer)
    total = at_most_text(epoch.total_epsilon)
    messages().print(f"epoch {epoch.number} of {state} has begun; epsilon = {total} in all")
    print_standing(payer.standing(state_name(state, payer)), as_json=False)
