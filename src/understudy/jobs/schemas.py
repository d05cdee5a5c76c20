"""Jobs of `schema` that cost no budget: write or import a skeleton, check it, confirm it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import DataError, OutputError, SchemaError, UnderstudyError, UsageError
from understudy.jobs.output import write_bytes
from understudy.jobs.reading import FormatRequest, ReadingRequest
from understudy.jobs.request import JobRequest
from understudy.system.files.piped import PipedFile

if TYPE_CHECKING:
    from understudy.facts.formats import Draft, DraftColumn
    from understudy.facts.schema import Schema

# Numbers, dates and times as cells hold them, and nothing at all.
_DATA = re.compile(
    r"([-+]?[0-9][0-9.,'\u2019 ]*(e[-+]?[0-9]+)?%?|[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}"
    r"([ T][0-9:.+Z-]*)?)?",
    re.IGNORECASE,
)
# What the declared types of SQLite and of statistics packages hold, the narrower ones first.
_SIGNS = {
    "BOOL": "boolean",
    "DATETIME": "datetime",
    "TIMESTAMP": "datetime",
    "DATE": "date",
    "INT": "integer",
    "REAL": "float",
    "FLOA": "float",
    "DOUB": "float",
    "DEC": "float",
    "CHAR": "categorical",
    "CLOB": "categorical",
    "TEXT": "categorical",
    "STRING": "categorical",
}


@dataclass(frozen=True)
class SkeletonRequest(JobRequest):
    """The data whose skeleton is written, and how it is read.

    Attributes:
        data: a file, a folder, the address of a database, or - for standard input.
        spelling: how the file is spelled.
        table: the table of a database.
        piped: the format of standard input.
        look: propose the format from the first rows, as unreviewed.
        types: propose the types of a Parquet file too, as unreviewed.
    """

    data: str
    spelling: FormatRequest = field(default_factory=FormatRequest)
    table: str | None = None
    piped: str | None = None
    look: bool = False
    types: bool = False

    def opened(self) -> str | PipedFile:
        """The data, or for - the file that comes through standard input."""
        return ReadingRequest(piped=self.piped).opened(self.data)


@dataclass(frozen=True)
class Skeletal:
    """A skeleton, and remarks about first rows that are for the owner's terminal alone."""

    draft: Draft
    remarks: tuple[str, ...] = ()


def draft_of(request: SkeletonRequest) -> Skeletal:
    """A skeleton to fill in: column names, kinds where the file declares types, and its format.

    Privacy: reads the header alone, unless `look` is set; what first rows show is marked as
    unreviewed, and the remarks about them are for the owner's terminal.
    """
    from understudy.facts.formats import Draft
    from understudy.rows.engines.databases.connections import is_database
    from understudy.rows.engines.databases.opening import database_types

    data = request.opened()
    if request.types:
        return Skeletal(with_types(draft_of(replace(request, types=False)).draft, request.data))
    if is_database(data):
        types = database_types(data, request.table)
        return Skeletal(Draft({each.name: _column(each.name, _kind(each.type)) for each in types}))
    found = _kinds_of(data, request)
    if found is not None:
        columns = {name: _column(name, kind) for name, kind in found.items()}
        return Skeletal(Draft(columns, format=request.spelling.file_format))
    return _draft_of_text(data, request)


def _kinds_of(data: str | PipedFile, request: SkeletonRequest) -> dict[str, str] | None:
    """The kinds of columns where a file declares types or names alone; None for text."""
    from understudy.rows.reading import column_names, declared_types, is_parquet
    from understudy.rows.reading.lakes import is_lake, open_lake
    from understudy.system.files.suffixes import ARROW, EXCEL, SQLITE, STATISTICS, suffix_of

    if isinstance(data, PipedFile):
        return None
    if is_lake(data):
        return {field.name: _kind(field.type) for field in open_lake(data).types}
    path = Path(data)
    suffix = suffix_of(path)
    if suffix == EXCEL:
        names = column_names(path, given=request.spelling.file_format)
        return dict.fromkeys(_checked_header(names), "")
    if not is_parquet(path) and suffix not in (*ARROW, *SQLITE, *STATISTICS):
        return None
    types = declared_types(path, table=request.table)
    return {name: _kind(kind) for name, kind in types.items()}


