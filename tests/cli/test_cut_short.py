"""Commands cut short, in processes of their own: full disks, signals, closed pipes."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv as pc
import pytest

from support.commands import SECRET, Desk

# More bytes in one file than this are refused by the system, as by a full disk.
FULL_DISK = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))"
ENDLESS = 10**9


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for something that a running process will do."""
    for _ in range(6000):
        if condition():
            return
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.01)
    raise AssertionError("it did not happen within a minute")


def kept_model(desk: Desk, err: str) -> Path:
    """The model that a message says was kept."""
    found = re.search(r"the fitted model is kept: understudy sample (\S+) -o OUTPUT", err)
    assert found, err
    return Path(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_full_disk_keeps_the_model_that_was_paid_for(desk: Desk, suffix: str) -> None:
    """Exit 4, no half of a file, the spending true, and the kept model can be sampled."""
    output = desk.folder / f"out{suffix}"
    arguments = ["synth", desk.data, "-s", desk.schema, "-e", 1, "-o", output, "--rows", 2_000_000]
    # Compiled kernels are cached on disk; they must be there before it is full.
    assert 0 == desk.synth("--rows", 1, "--dataset", "before", output=desk.folder / "b.csv").code
    process = desk.start(*arguments, before=FULL_DISK)
    out, err = process.communicate(timeout=120)
    assert (4, "") == (process.returncode, out), err
    assert "the disk took no more bytes; free some space" in err
    assert "Traceback" not in err
    assert SECRET not in err
    model = kept_model(desk, err)
    assert {"people.csv", "people.toml", "ledger.jsonl", "ledger.jsonl.secret", model.name} == {
        name for name in desk.files if not name.startswith("b.csv")
    }
    assert {"before": 1.0, "people": 1.0} == desk.spent
    assert 0 == desk.run("sample", model, "-o", desk.output, "--rows", 10).code
    assert 10 == pc.read_csv(desk.output).num_rows


@pytest.mark.slow
def test_a_disk_too_full_for_the_model_promises_none(desk: Desk) -> None:
    """Exit 4 where the paid model can be kept nowhere, and no word of one that is not there."""
    names = [hashlib.sha256(str(i).encode()).hexdigest() for i in range(5000)]
    desk.schema.write_text(f'[columns.name]\nkind = "categorical"\nvalues = {json.dumps(names)}\n')
    arguments = ["fit", desk.data, "-s", desk.schema, "-e", 1, "--ignore-extra"]
    # Compiled kernels are cached on disk; they must be there before it is full.
    assert 0 == desk.run(*arguments, "-o", desk.folder / "m.zip", "--dataset", "before").code
    size = (desk.folder / "m.zip").stat().st_size
    process = desk.start(
        *(*arguments, "-o", desk.folder / "n.zip"),
        before=FULL_DISK.replace("200_000", str(size // 2)),
    )
    out, err = process.communicate(timeout=120)
    assert (4, "") == (process.returncode, out), err
    assert "the disk took no more bytes; free some space" in err
    assert "kept" not in err
    assert {
        "people.csv",
        "people.toml",
        "ledger.jsonl",
        "ledger.jsonl.secret",
        "m.zip",
    } == desk.files
    assert {"before": 1.0, "people": 1.0} == desk.spent


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_mid_write_leaves_nothing_half_written(
    desk: Desk, number: signal.Signals, suffix: str
) -> None:
    """Exit 130, no output, no part of one; the ledger has the run, and the model is kept."""
    output = desk.folder / f"out{suffix}"
    arguments = ["synth", desk.data, "-s", desk.schema, "-e", 1, "-o", output, "--rows", ENDLESS]
    process = desk.start(*arguments)
    wait_until(lambda: any(name.endswith(".part") for name in desk.files), process)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert (130, "") == (process.returncode, out), err
    assert "interrupted; nothing was left half-written, and the ledger is true" in err
    assert "Traceback" not in err
    model = kept_model(desk, err)
    assert {
        "people.csv",
        "people.toml",
        "ledger.jsonl",
        "ledger.jsonl.secret",
        model.name,
    } == desk.files
    assert {"people": 1.0} == desk.spent
    assert 0 == desk.run("inspect", model).code


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_falls_where_an_object_is_dropped_still_ends_the_run(
    desk: Desk, number: signal.Signals
) -> None:
    """Python forgets what `__del__` raises: the interrupt comes again, no value is shown."""
    dropped = (
        "import os\n"
        "class Interrupted:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "class Broken:\n"
        "    def __del__(self):\n"
        f"        raise ValueError({SECRET!r})\n"
        "def _drop():\n"
        "    import time\n"
        "    Broken()\n"
        "    Interrupted()\n"
        "    time.sleep(60)\n"
        "import understudy.cli.main as main\n"
        "main.app.command('drop')(_drop)\n"
    )
    process = desk.start("drop", before=dropped)
    out, err = process.communicate(timeout=120)
    assert (130, "") == (process.returncode, out), err
    assert ["error: interrupted; nothing was left half-written, and the ledger is true"] == (
        err.splitlines()
    )


@pytest.mark.slow
def test_a_real_process_has_the_exit_codes(desk: Desk) -> None:
    """The installed entry point ends with the code that `run` returns."""
    for arguments, code in (
        (["--version"], 0),
        (["synth"], 2),
        (["schema", "check", desk.folder / "none.toml"], 2),
        (["inspect", desk.folder / "none.zip"], 4),
    ):
        process = desk.start(*arguments)
        process.communicate(timeout=60)
        assert code == process.returncode


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_fault(desk: Desk) -> None:
    """`understudy schema init ... | head -1` ends quietly."""
    wide = desk.folder / "wide.csv"
    wide.write_text(",".join(f"c{i}" for i in range(20_000)) + "\n")
    process = desk.start("schema", "init", wide)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert (0, "") == (process.wait(timeout=60), process.stderr.read())


@pytest.mark.slow
def test_help_imports_nothing_heavy() -> None:
    """`understudy --help` stays light: no numerical library is loaded for it."""
    code = (
        "import sys\nfrom understudy.cli.main import run\nrun(['--help'])\n"
        "print(sorted({'numpy', 'pyarrow', 'numba', 'scipy', 'opendp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.splitlines()[-1]
