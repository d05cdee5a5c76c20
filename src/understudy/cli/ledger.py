"""`understudy ledger`: what was spent on which data, and what remains."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.amounts import at_least, at_most_text
from understudy.cli import options
from understudy.cli.console import messages, print_json, results
from understudy.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.privacy.accounts import Account, Limit, Room, Spent, Total
    from understudy.privacy.adjacency import Adjacency

app = typer.Typer(no_args_is_help=True, help="What was spent on which data, and what remains.")

_RULES = ("zcdp", "basic")


@app.command()
def show(
    dataset: Annotated[str | None, typer.Argument(help="One dataset; all unless given.")] = None,
    ledger: options.LedgerFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Show every run, what runs add up to for whom, and what remains of a limit."""
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
    neighbours: Annotated[
        str,
        typer.Option("--neighbours", help="The neighbours it is for: add-remove or replace."),
    ] = "add-remove",
    unit: Annotated[
        str | None, typer.Option("--unit", help="row, person, image or user; row unless given.")
    ] = None,
    person_id: Annotated[
        str | None, typer.Option("--person-id", help="The column that names persons.")
    ] = None,
    accounting: Annotated[
        str | None,
        typer.Option(
            "--accounting",
            help="How runs are counted: zcdp (usual with a delta) or basic composition.",
        ),
    ] = None,
    own_delta: Annotated[
        str,
        typer.Option("--own-delta", help="zcdp: the part of delta kept for `schema infer`."),
    ] = "0",
    basic_epsilon: Annotated[
        str,
        typer.Option(
            "--basic-epsilon",
            help="zcdp: the part of epsilon set aside for runs without a rho, such as dpgan.",
        ),
    ] = "0",
    basic_delta: Annotated[
        str, typer.Option("--basic-delta", help="zcdp: the part of delta set aside likewise.")
    ] = "0",
    ledger: options.LedgerFile = None,
) -> None:
    """Set the ceiling of a dataset; runs that would exceed it are refused.

    The rule that counts it is fixed now. It holds for one kind of neighbours: a run whose promise
    says nothing about these is refused.
    """
    from understudy.privacy.accounts import Spent
    from understudy.privacy.budget import Budget, exact

    whom = _adjacency(unit, neighbours, person_id)
    ceiling = Budget.approximate(epsilon, delta)
    aside = Spent(
        exact(basic_epsilon, what="basic-epsilon"), exact(basic_delta, what="basic-delta")
    )
    total = Spent(ceiling.amount, ceiling.delta)
    wanted = _limit(total, whom, accounting, exact(own_delta, what="own-delta"), aside)
    book = options.open_ledger(ledger)
    before = book.account(dataset).limit
    book.set_limit(dataset, wanted)
    account = book.account(dataset)
    messages().print(f"limit of {dataset}: {wanted}; left of it: {account.remaining}")
    if account.runs:
        messages().print("runs before this limit count against it")
    if before is not None and account.runs and before.rule is not wanted.rule:
        messages().print(
            "the rule was changed after runs: the promise is that of the larger of both limits, "
            "and only if no result led to the change"
        )


def _adjacency(unit: str | None, neighbours: str, person_id: str | None) -> Adjacency:
    from understudy.privacy.adjacency import Adjacency, UnitKind
    from understudy.privacy.unit import Neighbours

    named = unit or ("person" if person_id else "row")
    try:
        kind, relation = UnitKind(named), Neighbours(neighbours)
    except ValueError:
        units, relations = " or ".join(UnitKind), " or ".join(Neighbours)
        raise UsageError(
            f"a limit for {named!r} under {neighbours!r} is unknown; use {units} under {relations}"
        ) from None
    if (kind is UnitKind.PERSON) != (person_id is not None):
        raise UsageError("a limit for persons needs --person-id, and only such a limit takes it")
    return Adjacency(kind, relation, person_id)


