"""The owner at an interactive terminal: exact losses are shown there, and nowhere else.

Privacy: the terminal is inside. What is shown here enters no file, ledger, statement or JSON. The
answer of the owner decides whether a run begins; that is the owner's own choice.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from understudy.cli.console import is_terminal, messages

if TYPE_CHECKING:
    from understudy.rows.checking import DataCheck

# Up to this share of lost rows is told, and not asked about.
_FEW = 0.01
_MOST_COLUMNS = 5


@dataclass(frozen=True)
class TerminalOwner:
    """The person at the terminal.

    Attributes:
        yes: continue without a question, whatever is lost.
    """

    yes: bool = False

    def agrees(self, found: DataCheck) -> bool:
        """Show what would be lost, and ask where it is more than a few rows."""
        console = messages()
        if not found.rows:
            console.print("the table has no rows", style="yellow")
            return self.yes or typer.confirm("Spend the budget on it?", default=False, err=True)
        if found.fits:
            console.print(f"{found.sentence}", style="dim")
            return True
        console.print(f"{found.sentence}: {_by_column(found)}", style="yellow")
        if self.yes or found.lost <= _FEW * found.rows:
            return True
        return typer.confirm("Spend the budget on the other rows?", default=False, err=True)

    def told(self, text: str) -> None:
        """Show a sentence that may be exact."""
        messages().print(text, style="yellow")


def _by_column(found: DataCheck) -> str:
    """Which columns lose how many rows, the first that does counted alone."""
    losing = sorted((c for c in found.columns if c.lost_first), key=lambda c: -c.lost_first)
    said = [f"{column.lost_first:,} by {column.name}" for column in losing[:_MOST_COLUMNS]]
    said += [f"{found.unnamed:,} without a name"] if found.unnamed else []
    said += ["others by other columns"] if len(losing) > _MOST_COLUMNS else []
    return ", ".join(said)


def owner_at_terminal(*, yes: bool = False) -> TerminalOwner | None:
    """The owner, where a person can read stderr and answer; None in scripts."""
    return TerminalOwner(yes) if is_terminal(sys.stdin) and is_terminal(sys.stderr) else None
