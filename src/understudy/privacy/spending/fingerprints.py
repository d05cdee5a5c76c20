"""Whether the same rows came before under another name: for the owner's terminal, and nobody else.

A ledger knows rows by name, so a renamed copy starts a new account. Where a person looks on, each
run leaves keyed fingerprints of its rows beside the ledger: one of the file's bytes, and one of the
encoded rows, which is the same for CSV, Parquet and a table of a database, in any order. The next
run that has one of them under another name reports it. Another such file, of the user's, has the
ledgers that rows were spent in: limits of two ledgers are not added up either.

Privacy: this reads rows outside of the Curator. Key and fingerprints have a file of their own, for
its owner alone, outside the ledger's chain. What comes of them is a sentence on an interactive
terminal, and touches no statement, ledger, log, JSON or exit code. Nothing here may be called where
its answer could go anywhere else.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from understudy.errors import UnderstudyError
from understudy.facts.schema import Schema
from understudy.rows.counting import CountSource
from understudy.rows.engines.databases.counted_only import CountedOnly
from understudy.rows.engines.databases.source import DatabaseSource
from understudy.rows.engines.memory import MemorySource
from understudy.system.files.locking import lock

if TYPE_CHECKING:
    from understudy.privacy.spending.ledger import Ledger

_OWNER_ONLY = 0o600
_KEY_BYTES = 32
_BLOCK = 2**20
# Files that fail, or hold something else, do not make a run fail: the warning is a kindness.
_PASSED_OVER = (OSError, ValueError, LookupError, TypeError, AttributeError, UnderstudyError)


def is_watched() -> bool:
    """Whether a person looks at stderr, the only place where copies are named."""
    # A spinner stands in for stderr while it turns.
    stream = getattr(sys.stderr, "rich_proxied_file", sys.stderr)
    return bool(stream.isatty())


@dataclass(frozen=True)
class Sighting:
    """Private rows on their way into a run: where they lie, and how they are counted.

    Attributes:
        data: the name of a file or folder; anything else has no bytes to look at.
        source: the rows behind an engine, where they are open.
        schema: by which they were encoded.
    """

    data: object
    source: CountSource | None = None
    schema: Schema | None = None

    def prints(self, key: bytes) -> list[str]:
        """Keyed fingerprints of the file's bytes and of the encoded rows, as far as at hand."""
        return [hashlib.blake2b(digest, key=key).hexdigest() for digest in self._digests]

    @cached_property
    def _digests(self) -> list[bytes]:
        """Without a key, and so for this process alone: rows are read once for several keys."""
        found = []
        if isinstance(self.data, str | os.PathLike):
            found += _of_bytes(Path(self.data))
        if self.schema is not None and isinstance(
            self.source, MemorySource | DatabaseSource | CountedOnly
        ):
            found += _of_rows(self.source, self.schema)
        return found


def known_elsewhere(ledger: Path, dataset: str, sighting: Sighting) -> list[str]:
    """The other names that these rows were spent on under; this name is remembered for them.

    Privacy: exact, and for an interactive terminal alone; see the module.
    """
    with suppress(*_PASSED_OVER), _held(ledger) as memory:
        found = sighting.prints(bytes.fromhex(memory.key))
        return memory.meet(dataset, found)
    return []


def sentence(names: Sequence[str], dataset: str) -> str:
    """Word the warning for the owner."""
    listed = ", ".join(map(repr, names))
    return (
        f"these rows were spent on before as {listed}; as {dataset!r} they have another account, "
        "and no limit adds the two up; name them alike (--dataset, or dataset= in Python)"
    )


def other_ledgers(ledger: Ledger, sighting: Sighting) -> list[str]:
    """The other ledgers that this user has spent these rows in, and that are still spent from.

    Privacy: exact, and for an interactive terminal alone; see the module.
    """
    import platformdirs

    from understudy.privacy.spending.stores.places import lasting_place

    user = platformdirs.user_state_path("understudy") / "ledgers"
    with suppress(*_PASSED_OVER):
        found = known_elsewhere(user, lasting_place(ledger.store), sighting)
        return [place for place in found if _is_spent_from(place)]
    return []


