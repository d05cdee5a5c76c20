"""The ledger: what was spent on which data, kept so that it never says less than the truth.

An append-only chain of entries in a store: a file, an SQLite file, or a PostgreSQL server. A
*limit* sets a ceiling for a dataset, a *grant* sets aside
the whole budget of one run before its first question, a *reserve* sets more aside where the run
announced its plan, a *charge* names each answer before its noise is drawn, and a *close* states
what the run has cost. A grant that was never closed (the process died) counts whole. What runs add
up to, and what a limit leaves room for, is said by `accounts`. *Steps* of long runs, and who
*resumes* one, are in `steps`.

Every entry is on disk before the caller continues, carries a checksum over itself and the entry
before it, and is written while one process alone holds the ledger. `stores` has what keeps that.
"""

from __future__ import annotations

import os
import unicodedata
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from understudy.errors import BudgetExceeded, FateUnknown, LedgerError, UsageError
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.accounting.costs import pure_epsilon
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.spending import steps
from understudy.privacy.spending.accounts import Account
from understudy.privacy.spending.entries import (
    amounts,
    concentrated_fields,
    cost_fields,
    limit_fields,
    read_accounts,
)
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.limits import Cost, Limit, Spent
from understudy.privacy.spending.pricing import Adaptive, Pricing
from understudy.privacy.spending.stores.chain import Chain
from understudy.privacy.spending.stores.places import store_at
from understudy.privacy.spending.stores.store import (
    LedgerBook,
    LedgerPlace,
    LedgerStore,
)
from understudy.privacy.statements.binding import Secret

MOVED = "moved"
"""The entry of a ledger that is kept elsewhere from then on."""


