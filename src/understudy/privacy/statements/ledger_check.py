"""Whether a ledger holds the entry of a run, agrees with its statement, and sealed its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.accounting.events import Charge
from understudy.privacy.spending.entries import adjacency_of
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.record import Record
from understudy.privacy.statements.binding import Secret, same, seal
from understudy.privacy.statements.claim import Check, Claim, Outcome


def in_ledger(claim: Claim, ledger: Ledger, *, vouched: bool) -> list[Check]:
    """Whether a ledger holds the run's entry, agrees with it, and sealed this very file."""

    def fails(said: str) -> list[Check]:
        return [Check("ledger", Outcome.FAILS, said)]

    record = claim.statement.record
    if record is None or record.commitment is None:
        return fails("the statement names no entry of a ledger")
    secret = ledger.secret()
    if secret is None:
        return fails(f"its secret {ledger.store.secret_place} is not beside it; restore it")
    # A ledger whose entries do not say what they must is refused before it is believed.
    ledger.accounts()
    found = entry_of(record, secret, ledger)
    if found is None:
        return fails(
            "it holds no such entry: it is another ledger, or a copy from before this run, or the "
            "statement is forged"
        )
    identity, head = found
    entries = ledger.entries(identity)
    wrong = _other_numbers(claim, entries)
    if wrong:
        return fails(f"its entry of this run says something else: {wrong}")
    opening = entries[0]
    said = f"it holds the run's entry, of dataset {opening['dataset']!r}, {opening['time']}"
    return [
        Check("ledger", Outcome.HOLDS, said),
        _sealed(claim, secret.seal_key(head), vouched=vouched),
    ]


def entry_of(record: Record, secret: Secret, ledger: Ledger) -> tuple[str, str] | None:
    """The grant that a record commits to, and the check of the entry that closed it."""
    for identity, head in ledger.heads().items():
        if same(record.commitment, secret.commitment(head)):
            return identity, head
    return None


def _other_numbers(claim: Claim, entries: Sequence[Mapping[str, Any]]) -> str | None:
    """Say how a run's entries contradict its statement; None where they agree."""
    statement, (opening, closing) = claim.statement, (entries[0], entries[-1])
    if opening.get("method") != statement.method:
        return f"method {opening.get('method')!r}, not {statement.method!r}"
    # The ledger knows by which column persons are named; the statement does not tell.
    kept_whom = replace(adjacency_of(opening), person_id=None)
    if kept_whom != Adjacency.of(statement.unit):
        return f"it protects {kept_whom}, not {Adjacency.of(statement.unit)}"
    for name, amount in zip(("epsilon", "delta"), claim.own_bound, strict=True):
        kept_amount = closing.get(f"claimed_{name}_exact", closing.get(f"{name}_exact"))
        if kept_amount != str(amount):
            return f"{name} {kept_amount}, not {amount}"
    kept = Counter[tuple[str, str]]()
    for entry in (entry for entry in entries if entry["entry"] == "charge"):
        kept[(str(entry.get("question")), str(entry.get("mechanism")))] += entry.get("times", 1)
    told = Counter(map(_named, statement.charges))
    return None if kept == told else "it was charged for other answers"


def _named(charge: Charge) -> tuple[str, str]:
    return charge.question, charge.event.mechanism


def _sealed(claim: Claim, key: bytes, *, vouched: bool) -> Check:
    claimed = (claim.binding or {}).get("seal")
    if claimed is None and vouched:
        return Check("seal", Outcome.ABSENT, "none; the signature vouches for the file")
    if claimed is None:
        return Check(
            "seal",
            Outcome.FAILS,
            "none: the file was written after the run, by `sample` or by someone else, and the "
            "ledger cannot vouch for it; sample with --ledger or --sign",
        )
    if same(claimed, seal(key, claim.written)):
        return Check(
            "seal",
            Outcome.HOLDS,
            "the statement, and the digest in it, are as the ledger's owner wrote them",
        )
    return Check("seal", Outcome.FAILS, "broken: the statement was altered after it was written")
