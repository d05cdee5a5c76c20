"""A ledger's entries: limits, grants and costs are written down here, and read back."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from understudy.errors import LedgerError
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.accounting.composition import ZCDP
from understudy.privacy.accounting.conversions import rho_within
from understudy.privacy.accounting.costs import Concentrated
from understudy.privacy.budget import exactly
from understudy.privacy.spending import steps
from understudy.privacy.spending.accounts import Account
from understudy.privacy.spending.limits import Cost, Limit, Rule, Spent
from understudy.system.amounts import at_most


def amounts(spent: Spent) -> dict[str, Any]:
    """An (ε, δ): numbers as numbers, exact fractions beside them as texts."""
    return _fields(epsilon=spent.epsilon, delta=spent.delta)


def concentrated_fields(cost: Concentrated | None) -> dict[str, Any]:
    """A cost in approximate zCDP, nothing where there is none."""
    return {} if cost is None else _fields(rho=cost.rho, rho_delta=cost.delta)


def cost_fields(cost: Cost) -> dict[str, Any]:
    """Write down the cost of a run, and whom it protects."""
    return {
        **_whom(cost.adjacency),
        **amounts(cost.spent),
        **concentrated_fields(cost.concentrated),
    }


def limit_fields(limit: Limit) -> dict[str, Any]:
    """A limit, whom it is for, and the rule that counts it with the amounts it was fixed at."""
    return {
        **({} if limit.adjacency is None else _whom(limit.adjacency)),
        **amounts(limit.total),
        "rule": str(limit.rule),
        **_fields(purse_epsilon=limit.basic_part.epsilon, purse_delta=limit.basic_part.delta),
        **concentrated_fields(limit.concentrated),
    }


def read_accounts(place: str, entries: Sequence[Mapping[str, Any]]) -> dict[str, Account]:
    """The standing of every dataset; an entry that lacks what it must say is refused."""
    limits: dict[str, Limit] = {}
    runs: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(entries, 1):
        try:
            _enter(entry, limits, runs)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            raise LedgerError(
                f"ledger {place}: entry {number} does not say what it must; restore the ledger "
                "from a copy that ends before it, for nobody knows what it has spent"
            ) from None
    grouped: dict[str, list[dict[str, Any]]] = {name: [] for name in limits}
    for run in runs.values():
        grouped.setdefault(run["dataset"], []).append(run)
    return {name: Account(name, limits.get(name), tuple(own)) for name, own in grouped.items()}


def _enter(
    entry: Mapping[str, Any], limits: dict[str, Limit], runs: dict[str, dict[str, Any]]
) -> None:
    """Take one entry into the books."""
    match entry["entry"]:
        case "limit":
            limits[dataset_of(entry)] = _limit(entry)
        case "grant":
            known = {**_opening(entry), "dataset": dataset_of(entry), "time": _text(entry, "time")}
            if entry["grant"] in runs:
                raise ValueError("a grant is opened once")
            cost = Cost(adjacency_of(entry), _spent(entry), _concentrated(entry))
            runs[_text(entry, "grant")] = {**known, "cost": cost, "open": True, "charges": 0}
        case "reserve":
            run = runs[entry["grant"]]
            if not run["open"]:
                raise ValueError("a run that was closed reserves no more")
            run["cost"] = _reserved(entry, run["cost"])
        case "charge":
            run = runs[entry["grant"]]
            if not run["open"]:
                raise ValueError("a run that was closed is charged no more")
            _check_signs(entry)
            run["charges"] += _times(entry)
        case "step":
            steps.enter_step(runs[entry["grant"]], entry)
        case "resume":
            steps.enter_resume(runs[entry["grant"]], entry)
        case "close":
            run = runs[entry["grant"]]
            run |= {
                "cost": _came_to(entry, run["cost"]),
                "open": False,
                "accounting": entry["accounting"],
            }


def _opening(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a grant says; how far a run has come, later entries say."""
    return {name: said for name, said in entry.items() if name not in steps.MARKS}


