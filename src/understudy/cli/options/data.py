"""Options about private data: which file it is, what its columns contain, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options.panels import DATA, PLACES, PRIVACY
from understudy.jobs.reading import ClusterReadingRequest, PersonRequest, ReadingRequest

Data = Annotated[
    str,
    typer.Argument(
        help="The private table: a .csv or .parquet file, or a folder of .parquet files. With "
        "--table it is a .duckdb file or a postgres:// address. Images are in an .npz file."
    ),
]
SchemaFile = Annotated[
    Path,
    typer.Option(
        "--schema",
        "-s",
        metavar="FILE",
        rich_help_panel=DATA,
        help="Read from this TOML or JSON file what each column may contain.",
    ),
]
OptionalSchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        "-s",
        metavar="FILE",
        rich_help_panel=DATA,
        help="Read from this TOML or JSON file what each column may contain. Required for tables, "
        "not used for images.",
    ),
]
EncodingName = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="NAME",
        rich_help_panel=DATA,
        help="Read CSV text in this encoding, for example latin-1.",
    ),
]
RowsPerPerson = Annotated[
    int | None,
    typer.Option(
        "--rows-per-person",
        min=1,
        metavar="ROWS",
        rich_help_panel=PRIVACY,
        help="Keep at most this many rows of each person.",
    ),
]


@dataclass(frozen=True)
class PersonOptions(PersonRequest):
    """Options about persons who have several rows."""

    person_id: Annotated[
        str | None,
        typer.Option(
            "--person-id",
            metavar="COLUMN",
            rich_help_panel=PRIVACY,
            help="Protect whole persons, whom this column identifies, instead of single rows. "
            "Needs --rows-per-person.",
        ),
    ] = None
    rows_per_person: RowsPerPerson = None


@dataclass(frozen=True)
class ReadingOptions(ReadingRequest):
    """Options about how private rows are read."""

    ignore_extra: Annotated[
        bool,
        typer.Option(
            "--ignore-extra",
            rich_help_panel=DATA,
            help="Skip columns that the schema does not declare.",
        ),
    ] = False
    encoding: EncodingName = "utf-8"
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            rich_help_panel=PLACES,
            help="Take at most this much memory, such as 2GB. Larger files are read in blocks.",
        ),
    ] = None
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME",
            rich_help_panel=PLACES,
            help="Read this table of a database, for example patients.",
        ),
    ] = None


@dataclass(frozen=True)
class ClusterReadingOptions(ReadingOptions, ClusterReadingRequest):
    """Options about how private rows are read, where a Dask cluster may count them."""

    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            rich_help_panel=PLACES,
            help="Count Parquet on Dask workers: tcp://HOST:PORT, tls://HOST:PORT or local.",
        ),
    ] = None
    cluster_timeout: Annotated[
        float,
        typer.Option(
            "--cluster-timeout",
            min=0,
            metavar="SECONDS",
            rich_help_panel=PLACES,
            help="Give up when the cluster cannot be reached or has no workers for this long.",
        ),
    ] = 60
