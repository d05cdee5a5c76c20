"""The commands of both sides: keys, refusals, and a model learned by real processes over TLS."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.commands import Desk, Result
from support.moment_images import stripes
from support.promised import need
from support.records import record_fault
from support.servers import free_port
from understudy.errors import UsageError
from understudy.jobs.federation import address_of, host_and_port, public_keys
from understudy.privacy.spending.ledger import Ledger

NAMES = ("north", "south", "west")
SCHEMA = """
columns.sex = { kind = "categorical", values = ["f", "m"] }
columns.smoker = { kind = "boolean" }
columns.age = { kind = "integer", min = 0, max = 99, bins = 5 }
"""
ROWS = "sex,smoker,age\n" + "f,true,31\nm,false,64\nf,false,12\n" * 200
PATIENCE = 90

# Run before a command: what a busy machine would leave to chance.
HEARD_OUT = """
from understudy.federated.wire import channel
channel._CLOSING_SECONDS = 60.0
"""
DIES_ANSWERING = """
import os, signal
from understudy.federated.holder.store import FolderStore
keep, kept = FolderStore.keep, []
def dying(store, run, name, data):
    kept.append(name)
    if len([name for name in kept if name != "proposal"]) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    keep(store, run, name, data)
FolderStore.keep = dying
"""
DIES_ASKING = """
import os, signal
from understudy.federated.wire.channel import FlowerChannel
ask, asked = FlowerChannel.ask, []
def dying(channel, requests, *, deadline):
    asked.append(requests)
    if len(asked) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return ask(channel, requests, deadline=deadline)
FlowerChannel.ask = dying
"""


def needs_flower() -> None:
    """Skip without Flower; fail in CI, which promises it."""
    need("flwr")


@pytest.mark.parametrize("text", ["host", "host:", ":1", "host:port", "host:70000", "::1:9300"])
def test_addresses_that_are_none(text: str) -> None:
    """The option and what was said are named."""
    with pytest.raises(UsageError, match="--superlink is"):
        address_of(text)


def test_addresses() -> None:
    """Hosts, ports and IPv6 are read, with or without a scheme before them."""
    assert "analyst.example.org:9300" == address_of("https://analyst.example.org:9300/")
    assert ("::1", 9300) == host_and_port("[::1]:9300", option="--listen")


def test_public_keys_are_named_by_their_files(tmp_path: Path) -> None:
    """Folders and files; a name that comes twice is refused, an empty folder too."""
    for name in ("b.pub", "a.pub", "a"):
        (tmp_path / name).touch()
    assert ["a", "b"] == list(public_keys([tmp_path]))
    with pytest.raises(UsageError, match="'a' has a key already"):
        public_keys([tmp_path, tmp_path / "a.pub"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"contains no \*\.pub"):
        public_keys([tmp_path / "empty"])


def test_keys_are_made_once(desk: Desk) -> None:
    """Each command says what to keep and what to send; a second one is refused."""
    made = desk.run("keys", "holder", desk.folder / "north")
    assert 0 == made.code
    assert "send" in made.err
    assert 0 == desk.run("keys", "analyst", "127.0.0.1", "--folder", desk.folder).code
    assert {"north", "north.pub", "analyst.crt", "analyst.key", "roots.crt"} <= desk.files
    again = desk.run("keys", "holder", desk.folder / "north")
    assert 2 == again.code
    assert "is there already" in again.err


@dataclass
class Ward:
    """Three holders' tables, keys and ledgers, an analyst's certificate, and who is running."""

    desk: Desk
    port: int
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        folder = self.desk.folder
        (folder / "keys").mkdir()
        (folder / "ward.toml").write_text(SCHEMA)
        (folder / "policy.toml").write_text('most_epsilon = 1\nprotocols = ["votes", "model"]\n')
        assert 0 == self.desk.run("keys", "analyst", "127.0.0.1", "--folder", folder).code
        for name in NAMES:
            assert 0 == self.desk.run("keys", "holder", folder / "keys" / name).code
            (folder / f"{name}.csv").write_text(ROWS)

    def holding(self, name: str, *more: object) -> list[object]:
        """The one command of a holder."""
        folder = self.desk.folder
        return [
            *("holder", "--data", folder / f"{name}.csv", "--schema", folder / "ward.toml"),
            *("--epsilon-limit", 1, "--superlink", f"127.0.0.1:{self.port}"),
            *("--key", folder / "keys" / name, "--root-certificates", folder / "roots.crt"),
            *("--policy", folder / "policy.toml", "--ledger", folder / f"{name}.jsonl"),
            *("--wait", PATIENCE, *more),
        ]

    def analysing(self, *more: object, protocol: str = "votes") -> list[object]:
        """The one command of the analyst."""
        folder = self.desk.folder
        return [
            *("analyst", "--schema", folder / "ward.toml", "--holders", 3),
            *("--protocol", protocol, "--epsilon", 1, "-o", folder / "model.zip"),
            *("--listen", f"127.0.0.1:{self.port}", "--holder-keys", folder / "keys"),
            *("--certificate", folder / "analyst.crt", "--wait", PATIENCE),
            *("--certificate-key", folder / "analyst.key", "--json", *more),
        ]

    def start(self, command: Sequence[object], before: str = "") -> subprocess.Popen[str]:
        """A process of one side, ended with the test."""
        process = self.desk.start(*command, before=before)
        self.running.append(process)
        return process

    def wait_for_the_port(self) -> None:
        """Until nobody listens at it any more."""
        deadline = time.monotonic() + PATIENCE
        while not _refuses(self.port):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def finished(self, process: subprocess.Popen[str]) -> Result:
        """What a process left behind."""
        out, err = process.communicate(timeout=2 * PATIENCE)
        return Result(process.returncode, out, err)

    def spent(self, name: str) -> float:
        """The epsilon that a holder's own ledger says was spent."""
        return float(Ledger(self.desk.folder / f"{name}.jsonl").account(name).spent.epsilon)

    def charges(self, name: str) -> list[dict[str, Any]]:
        """What a holder was charged, as its ledger has it."""
        book = self.desk.folder / f"{name}.jsonl"
        lines = book.read_text().splitlines() if book.exists() else []
        return [entry for line in lines if (entry := json.loads(line)).get("entry") == "charge"]


