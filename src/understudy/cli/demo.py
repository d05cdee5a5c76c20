"""`understudy demo`: the main job on a built-in example, from a schema to rows and a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli import options
from understudy.cli.console import Stopwatch, print_json, results

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from understudy.codec import Codec

_BAR = 24


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where the example's files go.")] = Path(
        "understudy-demo"
    ),
    as_json: options.AsJson = False,
) -> None:
    """Make a stand-in for a made-up clinic's table at epsilon = 1, and show how alike they are."""
    from understudy.cli import example
    from understudy.cli.synth import summary, write_json
    from understudy.codec import Codec
    from understudy.files import write_rows, writing
    from understudy.privacy.ledger import Ledger
    from understudy.synthesizers import Independent

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    private, schema_file, output = (
        folder / "clinic.csv",
        folder / "clinic.toml",
        folder / "synthetic.csv",
    )
    schema, codec = example.schema(), Codec(example.schema())
    with writing(schema_file):
        schema.dump(schema_file)
    write_rows([example.rows()], private, codec)
    watch = Stopwatch()
    ledger = Ledger(folder / "ledger.jsonl")
    with watch.stage("fit", "fitting"):
        synthesizer = Independent(schema, epsilon=1).fit(private, ledger=ledger)
    with watch.stage("sample", "sampling"):
        synthetic = synthesizer.sample()
        write_rows([synthetic], output, codec)
    document = summary(synthesizer.model_, synthetic.num_rows)
    write_json(Path(f"{output}.privacy.json"), document)
    if as_json:
        print_json(document | {"seconds": watch.seconds})
        return
    _say("A private table", f" (made up, so that it can be shown): {private}")
    _say("What may stand in it", f", which is public: {schema_file}")
    _say("The same by hand:")
    _say("", f"  understudy synth {private} --schema {schema_file} --epsilon 1 -o {output}\n")
    _show_rows(synthetic)
    _show_columns(codec, example.rows(), synthetic)
    spent = ledger.account("clinic").spent
    _say("\nPromise", f": {document['statement']['sentence']}")
    _say("Ledger", f": {spent} spent on clinic so far; see", end=" ")
    _say("", f"understudy ledger show --ledger {ledger.path}")
    _say("", f"fit {watch.seconds['fit']:.2f} s, sample {watch.seconds['sample']:.2f} s → {output}")


def _say(head: str, rest: str = "", *, end: str = "\n") -> None:
    from rich.text import Text

    results().print(Text.assemble((head, "bold"), rest), end=end)


def _show_rows(synthetic: pa.Table) -> None:
    from rich.table import Table

    shown = Table(
        *synthetic.column_names,
        title="Synthetic rows: nobody is in them",
        title_justify="left",
        box=None,
    )
    for row in synthetic.slice(0, 5).to_pylist():
        cells = (
            f"{v:.1f}" if isinstance(v, float) else "" if v is None else str(v)
            for v in row.values()
        )
        shown.add_row(*cells)
    results().print(shown)


def _show_columns(codec: Codec, private: pa.Table, synthetic: pa.Table) -> None:
    """How alike the columns are; it may be shown because the example is public."""
    import numpy as np
    from rich.table import Table

    real, made = codec.encode(private), codec.encode(synthetic)
    shares = {
        name: (_shares(real.codes[name], size), _shares(made.codes[name], size))
        for name, size in codec.domain.sizes.items()
    }
    bars = Table("", "private", "synthetic", title="\ndiagnosis", title_justify="left", box=None)
    labels = [*codec.schema.learned["diagnosis"].texts, "unknown"]  # type: ignore[union-attr]
    highest = max(part.max() for part in shares["diagnosis"])
    for label, first, second in zip(labels, *shares["diagnosis"], strict=True):
        bars.add_row(label, _bar(first, highest), _bar(second, highest))
    results().print(bars)
    off = ", ".join(f"{n} {np.abs(a - b).sum() / 2:.1%}" for n, (a, b) in shares.items())
    _say("\nShare of rows in the wrong place", f", column by column: {off}")


def _shares(codes: npt.NDArray[np.integer], size: int) -> npt.NDArray[np.float64]:
    import numpy as np

    return np.bincount(codes, minlength=size) / max(codes.size, 1)


def _bar(share: float, highest: float) -> str:
    return f"{'█' * round(_BAR * share / highest):<{_BAR}} {share:.1%}"
