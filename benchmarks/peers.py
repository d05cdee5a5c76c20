"""The whole Adult job beside dpmm's PrivBayes and DataSynthesizer: speed, and how near it comes.

All read the same coded CSV file, fit at ε = 1 (δ = 10⁻⁵ where a tool takes one), sample as many
rows, and write CSV, each in a process and an environment of its own, in turns. CPU seconds are
those of the whole process, its start included; ours has compiled its kernels once before, as after
the first run on a machine. One piece of code measures the distances of all.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from benchmarks.environments import (
    DATA_SYNTHESIZER,
    DPMM,
    OURSELVES,
    Peer,
    Unavailable,
    environment,
    run_peer,
)
from benchmarks.measuring import Spent, run_child, understudy
from benchmarks.real_tables import ADULT, adult, part
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import integers
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.workload import workload
from understudy.rows.table import Table

EPSILON, DELTA = "1", "1e-5"
FASTER = 50
# As often as dpmm itself improves its estimate by default.
_ITERATIONS = 5000

JOB_SECONDS = "Adult job at ε = 1, {}, CPU"
JOB_DISTANCE = "Adult job at ε = 1, {}, 3-way total variation"
JOB_SPEED = "Adult job at ε = 1, {}, speed of {}"

Job = Callable[["Folder"], Spent]


@dataclass(frozen=True)
class Folder:
    """The folder with the inputs of every job, where jobs also leave their rows."""

    path: Path

    @property
    def rows(self) -> str:
        """The file that has the coded rows, as CSV."""
        return str(self.path / "rows.csv")

    @property
    def sizes(self) -> str:
        """How many codes each column has, as JSON."""
        return str(self.path / "sizes.json")

    @property
    def schema(self) -> str:
        """The columns and their codes, as a schema of ours."""
        return str(self.path / "schema.toml")

    @property
    def output(self) -> str:
        """The file that gets the synthetic rows, as CSV."""
        return str(self.path / "out.csv")


@dataclass(frozen=True)
class Runs:
    """The cost of the runs of one tool, and how far their rows are from the real ones."""

    cpu_seconds: list[float]
    distances: list[float]

    @property
    def seconds(self) -> float:
        """Return the median of the CPU seconds."""
        return statistics.median(self.cpu_seconds)

    @property
    def distance(self) -> float:
        """The mean of the mean 3-way total variation distances."""
        return statistics.fmean(self.distances)


def run(board: Scoreboard) -> None:
    """Ours at least fifty times faster than dpmm's PrivBayes, and no further from the real rows."""
    if not ADULT.exists():
        board.leave_out("the Adult job beside other tools", "the table is not there")
        return
    if board.size.pick(True, False):
        environment(OURSELVES)
    _, whole = adult()
    table = board.size.pick(whole, part(whole, rows=2_000, columns=5))
    found = measure(board, table)
    for name, runs in found.items():
        about = {"cpu_seconds": runs.cpu_seconds, "3-way": runs.distances}
        board.details.append({"tool": name} | about)
        board.add(JOB_SECONDS.format(name), runs.seconds, "s")
        board.add(JOB_DISTANCE.format(name), runs.distance, "")
    for ours in OURS:
        _compare(board, found, ours)


def measure(board: Scoreboard, table: Table) -> dict[str, Runs]:
    """Ours before every job of another tool, so that all meet the same load."""
    theirs = available(board)
    found = {name: Runs([], []) for name in (*OURS, *theirs)}
    with tempfile.TemporaryDirectory() as path:
        folder = prepared(Path(path), table)
        for job in OURS.values():
            job(folder)
        for turn in _turns(theirs) or [OURS]:
            for name, job in turn.items():
                _once(job, folder, table, found[name])
    return found


def _turns(theirs: Mapping[str, tuple[int, Job]]) -> list[dict[str, Job]]:
    """Ours and one job of another tool, each of those as often as is asked."""
    most = max((times for times, _ in theirs.values()), default=0)
    return [
        OURS | {name: job}
        for turn in range(most)
        for name, (times, job) in theirs.items()
        if turn < times
    ]


def _once(job: Job, folder: Folder, table: Table, runs: Runs) -> None:
    runs.cpu_seconds.append(job(folder).cpu_seconds)
    runs.distances.append(distance(table, Path(folder.output)))
    Path(folder.output).unlink()