def _draft_of_text(data: str | PipedFile, request: SkeletonRequest) -> Skeletal:
    from understudy.facts.formats import Draft, DraftColumn
    from understudy.rows.reading.proposals import first_look, key_look, text_format
    from understudy.system.files.suffixes import LINES, check_suffix, suffix_of

    place = data if isinstance(data, PipedFile) else check_suffix(Path(data))
    given = request.spelling.file_format
    if (place.suffix if isinstance(place, PipedFile) else suffix_of(place)) in LINES:
        if not request.look:
            raise UsageError(
                "a file of JSON lines has no header, and its keys are in its rows, which are "
                "private; with --look the keys of its first row are proposed"
            )
        names, marks = key_look(place), {"unreviewed": True}
        return Skeletal(Draft({name: DraftColumn("", marks) for name in names}))
    if request.look:
        seen = first_look(place, given)
        columns = {name: _column(name, "") for name in _checked_header(seen.names)}
        columns |= {
            name: DraftColumn(noted.kind or columns[name].kind, {**noted.keys, "unreviewed": True})
            for name, noted in seen.columns.items()
            if noted.kind or columns[name].kind != "id"
        }
        return Skeletal(Draft(columns, format=seen.format), seen.remarks)
    names, given = text_format(place, given)
    columns = {name: _column(name, "") for name in _checked_header(names)}
    return Skeletal(Draft(columns, format=given))


def _checked_header(names: list[str]) -> list[str]:
    """The names, unless they could be the cells of a row, or one of them is blank.

    Privacy: a first line that could be a row is not quoted.
    """
    if all(_could_be_data(name) for name in names):
        raise DataError(
            "the first line could be a row: it has only numbers, dates and empty cells; add a "
            "line with the column names, or say by --header-line where they are"
        )
    if not all(name.strip() for name in names):
        raise DataError(
            "a column has no name; name it in the header, or say by --header-line where the "
            "names are"
        )
    return names


def _could_be_data(name: str) -> bool:
    return _DATA.fullmatch(name.strip()) is not None


def _kind(kind: object) -> str:
    """The kind of column for a declared type: an Arrow type, or the word of another format."""
    from understudy.facts.formats.frames import kind_of

    if isinstance(kind, str):
        return next((found for sign, found in _SIGNS.items() if sign in kind.upper()), "")
    return kind_of(kind)


def with_types(draft: Draft, data: str) -> Draft:
    """The skeleton with the types that a Parquet file has, as unreviewed proposals.

    Types may have been chosen by the rows: a tool that takes the narrowest one that fits, or
    categories that list what occurs. So a person has to vouch for them.

    Privacy: reads the header alone.
    """
    from understudy.facts.formats import Draft, DraftColumn
    from understudy.facts.formats.draft import unreviewed
    from understudy.facts.formats.frames import type_keys
    from understudy.rows.reading import is_parquet, parquet_types

    if not is_parquet(Path(data)):
        raise UsageError(f"{data}: only Parquet files declare types; leave out --types")
    types = {field.name: type_keys(field.type) for field in parquet_types(Path(data))}
    return Draft(
        {
            name: DraftColumn(c.kind, {**c.keys, **unreviewed(types[name])}, c.remark)
            for name, c in draft.columns.items()
        },
        format=draft.format,
    )


def _column(name: str, kind: str) -> DraftColumn:
    """A column as far as its name and its declared type go."""
    from understudy.facts.formats import DraftColumn
    from understudy.facts.names import is_identifier, remark_on

    if is_identifier(name) and kind in ("", "integer", "categorical"):
        return DraftColumn("id", remark=remark_on(name))
    return DraftColumn(kind)


def imported_draft(file: Path, *, table: str | None = None) -> Draft:
    """A skeleton from another tool's description of a table; its values are unreviewed."""
    from understudy.facts.formats import read_draft

    return read_draft(file, table=table)


