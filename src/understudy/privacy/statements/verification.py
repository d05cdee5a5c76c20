"""Whether a statement, the file it came with and a ledger belong together, check by check.

A statement that was altered, forged or taken from another file fails by name. What cannot be told
counts as not shown: a verifier that says yes must have seen a reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from understudy import __version__
from understudy.amounts import at_most, at_most_text
from understudy.errors import ClaimRefuted, DataError, UnderstudyError, UsageError
from understudy.files.members import parsed_document, read_file
from understudy.privacy.accounting import (
    ZCDP,
    approximate_cost,
    counted_bounds,
    pure_epsilon,
    zcdp_epsilon,
    zcdp_rho,
)
from understudy.privacy.adjacency import Adjacency
from understudy.privacy.binding import (
    BESIDE,
    BINDING,
    FILE,
    Secret,
    canonical,
    digest_of_document,
    same,
    seal,
    signed_bytes,
)
from understudy.privacy.entries import adjacency_of
from understudy.privacy.events import Charge, Event, ExactEvent, GaussianEvent, SampledGaussianEvent
from understudy.privacy.ledger import Ledger
from understudy.privacy.record import Record
from understudy.privacy.signing import fingerprint, is_signed_by
from understudy.privacy.statement import Statement

Events = Mapping[Event, int]
"""Answers, and how often each was drawn."""

MISFITS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a parser raises when it is fed something else than it expects."""

# A statement names every answer; one of this size would name a million.
_MOST_BYTES = 2**28
# Bounds from numerical accounting are rounded up to a millionth, once or twice.
_SLACK = Fraction(2, 10**6)
# More answers than any run has; each is looked at several times.
_MOST_ANSWERS = 10**6
# Loss distributions of more different answers than this, of more noise in all (the sum of their
# sigmas) or of longer fractions take minutes.
_MOST_DIFFERENT = 64
_MOST_SIGMA = 20_000
_MOST_BITS = 2**14
_MOST_COURSE_BITS = 2**10
# Sums are of whole multiples of 2 to the minus this, whatever the denominators are.
_SUM_BITS = 256
# What this package writes beside a statement: of rows, of rows that fit conditions, of images.
_KNOWN_BESIDE = {
    *("method", "rows", "columns"),
    *("where", "how", "evidence_probability", "evidence_exact", "effective_draws"),
    *("height", "width", "classes"),
}
_LONGEST_NAME = 40


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
        beside: what else stands in the statement's own file, where it has one.
    """

    written: Mapping[str, Any]
    statement: Statement
    kind: str
    found: str
    beside: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        written: Mapping[str, Any],
        kind: str,
        found: str,
        *,
        path: Path,
        beside: Mapping[str, Any] | None = None,
    ) -> Claim:
        """A claim, if what was written is a statement at all."""
        try:
            claim = cls(written, Statement.parse(written), kind, found, beside)
            claim._check()
        except (*MISFITS, UnderstudyError):
            raise DataError(f"{path}: holds no statement of understudy, or a damaged one") from None
        return claim

    def _check(self) -> None:
        """Raise one of `MISFITS` for what could not be compared, or not in bounded time."""
        if len(self.statement.charges) > _MOST_ANSWERS:
            raise ValueError("events")
        words = [self.statement.method, self.statement.bound.accounting]
        words += [charge.question for charge, _ in self.grouped]
        bound_to = self.written.get(BINDING, {})
        if not all(isinstance(word, str) for word in words) or not isinstance(bound_to, Mapping):
            raise TypeError(BINDING)
        # Amounts of very many digits have no text, and values that are nested deeply no bytes.
        _ = self.anew, str(self.own_bound[0]), str(self.own_bound[1])
        _ = canonical(self.written), canonical(self.beside)

    @cached_property
    def anew(self) -> dict[str, Any]:
        """What this version writes for the same promise."""
        return self.statement.document()

    @cached_property
    def grouped(self) -> list[tuple[Charge, int]]:
        """Every answer drawn, equal ones that follow each other only once, with their number."""
        return self.statement.grouped

    @cached_property
    def costs(self) -> list[Fraction | None]:
        """What the answers come to at the statement's delta; None where it cannot be told."""
        epsilon, delta = self.own_bound
        adaptive = self.statement.bound.accounting.startswith(ZCDP)
        whole = epsilon or Fraction(0)
        return [_cost(events, whole, delta, adaptive=adaptive) for events in _parts(self)]

    @property
    def of_this_version(self) -> bool:
        """Whether this version says to have written it, so that every word can be compared."""
        return (self.binding or {}).get("version") == __version__

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


