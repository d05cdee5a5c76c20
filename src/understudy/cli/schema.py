"""`understudy schema`: write a skeleton, have it filled in, check what was filled in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli import options
from understudy.cli.console import messages, print_json, results
from understudy.cli.infer import infer
from understudy.errors import OutputError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table as RichTable

    from understudy.constraints import Constraint
    from understudy.schema import Schema

app = typer.Typer(
    no_args_is_help=True, help="Write a schema's skeleton, learn what it lacks, check it."
)
app.command("infer")(infer)

_HEAD = """\
# What may stand in each column. Write public knowledge only: code books, laws, common sense.
# Never copy values or bounds out of the rows: what this file says is not protected.
#
#   categorical  values = ["a", "b"]            boolean
#   integer      min = 0, max = 120             float  min = 0.0, max = 1.0, bins = 20
#   date         min = 2020-01-01, max = ...    datetime
#   id           generated afresh, never learned
#
# What is not public may be left away (values = [], no min or max) and learned with budget:
#   understudy schema infer DATA --schema THIS --epsilon 1 --delta 1e-6 -o OTHER
#
# missing = ["?"] gives a column a level for missing cells; [] means nulls and empty cells only.
# Out of bounds: numbers are clipped, rows with undeclared categories dropped, unless outside says.
#
# What cannot stand together is declared here, above the columns, and no synthetic row has it:
# constraints = ["if age < 15 then married = no", "not (sex = male and pregnant = yes)"]
"""


@app.command()
def init(
    data: Annotated[
        Path, typer.Argument(help="A .csv or .parquet file, or a folder; its header is read.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; stdout unless given.")
    ] = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Write a skeleton to fill in: column names, and kinds where the file declares types."""
    from understudy.files import atomic, column_names, is_parquet, parquet_types

    names = column_names(data, encoding=encoding)
    kinds = dict.fromkeys(names, "")
    if is_parquet(data):
        kinds |= {field.name: _kind(field.type) for field in parquet_types(data)}
    text = _HEAD + "".join(_skeleton(name, kind) for name, kind in kinds.items())
    if output is None:
        print(text, end="")
        return
    if output.exists():
        raise OutputError(f"{output}: is there already; remove it, or choose another place")
    with atomic(output) as file:
        file.write(text.encode())
    messages().print(
        f"{len(names)} columns → {output}; fill it in, then: understudy schema check {output}"
    )


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
                "constraints": [_told(constraint) for constraint in loaded.constraints],
                "fingerprint": loaded.fingerprint,
            }
        )
        return
    _show(loaded)


def _told(constraint: Constraint) -> dict[str, str | int]:
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


def _skeleton(name: str, kind: str) -> str:
    import tomli_w

    table = tomli_w.dumps({"columns": {name: {"kind": kind}}})
    hints = {
        "categorical": "values = []\n",
        "integer": "# min = \n# max = \n",
        "float": "# min = \n# max = \n",
        "date": "# min = \n# max = \n",
        "datetime": "# min = \n# max = \n",
    }
    return f"\n{table}{hints.get(kind, '')}"
