"""The whole nist job on a million rows, in this process and as a command, against numpy's pairs."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

from benchmarks.counting import by_bincount
from benchmarks.measuring import in_turns, understudy
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped, write_uniform
from understudy.facts.codec import Codec
from understudy.methods import Nist
from understudy.models.row_writing import write_rows
from understudy.models.sampling import sample_blocks
from understudy.rows.reading import read_rows
from understudy.rows.table import Table


def run(board: Scoreboard) -> None:
    """Read, fit, sample and write in a few times what counting all pairs takes numpy."""
    rows, schema = board.size.pick(10**6, 20_000), adult_shaped()
    codec, commands = Codec(schema), list[float]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, output, declared = folder / "rows.parquet", folder / "out.parquet", folder / "s.json"
        write_uniform(schema, rows, path)
        schema.dump(declared)
        table = Table.of(codec.encode(read_rows(path, codec)))
        pairs = list(itertools.combinations(table.domain.attributes, 2))
        asked = ("--method", "nist", "--epsilon", "1", "--delta", "1e-9", "--force")
        places = ("-o", str(output), "--ledger", str(folder / "ledger.jsonl"))

        def job() -> None:
            fitted = Nist(schema, epsilon=1, delta=1e-9).fit(path, ledger=None)
            write_rows(sample_blocks(fitted.model_), output, codec)

        def command() -> None:
            ran = understudy("synth", str(path), "--schema", str(declared), *asked, *places)
            commands.append(ran.cpu_seconds)

        works = {"job": job, "command": command, "pairs": lambda: by_bincount(table, pairs)}
        taken = in_turns(works, rounds=2)
    what = f"whole nist {{}}, {rows:,} × {len(schema.columns)}, times numpy's pairs alone"
    board.add(what.format("job"), taken["job"] / taken["pairs"], "×", 10)
    # A process of its own is timed by its end; the first of them may have compiled.
    board.add(what.format("command"), min(commands[1:]) / taken["pairs"], "×", 12)
