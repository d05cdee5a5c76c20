"""The package imports and keeps its ledger where `fcntl` and other POSIX calls are missing.

What is tested: all modules import without them, and a ledger works with locks of bytes as Windows
has them, by a module of that name which is built on POSIX's own locks of bytes. What is not: that
Windows and macOS behave so. No test ran there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.documents import ROOT

# Found first by Python, it hides what Windows lacks, and gives what it has instead.
_SITE = """
import os, subprocess, sys
_fcntl = __import__("fcntl") if {locks} else None
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource", "termios", "pwd", "grp"):
            raise ImportError(name)
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hidden())
for name in ("pread", "pwrite", "posix_fallocate", "sched_getaffinity"):
    delattr(os, name)
if {locks}:
    import types
    held = types.ModuleType("msvcrt")
    held.LK_NBLCK, held.LK_UNLCK = 2, 0
    def locking(descriptor, how, size):
        assert size == 1
        try:
            # As Windows does it: a byte at the file's position, for this open file alone.
            import struct
            kind = 1 if how else 2
            flock = struct.pack("hhqqi4x", kind, 0, os.lseek(descriptor, 0, os.SEEK_CUR), 1, 0)
            _fcntl.fcntl(descriptor, 37, flock)
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None
    held.locking = locking
    sys.modules["msvcrt"] = held
"""

_SPEND = """
import sys
sys.path.insert(0, "src")
exec(open(sys.argv[1]).read())
from fractions import Fraction
from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.accounting.events import Charge, LaplaceEvent
from understudy.privacy.budget import Budget
from understudy.privacy.spending.ledger import Ledger

ledger = Ledger(sys.argv[2])
try:
    for _ in range(int(sys.argv[3])):
        with ledger.grant("a", Budget.pure(1)) as grant:
            grant.charge([Charge("q", LaplaceEvent(Fraction(1), Fraction(1)))])
            print("won")
except BudgetExceeded:
    print("lost")
except UsageError as error:
    print(error)
"""

_IMPORT = """
import pkgutil, sys, importlib
sys.path.insert(0, "src")
exec(open(sys.argv[1]).read())
import understudy
for found in pkgutil.walk_packages(understudy.__path__, "understudy."):
    importlib.import_module(found.name)
from understudy.cli.main import run
sys.exit(run(["doctor"]))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """What hides calls and gives locks of bytes."""
    path = tmp_path / "windows.py"
    path.write_text(_SITE.format(locks=True))
    return path


def _python(code: str, *arguments: object) -> str:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.mark.slow
def test_everything_imports_without_posix(site: Path) -> None:
    """Each module of the package, and a command; packages of others need their own."""
    shown = _python(_IMPORT, site)
    assert "locks by msvcrt" in shown


@pytest.mark.slow
@pytest.mark.parametrize("place", ["{}/ledger.jsonl", "sqlite:///{}/ledger.sqlite"])
def test_processes_cannot_overspend_by_locks_of_bytes(
    site: Path, place: str, tmp_path: Path
) -> None:
    """Three race for five grants: five win."""
    from fractions import Fraction

    from understudy.privacy.spending.ledger import Ledger

    ledger = place.format(tmp_path)
    Ledger(ledger).limit("a", epsilon=Fraction(5))
    command = [sys.executable, "-c", _SPEND, str(site), ledger, "9"]
    racing = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = "".join(process.communicate()[0] for process in racing)
    assert (5, 3) == (said.count("won"), said.count("lost"))
    assert 5 == Ledger(ledger).account("a").spent.epsilon


def test_a_system_without_locks_names_the_database(tmp_path: Path) -> None:
    """A file would not be safe; nothing is granted, and SQLite brings its own locks."""
    bare = tmp_path / "bare.py"
    bare.write_text(_SITE.format(locks=False))
    said = _python(_SPEND, bare, tmp_path / "ledger.jsonl", 1)
    assert "no locks of files" in said
    assert "sqlite:///FILE" in said
