"""Options about results: where they go, who signs them, and how they are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options.panels import OUTPUT

RowsFile = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Write the rows to this file, such as .csv, .csv.gz, .tsv, .jsonl, .parquet, "
        ".feather, .xlsx, .sav or .dta, or to - for standard output as CSV. Images go to an .npz "
        "file.",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Save the model here: NAME.zip, or a folder.",
    ),
]
RowCount = Annotated[
    int | None,
    typer.Option(
        "--rows",
        "-n",
        min=0,
        metavar="ROWS",
        rich_help_panel=OUTPUT,
        help="Make this many rows. The default is about as many as the model was learned from: "
        "the number is either declared, or counted with privacy noise.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="NUMBER",
        rich_help_panel=OUTPUT,
        help="Make the rows repeatable. The privacy noise never has a seed.",
    ),
]
SignKey = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Sign the statement with this key, made by `understudy keys holder`.",
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        rich_help_panel=OUTPUT,
        help="Overwrite an output that a budget was spent on; without it, nothing paid is lost.",
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", rich_help_panel=OUTPUT, help="Print the result as one JSON object."),
]
