"""The names of the file formats that rows are read from and written to."""

from __future__ import annotations

from pathlib import Path

from understudy.errors import UsageError

CSV, PARQUET, EXCEL = ".csv", ".parquet", ".xlsx"
TEXTS = (CSV, ".tsv", ".txt")
LINES = (".jsonl", ".ndjson")
ARROW = (".feather", ".arrow")
SQLITE = (".sqlite", ".sqlite3", ".db")
STATISTICS = (".sav", ".dta", ".sas7bdat")
PACKINGS = (".gz", ".zst", ".zip")

_PACKED = tuple(text + packing for text in TEXTS for packing in PACKINGS)
SUFFIXES = (*TEXTS, *_PACKED, *LINES, PARQUET, *ARROW, EXCEL, *SQLITE, *STATISTICS)
# A database is not written, SAS has no open writer, and a zip archive serves reading alone.
WRITTEN = tuple(
    suffix
    for suffix in SUFFIXES
    if suffix not in (*SQLITE, ".sas7bdat") and not suffix.endswith(".zip")
)
_SHOWN = (*TEXTS, *LINES, PARQUET, *ARROW, EXCEL)


def suffix_of(path: Path) -> str:
    """The known suffix that a name ends in, in small letters; empty where there is none.

    Example:
        >>> suffix_of(Path("Patients.CSV.gz"))
        '.csv.gz'
    """
    name = path.name.lower()
    found = [suffix for suffix in SUFFIXES if name.endswith(suffix) and name != suffix]
    return max(found, key=len, default="")


def packing_of(path: Path) -> str:
    """How a file of text is compressed, by its suffix; empty where it is not."""
    suffix = suffix_of(path)
    return next((packing for packing in PACKINGS if suffix.endswith(packing)), "")


def stem_of(path: Path) -> str:
    """The name of a file without the suffix of its format.

    Example:
        >>> stem_of(Path("patients.csv.gz"))
        'patients'
    """
    suffix = suffix_of(path)
    return path.name[: -len(suffix)] if suffix else path.name


def check_suffix(path: Path) -> Path:
    """The path, when its suffix names a format that rows are read from."""
    if not suffix_of(path):
        raise UsageError(
            f"{path}: the name must end in {_listed((*_SHOWN, *SQLITE[::2], *STATISTICS))}; "
            f"texts may end in .gz, .zst or .zip besides. {_way_out(path)}"
        )
    return path


def check_written(path: Path) -> Path:
    """The path, when its suffix names a format that rows are written to."""
    if suffix_of(path) not in WRITTEN:
        raise UsageError(
            f"{path}: the name must end in {_listed((*_SHOWN, *STATISTICS[:2]))}; "
            "texts may end in .gz or .zst besides. Choose one of these, or - for standard output"
        )
    return path


def _listed(suffixes: tuple[str, ...]) -> str:
    return f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"


def _way_out(path: Path) -> str:
    if path.suffix.lower() in (".xls", ".xlsb", ".ods"):
        return "Save the sheet as .xlsx or .csv"
    return (
        "Save the table as one of these; pandas does it by "
        f"frame.to_parquet({path.stem + PARQUET!r})"
    )
