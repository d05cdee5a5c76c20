"""`understudy holder`: answer an analyst's questions about rows that stay here."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.amounts import at_most
from understudy.cli import network_options, options
from understudy.cli.console import messages, print_json
from understudy.cli.groups import grouped
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.federated.consent import Consent


@grouped
def holder(
    *,
    data: Annotated[str, typer.Option("--data", help="The private table, as for synth.")],
    schema: options.SchemaFile,
    epsilon_limit: Annotated[
        str, typer.Option("--epsilon-limit", help="The most ever to be spent on this table.")
    ],
    superlink: Annotated[str, typer.Option("--superlink", help="The analyst's HOST:PORT.")],
    key: Annotated[Path, typer.Option("--key", help="Of this holder: from `keys holder`.")],
    root_certificates: Annotated[
        Path, typer.Option("--root-certificates", help="roots.crt, as the analyst sent it.")
    ],
    delta_limit: Annotated[
        str, typer.Option("--delta-limit", help="Of the same limit; 0 allows pure runs alone.")
    ] = "0",
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="TOML of what is agreed to unasked; else you are asked."),
    ] = None,
    neighbours: Annotated[
        str, typer.Option("--neighbours", help="replace, with a public number of rows; add-remove.")
    ] = "replace",
    store: Annotated[
        Path | None,
        typer.Option("--store", help="Folder of answers already given; beside the ledger."),
    ] = None,
    people: options.People,
    purse: options.Purse,
    wait: Annotated[
        float, typer.Option("--wait", min=0, help="Seconds to wait for an analyst out of reach.")
    ] = 300,
    stay: Annotated[
        bool, typer.Option("--stay", help="Stay for further runs after the first one's end.")
    ] = False,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Answer an analyst's questions about a private table, each paid for from the ledger.

    This machine calls the analyst's; nothing needs to reach it from outside. No code that arrives
    is ever run: what is answered are the questions of understudy's own protocols.

    Less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.federated.holder import Holder
    from understudy.federated.net.node import Link, Node
    from understudy.privacy.budget import Budget
    from understudy.privacy.unit import Unit
    from understudy.schema import Schema
    from understudy.sources import dataset_name, open_source

    loaded = Schema.load(schema)
    link = Link(network_options.address_of(superlink), key, root_certificates, wait)
    link.check()
    limit = Budget.approximate(epsilon_limit, delta_limit)
    unit = Unit(network_options.neighbours_named(neighbours), people.rows_per_person)
    consent = _consent(policy)
    access = replace(reading.access, persons=people.persons)
    name, book = purse.dataset or dataset_name(data, access), purse.book
    folder = store or book.path.with_name(f"{book.path.stem}.answers") / name
    with (
        open_source(data, loaded, access) as source,
        Holder(
            *(source, loaded, unit, book, name, limit, consent, folder, key.name),
            person_id=people.person_id,
        ) as answering,
    ):
        answers = Node(link, answering.handle, _say, stay=stay).serve()
    spent = book.account(name).spent
    if as_json:
        print_json(
            {
                "dataset": name,
                "answers": answers,
                "epsilon": at_most(spent.epsilon),
                "epsilon_exact": str(spent.epsilon),
                "delta": at_most(spent.delta),
                "delta_exact": str(spent.delta),
            }
        )
        return
    messages().print(f"{answers} messages answered; spent on {name} so far: {spent}")


def _say(text: str) -> None:
    messages().print(text, style="dim")


def _consent(policy: Path | None) -> Consent:
    """A policy where there is one, else the person at the terminal, who must be there."""
    from understudy.federated.consent import AskSomebody, Policy

    if policy is not None:
        return Policy.load(policy)
    if not sys.stdin.isatty():
        raise UsageError(
            "nobody is at the terminal to agree to what an analyst asks for; write down what is "
            "agreed to, and give it as --policy"
        )
    return AskSomebody(_agrees)


def _agrees(lines: list[str]) -> bool:
    say = messages()
    say.print("An analyst asks for:", style="bold")
    for line in lines:
        say.print(f"  {line}")
    return typer.confirm("Take part?", err=True)