def _compare(board: Scoreboard, found: dict[str, Runs], ours: str) -> None:
    for name in [name for name in found if name not in OURS]:
        target = FASTER if name.startswith("dpmm") else None
        faster = found[name].seconds / found[ours].seconds
        board.add(JOB_SPEED.format(ours, name), faster, "×", target, at_most=False)
        farther = found[ours].distance / found[name].distance
        board.add(f"the same, 3-way total variation, times that of {name}", farther, "×", 1)


def _ours(folder: Folder, *, method: str, delta: str, neighbours: str = "add-remove") -> Spent:
    asked = ["--schema", folder.schema, "--method", method, "--epsilon", EPSILON, "--delta", delta]
    asked += ["--neighbours", neighbours]
    ledger = ["--ledger", str(folder.path / "ledger.jsonl")]
    arguments = ["synth", folder.rows, *asked, "-o", folder.output, "--force", *ledger]
    try:
        python = environment(OURSELVES, may_make=False)
    except Unavailable:
        return understudy(*arguments)
    command = [str(python), "-m", "understudy.cli.main", *arguments]
    return run_child(command, environment={"PYTHONPATH": ""})


def _dpmm(folder: Folder, *, parents: int, iterations: int = _ITERATIONS) -> Spent:
    given = [folder.rows, folder.sizes, folder.output, str(parents), EPSILON, DELTA]
    return run_peer(DPMM, "run_dpmm.py", *given, str(iterations))


def _data_synthesizer(folder: Folder, *, parents: int) -> Spent:
    given = [folder.rows, folder.sizes, folder.output]
    return run_peer(DATA_SYNTHESIZER, "run_datasynthesizer.py", *given, str(parents), EPSILON)


OURS: dict[str, Job] = {
    # As in the paper.
    "privbayes": partial(_ours, method="privbayes", delta="0", neighbours="replace"),
    "nist": partial(_ours, method="nist", delta=DELTA),
}
# How often each is run: two parents take dpmm minutes.
THEIRS: dict[str, tuple[Peer, int, Job]] = {
    "dpmm's PrivBayes, 1 parent": (DPMM, 2, partial(_dpmm, parents=1)),
    "dpmm's PrivBayes, 2 parents": (DPMM, 1, partial(_dpmm, parents=2)),
    "DataSynthesizer, 1 parent": (DATA_SYNTHESIZER, 2, partial(_data_synthesizer, parents=1)),
}
_SMALL: dict[str, tuple[Peer, int, Job]] = {
    "dpmm's PrivBayes, 1 parent": (DPMM, 1, partial(_dpmm, parents=1, iterations=50)),
    "DataSynthesizer, 1 parent": (DATA_SYNTHESIZER, 1, partial(_data_synthesizer, parents=1)),
}


def available(board: Scoreboard) -> dict[str, tuple[int, Job]]:
    """How often to run which jobs, of tools that have, or can be given, an environment."""
    jobs: dict[str, tuple[int, Job]] = {}
    for name, (peer, times, job) in board.size.pick(THEIRS, _SMALL).items():
        try:
            environment(peer, may_make=board.size.pick(True, False))
        except Unavailable as unavailable:
            board.leave_out(f"Adult job, {name}", str(unavailable))
        else:
            jobs[name] = (times, job)
            board.peers |= peer.recorded
    return jobs


def prepared(path: Path, table: Table) -> Folder:
    """The same rows and the same public domain for all."""
    folder, sizes = Folder(path), dict(table.domain.sizes)
    pyarrow.csv.write_csv(pa.table(dict(table.codes)), folder.rows)
    Path(folder.sizes).write_text(json.dumps(sizes))
    integers(sizes).dump(folder.schema)
    return folder


def distance(table: Table, path: Path) -> float:
    """The mean 3-way total variation distance of the rows in a file."""
    sets = workload(table.domain, 3)
    real = with_outside(table.domain, dict(table.codes))
    rows = pyarrow.csv.read_csv(path)
    made = {name: rows[name].to_numpy() for name in table.domain.attributes}
    return float(total_variation(real, with_outside(table.domain, made), sets).mean())


def with_outside(domain: Domain, values: Mapping[str, npt.NDArray[Any]]) -> Table:
    """Codes in a domain of one more for each attribute, where whatever is not declared goes."""
    codes: dict[str, Codes] = {}
    for name, column in values.items():
        size, numbers = domain[name], np.asarray(column, np.float64)
        inside = (numbers >= 0) & (numbers < size) & (numbers == np.floor(numbers))
        codes[name] = np.where(inside, numbers, size).astype(code_type(size + 1))
    sizes = {name: size + 1 for name, size in domain.sizes.items()}
    return Table(Domain(sizes), codes, len(next(iter(codes.values()))))
