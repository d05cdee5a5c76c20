"""The ledger: what was spent on which data, kept so that it never says less than the truth.

An append-only file of JSON lines. A *limit* sets a ceiling for a dataset, a *grant* sets aside
the whole budget of one run before its first question, a *charge* names each answer before its
noise is drawn, and a *close* states what the run came to. A grant that was never closed (the
process died) counts whole. Grants add up by basic composition of (ε, δ), which holds also when
later runs are chosen after seeing earlier results (Rogers, Roth, Ullman, Vadhan 2016).

Every line is flushed to disk before the caller goes on, carries a checksum over itself and the
line before it, and is written under a lock held by one process at a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from understudy.amounts import at_least_text, at_most, at_most_text
from understudy.errors import BudgetExceeded, LedgerError, UsageError
from understudy.privacy.budget import Budget, Measure, exactly
from understudy.privacy.grant import Grant

_TORN = "torn"


@dataclass(frozen=True)
class Spent:
    """An (ε, δ) that adds up by basic composition."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.epsilon + other.epsilon, self.delta + other.delta)

    def within(self, limit: Spent) -> bool:
        """Whether neither epsilon nor delta exceeds the limit."""
        return self.epsilon <= limit.epsilon and self.delta <= limit.delta

    def __str__(self) -> str:
        return f"epsilon = {at_most_text(self.epsilon)}, delta = {at_most_text(self.delta)}"

    @property
    def as_remainder(self) -> str:
        """The same in words where it is what is left: rounded down, not up."""
        return f"epsilon = {at_least_text(self.epsilon)}, delta = {at_least_text(self.delta)}"


