"""`understudy analyst`: learn one model from tables that stay with their holders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import network_options, options
from understudy.cli.console import Stopwatch, messages, print_json
from understudy.cli.groups import grouped
from understudy.cli.keeping import rescued
from understudy.cli.wishes import Wishes
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.federated.analyst import Analyst
    from understudy.federated.plan import Plan
    from understudy.model import Model


@grouped
def analyst(
    *,
    schema: options.SchemaFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the model goes: NAME.zip, or a folder.")
    ],
    holders: Annotated[
        int,
        typer.Option("--holders", min=1, help="How many must be there before anything is asked."),
    ],
    holder_keys: Annotated[
        list[Path],
        typer.Option("--holder-keys", help="A public key NAME.pub, or a folder of them; repeat."),
    ],
    listen: Annotated[str, typer.Option("--listen", help="HOST:PORT where holders call.")],
    certificate: Annotated[
        Path, typer.Option("--certificate", help="Shown to holders: from `keys analyst`.")
    ] = Path("analyst.crt"),
    certificate_key: Annotated[
        Path, typer.Option("--certificate-key", help="Its key: from `keys analyst`.")
    ] = Path("analyst.key"),
    protocol: Annotated[
        str, typer.Option("--protocol", help="votes, statistics, model or parameters.")
    ] = "votes",
    epsilon: options.Epsilon = None,
    delta: options.Delta = "0",
    neighbours: Annotated[
        str, typer.Option("--neighbours", help="replace, with public numbers of rows; add-remove.")
    ] = "replace",
    rows_per_person: options.RowsPerPerson = None,
    degree: options.Degree = None,
    structure: Annotated[
        Path | None,
        typer.Option("--structure", help="The network, for parameters: .json, .bif or .csv."),
    ] = None,
    wishes: Wishes,
    least: Annotated[
        int | None, typer.Option("--least", min=1, help="How many must answer to the end; all.")
    ] = None,
    deadline: Annotated[
        float, typer.Option("--deadline", min=1, help="Seconds that a question may take.")
    ] = 120,
    attempts: Annotated[
        int, typer.Option("--attempts", min=1, help="How often a silent holder is asked.")
    ] = 3,
    wait: Annotated[
        float, typer.Option("--wait", min=0, help="Seconds to wait for holders to come.")
    ] = 600,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", help="To take a run up again that was cut off: OUTPUT.journal."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Learn a model of the tables of several holders, which answer with noise of their own.

    Less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.federated.analyst import Analyst
    from understudy.federated.net import hub
    from understudy.files import check_apart
    from understudy.model import check_place

    plan = _plan(
        schema=schema,
        protocol=protocol,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        rows_per_person=rows_per_person,
        degree=degree,
        structure=structure,
        wishes=wishes,
        least=least,
        deadline=deadline,
        attempts=attempts,
    )
    place = hub.Listening(
        *network_options.host_and_port(listen, option="--listen"), certificate, certificate_key
    )
    keys = network_options.public_keys(holder_keys)
    check_apart(output, schema)
    check_place(output)
    kept = journal or output.with_name(f"{output.name}.journal")
    watch = Stopwatch()
    with hub.opened(place, keys, say=_say) as channel:
        _say(f"listening at {listen} for {holders} of {', '.join(keys)}")
        with watch.timed("wait"):
            channel.wait_for(holders, seconds=wait)
        run = Analyst(channel, plan, kept)
        with watch.stage("learn", f"learning together with {len(channel.holders)} holders"):
            model = run.learn()
        with rescued(model):
            model.save(output)
        kept.unlink(missing_ok=True)
    _tell(run, model, output, watch, as_json=as_json)


def _plan(
    *,
    schema: Path,
    structure: Path | None,
    wishes: Wishes,
    epsilon: str | None,
    neighbours: str,
    protocol: str,
    **more: Any,
) -> Plan:
    """What is to be learned; whatever cannot be is refused before anybody is asked."""
    from understudy.federated.plan import Plan
    from understudy.federated.terms import ProtocolName
    from understudy.learn.given import read_network
    from understudy.schema import Schema

    if epsilon is None:
        raise UsageError("epsilon has no default; say it, for example --epsilon 1")
    if protocol not in list(ProtocolName):
        raise UsageError(f"protocol is {protocol!r}; use {' or '.join(ProtocolName)}")
    asked = Schema.load(schema)
    return Plan(
        asked,
        ProtocolName(protocol),
        epsilon,
        neighbours=network_options.neighbours_named(neighbours),
        network=None if structure is None else read_network(structure),
        restrictions=wishes.restrictions(asked.attributes),
        **more,
    )


def _say(text: str) -> None:
    messages().print(text, style="dim")


def _tell(run: Analyst, model: Model, output: Path, watch: Stopwatch, *, as_json: bool) -> None:
    from understudy.cli.synth import summary

    report = run.report
    if as_json:
        print_json(
            summary(model, model.rows)
            | {
                "holders": sorted(run.promises),
                "absent": report.absent,
                "findings": report.findings,
                "questions": report.questions,
                "seconds": watch.seconds,
            }
        )
        return
    say = messages()
    say.print(f"model → {output}", style="bold")
    say.print(model.statement.sentence)
    for finding in report.findings:
        say.print(finding, style="yellow")
    say.print(f"{report.questions} questions, {watch.seconds['learn']:.1f} s", style="dim")
