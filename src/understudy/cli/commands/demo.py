"""`understudy demo`: the main job on a built-in example, from a schema to rows and a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli import options
from understudy.cli.console import Stopwatch, print_json, results
from understudy.cli.keeping import write_statement

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.codec import Codec
    from understudy.network import Network

_BAR = 24


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where the example's files go.")] = Path(
        "understudy-demo"
    ),
    as_json: options.AsJson = False,
) -> None:
    """Make a stand-in for a made-up clinic's table at epsilon = 1, and show how alike they are."""
    from understudy.cli import example
    from understudy.cli.synth import summary
    from understudy.codec import Codec
    from understudy.files import write_rows, writing
    from understudy.privacy.ledger import Ledger
    from understudy.synthesizers import PrivBayes

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    private, schema_file, output = (
        folder / "clinic.csv",
        folder / "clinic.toml",
        folder / "synthetic.csv",
    )
    schema, codec = example.schema(), Codec(example.schema())
    with writing(schema_file):
        schema.dump(schema_file)
    write_rows([example.rows()], private, codec)
    watch = Stopwatch()
    ledger = Ledger(folder / "ledger.jsonl")
    with watch.stage("fit", "fitting"):
        synthesizer = PrivBayes(schema, epsilon=1).fit(private, ledger=ledger)
    with watch.stage("sample", "sampling"):
        synthetic = synthesizer.sample()
        write_rows([synthetic], output, codec)
    model = synthesizer.model_
    document = summary(model, synthetic.num_rows)
    document = write_statement(document, output, record=model.statement.record)
    if as_json:
        print_json(document | {"seconds": watch.seconds})
        return
    _say("A private table", f" (made up, so that it can be shown): {private}")
    _say("What may stand in it", f", which is public: {schema_file}")
    _say("The same by hand:")
    _say("", f"  understudy synth {private} --schema {schema_file} --epsilon 1 -o {output}\n")
    _show_rows(synthetic)
    _show_network(synthesizer.model_.network)
    _show_diagnoses(example.rows(), synthetic)
    _show_distances(codec, example.rows(), synthetic)
    spent = ledger.account("clinic").spent
    _say("\nPromise", f": {document['statement']['sentence']}")
    _say("Ledger", f": {spent} spent on clinic so far; see", end=" ")
    _say("", f"understudy ledger show --ledger {ledger.path}")
    _say("", f"fit {watch.seconds['fit']:.2f} s, sample {watch.seconds['sample']:.2f} s → {output}")


def _say(head: str, rest: str = "", *, end: str = "\n") -> None:
    from rich.text import Text

    results().print(Text.assemble((head, "bold"), rest), end=end)


def _show_rows(synthetic: pa.Table) -> None:
    from rich.table import Table

    shown = Table(
        *synthetic.column_names,
        title="Synthetic rows: nobody is in them",
        title_justify="left",
        box=None,
    )
    for row in synthetic.slice(0, 5).to_pylist():
        cells = (
            f"{v:.1f}" if isinstance(v, float) else "" if v is None else str(v)
            for v in row.values()
        )
        shown.add_row(*cells)
    results().print(shown)


def _show_network(network: Network) -> None:
    learned = [f"{', '.join(f.parents)} → {f.child}" for f in network if f.parents]
    _say("\nWhat was learned to depend on what", f": {'; '.join(learned) or 'nothing'}")


def _show_diagnoses(private: pa.Table, synthetic: pa.Table) -> None:
    """One column given another; it may be shown because the example is public."""
    from rich.table import Table

    title = "\ndiagnosis of people over sixty"
    bars = Table("", "private", "synthetic", title=title, title_justify="left", box=None)
    real, made = _diagnoses_over_sixty(private), _diagnoses_over_sixty(synthetic)
    highest = max(*real.values(), *made.values())
    for name, share in real.items():
        bars.add_row(name, _bar(share, highest), _bar(made.get(name, 0.0), highest))
    results().print(bars)


def _diagnoses_over_sixty(rows: pa.Table) -> dict[str, float]:
    import pyarrow.compute as pc

    old = rows.filter(pc.field("age") >= 60)["diagnosis"].to_pylist()
    names = sorted(set(old), key=old.count, reverse=True)
    return {name: old.count(name) / len(old) for name in names}


def _show_distances(codec: Codec, private: pa.Table, synthetic: pa.Table) -> None:
    """How many rows stand in the wrong place, column by column and pair by pair."""
    from understudy.evaluate.fidelity import total_variation, workload

    real, made = codec.encode(private), codec.encode(synthetic)
    alone = workload(codec.domain, 1)
    off = zip(alone, total_variation(real, made, alone), strict=True)
    pairs = total_variation(real, made, workload(codec.domain, 2)).mean()
    _say("\nShare of rows in the wrong place", ", column by column: ", end="")
    _say("", ", ".join(f"{name} {share:.1%}" for (name,), share in off), end="; ")
    _say("", f"pairs of columns on average {pairs:.1%}")


def _bar(share: float, highest: float) -> str:
    return f"{'█' * round(_BAR * share / highest):<{_BAR}} {share:.1%}"
