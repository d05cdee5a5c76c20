"""Job of `ledger`: show what was spent on which data, and set limits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any

from understudy.errors import LedgerError, UsageError
from understudy.jobs.choices import unknown_choice
from understudy.jobs.ledgers import open_ledger
from understudy.jobs.request import JobRequest
from understudy.system.amounts import at_least

if TYPE_CHECKING:
    from understudy.privacy.accounting.adjacency import Adjacency
    from understudy.privacy.spending.accounts import Account, Total
    from understudy.privacy.spending.limits import Limit, Room, Spent

_RULES = ("zcdp", "basic")
_LISTED = 5


@dataclass(frozen=True)
class LedgerContents:
    """A ledger, and the accounts of its datasets."""

    place: str
    accounts: list[Account]

    def document(self) -> dict[str, Any]:
        """Describe the accounts for machines."""
        return {
            "ledger": self.place,
            "datasets": [account_document(account) for account in self.accounts],
        }


def read_ledger(ledger: str | PathLike[str] | None, dataset: str | None = None) -> LedgerContents:
    """The account of one dataset, or of all; a ledger that is named must exist."""
    book = open_ledger(ledger)
    if ledger is not None and not book.exists:
        raise UsageError(f"ledger {book.place}: does not exist; name one that does")
    accounts = book.accounts()
    if dataset is None:
        return LedgerContents(book.place, list(accounts.values()))
    if dataset not in accounts:
        raise UsageError(
            f"ledger {book.place}: nothing has the name {dataset!r}, so that nothing was spent on "
            f"it here and no limit is set; {_known(dataset, tuple(accounts))}"
        )
    return LedgerContents(book.place, [accounts[dataset]])


def _known(name: str, others: tuple[str, ...]) -> str:
    """The names of a ledger's datasets, or the one that was probably meant."""
    from understudy.jobs.choices import suggestion

    if not others:
        return "the ledger is empty"
    return suggestion(name, others) or f"known are {', '.join(others[:_LISTED])}"


@dataclass(frozen=True, kw_only=True)
class LimitRequest(JobRequest):
    """The limit of a dataset, whom it protects, and how it is counted.

    Attributes:
        dataset: the name of the data in the ledger.
        epsilon: the largest epsilon that may be spent.
        delta: the largest delta that may be spent.
        neighbours: the neighbours that the limit is for.
        unit: row, person, image or user; row unless given.
        person_id: the column that identifies persons.
        accounting: zcdp or basic; zcdp with a delta unless given.
        own_delta: the part of delta kept for `schema infer`.
        basic_epsilon: the part of epsilon set aside for runs without a rho.
        basic_delta: the part of delta set aside for the same runs.
        ledger: the ledger's file; the user's own unless given.
    """

    dataset: str
    epsilon: str
    delta: str = "0"
    neighbours: str = "add-remove"
    unit: str | None = None
    person_id: str | None = None
    accounting: str | None = None
    own_delta: str = "0"
    basic_epsilon: str = "0"
    basic_delta: str = "0"
    ledger: str | PathLike[str] | None = None

    @property
    def adjacency(self) -> Adjacency:
        """Check and return whom the limit protects."""
        from understudy.facts.unit import Neighbours
        from understudy.privacy.accounting.adjacency import Adjacency, UnitKind

        named = self.unit or ("person" if self.person_id else "row")
        try:
            kind, relation = UnitKind(named), Neighbours(self.neighbours)
        except ValueError:
            units, relations = " or ".join(UnitKind), " or ".join(Neighbours)
            raise UsageError(
                f"a limit for {named!r} under {self.neighbours!r} is unknown; use {units} under "
                f"{relations}"
            ) from None
        if (kind is UnitKind.PERSON) != (self.person_id is not None):
            raise UsageError(
                "a limit for persons needs --person-id, and only such a limit takes it"
            )
        return Adjacency(kind, relation, self.person_id)

    @property
    def limit(self) -> Limit:
        """Check and return the limit itself."""
        from understudy.privacy.budget import Budget, exact
        from understudy.privacy.spending.limits import Limit, Spent

        whom, ceiling = self.adjacency, Budget.approximate(self.epsilon, self.delta)
        aside = Spent(
            exact(self.basic_epsilon, what="basic-epsilon"),
            exact(self.basic_delta, what="basic-delta"),
        )
        own = exact(self.own_delta, what="own-delta")
        total = Spent(ceiling.amount, ceiling.delta)
        if not self._basic(total):
            return Limit.zcdp(total, whom, own_delta=own, basic_part=aside)
        if own or aside != Spent():
            raise UsageError(
                "--own-delta, --basic-epsilon and --basic-delta are parts of a limit counted in "
                "zCDP; leave them out, or give a --delta"
            )
        return Limit.basic(total, whom)

    def _basic(self, total: Spent) -> bool:
        if self.accounting not in (None, *_RULES):
            raise unknown_choice("accounting", self.accounting or "", _RULES)
        return self.accounting == "basic" or (self.accounting is None and not total.delta)


