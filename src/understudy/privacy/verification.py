"""Whether a statement, the file it came with and a ledger belong together, check by check.

A statement that was altered, forged or taken from another file fails by name. What cannot be told
counts as not shown: a verifier that says yes must have seen a reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from understudy import __version__
from understudy.amounts import at_most, at_most_text
from understudy.errors import DataError, UnderstudyError
from understudy.privacy.accounting import ZCDP, approximate_cost, pure_epsilon, tightest
from understudy.privacy.adjacency import Adjacency
from understudy.privacy.binding import BINDING, Secret, same, seal, signed_bytes
from understudy.privacy.entries import adjacency_of
from understudy.privacy.events import Charge, Event, SampledGaussianEvent
from understudy.privacy.ledger import Ledger
from understudy.privacy.signing import fingerprint, is_signed_by
from understudy.privacy.statement import Statement

MISFITS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a parser raises when it is fed something else than it expects."""

# A statement names every answer; one of this size would name a million.
_MOST_BYTES = 2**28
# Bounds from numerical accounting are rounded up to a millionth, once or twice.
_SLACK = Fraction(2, 10**6)
# Loss distributions of more different answers than this take minutes.
_MOST_DIFFERENT = 1000


class Outcome(StrEnum):
    """How a check came out."""

    HOLDS = "holds"
    FAILS = "fails"
    ABSENT = "absent"
    NOT_ASKED = "not asked"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and what was found, in words."""

    about: str
    outcome: Outcome
    sentence: str

    @property
    def fails(self) -> bool:
        """Whether something that was asked for does not hold."""
        return self.outcome is Outcome.FAILS

    def document(self) -> dict[str, str]:
        """The check for JSON."""
        return {"check": self.about, "outcome": str(self.outcome), "sentence": self.sentence}


@dataclass(frozen=True)
class Claim:
    """What is to be verified: a statement as it was written, and the digest that was found.

    Attributes:
        written: the statement's document.
        statement: the same, read.
        kind: whether it came with a file or in a model.
        found: the digest of that file, or of everything else in that model.
    """

    written: Mapping[str, Any]
    statement: Statement
    kind: str
    found: str

    @classmethod
    def of(cls, written: Mapping[str, Any], kind: str, found: str, *, path: Path) -> Claim:
        """A claim, if what was written is a statement at all."""
        try:
            statement = Statement.parse(written)
            statement.document()
            words = [statement.method, statement.bound.accounting]
            words += [charge.question for charge in statement.charges]
            bound_to = written.get(BINDING, {})
            if not all(isinstance(word, str) for word in words) or not isinstance(
                bound_to, Mapping
            ):
                raise TypeError(BINDING)
        except (*MISFITS, UnderstudyError):
            raise DataError(f"{path}: holds no statement of understudy, or a damaged one") from None
        return cls(written, statement, kind, found)

    @property
    def binding(self) -> Mapping[str, Any] | None:
        """What ties the statement to its file; None where version 0.1.0 wrote it."""
        return self.written.get(BINDING)

    @property
    def own_bound(self) -> tuple[Fraction | None, Fraction]:
        """What the run itself came to, without what the schema had cost before."""
        bound, part = self.statement.bound, self.statement.inference
        if part is None or part.epsilon is None or bound.epsilon is None:
            return bound.epsilon, bound.delta
        return bound.epsilon - part.epsilon, bound.delta - part.delta


def read_statement(path: Path) -> Mapping[str, Any]:
    """The statement in a file OUTPUT.privacy.json."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError
        document: Any = json.loads(path.read_bytes())
        statement = document["statement"]
        if not isinstance(statement, Mapping):
            raise TypeError("statement")
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {error.strerror}; without a statement nothing is promised"
        ) from None
    except MISFITS:
        raise DataError(f"{path}: holds no statement of understudy, or a damaged one") from None
    return statement


def verified(claim: Claim, *, ledger: Path | None = None, key: Any = None) -> list[Check]:
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
    return [*checks, *_in_ledger(claim, ledger, vouched=signature.outcome is Outcome.HOLDS)]


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
    said = f"the {claim.kind} is byte by byte the one that the statement speaks of"
    return Check("file", Outcome.HOLDS, said)


def _numbers(claim: Claim) -> Check:
    wrong = _disagreement(claim)
    if wrong:
        return Check("statement", Outcome.FAILS, wrong)
    statement = claim.statement
    if not statement.document()["private"]:
        return Check("statement", Outcome.HOLDS, "well-formed; it says itself: not private")
    return Check("statement", Outcome.HOLDS, f"well-formed; {_recomputed(claim)}")


def _disagreement(claim: Claim) -> str | None:
    """What the statement says twice in different ways, or promises without its answers' leave."""
    anew, written = claim.statement.document(), claim.written
    for name in ("epsilon", "delta"):
        exact = getattr(claim.statement.bound, name)
        if exact is not None and written.get(name) not in (at_most(exact), float(exact)):
            return f"{name} is {written.get(name)}, and its exact amount is {exact}"
    if written["private"] != anew["private"]:
        return "it calls itself private, and its own answers are not"
    same_version = (claim.binding or {}).get("version") == __version__
    for name in ("sentence", "trust", "not_protected", "unit"):
        if same_version and written.get(name) != anew[name]:
            return f"its {name} is not what its own numbers say"
    return _exceeded(claim)


