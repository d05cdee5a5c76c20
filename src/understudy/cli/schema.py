"""`understudy schema`: write or import a skeleton, learn what it lacks, check and confirm it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import options
from understudy.cli.console import messages, print_json, print_text, results
from understudy.cli.infer import infer
from understudy.errors import OutputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table as RichTable

    from understudy.constraints import Constraint
    from understudy.formats import Draft
    from understudy.schema import Schema

app = typer.Typer(
    no_args_is_help=True,
    help="Write or import a schema's skeleton, learn what it lacks, check it, confirm it.",
)
app.command("infer")(infer)

_Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Where to write; stdout unless given.")
]


@app.command()
def init(
    data: Annotated[
        Path, typer.Argument(help="A .csv or .parquet file, or a folder; its header is read.")
    ],
    output: _Output = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Write a skeleton to fill in: column names, and kinds where the file declares types."""
    from understudy.files import column_names, is_parquet, parquet_types
    from understudy.formats import Draft, DraftColumn

    kinds = dict.fromkeys(column_names(data, encoding=encoding), "")
    if is_parquet(data):
        kinds |= {field.name: _kind(field.type) for field in parquet_types(data)}
    _write(Draft({name: DraftColumn(kind) for name, kind in kinds.items()}), output)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="SDV metadata, a domain file or CSVW, as JSON.")],
    output: _Output = None,
    table: Annotated[
        str | None, typer.Option("--table", help="Which one, if the file describes several.")
    ] = None,
) -> None:
    """Write a skeleton from another tool's description of a table; its values are unreviewed."""
    from understudy.formats import read_draft

    _write(read_draft(file, table=table), output)


def _write(draft: Draft, output: Path | None) -> None:
    from understudy.files import atomic

    text = draft.to_json() if output and output.suffix == ".json" else draft.to_toml()
    if output is None:
        print_text(text)
        return
    if output.exists():
        raise OutputError(f"{output}: is there already; remove it, or choose another place")
    with atomic(output) as file:
        file.write(text.encode())
    say = messages()
    fill_in = "fill it in, then: " if draft.unfinished else ""
    say.print(f"{len(draft.columns)} columns → {output}; {fill_in}understudy schema check {output}")
    if draft.unreviewed:
        say.print(
            f"unreviewed: {', '.join(draft.unreviewed)}; these values may have been computed from "
            f"the rows. If you know them without looking: understudy schema confirm {output}"
        )


@app.command()
def confirm(
    schema: Annotated[Path, typer.Argument(help="A schema in TOML or JSON.")],
    columns: Annotated[
        list[str] | None, typer.Argument(help="The columns to confirm; all unless given.")
    ] = None,
) -> None:
    """Vouch for unreviewed values: "I know these values without looking at the rows"."""
    from understudy.files import atomic
    from understudy.formats import marked, without_marks
    from understudy.schema import read_document

    found = marked(read_document(schema))
    strange = [name for name in columns or () if name not in found]
    if strange:
        known = ", ".join(found) or "none"
        raise UsageError(f"column {strange[0]!r} is not unreviewed; those that are: {known}")
    names = list(dict.fromkeys(columns or found))
    if not names:
        messages().print("no column is unreviewed; there is nothing to confirm")
        return
    text = without_marks(schema, names)
    with atomic(schema) as file:
        file.write(text.encode())
    results().print("Confirmed: I know these values without looking at the rows.")
    for name in names:
        results().print(f"  {name}: {_told(found[name])}")


def _told(body: Mapping[str, Any]) -> str:
    """What somebody vouches for, in one line."""
    from understudy.column import text_of

    shown = []
    for key, value in body.items():
        items = [text_of(item) for item in value] if isinstance(value, list) else None
        shown.append(f"{key} = {text_of(value) if items is None else ', '.join(items)}")
    return "; ".join(shown)


@app.command()
def check(
    schema: Annotated[Path, typer.Argument(help="A schema in TOML or JSON.")],
    as_json: options.AsJson = False,
) -> None:
    """Check a schema, all findings at once, and show what it makes of each column."""
    from understudy.schema import Schema

    loaded = Schema.load(schema)
    if as_json:
        print_json(
            {
                "columns": loaded.attributes,
                "constraints": [_told_constraint(c) for c in loaded.constraints],
                "fingerprint": loaded.fingerprint,
                "unreviewed": list(loaded.unreviewed),
            }
        )
        return
    _show(loaded)
    if loaded.unreviewed:
        messages().print(
            f"unreviewed: {', '.join(loaded.unreviewed)}; nothing is fitted before "
            f"`understudy schema confirm {schema}`"
        )


def _told_constraint(constraint: Constraint) -> dict[str, str | int]:
    return {
        "text": constraint.text,
        "words": constraint.words,
        "forbidden": constraint.forbidden,
        "combinations": constraint.combinations,
    }


def _show(schema: Schema) -> None:
    from rich.table import Table

    columns = Table("column", "kind", "codes", "missing", "outside", box=None)
    for name, column in schema.columns.items():
        codes = str(schema.attributes.get(name, "–"))
        markers = getattr(column, "missing", None)
        missing = "–" if markers is None else ", ".join(["empty", *markers])
        columns.add_row(name, column.kind, codes, missing, str(getattr(column, "outside", "–")))
    results().print(columns)
    if schema.constraints:
        results().print(_constraints(schema))


def _constraints(schema: Schema) -> RichTable:
    from rich.table import Table

    constraints = Table("\nconstraint", "\nforbids", box=None)
    for constraint in schema.constraints:
        whole = f"{constraint.combinations:,} combinations of {' × '.join(constraint.sizes)}"
        constraints.add_row(constraint.words, f"{constraint.forbidden:,} of {whole}")
    return constraints


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
