"""Runs cells of the arena that are not on record, and keeps each run as soon as it has ended."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.arena.cells import Cell
from benchmarks.arena.entrants import ENTRANTS, Control, Entrant, PeerMethod, Process
from benchmarks.arena.measures import Found, Values, measured
from benchmarks.arena.processes import FINISHED
from benchmarks.arena.records import Facts, Record, Records
from benchmarks.arena.tables import ENTRIES, ArenaTable, load
from benchmarks.environments import SDNIST, Unavailable, run_peer
from benchmarks.machine import machine
from benchmarks.peers import Folder, prepared, with_outside
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard

# Raised when a measure changes its meaning: all records are out of date then.
MEASURES = 1
SMOKE_ROWS = 2_000
# SDNist sums in another order.
_AGREEMENT = 1e-6


class Runner:
    """Runs one cell after another, and has the table of the last one at hand.

    Args:
        board: says the size, and what could not be run.
        records: where runs are looked for and kept.
        referee: whether SDNist scores first runs too; by default at full size only.
    """

    def __init__(self, board: Scoreboard, records: Records, *, referee: bool | None = None) -> None:
        self._board = board
        self._records = records
        self._may_make: bool = board.size.pick(True, False)
        self._asks_referee = self._may_make if referee is None else referee
        self._table: ArenaTable | None = None
        self._absent: dict[str, str] = {}

    def do(self, cell: Cell) -> None:
        """Run what is missing of a cell; what cannot be run is said once."""
        entrant = ENTRANTS[cell.entrant]
        for name, is_there in ((cell.entrant, self._can_run), (cell.table, self._has_table)):
            if name not in self._absent:
                self._absent[name] = is_there(cell)
                if self._absent[name]:
                    self._board.leave_out(f"the arena, {name}", self._absent[name])
            if self._absent[name]:
                return
        table = self._loaded(cell.table)
        if entrant.enters(table):
            self._runs(cell, entrant, table)

    def _can_run(self, cell: Cell) -> str:
        try:
            ENTRANTS[cell.entrant].check(may_make=self._may_make)
        except Unavailable as unavailable:
            return str(unavailable)
        return ""

    def _has_table(self, cell: Cell) -> str:
        if ENTRIES[cell.table].is_shared and not SHARED.exists():
            return "the folder of public tables is not there"
        try:
            self._loaded(cell.table)
        except Unavailable as unavailable:
            return str(unavailable)
        return ""

    def _loaded(self, name: str) -> ArenaTable:
        if self._table is None or self._table.name != name:
            self._table = load(name, rows=self._board.size.pick(None, SMOKE_ROWS))
        return self._table

    def _runs(self, cell: Cell, entrant: Entrant, table: ArenaTable) -> None:
        facts, file = facts_of(entrant, table), self._records.file(cell.table, cell.entrant)
        for run in range(self._board.size.pick(entrant.runs(table), 1)):
            if file.has(facts, cell.epsilon, run):
                continue
            found = self._once(entrant, table, cell.epsilon, run)
            file.add(facts, {"epsilon": cell.epsilon, "run": run, **found})
            shown = found.get("3-way", found.get("why", ""))
            print(f"{cell.name} {run}: {found['status']} {shown}", flush=True)

    def _once(self, entrant: Entrant, table: ArenaTable, epsilon: str, run: int) -> Record:
        about = {"date": datetime.now(UTC).date().isoformat(), "on": machine()["processor"]}
        with tempfile.TemporaryDirectory() as path:
            folder = prepared(Path(path), table.learned)
            table.schema.dump(folder.schema)
            if isinstance(entrant, Control):
                made = entrant.make(table, np.random.default_rng(run))
                return {"status": FINISHED, **self._measured(table, made, folder, run), **about}
            assert isinstance(entrant, Process)
            ended = entrant.run(table, folder, epsilon, run=run)
            took = {
                "cpu_seconds": round(ended.cpu_seconds, 2),
                "peak_mb": round(ended.peak_bytes / 1e6),
            }
            if ended.status != FINISHED:
                return {"status": ended.status, "why": ended.why, **took, **about}
            numbers = self._measured(table, written(table, folder), folder, run)
            return {"status": FINISHED, **numbers, **took, **about}

    def _measured(self, table: ArenaTable, made: Values, folder: Folder, run: int) -> Found:
        """All measures; of a first run also SDNist's score by its own function."""
        found = measured(table, made)
        score = self._referee(table, made, folder) if self._asks_referee and run == 0 else None
        if score is not None:
            if abs(score - found["k-marginal"]) > _AGREEMENT:
                raise AssertionError(f"SDNist gives {score}, and ours is {found['k-marginal']}")
            found["by SDNist"] = score
        return {name: float(f"{value:.6g}") for name, value in found.items()}

    def _referee(self, table: ArenaTable, made: Values, folder: Folder) -> float | None:
        clean = folder.path / "clean.csv"
        codes = with_outside(
            table.learned.domain, {name: made[name] for name in table.learned.domain}
        )
        pyarrow.csv.write_csv(pa.table(dict(codes.codes)), clean)
        try:
            ran = run_peer(
                SDNIST, "run_sdnist.py", folder.rows, str(clean), may_make=self._may_make
            )
        except Unavailable as unavailable:
            if "sdnist" not in self._absent:
                self._absent["sdnist"] = str(unavailable)
                self._board.leave_out("SDNist's own function", str(unavailable))
            return None
        return float(json.loads(ran.output.splitlines()[-1])["k-marginal"])


def facts_of(entrant: Entrant, table: ArenaTable) -> Facts:
    """Return the facts that the numbers of a record depend on."""
    versions = " ".join(entrant.peer.pins) if isinstance(entrant, PeerMethod) else ""
    return {
        "settings": entrant.settings(table),
        "versions": versions,
        "rows": table.digest,
        "measures": MEASURES,
    }


def written(table: ArenaTable, folder: Folder) -> Values:
    """The rows that a process has left."""
    rows = pyarrow.csv.read_csv(folder.output)
    return {name: rows[name].to_numpy() for name in table.learned.domain.attributes}
