"""Jobs of `schema` that cost no budget: write or import a skeleton, check it, confirm it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import OutputError, SchemaError, UnderstudyError, UsageError
from understudy.jobs.output import write_bytes

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.facts.formats import Draft, DraftColumn
    from understudy.facts.schema import Schema


def draft_of(data: Path, *, encoding: str = "utf-8") -> Draft:
    """A skeleton to fill in: column names, kinds where the file declares types, ids by their names.

    Privacy: reads the header alone.
    """
    from understudy.facts.formats import Draft
    from understudy.facts.formats.frames import kind_of
    from understudy.rows.reading import column_names, is_parquet, parquet_types

    kinds = dict.fromkeys(column_names(data, encoding=encoding), "")
    if is_parquet(data):
        kinds |= {field.name: kind_of(field.type) for field in parquet_types(data)}
    return Draft({name: _column(name, kind) for name, kind in kinds.items()})


def with_types(draft: Draft, data: Path) -> Draft:
    """The skeleton with the types that a Parquet file has, as unreviewed proposals.

    Types may have been chosen by the rows: a tool that takes the narrowest one that fits, or
    categories that list what occurs. So a person has to vouch for them.

    Privacy: reads the header alone.
    """
    from understudy.facts.formats import Draft, DraftColumn
    from understudy.facts.formats.draft import unreviewed
    from understudy.rows.reading import is_parquet, parquet_types

    if not is_parquet(data):
        raise UsageError(f"{data}: only Parquet files declare types; leave out --types")
    types = {field.name: _type_keys(field.type) for field in parquet_types(data)}
    return Draft(
        {
            name: DraftColumn(c.kind, {**c.keys, **unreviewed(types[name])}, c.remark)
            for name, c in draft.columns.items()
        }
    )


def _type_keys(kind: pa.DataType) -> dict[str, str]:
    """The keys of a column by which rows come back in a type; none for that of its kind."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return {"dtype": "category"}
    if pa.types.is_timestamp(kind):
        zone = {} if kind.tz is None else {"zone": str(kind.tz)}
        return {"dtype": f"datetime64[{kind.unit}]", **zone}
    narrow = pa.types.is_integer(kind) and kind != pa.int64()
    named = {pa.float32(): "float32"}
    return {"dtype": str(kind)} if narrow else {"dtype": named[kind]} if kind in named else {}


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
    from understudy.facts.formats import Draft

    strange = [name for name in book.columns if name not in header.columns]
    if len(strange) == len(book.columns):
        raise UsageError(
            f"the code book describes none of the columns, but {strange[0]!r} for one; "
            "look at its names"
        )
    return Draft({name: book.columns.get(name, own) for name, own in header.columns.items()})


def draft_text(draft: Draft, output: Path | None) -> str:
    """The text of a skeleton, in the format that the output's name asks for."""
    return draft.to_json() if output and output.suffix == ".json" else draft.to_toml()


def write_draft(draft: Draft, output: Path) -> None:
    """Write a skeleton to a new file; a file that exists is never overwritten."""
    check_absent(output)
    write_bytes(output, draft_text(draft, output).encode())


def check_absent(output: Path) -> None:
    """Refuse to overwrite a schema, which somebody may have filled in."""
    if output.exists():
        raise OutputError(f"{output}: is there already; remove it, or choose another place")


def confirm(schema: Path, columns: Sequence[str] = ()) -> dict[str, Mapping[str, Any]]:
    """Remove the unreviewed marks of columns, and return what was confirmed about each.

    Args:
        schema: the file, which is changed in place.
        columns: the columns to confirm; all that are unreviewed unless given.
    """
    from understudy.facts.formats import marked, without_marks
    from understudy.facts.schema import read_document

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
        if not _is_skeleton(path):
            raise
        raise SchemaError([*error.problems, _completed(path)]) from None


def _completed(path: Path) -> str:
    return (
        f"{path} is a skeleton: add what the code book says, or learn the rest from private rows "
        f"with budget: understudy schema infer DATA --schema {path} --epsilon 0.5 --delta 1e-6 "
        "-o whole.toml"
    )


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
