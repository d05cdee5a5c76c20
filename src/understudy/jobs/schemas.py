"""Jobs of `schema` that cost no budget: write or import a skeleton, check it, confirm it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import OutputError, SchemaError, UnderstudyError, UsageError
from understudy.jobs.output import write_bytes

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.facts.formats import Draft
    from understudy.facts.schema import Schema


def draft_of(data: Path, *, encoding: str = "utf-8") -> Draft:
    """A skeleton to fill in: column names, and kinds where the file declares types.

    Privacy: reads the header alone.
    """
    from understudy.facts.formats import Draft, DraftColumn
    from understudy.rows.reading import column_names, is_parquet, parquet_types

    kinds = dict.fromkeys(column_names(data, encoding=encoding), "")
    if is_parquet(data):
        kinds |= {field.name: _kind(field.type) for field in parquet_types(data)}
    return Draft({name: DraftColumn(kind) for name, kind in kinds.items()})


def _kind(kind: pa.DataType) -> str:
    import pyarrow as pa

    tests = {
        "boolean": pa.types.is_boolean,
        "integer": pa.types.is_integer,
        "float": lambda t: pa.types.is_floating(t) or pa.types.is_decimal(t),
        "date": pa.types.is_date,
        "datetime": pa.types.is_timestamp,
    }
    return next((name for name, test in tests.items() if test(kind)), "categorical")


def imported_draft(file: Path, *, table: str | None = None) -> Draft:
    """A skeleton from another tool's description of a table; its values are unreviewed."""
    from understudy.facts.formats import read_draft

    return read_draft(file, table=table)


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