@dataclass(frozen=True)
class LimitResult:
    """A limit that was set, the account it bounds, and the limit before it.

    Attributes:
        limit: what was set.
        account: what it bounds.
        before: the limit before it.
        others: the other datasets of the ledger, where none had this name.
    """

    limit: Limit
    account: Account
    before: Limit | None
    others: tuple[str, ...] = ()

    @property
    def unknown_name(self) -> str:
        """Say that no run has this name yet, where others have names; empty where one does."""
        if not self.others:
            return ""
        said = f"nothing in this ledger has the name {self.account.dataset!r} yet"
        asked = _known(self.account.dataset, self.others)
        return f"{said}, and the limit holds for runs that will have it; {asked}"

    @property
    def rule_changed(self) -> bool:
        """Whether runs had been counted by another rule before."""
        changed = self.before is not None and self.before.rule is not self.limit.rule
        return changed and bool(self.account.runs)


def set_limit(request: LimitRequest) -> LimitResult:
    """Set the limit of a dataset; runs that would exceed it are refused from now on."""
    wanted = request.limit
    book = open_ledger(request.ledger)
    known = tuple(book.accounts())
    before = book.account(request.dataset).limit
    book.set_limit(request.dataset, wanted)
    account = book.account(request.dataset)
    return LimitResult(wanted, account, before, () if account.dataset in known else known)


def account_document(account: Account) -> dict[str, Any]:
    """An account for machines: its limit, totals, what remains, and every run."""
    from understudy.privacy.spending.entries import limit_fields

    return {
        "dataset": account.dataset,
        "limit": None if account.limit is None else limit_fields(account.limit),
        "spent": _spent_document(account),
        "totals": [_total_document(total) for total in account.totals],
        "remaining": _room_document(account.remaining),
        "runs": [_run_document(run) for run in account.runs],
    }


def _spent_document(account: Account) -> dict[str, Any] | None:
    """The sum over all runs; null where no single number holds for all that they protect."""
    from understudy.privacy.spending.entries import amounts

    try:
        return amounts(account.spent)
    except LedgerError:
        return None


def _total_document(total: Total) -> dict[str, Any]:
    from understudy.privacy.spending.entries import amounts, cost_fields
    from understudy.privacy.spending.limits import Cost

    enough = total.would_have_sufficed
    return {
        **cost_fields(Cost(total.adjacency, total.spent, total.concentrated)),
        "runs": total.own,
        "converted": total.implied,
        "silent": total.silent,
        "zcdp_limit": None if enough is None else amounts(enough),
    }


def _room_document(room: Room | None) -> dict[str, Any] | None:
    from understudy.privacy.spending.entries import amounts, concentrated_fields
    from understudy.privacy.spending.limits import Spent

    if room is None:
        return None
    if room.concentrated is None:
        return _rounded_down(amounts(room.basic_part))
    aside = {f"purse_{name}": amount for name, amount in amounts(room.basic_part).items()}
    largest = Spent(Fraction(room.largest_epsilon), room.delta)
    return _rounded_down({**amounts(largest), **aside, **concentrated_fields(room.concentrated)})


def _rounded_down(fields: dict[str, Any]) -> dict[str, Any]:
    """Amounts that are left: their numbers are not above their exact texts."""
    return fields | {
        name.removesuffix("_exact"): at_least(Fraction(text))
        for name, text in fields.items()
        if name.endswith("_exact")
    }


def _run_document(run: Any) -> dict[str, Any]:
    from understudy.privacy.spending.entries import amounts, cost_fields

    own = {key: value for key, value in run.items() if key != "cost"}
    return {**own, **cost_fields(run["cost"]), "spent": amounts(run["cost"].spent)}
