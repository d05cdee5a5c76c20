"""`understudy ledger`: what was spent on which data, and what remains."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.amounts import at_least, at_most, at_most_text
from understudy.cli import options
from understudy.cli.console import messages, print_json, results

if TYPE_CHECKING:
    from understudy.privacy.ledger import Account, Spent

app = typer.Typer(no_args_is_help=True, help="What was spent on which data, and what remains.")


@app.command()
def show(
    dataset: Annotated[str | None, typer.Argument(help="One dataset; all unless given.")] = None,
    ledger: options.LedgerFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Show every run and what remains of the limit, if one is set."""
    book = options.open_ledger(ledger)
    accounts = [book.account(dataset)] if dataset else list(book.accounts().values())
    if as_json:
        print_json({"ledger": str(book.path), "datasets": [_document(a) for a in accounts]})
        return
    if not accounts:
        results().print(f"{book.path} is empty: nothing was spent, no limit is set")
    for account in accounts:
        _show(account)


@app.command()
def limit(
    dataset: Annotated[str, typer.Argument(help="The data's name in the ledger.")],
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", help="The most that may be spent.")],
    delta: options.Delta = "0",
    ledger: options.LedgerFile = None,
) -> None:
    """Set the ceiling of a dataset; runs that would exceed it are refused."""
    from understudy.privacy.budget import Budget

    ceiling = Budget.approximate(epsilon, delta)
    book = options.open_ledger(ledger)
    book.limit(dataset, epsilon=ceiling.amount, delta=ceiling.delta)
    remaining = book.account(dataset).remaining
    left = "" if remaining is None else remaining.as_remainder
    messages().print(f"limit of {dataset}: {ceiling}; left of it: {left}")


def _show(account: Account) -> None:
    from rich.table import Table

    say = results()
    say.print(f"{account.dataset}: spent {account.spent} (runs added up)", style="bold")
    remaining = account.remaining
    left = "" if remaining is None else remaining.as_remainder
    say.print(f"limit {account.limit}, left {left}" if account.limit else "no limit is set")
    if not account.runs:
        return
    runs = Table("when", "method", "epsilon", "delta", "neighbours", "answers", "", box=None)
    for run in account.runs:
        spent: Spent = run["spent"]
        runs.add_row(
            str(run["time"]),
            str(run.get("method", "")),
            at_most_text(spent.epsilon),
            at_most_text(spent.delta),
            str(run.get("neighbours", "")),
            str(run["charges"]),
            "never closed: counted whole" if run["open"] else "",
        )
    say.print(runs)


def _document(account: Account) -> dict[str, Any]:
    return {
        "dataset": account.dataset,
        "limit": _amounts(account.limit),
        "spent": _amounts(account.spent),
        "remaining": _amounts(account.remaining, at_least),
        "runs": [{**run, "spent": _amounts(run["spent"])} for run in account.runs],
    }


def _amounts(
    spent: Spent | None, number: Callable[[Fraction], float] = at_most
) -> dict[str, Any] | None:
    if spent is None:
        return None
    exact: dict[str, Fraction] = {"epsilon": spent.epsilon, "delta": spent.delta}
    numbers = {name: number(value) for name, value in exact.items()}
    return numbers | {f"{name}_exact": str(value) for name, value in exact.items()}
