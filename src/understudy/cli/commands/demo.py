"""`understudy demo`: the main job on a built-in example, from a schema to rows and a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import TerminalProgress, print_json, results
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import OUTPUT

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.jobs.demo import Demonstration

_BAR = 24


def demo(
    folder: Annotated[
        Path,
        typer.Option(
            "--folder",
            metavar="FOLDER",
            rich_help_panel=OUTPUT,
            help="Write the example's files here.",
        ),
    ] = Path("understudy-demo"),
    as_json: AsJson = False,
) -> None:
    """Make a stand-in for a made-up clinic's table at epsilon = 1, and compare the two."""
    from understudy.jobs.demo import demonstrate

    found = demonstrate(folder, progress=TerminalProgress())
    if as_json:
        print_json(found.document | {"seconds": found.seconds})
    else:
        _show(found)


def _show(found: Demonstration) -> None:
    _print("A private table", f" (made up, so that it can be shown): {found.data}")
    _print("Its schema", f", which is public: {found.schema}")
    _print("The same by hand:")
    command = f"understudy synth {found.data} --schema {found.schema} --epsilon 1 -o {found.output}"
    _print("", f"  {command}\n")
    _show_rows(found.synthetic)
    _show_dependences(found.dependences)
    _show_diagnoses(found.private, found.synthetic)
    _show_distances(found)
    _print("\nPromise", f": {found.document['statement']['sentence']}")
    _print("Ledger", f": {found.spent} spent on clinic so far; see", end=" ")
    _print("", f"understudy ledger show --ledger {found.ledger}")
    seconds = found.seconds
    _print("", f"fit {seconds['fit']:.2f} s, sample {seconds['sample']:.2f} s → {found.output}")


def _print(head: str, rest: str = "", *, end: str = "\n") -> None:
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


def _show_dependences(pairs: list[tuple[str, str]]) -> None:
    learned = "; ".join(f"{parent} → {child}" for parent, child in pairs)
    _print("\nWhat was learned to depend on what", f": {learned or 'nothing'}")


def _show_diagnoses(private: pa.Table, synthetic: pa.Table) -> None:
    """Show one column given another; the example is public, so this may be shown."""
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


def _show_distances(found: Demonstration) -> None:
    """Show how many rows are in wrong cells, column by column and for pairs."""
    alone, pairs = found.distances()
    _print("\nShare of rows in the wrong place", ", column by column: ", end="")
    _print("", ", ".join(f"{name} {share:.1%}" for name, share in alone.items()), end="; ")
    _print("", f"pairs of columns on average {pairs:.1%}")


def _bar(share: float, highest: float) -> str:
    return f"{'█' * round(_BAR * share / highest):<{_BAR}} {share:.1%}"