def _refuses(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.fixture
def ward(desk: Desk) -> Iterator[Ward]:
    """A ward whose processes are all gone in the end."""
    needs_flower()
    made = Ward(desk, free_port())
    yield made
    for process in made.running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.slow
def test_three_holders_learn_a_model(ward: Ward) -> None:
    """One command a side; each ledger equals what the model's statement says left its holder."""
    holders = [ward.start(ward.holding(name)) for name in NAMES]
    learned = ward.finished(ward.start(ward.analysing(), HEARD_OUT))
    assert 0 == learned.code, learned.err
    assert None is record_fault("analyst", learned.document)
    assert ["north", "south", "west"] == learned.document["holders"]
    for name, process in zip(NAMES, holders, strict=True):
        left = ward.finished(process)
        assert 0 == left.code, left.err
        assert 1 == ward.spent(name)
        assert f"ledger: epsilon = 1, delta = 0 spent on {name} so far" in left.err
        claimed = learned.document["statement"]["events"]
        drawn = [e["question"] for e in claimed for _ in range(e.get("times", 1))]
        said = [question for question in drawn if question.startswith(f"{name}: ")]
        assert [f"{name}: {c['question']}" for c in ward.charges(name)] == said
    assert "model.zip.journal" not in ward.desk.files
    sampled = ward.desk.run(
        "sample", ward.desk.folder / "model.zip", "-o", ward.desk.folder / "rows.csv"
    )
    assert 0 == sampled.code


SIZES = ("--height", 6, "--width", 5, "--classes", 3)


@pytest.mark.slow
def test_three_holders_learn_images(ward: Ward) -> None:
    """Moments of images by real processes: ledgers equal the statement, and images are drawn."""
    folder = ward.desk.folder
    (folder / "policy.toml").write_text('most_epsilon = 20\nmost_delta = "1e-5"\n')
    limits = ("--epsilon-limit", 20, "--delta-limit", "1e-5", *SIZES)
    holders = []
    for seed, name in enumerate(NAMES):
        images = stripes(100, seed=seed)
        np.savez(folder / f"{name}.npz", x=images.pixels, y=images.labels)
        command = ward.holding(name, *limits, "--data", folder / f"{name}.npz")
        place = command.index("--schema")
        holders.append(ward.start(command[:place] + command[place + 2 :]))
    command = ward.analysing("--delta", "1e-5", "--epsilon", 20, *SIZES, protocol="moments")
    place = command.index("--schema")
    learned = ward.finished(ward.start(command[:place] + command[place + 2 :], HEARD_OUT))
    assert 0 == learned.code, learned.err
    assert "image" == learned.document["statement"]["unit"]
    assert [0, 0, 0] == [ward.finished(process).code for process in holders]
    assert [20, 20, 20] == [ward.spent(name) for name in NAMES]
    questions = [charge["question"] for charge in ward.charges("north")]
    assert "pooled of images" == questions[0]
    made = ward.desk.run("sample", folder / "model.zip", "-n", 9, "-o", folder / "made.npz")
    assert 0 == made.code, made.err
    with np.load(folder / "made.npz") as found:
        assert (9, 6, 5) == found["x"].shape


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (SIZES, "images have no schema"),
        (("--height", 6), "images have no schema"),
    ],
)
def test_sizes_beside_a_schema_are_refused(ward: Ward, more: tuple[object, ...], why: str) -> None:
    """Images or a table: both sides say so at once, and no ledger is begun."""
    for command in (ward.holding("north", *more), ward.analysing(*more)):
        refused = ward.desk.run(*command)
        assert 2 == refused.code
        assert why in refused.err
    assert "north.jsonl" not in ward.desk.files


