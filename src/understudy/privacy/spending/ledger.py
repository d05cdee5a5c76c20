"""The ledger: what was spent on which data, kept so that it never says less than the truth.

An append-only file of JSON lines. A *limit* sets a ceiling for a dataset, a *grant* sets aside
the whole budget of one run before its first question, a *reserve* sets more aside where the run
announced its plan, a *charge* names each answer before its noise is drawn, and a *close* states
what the run came to. A grant that was never closed (the process died) counts whole. What runs add
up to, and what a limit leaves room for, is said by `accounts`. *Steps* of long runs, and who
*resumes* one, are in `steps`.

Every line is flushed to disk before the caller goes on, carries a checksum over itself and the
line before it, and is written under a lock held by one process at a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import unicodedata
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from understudy.errors import LedgerError, UsageError
from understudy.files.locking import is_at
from understudy.privacy import steps
from understudy.privacy.accounts import Account, Cost, Limit, Spent
from understudy.privacy.adjacency import Adjacency
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.entries import (
    amounts,
    concentrated_fields,
    cost_fields,
    limit_fields,
    read_accounts,
)
from understudy.privacy.grant import Grant

_TORN = "torn"
# Version 0.1.0 wrote so many digits of a checksum; all of them are written now.
_OLD_CHECK = 16
# How often a file that was replaced while its lock was waited for is opened anew.
_TRIES = 100


class Ledger:
    """A ledger file.

    Example:
        >>> import tempfile
        >>> ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.jsonl")
        >>> ledger.limit("patients", epsilon=Fraction(2))
        >>> with ledger.grant("patients", Budget.pure(1)) as grant:
        ...     pass
        >>> str(ledger.account("patients").remaining)
        'epsilon = 2, delta = 0'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._known = _Known()
        self._holds: dict[str, int] = {}

    def limit(
        self,
        dataset: str,
        *,
        epsilon: Fraction,
        delta: Fraction = Fraction(0),
        adjacency: Adjacency | None = None,
    ) -> None:
        """Set the ceiling of a dataset by basic composition; the last one set holds.

        Args:
            dataset: the name of the rows.
            epsilon: the most that all runs together may cost.
            delta: the same of δ.
            adjacency: whom it is for; rows added or removed unless given.
        """
        self.set_limit(dataset, Limit.basic(Spent(epsilon, delta), adjacency or Adjacency()))

    def set_limit(self, dataset: str, limit: Limit) -> None:
        """Set the ceiling of a dataset; the last one set holds, and counts earlier runs too.

        Raises:
            UsageError: an earlier run promises nothing to whom the limit is for.
        """
        dataset = _named(dataset)
        with self._locked() as book:
            known = read_accounts(self.path, book.entries).get(dataset)
            if known is not None and limit.adjacency and known.total(limit.adjacency).silent:
                raise UsageError(
                    f"dataset {dataset!r}: some of its runs promise nothing for "
                    f"{limit.adjacency}, so that such a limit could not be kept; "
                    "set one for another unit or other neighbours"
                )
            book.write([{"entry": "limit", "dataset": dataset, **limit_fields(limit)}])

    def accounts(self) -> dict[str, Account]:
        """The standing of every dataset in the ledger."""
        if not self.path.exists():
            return {}
        with self._locked() as book:
            return read_accounts(self.path, book.entries)

    def account(self, dataset: str) -> Account:
        """The standing of one dataset, also when nothing was ever spent on it."""
        name = unicodedata.normalize("NFC", dataset)
        return self.accounts().get(name, Account(name, None, ()))

    @contextmanager
    def grant(
        self,
        dataset: str,
        budget: Budget,
        *,
        adjacency: Adjacency | None = None,
        about: Mapping[str, str] | None = None,
        kind: type[Grant] = Grant,
        resume: steps.Told | None = None,
    ) -> Iterator[Grant]:
        """Set a run's whole budget aside; on leaving, state what it came to.

        Args:
            dataset: the name of the rows it is spent on.
            budget: the most that the run may cost.
            adjacency: whom it protects; rows added or removed unless given.
            about: what else the entry says.
            kind: how charges are counted.
            resume: where a killed run left its grant open, to go on from there.

        Raises:
            BudgetExceeded: the dataset's limit does not leave room for the whole budget.
            LedgerError: the run that was to go on has told more since, is held by another
                process, or is finished.
        """
        grant = kind(budget, self) if resume is None else kind(budget, self, resume.grant)
        if resume is None:
            self.open(dataset, grant, adjacency=adjacency, about=about, held_to_reserve=True)
        else:
            self._reopen(dataset, grant, resume)
        try:
            yield grant
        finally:
            try:
                if not grant.unfinished:
                    self.close(grant)
            finally:
                self.let_go(grant.identity)

    def open(
        self,
        dataset: str,
        grant: Grant,
        *,
        adjacency: Adjacency | None = None,
        about: Mapping[str, str] | None = None,
        held_to_reserve: bool = False,
    ) -> None:
        """Set a grant's whole budget aside; whoever opens it so closes it, perhaps much later.

        Args:
            dataset: the name of the rows it is spent on.
            grant: the run's grant.
            adjacency: whom it protects; rows added or removed unless given.
            about: what else the entry says.
            held_to_reserve: a pure run may begin where a limit in zCDP has less room than it could
                take at the most; its charges are then held to what was set aside.

        Raises:
            BudgetExceeded: the dataset's limit does not leave room for the whole budget.
        """
        dataset = _check_terms(dataset, grant.budget)
        cost = Cost(adjacency or Adjacency(), _whole(grant), grant.reserve)
        with self._locked() as book:
            account = read_accounts(self.path, book.entries).get(dataset)
            if account is not None:
                cost = account.room_for(cost) if held_to_reserve else cost
                account.check_room(cost)
            opening = {"entry": "grant", "grant": grant.identity, "dataset": dataset}
            book.write([{**opening, **(about or {}), **cost_fields(cost)}])
            if cost.concentrated != grant.reserve:
                grant.hold_to(cost.concentrated)

    def reserve(self, grant: Grant) -> None:
        """Set more aside for a grant whose announced plan allows it to spend more in ρ.

        Raises:
            BudgetExceeded: the dataset's limit does not leave room for it.
        """
        with self._locked() as book:
            for account in read_accounts(self.path, book.entries).values():
                known = account.cost_of(grant.identity)
                if known is not None:
                    cost = replace(known, concentrated=grant.reserve)
                    account.without(grant.identity).check_room(cost)
            entry = {"entry": "reserve", "grant": grant.identity}
            book.write([{**entry, **concentrated_fields(grant.reserve)}])

    def close(self, grant: Grant) -> None:
        """State what a grant came to; what it did not spend is free again."""
        bound = grant.bound()
        spent = Spent(
            _whole(grant).epsilon if bound.epsilon is None else bound.epsilon, bound.delta
        )
        closing = {"entry": "close", "grant": grant.identity, "accounting": bound.accounting}
        with self._locked() as book:
            self._checked_run(book, grant)
            book.write([{**closing, **amounts(spent), **concentrated_fields(grant.spent)}])

    def tell(self, grant: Grant, step: int, checkpoint: str) -> None:
        """Write down that something of a step is about to leave; from then on it is not redrawn.

        Args:
            grant: of the run.
            step: above all that were told before.
            checkpoint: SHA-256 of the file that the run can go on from.

        Raises:
            LedgerError: another process has gone on with the run, or finished it.
        """
        told = steps.Told(grant.identity, step, checkpoint)
        if grant.identity not in self._holds:
            self.hold(grant.identity)
        with self._locked() as book:
            steps.check_step(self.path, self._checked_run(book, grant), told)
            book.write([told.entry("step", grant.holder)])

    def told(self, checkpoint: str) -> tuple[str, bool] | None:
        """The grant of the run that told of a checkpoint, and whether it can go on from there."""
        if not self.path.exists():
            return None
        with self._locked() as book:
            for entry in reversed(book.entries):
                if entry["entry"] == "step" and entry.get("checkpoint") == checkpoint:
                    run = _run(self.path, book.entries, entry["grant"])
                    return run["grant"], run["open"] and run["checkpoint"] == checkpoint
        return None

    def hold(self, name: str, *, what: str = "run") -> None:
        """Refuse to other processes what goes by a name, until it is let go of or this one ends."""
        path = steps.hold_path(self.path, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = steps.hold(path)
        except OSError as error:
            raise LedgerError(
                f"ledger {self.path}: no file can be made beside it: {error.strerror}; "
                "choose another with --ledger"
            ) from None
        if descriptor is None:
            raise LedgerError(
                f"ledger {self.path}: another process has this {what}, here or in a copy of its "
                "files; wait until it ends, or stop it"
            )
        self._holds[name] = descriptor

    def let_go(self, name: str) -> None:
        """Allow others what goes by a name, if this process holds it."""
        if name in self._holds:
            steps.let_go(steps.hold_path(self.path, name), self._holds.pop(name))

    def entries(self, identity: str) -> list[Mapping[str, Any]]:
        """Everything that was written about one grant, in order."""
        with self._locked() as book:
            return [entry for entry in book.entries if entry.get("grant") == identity]

    def heads(self) -> dict[str, str]:
        """The check of every entry that closed a grant, by the grant's identity."""
        with self._locked():
            lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        closing = [_parsed(line) or {} for line in lines if '"close"' in line]
        return {
            str(entry.get("grant")): str(entry.get("check"))
            for entry in closing
            if entry.get("entry") == "close"
        }

    def secrets(self) -> set[str]:
        """The names of the secrets that runs were committed to with."""
        if not self.path.exists():
            return set()
        with self._locked() as book:
            return {str(entry["secret"]) for entry in book.entries if "secret" in entry}

    def head_of(self, identity: str) -> str | None:
        """The check of the entry that closed a grant; None while it is open."""
        return self.heads().get(identity)

    def _checked_run(self, book: _Book, grant: Grant) -> Mapping[str, Any]:
        """A run as the ledger has it, if it is still this process that has it."""
        run = _run(self.path, book.entries, grant.identity)
        steps.check_holder(self.path, run, grant.holder)
        return run

    def _reopen(self, dataset: str, grant: Grant, told: steps.Told) -> None:
        """Take a run over from a process that was killed, from the highest step that it told."""
        dataset = _check_terms(dataset, grant.budget)
        self.hold(grant.identity)
        try:
            self._take_over(dataset, grant, told)
        except BaseException:
            self.let_go(grant.identity)
            raise

    def _take_over(self, dataset: str, grant: Grant, told: steps.Told) -> None:
        asked = _whole(grant)
        with self._locked() as book:
            account = read_accounts(self.path, book.entries).get(
                dataset, Account(dataset, None, ())
            )
            left = [run for run in account.runs if run["grant"] == grant.identity]
            if not left or (left[0]["open"] and left[0]["cost"].spent != asked):
                raise LedgerError(
                    f"ledger {self.path}: holds no open grant of {asked} for dataset {dataset!r} "
                    "that the checkpoint could go on with; name the ledger that paid for it, "
                    "with --ledger"
                )
            steps.check_resumable(self.path, left[0], told)
            grant.holder, grant.resumed_after = uuid.uuid4().hex, told.step
            book.write([told.entry("resume", grant.holder)])

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write entries and wait until the disk has them.

        Raises:
            LedgerError: an entry is about a grant that was closed.
        """
        about = {entry.get("grant") for entry in entries}
        with self._locked() as book:
            if any(e["entry"] == "close" and e.get("grant") in about for e in book.entries):
                raise LedgerError(
                    f"ledger {self.path}: this run was closed, and nothing can be charged to it "
                    "any more; begin another run"
                )
            book.write(entries)

    @contextmanager
    def _locked(self) -> Iterator[_Book]:
        descriptor = self._held()
        try:
            self._known = self._known.updated(self.path, descriptor)
            yield _Book(self.path, descriptor, self._known)
        finally:
            os.close(descriptor)

    def _held(self) -> int:
        """The file that stands under the ledger's name, locked for this process.

        Whoever waits for the lock may get that of a file which another has taken the place of.
        """
        for _ in range(_TRIES):
            descriptor = self._opened()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if is_at(self.path, descriptor):
                return descriptor
            os.close(descriptor)
        raise LedgerError(
            f"ledger {self.path}: is replaced again and again while it is being locked; "
            "stop whatever replaces it"
        )

    def _opened(self) -> int:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise LedgerError(
                f"ledger {self.path}: cannot be opened: {error.strerror}; "
                "choose another with --ledger"
            ) from None


@dataclass(frozen=True)
class _Known:
    """The lines of a file that were read and found whole, so that only new ones are read again."""

    inode: int = 0
    offset: int = 0
    entries: tuple[dict[str, Any], ...] = ()
    check: str = ""
    fragment: str = ""

    def updated(self, path: Path, descriptor: int) -> _Known:
        """What is known after reading to the end of the file."""
        status = os.fstat(descriptor)
        same = status.st_ino == self.inode and status.st_size >= self.offset
        old = self if same else _Known(status.st_ino)
        data = _read_from(descriptor, old.offset, status.st_size)
        *lines, rest = data.decode("utf-8", errors="replace").split("\n")
        entries, check = _verified(path, lines, after=old)
        offset = old.offset + data.rfind(b"\n") + 1
        known = _Known(status.st_ino, offset, entries, check, rest)
        return known._finished(path, descriptor) if _is_whole(rest, check) else known

    def _finished(self, path: Path, descriptor: int) -> _Known:
        """The last line lacks its line break alone: give it one, and count it."""
        os.write(descriptor, b"\n")
        return self.updated(path, descriptor)


class ScratchLedger(Ledger):
    """A ledger that keeps nothing: for simulations, where all holders live in one process."""

    def __init__(self) -> None:
        super().__init__("scratch")
        self._book = _ScratchBook()

    def accounts(self) -> dict[str, Account]:
        """The standing of every dataset."""
        return read_accounts(self.path, self._book.entries)

    def hold(self, name: str, *, what: str = "run") -> None:
        """Hold nothing: there are no other processes."""

    def heads(self) -> dict[str, str]:
        """Nothing: what is not kept has no checks."""
        return {}

    @contextmanager
    def _locked(self) -> Iterator[_Book]:
        yield self._book


class _Book:
    """The ledger file while this process holds its lock."""

    def __init__(self, path: Path, descriptor: int, known: _Known) -> None:
        self._path = path
        self._descriptor = descriptor
        self._known = known
        self.entries: Sequence[Mapping[str, Any]] = known.entries

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries, first marking a line that an earlier process left unfinished."""
        torn: list[Mapping[str, Any]] = [{"entry": _TORN}] if self._known.fragment else []
        text = "\n" if self._known.fragment else ""
        check = self._known.check
        time = datetime.now(UTC).isoformat(timespec="seconds")
        for entry in [*torn, *entries]:
            stamped = {"time": time, **entry}
            check = _checksum(check, stamped)
            text += json.dumps({**stamped, "check": check}, ensure_ascii=False) + "\n"
        self._flush(text.encode())

    def _flush(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            os.fsync(self._descriptor)
            _flush_folder(self._path.parent)
        except OSError as error:
            raise LedgerError(
                f"ledger {self._path}: cannot be written: {error.strerror}; nothing was drawn"
            ) from None


class _ScratchBook(_Book):
    """A book of one process."""

    def __init__(self) -> None:
        super().__init__(Path("scratch"), -1, _Known())
        self.entries: list[Mapping[str, Any]] = []

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Remember entries."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        self.entries += [{"time": time, **entry} for entry in entries]


def _whole(grant: Grant) -> Spent:
    return Spent(grant.budget.amount, grant.budget.delta)


def _check_terms(dataset: str, budget: Budget) -> str:
    """The dataset's name as the ledger writes it, if such a budget can be granted."""
    if budget.measure not in (Measure.PURE, Measure.APPROXIMATE):
        raise UsageError("a ledger grants epsilon or (epsilon, delta); convert the budget")
    return _named(dataset)


def _named(dataset: str) -> str:
    """A dataset's name in Unicode's composed form, so that it is one however it was typed."""
    if not dataset.strip():
        raise UsageError(f"dataset {dataset!r} is not a name; name it with --dataset")
    try:
        dataset.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"dataset {dataset!r} is no Unicode and cannot be written; name it with --dataset"
        ) from None
    return unicodedata.normalize("NFC", dataset)


def _read_from(descriptor: int, start: int, end: int) -> bytes:
    data = b""
    while start + len(data) < end:
        more = os.pread(descriptor, end - start - len(data), start + len(data))
        if not more:
            break
        data += more
    return data


def _flush_folder(folder: Path) -> None:
    """Make a newly created name survive a power cut too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _checksum(previous: str, entry: Mapping[str, Any]) -> str:
    text = previous + json.dumps(entry, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _verified(
    path: Path, lines: Sequence[str], *, after: _Known
) -> tuple[tuple[dict[str, Any], ...], str]:
    """The entries in order, each checked against its line and the one before.

    An unfinished line is passed over only where the next one says that it was found unfinished:
    its process died before the line was flushed, and so before anything was drawn.
    """
    entries, check, unfinished = [*after.entries], after.check, ""
    for number, line in enumerate(lines, len(entries) + 1):
        entry = _parsed(line) or {}
        claimed = entry.pop("check", None)
        if _is_right(claimed, check, entry) and _follows(entry, unfinished):
            check, unfinished = str(claimed), ""
            entries.append(entry)
        elif unfinished:
            break
        else:
            unfinished = f"line {number}"
    if not unfinished:
        return tuple(entries), check
    raise LedgerError(
        f"ledger {path}: {unfinished} is damaged or out of place; "
        "restore the file from a copy before spending more"
    )


def _follows(entry: Mapping[str, Any], unfinished: str) -> bool:
    """Only the word that a line was found torn may follow such a line."""
    return bool(entry["entry"] == _TORN) == bool(unfinished)


def _is_whole(line: str, check: str) -> bool:
    entry = _parsed(line) or {}
    return _is_right(entry.pop("check", None), check, entry)


def _is_right(claimed: object, previous: str, entry: Mapping[str, Any]) -> bool:
    """Whether a line's checksum is its own; one of version 0.1.0 may follow none but such ones."""
    try:
        whole = _checksum(previous, entry)
    except RecursionError:
        # Python reads lists in lists a little deeper than it writes them.
        return False
    return claimed == whole or (len(previous) <= _OLD_CHECK and claimed == whole[:_OLD_CHECK])


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("entry"), str) else None


def _run(path: Path, entries: Sequence[Mapping[str, Any]], identity: str) -> Mapping[str, Any]:
    """One run as it stands, by the identity of its grant."""
    for account in read_accounts(path, entries).values():
        for run in account.runs:
            if run["grant"] == identity:
                return run
    raise LedgerError(
        f"ledger {path}: does not know the grant of this run; restore the file from a copy"
    )


def default_path() -> Path:
    """The user's own ledger: $UNDERSTUDY_LEDGER, else a file in the state folder."""
    import platformdirs

    named = os.environ.get("UNDERSTUDY_LEDGER")
    return Path(named) if named else platformdirs.user_state_path("understudy") / "ledger.jsonl"