def read_statement(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The statement in a file OUTPUT.privacy.json, and what stands beside it."""
    try:
        document = parsed_document(read_file(path, _MOST_BYTES))
        statement = document.pop("statement")
        if not isinstance(statement, Mapping):
            raise TypeError("statement")
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {error.strerror}; without a statement nothing is promised"
        ) from None
    except MISFITS:
        raise DataError(f"{path}: holds no statement of understudy, or a damaged one") from None
    return statement, document


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
        f"compared by this version, {__version__}: believe the numbers alone"
    )


def _disagreement(claim: Claim) -> str | None:
    """What the statement says twice in different ways, or promises without its answers' leave."""
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
    """What stands beside the statement in its file, and is not what was written there."""
    beside = claim.beside
    if beside is None:
        return None
    unknown = sorted(set(beside) - _KNOWN_BESIDE)
    if unknown:
        return f"beside it stands {unknown[0][:_LONGEST_NAME]!r}, which this version does not write"
    if "method" in beside and beside["method"] != claim.statement.method:
        return "the method beside it is not its own"
    if claim.binding is None or same(claim.binding.get(BESIDE), digest_of_document(beside)):
        return None
    return "what stands beside it in its file is not what it was written with"


def _exceeded(claim: Claim) -> str | None:
    """That single answers cost more than the statement promises in all."""
    epsilon, _ = claim.own_bound
    if epsilon is None or not claim.statement.private:
        return None
    if any(isinstance(charge.event, ExactEvent) for charge, _ in claim.grouped):
        return "it calls itself private, and some of its answers are exact"
    for least in claim.costs:
        if least is not None and least > epsilon + _SLACK:
            return (
                f"it promises epsilon = {at_most_text(epsilon)}, and its own answers come to "
                f"{at_most_text(least)}"
            )
    return None


def _recomputed(claim: Claim) -> str:
    if any(cost is None for cost in claim.costs):
        return "what its answers come to together is not recomputed here"
    return "its answers come to no more than it promises"


def _parts(claim: Claim) -> list[Events]:
    """The answers that add up: all of a run, or those of each holder."""
    several = claim.statement.method.startswith("federated ")
    found: dict[str, Counter[Event]] = {} if several else {"": Counter()}
    for charge, times in claim.grouped:
        holder = charge.question.split(": ")[0] if several else ""
        found.setdefault(holder, Counter())[charge.event] += times
    return list(found.values())


def _cost(
    events: Events, promised: Fraction, delta: Fraction, *, adaptive: bool
) -> Fraction | None:
    """What answers cost at δ by the rules of this version; None where it cannot be told.

    The dearer the arithmetic, the later it is tried: only what does not fit by sums is composed
    more tightly.
    """
    try:
        basic = _added_up(events, delta)
        if not delta or (basic is not None and basic <= promised):
            return basic
        course = [event for event in events if isinstance(event, SampledGaussianEvent)]
        if course:
            return _taught(events, course, delta)
        return _tight(events, basic, promised, delta, adaptive=adaptive)
    except (*MISFITS, UnderstudyError):
        return None


def _added_up(events: Events, delta: Fraction) -> Fraction | None:
    """The sum of all ε, where every answer has one and their δ fit."""
    costs = {event: approximate_cost(event) for event in events}
    known = [(cost, events[event]) for event, cost in costs.items() if cost is not None]
    if len(known) < len(costs) or _sum((cost[1], times) for cost, times in known) > delta:
        return None
    return _sum((cost[0], times) for cost, times in known)


def _sum(amounts: Iterable[tuple[Fraction, int]]) -> Fraction:
    """What amounts come to, each taken so many times; below it by 2⁻²⁰⁰ at the most.

    Exact sums of unlike denominators have as many digits as all of them together.
    """
    whole = sum(times * ((n.numerator << _SUM_BITS) // n.denominator) for n, times in amounts)
    return Fraction(whole, 1 << _SUM_BITS)


def _tight(
    events: Events, basic: Fraction | None, promised: Fraction, delta: Fraction, *, adaptive: bool
) -> Fraction | None:
    """By zCDP or, where that does not fit and the list was announced, by loss distributions."""
    rhos = [(zcdp_rho(event), times) for event, times in events.items()]
    known = [(rho, times) for rho, times in rhos if rho is not None]
    if len(known) < len(rhos):
        return None
    plain = Fraction(zcdp_epsilon(float(_sum(known)), float(delta)))
    plain = plain if basic is None else min(plain, basic)
    # Distributions gain a tenth on lists of this package; what is as far off as this is not such
    # a list.
    if plain <= promised or adaptive or plain > 3 * promised + 1:
        return plain
    return _by_losses(events, delta) if _is_composable(events) else None


def _is_composable(events: Events) -> bool:
    """Whether loss distributions of these answers are made in some seconds."""
    if len(events) > _MOST_DIFFERENT:
        return False
    sigmas = [
        math.sqrt(event.sigma_squared) for event in events if isinstance(event, GaussianEvent)
    ]
    return sum(sigmas) <= _MOST_SIGMA and sum(map(_bits, events)) <= _MOST_BITS


def _bits(event: Event) -> int:
    amounts = [amount for amount in vars(event).values() if isinstance(amount, Fraction)]
    return sum(n.numerator.bit_length() + n.denominator.bit_length() for n in amounts)


def _by_losses(events: Events, delta: Fraction) -> Fraction | None:
    found = [bound.epsilon for bound in counted_bounds(events, delta=delta, announced=True)]
    return min((epsilon for epsilon in found if epsilon is not None), default=None)


def _taught(
    events: Events, course: Sequence[SampledGaussianEvent], delta: Fraction
) -> Fraction | None:
    """A sampled course by its loss distribution; questions before it are added to it."""
    before = [(pure_epsilon(event), times) for event, times in events.items() if event != course[0]]
    known = [(epsilon, times) for epsilon, times in before if epsilon is not None]
    noisy = course[0].sigma_squared * 100 >= course[0].sensitivity_squared
    if len(known) < len(before) or not noisy or _bits(course[0]) > _MOST_COURSE_BITS:
        return None
    taught = _by_losses({course[0]: events[course[0]]}, delta)
    return None if taught is None else _sum(known) + taught


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
    found = _entry_of(record, secret, ledger)
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


def _entry_of(record: Record, secret: Secret, ledger: Ledger) -> tuple[str, str] | None:
    """The grant that a record commits to, and the check of the entry that closed it."""
    for identity, head in ledger.heads().items():
        if same(record.commitment, secret.commitment(head)):
            return identity, head
    return None


def recognised(claim: Claim, ledger: Path, *, path: Path) -> Record:
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
    record, secret = claim.statement.record, Secret.found(ledger)
    found = None
    if record is not None and record.commitment is not None and secret is not None:
        found = _entry_of(record, secret, Ledger(ledger))
    if record is None or secret is None or found is None:
        raise UsageError(
            f"ledger {ledger}: holds no entry of the run that made this model; name the ledger "
            "that paid for it, or leave it out"
        )
    for check in (_file(claim), *_in_ledger(claim, ledger, vouched=False)):
        if check.fails:
            raise ClaimRefuted(
                f"{path}: ledger {ledger} does not vouch for this model, so that rows from it are "
                f"not sealed; {check.about}: {check.sentence}"
            )
    return replace(record, seal_key=secret.seal_key(found[1]))


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
