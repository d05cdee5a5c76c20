"""Options about private data: which file it is, what its columns contain, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options.panels import DATA, FORMAT, PLACES, PRIVACY
from understudy.jobs.reading import (
    ClusterReadingRequest,
    FormatRequest,
    PersonRequest,
    ReadingRequest,
)

Data = Annotated[
    str,
    typer.Argument(
        help="The private table: a file such as .csv, .csv.gz, .tsv, .jsonl, .parquet, .feather, "
        ".xlsx, .sav or .dta, a folder of .parquet files, or an address that begins with "
        "s3://, gs://, abfs://, delta:// or iceberg://. With --table it is an SQLite or .duckdb "
        "file, or an address that begins with postgres://, mariadb://, sqlite://, spark:// or "
        "sc://. With --format it may be - for standard input. "
        "Images are in an .npz file."
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
        help="Read from this TOML or JSON file what each column may contain. Without it, a part of "
        "the budget learns the schema, which needs --delta. Not used for images.",
    ),
]
SharedSchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        "-s",
        metavar="FILE",
        rich_help_panel=DATA,
        help="Read from this TOML or JSON file what each column may contain, the same at every "
        "holder. Images need --height and --width instead.",
    ),
]
PipedFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        rich_help_panel=FORMAT,
        help="Read standard input in this format: csv, tsv, txt, jsonl or ndjson.",
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
            help="Protect whole persons, as this column identifies them, instead of single rows. "
            "Needs --rows-per-person.",
        ),
    ] = None
    rows_per_person: RowsPerPerson = None


@dataclass(frozen=True)
class FormatOptions(FormatRequest):
    """Options about how a file is spelled."""

    separator: Annotated[
        str | None,
        typer.Option(
            "--separator",
            metavar="CHARACTER",
            rich_help_panel=FORMAT,
            help="Read fields with this character between them, such as ; or tab. The default is "
            "what the schema's \\[format] says, else a comma, or a tab in .tsv and .txt files.",
        ),
    ] = None
    quote: Annotated[
        str | None,
        typer.Option(
            "--quote",
            metavar="CHARACTER",
            rich_help_panel=FORMAT,
            help="Read fields with this character around them where needed, or none. The default "
            'is ".',
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            "--decimal",
            metavar="CHARACTER",
            rich_help_panel=FORMAT,
            help="Read numbers with this decimal mark: a dot or a comma.",
        ),
    ] = None
    thousands: Annotated[
        str | None,
        typer.Option(
            "--thousands",
            metavar="CHARACTER",
            rich_help_panel=FORMAT,
            help="Read numbers with this mark between groups of three digits, such as . or '.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            rich_help_panel=FORMAT,
            help="Read text in this encoding, for example cp1252. The default is utf-8.",
        ),
    ] = None
    header_line: Annotated[
        int | None,
        typer.Option(
            "--header-line",
            min=1,
            metavar="NUMBER",
            rich_help_panel=FORMAT,
            help="Read the column names from this line, counted from 1.",
        ),
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option(
            "--sheet",
            metavar="NAME",
            rich_help_panel=FORMAT,
            help="Read this sheet of an .xlsx workbook.",
        ),
    ] = None


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
    spelling: FormatOptions = field(default_factory=FormatOptions)
    piped: PipedFormat = None
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
