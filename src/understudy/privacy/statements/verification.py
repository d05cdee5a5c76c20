"""Whether a statement, the file it came with and a ledger belong together, check by check.

A statement that was altered, forged or taken from another file fails by name. What cannot be known
counts as not shown: a verifier that says yes must have seen a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from understudy.errors import ClaimRefuted, UsageError
from understudy.privacy.accounting.composition import CURVE
from understudy.privacy.accounting.costs import pure_epsilon
from understudy.privacy.accounting.events import ExactEvent, FineGaussianEvent
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.list_pricing import WITH_QUESTIONS
from understudy.privacy.spending.record import Record
from understudy.privacy.spending.stores.store import LedgerPlace
from understudy.privacy.statements.binding import (
    BESIDE,
    BINDING,
    FILE,
    canonical,
    digest_of_document,
    same,
    signed_bytes,
)
from understudy.privacy.statements.claim import Check, Claim, Outcome
from understudy.privacy.statements.ledger_check import entry_of, in_ledger
from understudy.privacy.statements.signing import fingerprint, is_signed_by
from understudy.system.amounts import at_most, at_most_text
from understudy.system.version import __version__

# Bounds from numerical accounting are rounded up to a millionth, once or twice.
_SLACK = Fraction(2, 10**6)

# What this package writes beside a statement: of rows, of rows that fit conditions, of images.
_KNOWN_BESIDE = {
    *("method", "rows", "columns", "missing", "unlisted"),
    *("where", "how", "evidence_probability", "evidence_exact", "effective_draws"),
    *("height", "width", "classes", "channels"),
}
_LONGEST_NAME = 40


def verified(claim: Claim, *, ledger: LedgerPlace | None = None, key: Any = None) -> list[Check]:
    """All checks of a claim, one after the other.

    Args:
        claim: statement and file.
        ledger: the owner's ledger, where it is to be asked.
        key: the public key that the statement should be signed with, where one is given.
    """
    signature = _signature(claim, key)
    checks = [_numbers(claim), _file(claim), signature]
    if ledger is None:
        return [*checks, Check("ledger", Outcome.NOT_ASKED, "give --ledger to ask it")]
    return [*checks, *in_ledger(claim, Ledger(ledger), vouched=signature.outcome is Outcome.HOLDS)]


def _file(claim: Claim) -> Check:
    binding = claim.binding
    if binding is None:
        said = "written by 0.1.0: not bound, so that it could be any file's"
        return Check("file", Outcome.FAILS, said)
    if binding.get("of") != claim.kind:
        said = f"the statement speaks of a {binding.get('of')}, and this is a {claim.kind}"
        return Check("file", Outcome.FAILS, said)
    if not same(binding.get("sha256"), claim.found):
        said = f"the {claim.kind} is not the one that the statement speaks of; one was altered"
        return Check("file", Outcome.FAILS, said)
    said = (
        "the file is byte by byte the one that the statement speaks of"
        if claim.kind == FILE
        else "every part of the model that is ever read is the one that the statement speaks of"
    )
    return Check("file", Outcome.HOLDS, said)


def _numbers(claim: Claim) -> Check:
    wrong = _disagreement(claim)
    if wrong:
        return Check("statement", Outcome.FAILS, wrong)
    told = _recomputed(claim) if claim.anew["private"] else "it says itself: not private"
    return Check("statement", Outcome.HOLDS, f"well-formed; {told}{_not_compared(claim)}")


def _not_compared(claim: Claim) -> str:
    """That words of another version cannot be compared; one of 0.1.0 has other failures."""
    if claim.binding is None or claim.of_this_version:
        return ""
    version = str(claim.binding.get("version"))[:_LONGEST_NAME]
    return (
        f"; it is by version {version}, so that its sentence, trust and other words are not "
        f"compared by this version, {__version__}: believe only the numbers"
    )


def _disagreement(claim: Claim) -> str | None:
    """Find a contradiction in the statement, or a promise that its answers do not allow."""
    anew, written = claim.anew, claim.written
    for name in ("epsilon", "delta"):
        exact = getattr(claim.statement.bound, name)
        if exact is not None and written.get(name) not in (at_most(exact), float(exact)):
            return f"{name} is {written.get(name)}, and its exact amount is {exact}"
    if written["private"] != anew["private"]:
        return "it calls itself private, and its own answers are not"
    if claim.of_this_version:
        told = {name: value for name, value in written.items() if name != BINDING}
        for name in (*anew, *told):
            if name not in anew:
                return f"it says {name[:_LONGEST_NAME]!r}, which no statement does"
            if name not in told or canonical(told[name]) != canonical(anew[name]):
                return f"its {name} is not what its own numbers say"
    return _other_beside(claim) or _exceeded(claim)


def _other_beside(claim: Claim) -> str | None:
    """Find what is beside the statement in its file, and was not written there."""
    beside = claim.beside
    if beside is None:
        return None
    unknown = sorted(set(beside) - _KNOWN_BESIDE)
    if unknown:
        return f"beside it is {unknown[0][:_LONGEST_NAME]!r}, which this version does not write"
    if "method" in beside and beside["method"] != claim.statement.method:
        return "the method beside it is not its own"
    if claim.binding is None or same(claim.binding.get(BESIDE), digest_of_document(beside)):
        return None
    return "what is beside it in its file is not what it was written with"


def _exceeded(claim: Claim) -> str | None:
    """That single answers cost more than the statement promises in all."""
    epsilon, _ = claim.own_bound
    if epsilon is None or not claim.statement.private:
        return None
    if any(isinstance(charge.event, ExactEvent) for charge, _ in claim.grouped):
        return "it calls itself private, and some of its answers are exact"
    if claim.statement.bound.accounting.startswith(CURVE):
        # Pure questions before the others are no part of what the curve bounds.
        apart = claim.statement.bound.accounting.startswith(f"{CURVE}{WITH_QUESTIONS}")
        others = [
            c
            for c, _ in claim.grouped
            if not isinstance(c.event, FineGaussianEvent)
            and not (apart and pure_epsilon(c.event) is not None)
        ]
        if others:
            other = str(others[0].event.mechanism)[:_LONGEST_NAME]
            return f"it claims the Gaussian curve, which does not hold for mechanism {other!r}"
    for least in claim.costs:
        if least is not None and least > epsilon + _SLACK:
            return (
                f"it promises epsilon = {at_most_text(epsilon)}, and its own answers come to "
                f"{at_most_text(least)}"
            )
    return None


def _recomputed(claim: Claim) -> str:
    if any(cost is None for cost in claim.costs):
        return "the total cost of its answers is not recomputed here"
    return "its answers come to no more than it promises"


def _signature(claim: Claim, key: Any) -> Check:
    signature = (claim.binding or {}).get("signature")
    if not isinstance(signature, Mapping):
        if key is None:
            return Check("signature", Outcome.ABSENT, "none; anybody could have written both")
        return Check("signature", Outcome.FAILS, "none, and a key was given to check it with")
    name = str(signature.get("key"))[:60]
    if key is None:
        said = f"there is one by key {name}; give that key's public half by --key to check it"
        return Check("signature", Outcome.NOT_ASKED, said)
    if is_signed_by(key, signature, signed_bytes(claim.written)):
        return Check("signature", Outcome.HOLDS, f"valid, by key {name}")
    if name != fingerprint(key):
        said = f"it is by another key, {name}; the one given is {fingerprint(key)}"
        return Check("signature", Outcome.FAILS, said)
    return Check("signature", Outcome.FAILS, "wrong: the statement was altered after signing")


def recognised(claim: Claim, ledger: LedgerPlace, *, path: Path) -> Record:
    """The record of an earlier run, with its key for seals, if the ledger sealed this very model.

    A commitment alone shows nothing: every statement of the run carries it for all to copy.

    Args:
        claim: the model's statement, and the digest of all else in it.
        ledger: the owner's ledger.
        path: the model's place, for refusals.

    Raises:
        UsageError: the ledger holds no entry of that run.
        ClaimRefuted: the model is not the one that the run wrote.
    """
    book = Ledger(ledger)
    record, secret = claim.statement.record, book.secret()
    found = None
    if record is not None and record.commitment is not None and secret is not None:
        found = entry_of(record, secret, book)
    if record is None or secret is None or found is None:
        raise UsageError(
            f"ledger {book.place}: holds no entry of the run that made this model; name the ledger "
            "that paid for it, or leave it out"
        )
    for check in (_file(claim), *in_ledger(claim, book, vouched=False)):
        if check.fails:
            raise ClaimRefuted(
                f"{path}: ledger {book.place} does not vouch for this model, so that rows from it "
                f"are not sealed; {check.about}: {check.sentence}"
            )
    return replace(record, seal_key=secret.seal_key(found[1]))
