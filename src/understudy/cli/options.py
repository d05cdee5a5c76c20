"""Options that several commands share, said once; those that go together are a group."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.groups import Group
from understudy.errors import UsageError
from understudy.privacy.assurance import less_proven_sentence

if TYPE_CHECKING:
    from understudy.codec.persons import Persons
    from understudy.privacy.binding import Signer
    from understudy.privacy.fingerprints import Sighting
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
        f"or noise-gan. {less_proven_sentence()}",
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
NeighboursName = Annotated[
    str | None,
    typer.Option("--neighbours", help="add-remove or replace; the method's own unless given."),
]
RowCount = Annotated[int | None, typer.Option("--rows", "-n", min=0, help="How many rows to make.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write: .csv or .parquet.")]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Repeatable rows; the privacy noise has no seed.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger", help="Where spending is kept; else $UNDERSTUDY_LEDGER, else the state folder."
    ),
]
SignKey = Annotated[
    Path | None,
    typer.Option("--sign", help="Sign the statement with this key of `understudy keys holder`."),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Of CSV text, for example latin-1.")]
RowsPerPerson = Annotated[
    int | None,
    typer.Option("--rows-per-person", min=1, help="How many rows of a person are kept."),
]


@dataclass(frozen=True)
class Purse(Group):
    """Who pays: a ledger, and the name under which the data stands in it."""

    dataset: Annotated[
        str | None,
        typer.Option("--dataset", help="The data's name in the ledger; the file's or folder's."),
    ] = None
    ledger: LedgerFile = None

    @property
    def book(self) -> Ledger:
        """The ledger asked for, else the user's own."""
        return open_ledger(self.ledger)

    def warn_of_copies(self, name: str, sighting: Sighting) -> None:
        """Tell an interactive terminal when these rows were spent on under another name."""
        from understudy.privacy.fingerprints import warn

        warn(self.book.path, name, sighting)


@dataclass(frozen=True)
class People(Group):
    """Who has several rows, and how many are kept."""

    person_id: Annotated[
        str | None,
        typer.Option(
            "--person-id", help="The column that names persons, when one may have many rows."
        ),
    ] = None
    rows_per_person: RowsPerPerson = None

    @property
    def persons(self) -> Persons | None:
        """The same, where it was told."""
        from understudy.codec.persons import Persons

        return Persons.given(self.person_id, self.rows_per_person)


@dataclass(frozen=True)
class Reading(Group):
    """How private rows are to be read."""

    ignore_extra: Annotated[
        bool, typer.Option("--ignore-extra", help="Pass over columns the schema does not declare.")
    ] = False
    encoding: Encoding = "utf-8"
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="The most to take, such as 2GB; larger files go in blocks."),
    ] = None
    table: Annotated[
        str | None, typer.Option("--table", help="The table of a database, as patients.")
    ] = None

    @property
    def access(self) -> Access:
        """The same for the readers."""
        from understudy.sources import Access

        most = None if self.memory is None else bytes_of(self.memory)
        return Access(self.ignore_extra, self.encoding, most, self.table)


@dataclass(frozen=True)
class ClusterReading(Reading):
    """How private rows are to be read, where a cluster may do it."""

    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            help="Count Parquet on Dask workers: tcp://HOST:PORT, tls://HOST:PORT or local.",
        ),
    ] = None
    cluster_timeout: Annotated[
        float,
        typer.Option(
            "--cluster-timeout",
            min=0,
            help="Seconds that the cluster may be out of reach or without workers.",
        ),
    ] = 60

    @property
    def access(self) -> Access:
        """The same for the readers."""
        return replace(super().access, cluster=self.cluster, cluster_timeout=self.cluster_timeout)


def open_ledger(path: Path | None) -> Ledger:
    """The ledger asked for, else the user's own."""
    from understudy.privacy.ledger import Ledger, default_path

    return Ledger(path or default_path())


def signer_of(key: Path | None) -> Signer | None:
    """What signs with a key, which is read before anything is spent; None where none is named."""
    if key is None:
        return None
    from understudy.federated.net.keys import private_key
    from understudy.optional import require
    from understudy.privacy.signing import KeySigner

    require("cryptography", extra="federated")
    return KeySigner(private_key(key))


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