def _is_spent_from(place: str) -> bool:
    """Whether a ledger of this machine is there and was not moved; servers are not asked."""
    from understudy.privacy.spending.ledger import Ledger, moved_to
    from understudy.privacy.spending.stores.places import POSTGRES

    if place.startswith(POSTGRES):
        return True
    ledger = Ledger(place)
    if not ledger.exists:
        return False
    with ledger.store.locked() as book:
        return moved_to(book.chain) is None


def sentence_of_ledgers(places: Sequence[str], ledger: str) -> str:
    """Word the warning of other ledgers for the owner."""
    return (
        f"these rows were spent on before in the ledger {', '.join(places)}; {ledger} does not "
        "know of it, and no limit adds the two up; spend from one of them (--ledger)"
    )


def warn(ledger: Ledger, dataset: str, sighting: Sighting) -> None:
    """Warn of copies on an interactive terminal; do nothing where nobody looks on."""
    if not is_watched():
        return
    names = known_elsewhere(ledger.path, dataset, sighting)
    if names:
        sys.stderr.write(f"{sentence(names, dataset)}\n")
    places = other_ledgers(ledger, sighting)
    if places:
        sys.stderr.write(f"{sentence_of_ledgers(places, ledger.place)}\n")


@dataclass
class _Memory:
    """Which fingerprints came under which names."""

    key: str
    names: dict[str, list[str]] = field(default_factory=dict)

    def meet(self, dataset: str, prints: Sequence[str]) -> list[str]:
        """Remember fingerprints under a name; the other names that they are known by."""
        others: dict[str, None] = {}
        for each in prints:
            known = self.names.setdefault(each, [])
            others |= dict.fromkeys(name for name in known if name != dataset)
            if dataset not in known:
                known.append(dataset)
        return list(others)


def place(ledger: Path) -> Path:
    """The file beside a ledger that holds its fingerprints and their key."""
    return ledger.with_name(f"{ledger.name}.fingerprints")


@contextmanager
def _held(ledger: Path) -> Iterator[_Memory]:
    """The memory beside a ledger, under a lock; written back at the end."""
    path = place(ledger)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
    with open(descriptor, "r+b") as file:
        lock(file.fileno())
        memory = _read(file)
        yield memory
        file.seek(0)
        file.write(json.dumps({"key": memory.key, "names": memory.names}).encode())
        file.truncate()


def _read(file: IO[bytes]) -> _Memory:
    content = file.read()
    if not content:
        return _Memory(secrets.token_hex(_KEY_BYTES))
    document: Mapping[str, Any] = json.loads(content)
    return _Memory(str(document["key"]), {str(k): list(v) for k, v in document["names"].items()})


def _of_bytes(path: Path) -> list[bytes]:
    """The digest of a file's bytes, or of all files in a folder, whatever their names."""
    files = [path] if path.is_file() else sorted(p for p in path.glob("*.parquet") if p.is_file())
    each = sorted(_file(file) for file in files)
    if len(each) < 2:
        return each
    return [hashlib.blake2b(b"".join(each)).digest()]


def _file(path: Path) -> bytes:
    found = hashlib.blake2b()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.digest()


def _of_rows(source: CountSource, schema: Schema) -> list[bytes]:
    """The digest of the exact one-way counts of all attributes, which no order of rows changes."""
    sets = [(attribute,) for attribute in source.domain]
    tables = [marginal.counts for marginal in source.count(sets)]
    if not tables or not tables[0].any():
        return []
    found = hashlib.blake2b(schema.fingerprint.encode())
    for counts in tables:
        found.update(counts.astype("<i8").tobytes())
    return [found.digest()]