def _limit(
    total: Spent, whom: Adjacency, accounting: str | None, own: Fraction, aside: Spent
) -> Limit:
    from understudy.privacy.accounts import Limit, Spent

    if accounting not in (None, *_RULES):
        raise UsageError(f"accounting {accounting!r} is unknown; use {' or '.join(_RULES)}")
    if accounting == "basic" or (accounting is None and not total.delta):
        if own or aside != Spent():
            raise UsageError(
                "--own-delta, --basic-epsilon and --basic-delta are parts of a limit counted in "
                "zCDP; leave them out, or give a --delta"
            )
        return Limit.basic(total, whom)
    return Limit.zcdp(total, whom, own_delta=own, purse=aside)


def _show(account: Account) -> None:
    say = results()
    say.print(account.dataset, style="bold")
    for total in account.totals:
        _show_total(total)
    if account.limit is None:
        say.print("no limit is set")
    else:
        say.print(f"limit {account.limit}; left: {account.remaining}")
    if account.runs:
        say.print(_runs(account))


def _show_total(total: Total) -> None:
    say = results()
    converted = f", {total.implied} of other neighbours converted" if total.implied else ""
    say.print(
        f"{total.adjacency}: spent {total.spent} (basic composition of "
        f"{_counted(total.own + total.implied)}{converted})"
    )
    enough = total.would_have_sufficed
    if enough is not None:
        say.print(
            f"  a limit that is set before the first run can count in zCDP: {enough} for the same "
            "runs",
            style="dim",
        )
    if total.silent:
        say.print(f"  not included: {_counted(total.silent)}, silent about these neighbours")


def _counted(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def _runs(account: Account) -> Table:
    from rich.table import Table

    runs = Table("when", "method", "epsilon", "delta", "protects", "answers", "", box=None)
    for run in account.runs:
        cost = run["cost"]
        runs.add_row(
            str(run["time"])[:16].replace("T", " "),
            str(run.get("method", "")),
            at_most_text(cost.spent.epsilon),
            at_most_text(cost.spent.delta),
            str(cost.adjacency),
            str(run["charges"]),
            "never closed: counted whole" if run["open"] else "",
        )
    return runs


def _document(account: Account) -> dict[str, Any]:
    return {
        "dataset": account.dataset,
        "limit": None if account.limit is None else _limit_document(account.limit),
        "spent": _spent_document(account),
        "totals": [_total_document(total) for total in account.totals],
        "remaining": _room_document(account.remaining),
        "runs": [_run_document(run) for run in account.runs],
    }


def _spent_document(account: Account) -> dict[str, Any] | None:
    """The sum over all runs; null where they protect whom no single number speaks of."""
    from understudy.errors import LedgerError
    from understudy.privacy.entries import amounts

    try:
        return amounts(account.spent)
    except LedgerError:
        return None


def _limit_document(limit: Limit) -> dict[str, Any]:
    from understudy.privacy.entries import limit_fields

    return limit_fields(limit)


def _total_document(total: Total) -> dict[str, Any]:
    from understudy.privacy.accounts import Cost
    from understudy.privacy.entries import amounts, cost_fields

    enough = total.would_have_sufficed
    return {
        **cost_fields(Cost(total.adjacency, total.spent, total.concentrated)),
        "runs": total.own,
        "converted": total.implied,
        "silent": total.silent,
        "zcdp_limit": None if enough is None else amounts(enough),
    }


def _room_document(room: Room | None) -> dict[str, Any] | None:
    from understudy.privacy.entries import amounts, concentrated_fields

    if room is None:
        return None
    fields = {**amounts(room.purse), **concentrated_fields(room.concentrated)}
    # What is left is rounded down.
    return fields | {
        name.removesuffix("_exact"): at_least(Fraction(text))
        for name, text in fields.items()
        if name.endswith("_exact")
    }


def _run_document(run: Any) -> dict[str, Any]:
    from understudy.privacy.entries import amounts, cost_fields

    own = {key: value for key, value in run.items() if key != "cost"}
    return {**own, **cost_fields(run["cost"]), "spent": amounts(run["cost"].spent)}
