"""Environments of other tools: one for each, made when first needed, with fixed versions.

They are in $UNDERSTUDY_BENCH_VENVS, else in the user's cache folder, apart from our own.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import ROOT, Spent, run_child

_JOBS = Path(__file__).parent / "peer_jobs"


class Unavailable(Exception):
    """An environment that is not there and may not, or could not, be made."""


@dataclass(frozen=True)
class Peer:
    """Another tool, and the versions it is measured in."""

    name: str
    versions: dict[str, str]

    @property
    def recorded(self) -> dict[str, str]:
        """The pins under the tool's name: tools differ in versions of the same package."""
        return {self.name: " ".join(self.pins)}

    @property
    def pins(self) -> list[str]:
        """List the requirements that pip is asked for."""
        return [f"{package}=={version}" for package, version in self.versions.items()]


@dataclass(frozen=True)
class Ourselves(Peer):
    """This tool as a user installs it, without what tests need: some of it is slow to import."""

    @property
    def pins(self) -> list[str]:
        """The sources as they stand."""
        return ["--editable", str(ROOT)]

    @property
    def recorded(self) -> dict[str, str]:
        """The version is that of the record itself."""
        return {}


OURSELVES = Ourselves("understudy", {})
DPMM = Peer("dpmm", {"dpmm": "0.1.9"})
DATA_SYNTHESIZER = Peer("datasynthesizer", {"DataSynthesizer": "0.1.13", "pandas": "3.1.1"})
PGMPY = Peer("pgmpy", {"pgmpy": "1.1.2", "pandas": "3.1.1"})
SMARTNOISE = Peer(
    "smartnoise", {"smartnoise-synth": "1.0.8", "mbi": "1.1.0", "jax": "0.10.2", "opendp": "0.14.2"}
)
SDMETRICS = Peer("sdmetrics", {"sdmetrics": "0.32.0"})
ANONYMETER = Peer("anonymeter", {"anonymeter": "1.1.0"})
SDNIST = Peer("sdnist", {"sdnist": "2.4"})
STATSMODELS = Peer("statsmodels", {"statsmodels": "0.15.0"})


def environment(peer: Peer, *, may_make: bool = True) -> Path:
    """The Python of a tool's environment, made first where there is none yet."""
    folder = _home() / peer.name
    with _alone(folder):
        return _ready(peer, folder, may_make=may_make)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Whoever comes while an environment is being made waits until it is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _ready(peer: Peer, folder: Path, *, may_make: bool) -> Path:
    python, mark = folder / "bin" / "python", folder / "installed.txt"
    wanted = "\n".join(peer.pins)
    if mark.exists() and mark.read_text() == wanted:
        return python
    if not may_make:
        raise Unavailable(f"{peer.name} has no environment yet; a run of full size makes one")
    print(f"making an environment for {peer.name}", flush=True)
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", *peer.pins],
    ):
        made = subprocess.run(command, capture_output=True, text=True, env=_without_paths())
        if made.returncode:
            raise Unavailable(f"{peer.name} could not be installed: {made.stderr[-300:]}")
    mark.write_text(wanted)
    return python


def run_peer(peer: Peer, job: str, *arguments: str, may_make: bool = True) -> Spent:
    """Run one of the files in `peer_jobs` in a tool's own environment."""
    command = peer_command(peer, job, *arguments, may_make=may_make)
    return run_child(command, environment={"PYTHONPATH": ""})


def peer_command(peer: Peer, job: str, *arguments: str, may_make: bool = True) -> list[str]:
    """The command that runs one of the files in `peer_jobs` in a tool's own environment."""
    python = environment(peer, may_make=may_make)
    return [str(python), str(_JOBS / job), *arguments]


def _home() -> Path:
    given = os.environ.get("UNDERSTUDY_BENCH_VENVS")
    if given:
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("understudy") / "benchmarks"


def _without_paths() -> dict[str, str]:
    """The environment without our own packages, which pip would take for installed ones."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