def with_code_book(header: Draft, book: Draft) -> Draft:
    """The columns of a header, each as a code book describes it, where it does."""

    strange = [name for name in book.columns if name not in header.columns]
    if len(strange) == len(book.columns):
        raise UsageError(
            f"the code book describes none of the columns, but {strange[0]!r} for one; "
            "look at its names"
        )
    columns = {name: book.columns.get(name, own) for name, own in header.columns.items()}
    return replace(header, columns=columns)


def draft_text(draft: Draft, output: Path | None) -> str:
    """The text of a skeleton, in the format that the output's name asks for."""
    return draft.to_json() if output and output.suffix == ".json" else draft.to_toml()


def write_draft(draft: Draft, output: Path) -> None:
    """Write a skeleton to a new file; a file that exists is never overwritten."""
    check_absent(output)
    write_bytes(output, draft_text(draft, output).encode())


def check_absent(output: Path) -> None:
    """Refuse to overwrite a schema, which someone may have filled in."""
    if output.exists():
        raise OutputError(f"{output}: is there already; remove it, or choose another place")


def confirm(schema: Path, columns: Sequence[str] = ()) -> dict[str, Mapping[str, Any]]:
    """Remove the unreviewed marks of columns, and return what was confirmed about each.

    Args:
        schema: the file, which is changed in place.
        columns: the columns to confirm; all that are unreviewed unless given.
    """
    from understudy.facts.documents import read_document
    from understudy.facts.formats import marked, without_marks

    found = marked(read_document(schema))
    strange = [name for name in columns if name not in found]
    if strange:
        known = ", ".join(found) or "none"
        raise UsageError(f"column {strange[0]!r} is not unreviewed; those that are: {known}")
    names = list(dict.fromkeys(columns or found))
    if names:
        write_bytes(schema, without_marks(schema, names).encode())
    return {name: found[name] for name in names}


def load_whole(path: Path) -> Schema:
    """Read a schema; findings about one that is a skeleton end with the command that completes it.

    Raises:
        SchemaError: with every finding.
    """
    from understudy.facts.schema import Schema

    try:
        return Schema.load(path)
    except SchemaError as error:
        if _is_skeleton(path):
            raise SchemaError([*error.problems, _completed(path)]) from None
        left = _open_columns(path)
        if not left:
            raise
        raise SchemaError([*error.problems, _opened(path, left)]) from None


def _completed(path: Path) -> str:
    return (
        f"{path} is a skeleton: add what the code book says, or learn the rest from private rows "
        f"with budget: {_inferring(path)}"
    )


def _opened(path: Path, names: Sequence[str]) -> str:
    """Say how columns are completed beside findings that have to be mended first."""
    return (
        f"column {names[0]!r} declares no values or range: add what the code book says, or, after "
        f"mending the rest, learn it from private rows with budget: {_inferring(path)}"
    )


def _inferring(path: Path) -> str:
    return f"understudy schema infer DATA --schema {path} --epsilon 0.5 --delta 1e-6 -o whole.toml"


def _open_columns(path: Path) -> list[str]:
    """The columns of a file that leave something to be learned, whatever is wrong with others."""
    from understudy.facts.documents import read_document
    from understudy.methods.discover.skeleton import is_open

    try:
        document = read_document(path)
    except UnderstudyError:
        return []
    bodies = document.get("columns") if isinstance(document, dict) else None
    if not isinstance(bodies, dict):
        return []
    return [name for name, body in bodies.items() if is_open(body)]


def _is_skeleton(path: Path) -> bool:
    """Whether `schema infer` could complete a schema."""
    from understudy.methods.discover import Skeleton

    try:
        Skeleton.load(path)
    except UnderstudyError:
        return False
    return True


def schema_document(schema: Schema) -> dict[str, Any]:
    """A schema for machines: its attributes, constraints, fingerprint and unreviewed columns."""
    constraints = [
        {
            "text": constraint.text,
            "words": constraint.words,
            "forbidden": constraint.forbidden,
            "combinations": constraint.combinations,
        }
        for constraint in schema.constraints
    ]
    return {
        "columns": schema.attributes,
        "constraints": constraints,
        "fingerprint": schema.fingerprint,
        "unreviewed": list(schema.unreviewed),
    }
