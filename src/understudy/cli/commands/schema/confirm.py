"""`understudy schema confirm`: declare that unreviewed values are public."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from understudy.cli.console import messages, results


def confirm(
    schema: Annotated[Path, typer.Argument(help="A schema in TOML or JSON.")],
    columns: Annotated[
        list[str] | None,
        typer.Argument(help="The columns to confirm. The default is all unreviewed ones."),
    ] = None,
) -> None:
    """Confirm unreviewed values: "I know these values without looking at the rows"."""
    from understudy.jobs.schemas import confirm

    found = confirm(schema, columns or ())
    if not found:
        messages().print("no column is unreviewed; there is nothing to confirm")
        return
    results().print("Confirmed: I know these values without looking at the rows.")
    for name, body in found.items():
        results().print(f"  {name}: {_one_line(body)}")


def _one_line(body: Mapping[str, Any]) -> str:
    """Write what is confirmed about a column in one line."""
    from understudy.facts.column import text_of

    shown = []
    for key, value in body.items():
        items = [text_of(item) for item in value] if isinstance(value, list) else None
        shown.append(f"{key} = {text_of(value) if items is None else ', '.join(items)}")
    return "; ".join(shown)