class Ledger:
    """A ledger, kept in a file or a database.

    Example:
        >>> import tempfile
        >>> ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.jsonl")
        >>> ledger.limit("patients", epsilon=Fraction(2))
        >>> with ledger.grant("patients", Budget.pure(1)) as grant:
        ...     pass
        >>> str(ledger.account("patients").remaining)
        'epsilon = 2, delta = 0'
    """

    def __init__(self, place: LedgerPlace | LedgerStore) -> None:
        self.store = store_at(place) if isinstance(place, str | os.PathLike) else place
        self._held: set[str] = set()
        self._doubtful: set[str] = set()

    def __repr__(self) -> str:
        return f"Ledger({self.place!r})"

    @property
    def place(self) -> str:
        """Where it is kept, as it may be shown: never with a password."""
        return self.store.shown

    @property
    def path(self) -> Path:
        """The ledger's file; of a server, the name that files on this machine are beside."""
        return self.store.path

    @property
    def exists(self) -> bool:
        """Whether anything was ever written there."""
        return self.store.exists()

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
        with self.store.locked() as book:
            known = read_accounts(self.place, book.chain.entries).get(dataset)
            if known is not None and limit.adjacency and known.total(limit.adjacency).silent:
                raise UsageError(
                    f"dataset {dataset!r}: some of its runs promise nothing for "
                    f"{limit.adjacency}, so that such a limit could not be kept; "
                    "set one for another unit or other neighbours"
                )
            self._write(book, [{"entry": "limit", "dataset": dataset, **limit_fields(limit)}])

    def accounts(self) -> dict[str, Account]:
        """The standing of every dataset in the ledger."""
        if not self.exists:
            return {}
        with self.store.locked() as book:
            return read_accounts(self.place, book.chain.entries)

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
        pricing: Pricing | None = None,
        resume: steps.Told | None = None,
    ) -> Iterator[Grant]:
        """Set a run's whole budget aside; on leaving, state what it has cost.

        Args:
            dataset: the name of the rows it is spent on.
            budget: the most that the run may cost.
            adjacency: whom it protects; rows added or removed unless given.
            about: what else the entry says.
            pricing: how charges are counted; adaptively unless given.
            resume: where a killed run left its grant open, to continue there.

        Raises:
            BudgetExceeded: the dataset's limit does not leave room for the whole budget.
            LedgerError: the run that was to continue has reported more since, is held by another
                process, or is finished.
        """
        identity = uuid.uuid4().hex if resume is None else resume.grant
        grant = Grant(budget, log=self, identity=identity, pricing=pricing or Adaptive())
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
        with self.store.locked() as book:
            account = read_accounts(self.place, book.chain.entries).get(dataset)
            if account is not None:
                cost = account.room_for(cost) if held_to_reserve else cost
                cost = _with_room(account, cost, grant)
            opening = {"entry": "grant", "grant": grant.identity, "dataset": dataset}
            self._write(book, [{**opening, **(about or {}), **cost_fields(cost)}])
            if cost.concentrated != grant.reserve:
                grant.hold_to(cost.concentrated)

    def check_room(
        self, dataset: str, grants: Sequence[Grant], *, adjacency: Adjacency | None = None
    ) -> None:
        """Refuse runs that would not all find room, one after the other; nothing is written.

        Raises:
            BudgetExceeded: the dataset's limit does not leave room for all of them.
        """
        account = self.account(dataset)
        for grant in grants:
            cost = Cost(adjacency or Adjacency(), _whole(grant), grant.reserve)
            last = grant is grants[-1]
            cost = _with_room(account, account.room_for(cost) if last else cost, grant)
            account = account.after(cost, grant.identity)

    def reserve(self, grant: Grant) -> None:
        """Set more aside for a grant whose announced plan allows it to spend more in ρ.

        Raises:
            BudgetExceeded: the dataset's limit does not leave room for it.
        """
        with self.store.locked() as book:
            for account in read_accounts(self.place, book.chain.entries).values():
                known = account.cost_of(grant.identity)
                if known is not None:
                    cost = replace(known, concentrated=grant.reserve)
                    account.without(grant.identity).check_room(cost)
            entry = {"entry": "reserve", "grant": grant.identity}
            self._write(book, [{**entry, **concentrated_fields(grant.reserve)}])

    def close(self, grant: Grant) -> None:
        """State what a grant has cost; what it did not spend is free again."""
        if grant.identity in self._doubtful:
            # Nobody knows whether its last charge was written: it stays open, and counts whole.
            return
        bound = grant.bound()
        spent = Spent(
            _whole(grant).epsilon if bound.epsilon is None else bound.epsilon, bound.delta
        )
        closing = {"entry": "close", "grant": grant.identity, "accounting": bound.accounting}
        if self.store.adds_up and not _adds_up(grant):
            # The store cannot follow this bound, and accepts the whole grant alone.
            closing |= {f"claimed_{name}": text for name, text in amounts(spent).items()}
            spent = _whole(grant)
        with self.store.locked() as book:
            self._checked_run(book, grant)
            self._write(book, [{**closing, **amounts(spent), **concentrated_fields(grant.spent)}])

    def tell(self, grant: Grant, step: int, checkpoint: str) -> None:
        """Write down that something of a step is about to leave; from then on it is not redrawn.

        Args:
            grant: of the run.
            step: above all that were reported before.
            checkpoint: SHA-256 of the file from which the run can continue.

        Raises:
            LedgerError: another process has resumed the run, or finished it.
        """
        told = steps.Told(grant.identity, step, checkpoint)
        if grant.identity not in self._held:
            self.hold(grant.identity)
        with self.store.locked() as book:
            steps.check_step(self.place, self._checked_run(book, grant), told)
            self._write(book, [told.entry("step", grant.holder)])

    def told(self, checkpoint: str) -> tuple[str, bool] | None:
        """The grant of the run that reported a checkpoint, and whether it can continue there."""
        if not self.exists:
            return None
        with self.store.locked() as book:
            for entry in reversed(book.chain.entries):
                if entry["entry"] == "step" and entry.get("checkpoint") == checkpoint:
                    run = _run(self.place, book.chain.entries, entry["grant"])
                    return run["grant"], run["open"] and run["checkpoint"] == checkpoint
        return None

    def hold(self, name: str, *, what: str = "run") -> None:
        """Refuse to other processes what goes by a name, until it is let go of or this one ends."""
        if not self.store.hold(name):
            raise LedgerError(
                f"ledger {self.place}: another process has this {what}, here or in a copy of its "
                "files; wait until it ends, or stop it"
            )
        self._held.add(name)

    def let_go(self, name: str) -> None:
        """Allow others what goes by a name, if this process holds it."""
        if name in self._held:
            self._held.remove(name)
            self.store.let_go(name)

    def entries(self, identity: str) -> list[Mapping[str, Any]]:
        """Everything that was written about one grant, in order."""
        with self.store.locked() as book:
            return [entry for entry in book.chain.entries if entry.get("grant") == identity]

    def heads(self) -> dict[str, str]:
        """The check of every entry that closed a grant, by the grant's identity."""
        with self.store.locked() as book:
            pairs = zip(book.chain.entries, book.chain.checks, strict=True)
            return {
                str(entry["grant"]): check
                for entry, check in pairs
                if check and entry["entry"] == "close"
            }

    def secrets(self) -> set[str]:
        """The names of the secrets that runs were committed to with."""
        if not self.exists:
            return set()
        with self.store.locked() as book:
            return {str(entry["secret"]) for entry in book.chain.entries if "secret" in entry}

    def head_of(self, identity: str) -> str | None:
        """The check of the entry that closed a grant; None while it is open."""
        return self.heads().get(identity)

    def secret(self) -> Secret | None:
        """The secret that statements are committed to with; None where it is not made yet."""
        return self.store.secret()

    def make_secret(self) -> Secret:
        """Return the secret, which is made on first use."""
        return self.store.make_secret()

    def _write(self, book: LedgerBook, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries, unless the ledger is kept elsewhere by now."""
        place = moved_to(book.chain)
        if place is not None:
            why = "is a copy" if is_copy(book.chain) else "was moved"
            raise LedgerError(
                f"ledger {self.place}: {why}, and nothing can be spent here; name the ledger "
                f"that is spent from with --ledger: {place}"
            )
        book.write(entries)

    def _checked_run(self, book: LedgerBook, grant: Grant) -> Mapping[str, Any]:
        """A run as the ledger has it, if it is still this process that has it."""
        run = _run(self.place, book.chain.entries, grant.identity)
        steps.check_holder(self.place, run, grant.holder)
        return run

    def _reopen(self, dataset: str, grant: Grant, told: steps.Told) -> None:
        """Take a run over from a process that was killed, at the highest step that it reported."""
        dataset = _check_terms(dataset, grant.budget)
        self.hold(grant.identity)
        try:
            self._take_over(dataset, grant, told)
        except BaseException:
            self.let_go(grant.identity)
            raise

    def _take_over(self, dataset: str, grant: Grant, told: steps.Told) -> None:
        asked = _whole(grant)
        with self.store.locked() as book:
            account = read_accounts(self.place, book.chain.entries).get(
                dataset, Account(dataset, None, ())
            )
            left = [run for run in account.runs if run["grant"] == grant.identity]
            if not left or (left[0]["open"] and left[0]["cost"].spent != asked):
                raise LedgerError(
                    f"ledger {self.place}: holds no open grant of {asked} for dataset {dataset!r} "
                    "that the checkpoint could resume; name the ledger that paid for it, "
                    "with --ledger"
                )
            steps.check_resumable(self.place, left[0], told)
            grant.holder, grant.resumed_after = uuid.uuid4().hex, told.step
            self._write(book, [told.entry("resume", grant.holder)])

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write entries and wait until the disk has them.

        Raises:
            LedgerError: an entry is about a grant that was closed.
        """
        about = {str(entry["grant"]) for entry in entries if "grant" in entry}
        try:
            self._append(entries, about)
        except FateUnknown:
            self._doubtful |= about
            raise

    def _append(self, entries: Sequence[Mapping[str, Any]], about: set[str]) -> None:
        with self.store.locked() as book:
            if any(e["entry"] == "close" and e.get("grant") in about for e in book.chain.entries):
                raise LedgerError(
                    f"ledger {self.place}: this run was closed, and nothing can be charged to it "
                    "any more; begin another run"
                )
            self._write(book, entries)


def moved_to(chain: Chain) -> str | None:
    """Where a ledger is kept that was moved away from here; None while it was not.

    An older version, which knows no such entry, may have written others after it.
    """
    places = [str(entry.get("to")) for entry in chain.entries if entry.get("entry") == MOVED]
    return places[-1] if places else None


def is_copy(chain: Chain) -> bool:
    """Whether `ledger export` made a copy that is only read, and the ledger itself continues."""
    last = [entry for entry in chain.entries if entry.get("entry") == MOVED][-1:]
    return bool(last) and last[0].get("copy") is True


def _adds_up(grant: Grant) -> bool:
    """Whether a run costs what its charges add up to in pure ε, or its whole grant."""
    pure = all(pure_epsilon(charge.event) is not None for charge in grant.charges)
    bound, whole = grant.bound(), _whole(grant)
    return pure or (bound.epsilon is not None and whole.within(Spent(bound.epsilon, bound.delta)))


def _whole(grant: Grant) -> Spent:
    return Spent(grant.budget.amount, grant.budget.delta)


def _with_room(account: Account, cost: Cost, grant: Grant) -> Cost:
    """The cost that a grant is opened at: less ρ where the limit has no room for all of it."""
    refusal = _refusal(account, cost)
    if refusal is None:
        return cost
    grant.settle_for_less()
    less = replace(cost, concentrated=grant.reserve)
    if less.concentrated == cost.concentrated or cost.concentrated is None:
        raise refusal
    account.check_room(less)
    return less


def _refusal(account: Account, cost: Cost) -> BudgetExceeded | None:
    """Why an account has no room for a cost, as a value that no second refusal follows from."""
    try:
        account.check_room(cost)
    except BudgetExceeded as error:
        return error
    return None


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
            f"dataset {dataset!r} is not Unicode and cannot be written; name it with --dataset"
        ) from None
    return unicodedata.normalize("NFC", dataset)


def _run(place: str, entries: Sequence[Mapping[str, Any]], identity: str) -> Mapping[str, Any]:
    """One run as it stands, by the identity of its grant."""
    for account in read_accounts(place, entries).values():
        for run in account.runs:
            if run["grant"] == identity:
                return run
    raise LedgerError(
        f"ledger {place}: does not know the grant of this run; restore the file from a copy"
    )


def default_path() -> Path:
    """The user's own ledger as a file: $UNDERSTUDY_LEDGER, else one in the state folder."""
    import platformdirs

    named = os.environ.get("UNDERSTUDY_LEDGER")
    return Path(named) if named else platformdirs.user_state_path("understudy") / "ledger.jsonl"


def default_place() -> LedgerPlace:
    """The user's own ledger: $UNDERSTUDY_LEDGER, which may be an address, else a file."""
    named = os.environ.get("UNDERSTUDY_LEDGER", "")
    return named if "://" in named else default_path()
