"""One fit of ours in a process of its own: read codes, fit, sample as many rows, write codes.

Run: python -m benchmarks.arena.ours METHOD FOLDER ARGUMENTS_AS_JSON SEED
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.peers import Folder
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods.registry import method
from understudy.models.sampling import deal_codes
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table


def main() -> None:
    """The seed reaches sampling only; the noise has none."""
    name, path, arguments, seed = sys.argv[1:]
    folder = Folder(Path(path))
    schema = Schema.load(folder.schema)
    table = coded_rows(schema, folder.rows)
    synthesizer = method(name)(schema, **json.loads(arguments))
    model = synthesizer.fit(MemorySource(table), ledger=None).model_
    codes = model.law.draw(table.rows, np.random.default_rng(int(seed)), sampler=deal_codes)
    pyarrow.csv.write_csv(pa.table(dict(codes)), folder.output)


def coded_rows(schema: Schema, path: str) -> Table:
    """The table of a file of codes."""
    rows = pyarrow.csv.read_csv(path)
    codes: dict[str, Codes] = {
        name: rows[name].to_numpy().astype(code_type(size))
        for name, size in schema.attributes.items()
    }
    return Table(Domain.of(schema), codes, rows.num_rows)


if __name__ == "__main__":
    main()