def _reserved(entry: Mapping[str, Any], cost: Cost) -> Cost:
    """The cost of an open run after its reserve changed; what was set aside is never lowered.

    A run whose plan has no ρ counts by its whole (ε, δ) from then on.
    """
    more, known = _concentrated(entry), cost.concentrated
    if more is not None and known is not None:
        more = Concentrated(max(more.rho, known.rho), max(more.delta, known.delta))
    return Cost(cost.adjacency, cost.spent, more)


def _came_to(entry: Mapping[str, Any], granted: Cost) -> Cost:
    """Read the cost of a run that was closed.

    Version 0.1.0 wrote no ρ. Its runs by zCDP had spent at most the largest one within their
    grant; others are left with their (ε, δ).
    """
    own = _concentrated(entry)
    whole = granted.spent
    if own is None and entry["accounting"] == ZCDP and 0 < whole.delta < 1:
        own = Concentrated(rho_within(whole.epsilon, whole.delta))
    return Cost(granted.adjacency, _spent(entry), own)


def _limit(entry: Mapping[str, Any]) -> Limit:
    """A limit; one of version 0.1.0 has no rule, and names nobody."""
    if "rule" not in entry:
        return Limit.basic(_spent(entry), None)
    basic_part = Spent(exactly(entry["purse_epsilon_exact"]), exactly(entry["purse_delta_exact"]))
    limit = Limit(_spent(entry), adjacency_of(entry), basic_part, _concentrated(entry))
    if limit.rule is not Rule(entry["rule"]):
        raise ValueError("a rule and its amounts belong together")
    return limit


def dataset_of(entry: Mapping[str, Any]) -> str:
    """The name of a dataset, in Unicode's composed form: one name, however it was typed."""
    return unicodedata.normalize("NFC", _text(entry, "dataset"))


def adjacency_of(entry: Mapping[str, Any]) -> Adjacency:
    """Read whom an entry protects; rows added or removed where it says nothing."""
    person_id = None if entry.get("person_id") is None else _text(entry, "person_id")
    return Adjacency.written(
        str(entry.get("unit", "row")), str(entry.get("neighbours", "add-remove")), person_id
    )


def _whom(adjacency: Adjacency) -> dict[str, Any]:
    named = {} if adjacency.person_id is None else {"person_id": adjacency.person_id}
    return {"unit": str(adjacency.kind), "neighbours": str(adjacency.neighbours), **named}


def _concentrated(entry: Mapping[str, Any]) -> Concentrated | None:
    if "rho_exact" not in entry:
        return None
    return Concentrated(exactly(entry["rho_exact"]), exactly(entry["rho_delta_exact"]))


def _spent(entry: Mapping[str, Any]) -> Spent:
    return Spent(exactly(entry["epsilon_exact"]), exactly(entry["delta_exact"]))


def _times(entry: Mapping[str, Any]) -> int:
    """How many equal charges an entry stands for."""
    times = entry.get("times", 1)
    if not isinstance(times, int) or times < 1:
        raise ValueError("times")
    return times


def _check_signs(charge: Mapping[str, Any]) -> None:
    """Refuse a charge that would give budget back; its amounts are read where they are needed."""
    if any(name.endswith("_exact") and str(text)[:1] == "-" for name, text in charge.items()):
        raise ValueError("sign")


def _text(entry: Mapping[str, Any], key: str) -> str:
    text = entry[key]
    if not isinstance(text, str):
        raise TypeError(key)
    # Half a surrogate pair could be neither shown nor written.
    text.encode()
    return text


def _fields(**values: Fraction) -> dict[str, Any]:
    numbers: dict[str, Any] = {name: at_most(value) for name, value in values.items()}
    return numbers | {f"{name}_exact": str(value) for name, value in values.items()}