def test_neither_schema_nor_sizes_are_refused(ward: Ward) -> None:
    """Someone must say what the data are."""
    for command in (ward.holding("north"), ward.analysing()):
        place = command.index("--schema")
        refused = ward.desk.run(*command[:place], *command[place + 2 :])
        assert 2 == refused.code
        assert "schema is not given" in refused.err


@pytest.mark.slow
def test_a_protected_column_is_withheld_from_a_joint_model(ward: Ward) -> None:
    """Options of the analyst, a policy of holders that insist on them, and a model that says so."""
    policy = ward.desk.folder / "policy.toml"
    policy.write_text(policy.read_text() + 'protect = ["smoker"]\n')
    holders = [ward.start(ward.holding(name, "--json")) for name in NAMES]
    rules = ("--target", "age", "--protect", "smoker")
    learned = ward.finished(ward.start(ward.analysing(*rules), HEARD_OUT))
    assert 0 == learned.code, learned.err
    protection = learned.document["statement"]["protection"]
    assert {"smoker": ["age"]} == protection["protected"]
    left = [ward.finished(process) for process in holders]
    assert [0, 0, 0] == [each.code for each in left]
    assert [None, None, None] == [record_fault("holder", each.document) for each in left]
    asked = [charge["question"] for charge in ward.charges("north")]
    assert asked
    assert not [question for question in asked if "smoker" in question and "sex" in question]


@pytest.mark.slow
def test_the_others_go_on_without_a_killed_holder(ward: Ward) -> None:
    """With --least the run survives; the dead holder is named, and its ledger is true."""
    holders = {
        name: ward.start(ward.holding(name), DIES_ANSWERING if name == "south" else "")
        for name in NAMES
    }
    more = ("--least", 2, "--deadline", 8, "--attempts", 1)
    learned = ward.finished(ward.start(ward.analysing(*more)))
    assert 0 == learned.code, learned.err
    assert -signal.SIGKILL == holders["south"].wait(PATIENCE)
    assert ward.charges("south")
    assert ["south"] == list(learned.document["absent"])
    assert ["north", "west"] == learned.document["holders"]
    assert ward.spent("south") <= 1 == ward.spent("north")


@pytest.mark.slow
def test_an_analyst_that_was_killed_goes_on_from_its_journal(ward: Ward) -> None:
    """Holders wait for its return, and nobody pays twice."""
    holders = [ward.start(ward.holding(name)) for name in NAMES]
    killed = ward.finished(ward.start(ward.analysing(), DIES_ASKING))
    assert -signal.SIGKILL == killed.code, killed.err
    assert all(ward.charges(name) for name in NAMES)
    assert (ward.desk.folder / "model.zip.journal").exists()
    ward.wait_for_the_port()
    learned = ward.finished(ward.start(ward.analysing(), HEARD_OUT))
    assert 0 == learned.code, learned.err
    assert [0, 0, 0] == [ward.finished(process).code for process in holders]
    assert [1, 1, 1] == [ward.spent(name) for name in NAMES]


