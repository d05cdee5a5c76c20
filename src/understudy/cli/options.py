"""Options that several commands share, said once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.codec.persons import Persons
    from understudy.privacy.ledger import Ledger
    from understudy.sources import Access

Data = Annotated[
    str,
    typer.Argument(
        help="The private table: .csv, .parquet, a folder of .parquet; or, with --table, "
        ".duckdb or postgres://…"
    ),
]
OptionalSchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", "-s", help="What may stand in each column: TOML or JSON."),
]
SchemaFile = Annotated[
    Path, typer.Option("--schema", "-s", help="What may stand in each column: TOML or JSON.")
]
Epsilon = Annotated[
    str | None, typer.Option("--epsilon", "-e", help="Privacy loss allowed, for example 1 or 0.5.")
]
Delta = Annotated[
    str, typer.Option("--delta", "-d", help="Chance allowed for a larger loss; 0 is pure privacy.")
]
MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help="auto, nist (with delta), privbayes (without), independent, histogram, random, dpgan "
        "or noise-gan.",
    ),
]
Epochs = Annotated[
    float | None,
    typer.Option("--epochs", help="dpgan, noise-gan: how often a row is expected in a batch."),
]
BatchSize = Annotated[
    int | None,
    typer.Option("--batch", min=1, help="dpgan, noise-gan: how many rows a batch has, expected."),
]
Clip = Annotated[
    float | None,
    typer.Option("--clip", help="dpgan: the norm at which a row's gradient is cut off."),
]
Pace = Annotated[
    float | None,
    typer.Option(
        "--pace",
        help="dpgan, noise-gan: how fast networks learn, times the usual; less where they diverge.",
    ),
]
Height = Annotated[int | None, typer.Option("--height", help="Images: pixels, a public fact.")]
Width = Annotated[int | None, typer.Option("--width", help="Images: pixels, a public fact.")]
Classes = Annotated[
    int | None, typer.Option("--classes", help="Images: how many labels there are, from 0 on.")
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint", help="Images by dpgan: an .npz file from which a killed run goes on."
    ),
]
StructureName = Annotated[
    str | None,
    typer.Option(
        "--structure",
        help="greedy, pairwise, tree, genetic, or a file: .json of each attribute's parents, .bif, "
        "or .csv, a matrix with 1 where the column is a parent of the row.",
    ),
]
Degree = Annotated[
    int | None, typer.Option("--degree", min=0, help="The most parents of an attribute.")
]
_RESTRICTIONS = "What the network may be"
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        rich_help_panel=_RESTRICTIONS,
        help="The column that others are used to predict: the first of the network; "
        "for dpgan and noise-gan the one whose values are made to order.",
    ),
]
Protect = Annotated[
    list[str] | None,
    typer.Option(
        "--protect",
        rich_help_panel=_RESTRICTIONS,
        help="A sensitive column: it depends on the target alone, or on what is listed, as "
        "illness=age,sex; nothing depends on it. Repeat for more.",
    ),
]
QuasiIdentifiers = Annotated[
    str | None,
    typer.Option(
        "--quasi-identifiers",
        rich_help_panel=_RESTRICTIONS,
        help="Columns, as age,sex, that an attacker may know; named in the statement.",
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        rich_help_panel=_RESTRICTIONS,
        help="An edge that must be, parent:child. Repeat for more.",
    ),
]
Forbid = Annotated[
    list[str] | None,
    typer.Option(
        "--forbid",
        rich_help_panel=_RESTRICTIONS,
        help="An edge that must not be, parent:child. Repeat for more.",
    ),
]
Tier = Annotated[
    list[str] | None,
    typer.Option(
        "--tier",
        rich_help_panel=_RESTRICTIONS,
        help="Columns, as age,sex, that come next: no parents from later tiers. Repeat, in order; "
        "columns in none come last.",
    ),
]
Predictors = Annotated[
    Path | None,
    typer.Option(
        "--predictors",
        rich_help_panel=_RESTRICTIONS,
        help="A CSV matrix of 0 and 1: a line for each child, 1 where the column may be a parent.",
    ),
]
NeighboursName = Annotated[
    str | None,
    typer.Option("--neighbours", help="add-remove or replace; the method's own unless given."),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger", help="Where spending is kept; else $UNDERSTUDY_LEDGER, else the state folder."
    ),
]
DatasetName = Annotated[
    str | None,
    typer.Option("--dataset", help="The data's name in the ledger; the file's or folder's."),
]
RowCount = Annotated[int | None, typer.Option("--rows", "-n", min=0, help="How many rows to make.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write: .csv or .parquet.")]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Repeatable rows; the privacy noise has no seed.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
IgnoreExtra = Annotated[
    bool, typer.Option("--ignore-extra", help="Pass over columns the schema does not declare.")
]
Encoding = Annotated[str, typer.Option("--encoding", help="Of CSV text, for example latin-1.")]

Memory = Annotated[
    str | None,
    typer.Option("--memory", help="The most to take, such as 2GB; larger files go in blocks."),
]
PersonId = Annotated[
    str | None,
    typer.Option("--person-id", help="The column that names persons, when one may have many rows."),
]
RowsPerPerson = Annotated[
    int | None,
    typer.Option("--rows-per-person", min=1, help="How many rows of a person are kept."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Count Parquet on Dask workers: tcp://HOST:PORT, tls://HOST:PORT or local.",
    ),
]
ClusterTimeout = Annotated[
    float,
    typer.Option(
        "--cluster-timeout",
        min=0,
        help="Seconds that the cluster may be out of reach or without workers.",
    ),
]
TableName = Annotated[
    str | None, typer.Option("--table", help="The table of a database, as patients.")
]


def open_ledger(path: Path | None) -> Ledger:
    """The ledger asked for, else the user's own."""
    from understudy.privacy.ledger import Ledger, default_path

    return Ledger(path or default_path())


def access(
    *,
    ignore_extra: bool,
    encoding: str,
    memory: str | None,
    table: str | None,
    cluster: str | None = None,
    cluster_timeout: float = 60,
) -> Access:
    """How the private rows are to be reached."""
    from understudy.sources import Access

    most = None if memory is None else bytes_of(memory)
    return Access(ignore_extra, encoding, most, table, cluster, cluster_timeout)


def persons(person_id: str | None, rows_per_person: int | None) -> Persons | None:
    """Who has several rows, and how many are kept."""
    from understudy.codec.persons import Persons

    return Persons.given(person_id, rows_per_person)


def bytes_of(text: str) -> int:
    """A number of bytes such as 2GB, 500 MB or 1.5 GiB.

    Example:
        >>> bytes_of("2GB")
        2000000000
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if found is None or float(found[1]) == 0:
        raise UsageError(f"memory is {text!r}; write a size such as 2GB or 500MB")
    number, power = float(found[1]), " kmgt".index(found[2] or " ")
    return int(number * (1024 if found[3] else 1000) ** power)