@dataclass(frozen=True)
class Account:
    """One dataset's standing: its limit if any, and what each run came to."""

    dataset: str
    limit: Spent | None
    runs: tuple[Mapping[str, Any], ...]

    @property
    def spent(self) -> Spent:
        """The sum over all runs, those never closed counted whole."""
        return sum((run["spent"] for run in self.runs), Spent())

    @property
    def remaining(self) -> Spent | None:
        """What is left under the limit; None when no limit is set."""
        if self.limit is None:
            return None
        spent = self.spent
        return Spent(
            max(self.limit.epsilon - spent.epsilon, Fraction(0)),
            max(self.limit.delta - spent.delta, Fraction(0)),
        )


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

    def limit(self, dataset: str, *, epsilon: Fraction, delta: Fraction = Fraction(0)) -> None:
        """Set the ceiling of a dataset; the last one set holds."""
        _check_name(dataset)
        entry = {"entry": "limit", "dataset": dataset, **_amounts(Spent(epsilon, delta))}
        with self._locked() as book:
            book.write([entry])

    def accounts(self) -> dict[str, Account]:
        """The standing of every dataset in the ledger."""
        if not self.path.exists():
            return {}
        with self._locked() as book:
            return _accounts(self.path, book.entries)

    def account(self, dataset: str) -> Account:
        """The standing of one dataset, also when nothing was ever spent on it."""
        return self.accounts().get(dataset, Account(dataset, None, ()))

    @contextmanager
    def grant(
        self,
        dataset: str,
        budget: Budget,
        *,
        about: Mapping[str, str] | None = None,
        kind: type[Grant] = Grant,
        resume: str | None = None,
    ) -> Iterator[Grant]:
        """Set a run's whole budget aside; on leaving, state what it came to.

        Args:
            dataset: the name of the rows it is spent on.
            budget: the most that the run may cost.
            about: what else the entry says.
            kind: how charges are counted.
            resume: the identity of a grant that a killed run left open, to go on with.

        Raises:
            BudgetExceeded: the dataset's limit does not leave room for the whole budget.
        """
        grant = kind(budget, self) if resume is None else kind(budget, self, resume)
        if resume is None:
            self.open(dataset, grant, about=about)
        else:
            self._reopen(dataset, grant)
        try:
            yield grant
        finally:
            if not grant.unfinished:
                self.close(grant)

    def open(self, dataset: str, grant: Grant, *, about: Mapping[str, str] | None = None) -> None:
        """Set a grant's whole budget aside; whoever opens it so closes it, perhaps much later.

        Raises:
            BudgetExceeded: the dataset's limit does not leave room for the whole budget.
        """
        _check_terms(dataset, grant.budget)
        asked = Spent(grant.budget.amount, grant.budget.delta)
        with self._locked() as book:
            account = _accounts(self.path, book.entries).get(dataset)
            if account and account.limit and not (account.spent + asked).within(account.limit):
                left = account.remaining or Spent()
                raise BudgetExceeded(
                    f"dataset {dataset!r}: asked for {asked}, but {left.as_remainder} is left of "
                    f"the limit {account.limit}; ask for less, or raise it with `ledger limit`",
                    requested=asked,
                    remaining=account.remaining,
                )
            opening = {"entry": "grant", "grant": grant.identity, "dataset": dataset}
            book.write([{**opening, **(about or {}), **_amounts(asked)}])

    def close(self, grant: Grant) -> None:
        """State what a grant came to; what it did not spend is free again."""
        bound = grant.bound()
        whole = grant.budget.amount
        spent = Spent(whole if bound.epsilon is None else bound.epsilon, bound.delta)
        closing = {"entry": "close", "grant": grant.identity, "accounting": bound.accounting}
        self.append([{**closing, **_amounts(spent)}])

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

    def head_of(self, identity: str) -> str | None:
        """The check of the entry that closed a grant; None while it is open."""
        return self.heads().get(identity)

    def _reopen(self, dataset: str, grant: Grant) -> None:
        _check_terms(dataset, grant.budget)
        asked = Spent(grant.budget.amount, grant.budget.delta)
        left = [
            run
            for run in self.account(dataset).runs
            if run["grant"] == grant.identity and run["open"] and run["spent"] == asked
        ]
        if not left:
            raise LedgerError(
                f"ledger {self.path}: holds no open grant of {asked} for dataset {dataset!r} that "
                "the checkpoint could go on with; start again without it"
            )

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write entries and wait until the disk has them."""
        with self._locked() as book:
            book.write(entries)

    @contextmanager
    def _locked(self) -> Iterator[_Book]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise LedgerError(
                f"ledger {self.path}: cannot be opened: {error.strerror}; "
                "choose another with --ledger"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._known = self._known.updated(self.path, descriptor)
            yield _Book(self.path, descriptor, self._known)
        finally:
            os.close(descriptor)


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
        return _accounts(self.path, self._book.entries)

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


def _check_terms(dataset: str, budget: Budget) -> None:
    if budget.measure not in (Measure.PURE, Measure.APPROXIMATE):
        raise UsageError("a ledger grants epsilon or (epsilon, delta); convert the budget")
    _check_name(dataset)


def _check_name(dataset: str) -> None:
    try:
        dataset.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"dataset {dataset!r} is no Unicode and cannot be written; name it with --dataset"
        ) from None


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
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
    try:
        return bool(claimed == _checksum(previous, entry))
    except RecursionError:
        # Python reads lists in lists a little deeper than it writes them.
        return False


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("entry"), str) else None


def _accounts(path: Path, entries: Sequence[Mapping[str, Any]]) -> dict[str, Account]:
    limits: dict[str, Spent] = {}
    runs: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(entries, 1):
        try:
            _enter(entry, limits, runs)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            raise LedgerError(
                f"ledger {path}: entry {number} does not say what it must; "
                "restore the file from a copy before spending more"
            ) from None
    names = dict.fromkeys([*limits, *(run["dataset"] for run in runs.values())])
    return {
        name: Account(
            name, limits.get(name), tuple(r for r in runs.values() if r["dataset"] == name)
        )
        for name in names
    }


def _enter(
    entry: Mapping[str, Any], limits: dict[str, Spent], runs: dict[str, dict[str, Any]]
) -> None:
    """Take one entry into the books."""
    match entry["entry"]:
        case "limit":
            limits[_text(entry, "dataset")] = _spent(entry)
        case "grant":
            known = {**entry, "dataset": _text(entry, "dataset"), "time": _text(entry, "time")}
            if entry["grant"] in runs:
                raise ValueError("a grant is opened once")
            run = {**known, "spent": _spent(entry), "open": True, "charges": 0}
            runs[_text(entry, "grant")] = run
        case "charge":
            runs[entry["grant"]]["charges"] += _times(entry)
        case "close":
            how = entry["accounting"]
            runs[entry["grant"]] |= {"spent": _spent(entry), "open": False, "accounting": how}


def _times(entry: Mapping[str, Any]) -> int:
    """How many equal charges an entry stands for."""
    times = entry.get("times", 1)
    if not isinstance(times, int) or times < 1:
        raise ValueError("times")
    return times


def _text(entry: Mapping[str, Any], key: str) -> str:
    text = entry[key]
    if not isinstance(text, str):
        raise TypeError(key)
    # Half a surrogate pair could be neither shown nor written.
    text.encode()
    return text


def _amounts(spent: Spent) -> dict[str, Any]:
    return {
        "epsilon": at_most(spent.epsilon),
        "delta": at_most(spent.delta),
        "epsilon_exact": str(spent.epsilon),
        "delta_exact": str(spent.delta),
    }


def _spent(entry: Mapping[str, Any]) -> Spent:
    return Spent(exactly(entry["epsilon_exact"]), exactly(entry["delta_exact"]))


def default_path() -> Path:
    """The user's own ledger: $UNDERSTUDY_LEDGER, else a file in the state folder."""
    import platformdirs

    named = os.environ.get("UNDERSTUDY_LEDGER")
    return Path(named) if named else platformdirs.user_state_path("understudy") / "ledger.jsonl"