@pytest.mark.slow
def test_a_run_beyond_the_limit_is_refused_with_a_reason(ward: Ward) -> None:
    """The analyst reads why; nothing more is spent; the exit code says that it was the holders."""
    holders = [ward.start(ward.holding(name)) for name in NAMES]
    learned = ward.finished(ward.start(ward.analysing(protocol="model"), HEARD_OUT))
    assert 0 == learned.code, learned.err
    assert [0, 0, 0] == [ward.finished(process).code for process in holders]
    holders = [ward.start(ward.holding(name)) for name in NAMES]
    asked = ward.finished(ward.start(ward.analysing(protocol="model")))
    assert 4 == asked.code
    # Without a closing message they wait for the analyst's return.
    for process in holders:
        process.send_signal(signal.SIGINT)
        assert 130 == ward.finished(process).code
    assert "north" in asked.err
    assert [1, 1, 1] == [ward.spent(name) for name in NAMES]


@pytest.mark.slow
def test_an_interrupted_analyst_leaves_no_model(ward: Ward) -> None:
    """Ctrl-C while waiting: code 130, no file, no SuperLink left at the port."""
    analyst = ward.start(ward.analysing())
    assert analyst.stderr is not None
    while "listening" not in analyst.stderr.readline():
        assert analyst.poll() is None
    analyst.send_signal(signal.SIGINT)
    assert 130 == ward.finished(analyst).code
    assert "model.zip" not in ward.desk.files
    again = ward.finished(ward.start(ward.analysing("--wait", 0)))
    assert 4 == again.code
    assert "0 of 3 holders came" in again.err


@pytest.mark.parametrize(
    ("change", "code", "why"),
    [
        (("--superlink", "nowhere"), 2, "HOST:PORT"),
        (("--key", "gone"), 4, "key gone: cannot be read"),
        (("--root-certificates", "gone"), 4, "certificates gone"),
        (("--neighbours", "friends"), 2, "neighbours is 'friends'; use add-remove or replace"),
        (("--policy", "gone"), 2, "is not a policy"),
    ],
)
def test_a_holder_is_refused_before_rows_are_read(
    ward: Ward, change: tuple[str, str], code: int, why: str
) -> None:
    """Whatever is wrong is said at once, without a ledger being begun."""
    refused = ward.desk.run(*ward.holding("north", *change))
    assert code == refused.code
    assert why in refused.err
    assert "north.jsonl" not in ward.desk.files


@pytest.mark.slow
def test_without_a_terminal_somebody_must_have_agreed(ward: Ward) -> None:
    """A holder that runs unattended needs a policy."""
    command = [part for part in ward.holding("north") if "policy" not in str(part)]
    refused = ward.finished(ward.start(command))
    assert 2 == refused.code
    assert "--policy" in refused.err


def test_an_analyst_is_refused_before_anybody_is_asked(ward: Ward) -> None:
    """No epsilon, an unknown protocol, a wrong address, no certificate."""
    without = [p for p in ward.analysing() if p not in ("--epsilon", 1)]
    assert "epsilon has no default" in ward.desk.run(*without).err
    assert "protocol 'guess' is unknown" in ward.desk.run(*ward.analysing(protocol="guess")).err
    assert "--listen is 'x'" in ward.desk.run(*ward.analysing("--listen", "x")).err
    unknown = ward.desk.run(*ward.analysing("--target", "age", "--protect", "income"))
    assert "protected 'income': attribute 'income' is unknown" in unknown.err
    parent = ward.desk.run(
        *ward.analysing("--target", "age", "--protect", "sex", "--require", "sex:smoker")
    )
    assert (2, True) == (parent.code, "'sex' is protected and cannot be a parent" in parent.err)
    missing = ward.desk.run(*ward.analysing("--certificate", "gone"))
    assert 4 == missing.code
    assert "certificate gone: is not there" in missing.err
