"""`scripts/fuzz READER --inputs N --seed S`: feed damaged files to a reader, or to all."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from pathlib import Path

from fuzz.readers import READERS
from fuzz.running import child, findings, replay, run


def main() -> int:
    """Run, resume or replay; the exit code is 1 if anything was found."""
    if sys.argv[1:2] == ["--child"]:
        name, seed, start, stop, folder = sys.argv[2:]
        child(name, int(seed), int(start), int(stop), Path(folder))
        return 0
    arguments = _arguments()
    names = [*READERS] if arguments.reader == "all" else [arguments.reader]
    if arguments.replay is not None:
        return _replayed(names[0], arguments)
    return max([_run(name, arguments) for name in names])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("reader", choices=[*READERS, "all"])
    parser.add_argument("--inputs", type=int, default=10_000, help="for each reader, in total")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=Path(".fuzz"), help="where to resume from")
    parser.add_argument("--replay", type=int, metavar="NUMBER", help="one input, with traceback")
    return parser.parse_args()


def _run(name: str, arguments: argparse.Namespace) -> int:
    progress = run(name, arguments.inputs, arguments.seed, arguments.state)
    speed = progress.done / max(progress.seconds, 1e-9)
    print(f"{name}: {progress.done:,} inputs, {speed:,.0f} a second, {progress.findings} findings")
    found = findings(name, arguments.seed, arguments.state)
    places = Counter((str(f["what"]), str(f["where"])) for f in found)
    first = {(str(f["what"]), str(f["where"])): f["number"] for f in reversed(found)}
    for (what, where), times in places.most_common():
        print(f"  {times} x {what} at {where}; first: --replay {first[what, where]}")
    return int(bool(found))


def _replayed(name: str, arguments: argparse.Namespace) -> int:
    error = replay(name, arguments.seed, arguments.replay, arguments.state / "replay")
    if error is not None:
        traceback.print_exception(error)
    print(f"{name} {arguments.replay}: {type(error).__name__ if error else 'read or refused'}")
    return int(error is not None)


if __name__ == "__main__":
    sys.exit(main())
