"""Run benchmarks: `python -m benchmarks all`, or some by name; `table` is for documents."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import DOCUMENTS, records, texts
from benchmarks.scoreboard import RESULTS, Scoreboard, Size

BENCHMARKS = (
    "startup",
    "reading",
    "independent",
    "pairs",
    "triples",
    "greedy",
    "genetic",
    "sampling",
    "conditions",
    "noise",
    "choices",
    "job",
    "census",
    "blocks",
    "growth",
    "spark",
    "peers",
    "arena",
    "utility",
    "cross_entropy",
    "hierarchies",
    "schema_inference",
    "evaluation",
    "verdicts",
    "disclosure",
    "referees",
    "plan",
    "plan_learned",
    "plan_populations",
    "coverage",
    "refits",
    "replicate_coverage",
    "pictures",
    "stream",
    "page",
    "federated",
    "network",
    "gan",
    "gan_rows",
    "images",
    "numeric_moments",
)


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; 1 where a target was missed."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.list:
        print("\n".join(f"{name:<14} {_about(name)}" for name in BENCHMARKS))
        return 0
    if asked.names == ["table"]:
        return _tables(write=asked.write)
    if unknown := set(asked.names) - {*BENCHMARKS, "all"}:
        parser.error(f"{', '.join(sorted(unknown))} is not a benchmark; see --list")
    if asked.only and asked.names not in (["arena"], ["plan"], ["coverage"]):
        parser.error(
            "--only selects parts of `arena`, `plan` or `coverage`; name it and no other benchmark"
        )
    if not asked.names:
        parser.error("name a benchmark, or `all`, or `table`; see --list")
    size = Size.SMOKE if asked.smoke else Size.FULL
    folder = asked.results or size.pick(RESULTS, None)
    names = BENCHMARKS if "all" in asked.names else asked.names
    only = tuple(asked.only)
    missed = [line for name in names for line in measure(name, size, folder, only=only).missed]
    return 1 if missed else 0


def measure(
    name: str, size: Size, folder: Path | None, *, only: tuple[str, ...] = ()
) -> Scoreboard:
    """Run one benchmark, or parts of it, and keep its numbers where a folder is given."""
    board = Scoreboard(name, size, folder=folder, only=only)
    print(f"\n{name}: {_about(name)}", flush=True)
    started = time.perf_counter()
    importlib.import_module(f"benchmarks.{name}").run(board)
    if folder is not None:
        smoke = size.pick([], ["--smoke"])
        parts = [f"--only={part}" for part in only] if name != "arena" else []
        arguments = [name, *smoke, *parts]
        board.write(folder, seconds=time.perf_counter() - started, arguments=arguments)
    return board


def _tables(*, write: bool) -> int:
    found = records()
    if write:
        for path, text in texts(found).items():
            path.write_text(text, encoding="utf-8")
    else:
        made = (make(found) for blocks in DOCUMENTS.values() for make in blocks.values())
        print("\n\n".join(made))
    return 0


def _about(name: str) -> str:
    """The first line of a benchmark's docstring."""
    return str(importlib.import_module(f"benchmarks.{name}").__doc__).splitlines()[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="benchmarks to run, all of them, or `table`",
    )
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--smoke", action="store_true", help="small sizes, seconds each")
    parser.add_argument("--results", type=Path, help="the folder for JSON; small sizes have none")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TABLE/ENTRANT/EPSILON",
        help="parts of the arena, with `*` for any; may be given several times; with `plan`, "
        "`forecasts` keeps the measured errors of its record; with `coverage`, TABLE/METHOD is "
        "measured and the rest of the record is kept",
    )
    parser.add_argument("--write", action="store_true", help="put the tables into the documents")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
