"""Job of `doctor`: versions, extras, the machine, and whether the ledger is in order."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata
from os import PathLike
from typing import Any

from understudy.errors import LedgerError, UnderstudyError
from understudy.jobs.ledgers import open_ledger
from understudy.system.files.locking import lock_kind
from understudy.system.machine import cores, free_memory, whole_memory
from understudy.system.version import __version__

# The oldest that Spark 4 starts with.
_JAVA = 17
_JAVA_NAMED = f"Java {_JAVA}"
_CORE = ("numpy", "numba", "scipy", "pyarrow", "pydantic", "dp-accounting", "typer", "rich")

EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "evaluate": (("scikit-learn", "xgboost-cpu"), "classifiers and detection in `evaluate`"),
    "database": (
        ("ibis-framework", "sqlglot", "duckdb", "psycopg"),
        "rows in DuckDB, PostgreSQL and SQLite, and a ledger in PostgreSQL",
    ),
    "mysql": (("pymysql",), "rows in MariaDB and MySQL"),
    "spark": (
        (
            "pyspark",
            "pandas",
            "grpcio",
            "grpcio-status",
            "googleapis-common-protos",
            "zstandard",
        ),
        "rows in Spark, which needs Java 17 here, and in Spark Connect (sc://), which does not",
    ),
    "lake": (
        ("fsspec", "deltalake", "pyiceberg"),
        "rows in s3://, gs:// and abfs://, and in Delta and Iceberg tables",
    ),
    "cluster": (("dask", "distributed", "cryptography"), "Parquet counted by a Dask cluster"),
    "excel": (("openpyxl",), "workbooks (.xlsx)"),
    "statistics": (("pyreadstat", "polars"), "files of SPSS, Stata and SAS"),
    "pictures": (("resvg-py",), "pictures of networks as PNG"),
    "federated": (
        ("flwr", "click", "cryptography", "httpx", "uvicorn"),
        "`holder` and `analyst`, and signatures",
    ),
    "stream": (("redis",), "streams from Redis"),
    "fakes": (("faker",), "names and addresses that are made up"),
    "gan": (("torch",), "`dpgan` and `noise-gan`"),
}
"""The packages of each extra, and what it brings."""


@dataclass(frozen=True)
class ExtraState:
    """Whether an extra is installed.

    Attributes:
        name: of the extra.
        brings: what it is for.
        versions: its packages that are installed.
        missing: its packages that are not.
    """

    name: str
    brings: str
    versions: dict[str, str]
    missing: list[str]

    @property
    def way_out(self) -> str:
        """How to install what is missing of it."""
        if self.missing == [_JAVA_NAMED]:
            return f"install {_JAVA_NAMED} or newer"
        return f"pip install 'understudy[{self.name}]'"


@dataclass(frozen=True)
class LedgerHealth:
    """Whether a ledger is in order.

    Attributes:
        place: where it is, without a password.
        entries: how many entries were read and found whole; None where that failed.
        datasets: how many datasets it knows.
        open_runs: how many runs were never closed, and count whole.
        trouble: what is wrong; empty where nothing is.
        copy_of: the ledger that this one is a copy of, to be read alone; None where it is not.
    """

    place: str
    entries: int | None = None
    datasets: int = 0
    open_runs: int = 0
    trouble: str = ""
    copy_of: str | None = None


@dataclass(frozen=True)
class Diagnosis:
    """The state of an installation and its machine."""

    versions: dict[str, str | None]
    extras: list[ExtraState]
    machine: dict[str, Any]
    ledger: LedgerHealth

    def document(self) -> dict[str, Any]:
        """Describe it for machines."""
        extras = {
            each.name: {
                "installed": not each.missing,
                "brings": each.brings,
                "versions": each.versions,
                "missing": each.missing,
            }
            for each in self.extras
        }
        return {
            "versions": self.versions,
            "machine": self.machine,
            "extras": extras,
            "ledger": vars(self.ledger),
        }


def diagnose(ledger: str | PathLike[str] | None = None) -> Diagnosis:
    """Look at the installation, the machine and a ledger; nothing is changed or spent."""
    versions: dict[str, str | None] = {
        "understudy": __version__,
        "python": platform.python_version(),
    }
    return Diagnosis(
        versions | {name: version_of(name) for name in _CORE},
        [_extra(name) for name in EXTRAS],
        _machine(),
        ledger_health(ledger),
    )


def version_of(package: str) -> str | None:
    """The version of a package that is installed; None where it is not."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _extra(name: str) -> ExtraState:
    packages, brings = EXTRAS[name]
    found = {package: version_of(package) for package in packages}
    held = {package: version for package, version in found.items() if version is not None}
    missing = [package for package in packages if package not in held]
    if name == "spark" and (java_version() or 0) < _JAVA:
        missing.append(_JAVA_NAMED)
    return ExtraState(name, brings, held, missing)


def java_version() -> int | None:
    """The version of the Java that Spark would start: that of JAVA_HOME, else of the path."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if program is None:
        return None
    try:
        run = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', run.stderr + run.stdout)
    return int(found[1]) if found else None


def _machine() -> dict[str, Any]:
    return {
        "system": f"{platform.system()} {platform.release()}",
        "cores": cores(),
        "memory_bytes": whole_memory(),
        "free_memory_bytes": free_memory(),
        "locks": lock_kind(),
    }


def ledger_health(place: str | PathLike[str] | None) -> LedgerHealth:
    """Read a whole ledger, and say what is wrong with it."""
    from understudy.privacy.spending.ledger import is_copy, moved_to

    book = open_ledger(place)
    if not book.exists:
        return LedgerHealth(book.place, trouble="" if place is None else "it does not exist")
    try:
        with book.store.locked() as held:
            chain = held.chain
        accounts = book.accounts().values()
        known, secret = book.secrets(), book.secret()
    except UnderstudyError as error:
        return LedgerHealth(book.place, trouble=str(error))
    gone = moved_to(chain)
    lost = known and (secret is None or secret.name not in known)
    runs = [run for account in accounts for run in account.runs]
    copied = gone if gone and is_copy(chain) else None
    moved = f"it was moved to {gone}" if gone and not copied else ""
    open_runs = sum(bool(run["open"]) for run in runs)
    return LedgerHealth(
        book.place,
        len(chain.entries),
        len(accounts),
        open_runs,
        trouble=moved or ("its secret is lost" if lost else ""),
        copy_of=copied,
    )


def check_health(health: LedgerHealth) -> None:
    """Refuse a ledger that is not in order, so that the exit code says so.

    Raises:
        LedgerError: something is wrong with it.
    """
    if health.trouble:
        raise LedgerError(f"ledger {health.place}: is not in order: {health.trouble}")