def _exceeded(claim: Claim) -> str | None:
    """That single answers cost more than the statement promises in all."""
    epsilon, delta = claim.own_bound
    if epsilon is None or not claim.statement.private:
        return None
    adaptive = claim.statement.bound.accounting.startswith(ZCDP)
    for events in _parts(claim.statement):
        least = _cost(events, epsilon, delta, adaptive=adaptive)
        if least is not None and least > epsilon + _SLACK:
            return (
                f"it promises epsilon = {at_most_text(epsilon)}, and its own answers come to "
                f"{at_most_text(least)}"
            )
    return None


def _recomputed(claim: Claim) -> str:
    epsilon, delta = claim.own_bound
    whole, adaptive = epsilon or Fraction(0), claim.statement.bound.accounting.startswith(ZCDP)
    known = [_cost(events, whole, delta, adaptive=adaptive) for events in _parts(claim.statement)]
    if any(cost is None for cost in known):
        return "what its answers come to together is not recomputed here"
    return "its answers come to no more than it promises"


def _parts(statement: Statement) -> list[Sequence[Event]]:
    """The answers that add up: all of a run, or those of each holder."""
    if not statement.method.startswith("federated "):
        return [[charge.event for charge in statement.charges]]
    by_holder: dict[str, list[Event]] = {}
    for charge in statement.charges:
        by_holder.setdefault(charge.question.split(": ")[0], []).append(charge.event)
    return list(by_holder.values())


def _cost(
    events: Sequence[Event], promised: Fraction, delta: Fraction, *, adaptive: bool
) -> Fraction | None:
    """What answers cost at δ by the rules of this version; None where it cannot be told.

    The dearer the arithmetic, the later it is tried: only what does not fit by sums is composed
    more tightly.
    """
    try:
        basic = _added_up(events, delta)
        if not delta or (basic is not None and basic <= promised):
            return basic
        return _tight(events, promised, delta, adaptive=adaptive)
    except (*MISFITS, UnderstudyError):
        return None


def _added_up(events: Sequence[Event], delta: Fraction) -> Fraction | None:
    """The sum of all ε, where every answer has one and their δ fit."""
    costs = [approximate_cost(event) for event in events]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs) or sum((cost[1] for cost in known), Fraction(0)) > delta:
        return None
    return sum((cost[0] for cost in known), Fraction(0))


def _tight(
    events: Sequence[Event], promised: Fraction, delta: Fraction, *, adaptive: bool
) -> Fraction | None:
    """By zCDP or loss distributions; questions before a sampled course are added to it."""
    course = [event for event in events if isinstance(event, SampledGaussianEvent)]
    if course:
        return _taught(course, [event for event in events if event not in set(course)], delta)
    plain = tightest(events, delta=delta, announced=False).epsilon
    if plain is None or plain <= promised or adaptive:
        return plain
    # Distributions gain a tenth on lists of this package; what is as far off as this is no such
    # list, and might take all memory.
    if plain > 3 * promised + 1 or len(set(events)) > _MOST_DIFFERENT:
        return plain
    return tightest(events, delta=delta, announced=True).epsilon


def _taught(
    course: Sequence[SampledGaussianEvent], before: Sequence[Event], delta: Fraction
) -> Fraction | None:
    epsilons = [pure_epsilon(event) for event in before]
    noisy = all(event.sigma_squared * 100 >= event.sensitivity_squared for event in course)
    if any(epsilon is None for epsilon in epsilons) or len(set(course)) > 1 or not noisy:
        return None
    taught = tightest(course, delta=delta, announced=True).epsilon
    asked = sum((epsilon for epsilon in epsilons if epsilon), Fraction(0))
    return None if taught is None else asked + taught


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


def _in_ledger(claim: Claim, path: Path, *, vouched: bool) -> list[Check]:
    """Whether a ledger holds the run's entry, agrees with it, and sealed this very file."""

    def fails(said: str) -> list[Check]:
        return [Check("ledger", Outcome.FAILS, said)]

    record = claim.statement.record
    if record is None or record.commitment is None:
        return fails("the statement names no entry of a ledger")
    secret = Secret.found(path)
    if secret is None:
        return fails(f"its secret {Secret.place(path).name} is not beside it; restore it")
    ledger = Ledger(path)
    # A ledger whose entries do not say what they must is refused before it is believed.
    ledger.accounts()
    heads = ledger.heads().items()
    found = [(i, head) for i, head in heads if same(record.commitment, secret.commitment(head))]
    if not found:
        return fails(
            "it holds no such entry: it is another ledger, or a copy from before this run, or the "
            "statement is forged"
        )
    identity, head = found[0]
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


def _other_numbers(claim: Claim, entries: Sequence[Mapping[str, Any]]) -> str | None:
    """What a run's entries say other than its statement."""
    statement, (opening, closing) = claim.statement, (entries[0], entries[-1])
    if opening.get("method") != statement.method:
        return f"method {opening.get('method')!r}, not {statement.method!r}"
    # The ledger knows by which column persons are named; the statement does not tell.
    kept_whom = replace(adjacency_of(opening), person_id=None)
    if kept_whom != Adjacency.of(statement.unit):
        return f"it protects {kept_whom}, not {Adjacency.of(statement.unit)}"
    for name, amount in zip(("epsilon", "delta"), claim.own_bound, strict=True):
        if closing.get(f"{name}_exact") != str(amount):
            return f"{name} {closing.get(f'{name}_exact')}, not {amount}"
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
            "none: the file was written after the run, by `sample` or by somebody else, and the "
            "ledger cannot vouch for it; sample with --ledger or --sign",
        )
    if same(claimed, seal(key, claim.written)):
        return Check(
            "seal",
            Outcome.HOLDS,
            "the statement, and the digest in it, are as the ledger's owner wrote them",
        )
    return Check("seal", Outcome.FAILS, "broken: the statement was altered after it was written")
