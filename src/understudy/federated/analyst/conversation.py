"""Questions to all holders and their answers: counted, checked, kept, and asked again.

The network is trusted with nothing: who does not answer, refuses, or answers something else than
was asked is noted by name. A holder that fails is left out for the rest of the run, if the plan
allows that; else the run stops, and can be taken up from its journal.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from understudy.errors import HolderError, MessageError, UnderstudyError, UsageError
from understudy.federated.analyst.journal import Journal
from understudy.federated.analyst.plan import Collaboration
from understudy.federated.channel import Channel
from understudy.federated.messages import Body, Message, Refused
from understudy.system.arrays import Array

# What arithmetic and parsers raise when they are fed something else than they expect.
_MISFITS = (UnderstudyError, ArithmeticError, LookupError, TypeError, ValueError)

Validator = Callable[[str, Message], None]
Asked = Mapping[str, tuple[Body, tuple[Array, ...]]]


@dataclass
class Report:
    """A report of what an analyst noticed, for people.

    Attributes:
        findings: what was out of order, a sentence each.
        questions: how many were asked.
        absent: holders that were left out, and why.
    """

    findings: list[str] = field(default_factory=list)
    questions: int = 0
    absent: dict[str, str] = field(default_factory=dict)

    def note(self, finding: str) -> None:
        """Add a finding once."""
        if finding not in self.findings:
            self.findings.append(finding)


class Conversation:
    """One run with all holders of a channel, under a name that nobody used before."""

    def __init__(
        self, channel: Channel, plan: Collaboration, journal: Path | None, run: str | None = None
    ) -> None:
        if not channel.holders:
            raise UsageError("there is no holder to ask; name at least one")
        if len(set(channel.holders)) < len(channel.holders):
            raise UsageError("two holders have the same name; give each its own")
        self.plan, self.report = plan, Report()
        self._channel = channel
        self._names = sorted(channel.holders)
        about = f"{plan.fingerprint} {' '.join(map(repr, self._names))}"
        self._journal = Journal(journal, about, {"run": run or uuid.uuid4().hex})
        self.run = str(self._journal.facts["run"])

    @property
    def holders(self) -> Sequence[str]:
        """Those that have answered everything so far."""
        return [name for name in self._names if name not in self.report.absent]

    def ask(
        self, asked: Asked, check: Validator, *, least: int | None = None
    ) -> dict[str, Message]:
        """Good replies to one question to each holder; those without are left out from now on.

        Args:
            asked: what each holder is asked; not necessarily the same.
            check: raises for a reply that cannot be.
            least: how many good replies there must be; as the plan says unless given.
        """
        number = self.report.questions
        self.report.questions += 1
        turn = _Turn(number, {}, {})
        sent = {name: self._request(number, name, *what) for name, what in asked.items()}
        for name in [n for n in sent if self._journal.dropped.get(n) == number]:
            turn.failed[name] = "was left out before"
            del sent[name]
        kept = {n: r for n in sent if (r := self._journal.reply(number, n)) is not None}
        self._take(turn, kept, check, new=False)
        for _ in range(self.plan.attempts):
            left = {n: r for n, r in sent.items() if n not in turn.good and n not in turn.refused}
            if not left:
                break
            replies = self._channel.ask(left, deadline=self.plan.deadline)
            self._take(turn, {n: r for n, r in replies.items() if n in left}, check, new=True)
        needed = self.plan.least_of(len(self._names)) if least is None else least
        return self._ended(turn, sent, needed)

    def _take(
        self, turn: _Turn, replies: Mapping[str, bytes], check: Validator, *, new: bool
    ) -> None:
        for name, reply in replies.items():
            try:
                message = Message.decoded(reply)
                self._check_reply(turn.number, name, message, check)
            except _Refuses as refusal:
                turn.refused.add(name)
                turn.failed[name] = f"refused: {refusal}"
            except _MISFITS as error:
                detail = error if isinstance(error, UnderstudyError) else "its parts do not fit"
                turn.failed[name] = f"answered what cannot be: {detail}"
            else:
                turn.good[name] = message
                if new:
                    self._journal.keep_reply(turn.number, name, reply)

    def _check_reply(self, number: int, name: str, message: Message, check: Validator) -> None:
        if isinstance(message.body, Refused):
            raise _Refuses(message.body.reason)
        if (message.run, message.request) != (self.run, self._question(number, name)):
            raise MessageError("the reply belongs to another question")
        check(name, message)

    def _ended(self, turn: _Turn, sent: Mapping[str, bytes], least: int) -> dict[str, Message]:
        """The good replies, if they are enough; the others are named."""
        failed = {n: turn.failed.get(n, "did not answer") for n in sent if n not in turn.good}
        before = {n: why for n, why in turn.failed.items() if n not in sent}
        if len(turn.good) < least:
            reasons = "; ".join(f"{name} {why}" for name, why in (failed | before).items())
            raise HolderError(
                f"{len(turn.good)} of {len(self._names)} holders answered question "
                f"{turn.number + 1}, and {least} must: {reasons}. Set it right and resume from "
                "the journal, which spends nothing twice, or allow fewer holders"
            )
        for name, why in failed.items():
            self._journal.keep_dropped(turn.number, name)
            self.report.note(f"holder {name!r} {why}; it is left out")
        self.report.absent |= failed | before
        return {name: turn.good[name] for name in self._names if name in turn.good}

    def _request(self, number: int, name: str, body: Body, arrays: tuple[Array, ...]) -> bytes:
        """The request as it was sent before, or a new one, kept before it is sent."""
        known = self._journal.request(number, name)
        if known is not None:
            return known
        message = Message(self.run, self._question(number, name), body, arrays).encoded()
        self._journal.keep_request(number, name, message)
        return message

    def _question(self, number: int, name: str) -> str:
        text = f"{self.run} {number} {name}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass
class _Turn:
    """One question while it is asked."""

    number: int
    good: dict[str, Message]
    failed: dict[str, str]
    refused: set[str] = field(default_factory=set)


class _Refuses(UnderstudyError):
    """A holder's own reason."""
