"""The records of the arena: a small JSON file for each table and entrant, a line for each run.

A file names what its numbers depend on. A run that is there and depends on the same things is not
repeated; where they differ, the whole file is out of date and begins again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Facts = dict[str, Any]

_EPSILON_ORDER = ("none", "0.01", "0.1", "1", "10", "100")


@dataclass(frozen=True)
class RecordFile:
    """The runs of one entrant on one table."""

    path: Path

    def runs(self, facts: Facts | None = None) -> list[Record]:
        """All runs on record; none where they depend on other facts than those given."""
        if not self.path.exists():
            return []
        document = json.loads(self.path.read_text(encoding="utf-8"))
        runs: list[Record] = document["runs"]
        return runs if facts is None or document["facts"] == facts else []

    @property
    def facts(self) -> Facts:
        """Return the facts that the runs depend on."""
        found: Facts = json.loads(self.path.read_text(encoding="utf-8"))["facts"]
        return found

    def has(self, facts: Facts, epsilon: str, run: int) -> bool:
        """Whether a run is there and not out of date."""
        return any((r["epsilon"], r["run"]) == (epsilon, run) for r in self.runs(facts))

    def add(self, facts: Facts, record: Record) -> None:
        """Keep a run; a stop at any time leaves the file as it was before, or with the run."""
        place = (record["epsilon"], record["run"])
        others = [r for r in self.runs(facts) if (r["epsilon"], r["run"]) != place]
        runs = sorted(
            [*others, record], key=lambda r: (_EPSILON_ORDER.index(r["epsilon"]), r["run"])
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in runs)
        head = json.dumps(facts, ensure_ascii=False)
        text = f'{{"facts": {head},\n"runs": [\n{lines}\n]}}\n'
        part = self.path.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, self.path)


@dataclass(frozen=True)
class Records:
    """The folder of all records: TABLE/ENTRANT.json."""

    folder: Path

    def file(self, table: str, entrant: str) -> RecordFile:
        """The file of an entrant on a table, which need not be there."""
        return RecordFile(self.folder / table / f"{entrant}.json")

    def all(self) -> Iterator[Record]:
        """Every run, with its table, its entrant and what it depends on."""
        for path in sorted(self.folder.glob("*/*.json")):
            about = {"table": path.parent.name, "entrant": path.stem}
            file = RecordFile(path)
            facts = file.facts
            for record in file.runs():
                yield {**about, "facts": facts, **record}
