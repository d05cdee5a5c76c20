"""Who agrees to the terms of a run: a policy written down in advance, or a person who is asked.

A consent looks at terms alone, which are public; it never sees rows or answers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from understudy.errors import UsageError
from understudy.federated.terms import ProtocolName, Terms
from understudy.privacy.budget import exact
from understudy.privacy.spending.limits import Spent


class Consent(Protocol):
    """Decides whether a holder takes part."""

    def refusal(self, terms: Terms) -> str | None:
        """Why the holder does not take part; None where it does."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A policy: the runs that a holder agrees to without asking a person.

    Attributes:
        most_epsilon: of one run.
        most_delta: of one run.
        most_questions: of one run.
        protocols: those allowed.
        protect: attributes that every run must protect, so that they depend on its target at most.

    Example:
        >>> Policy(most_epsilon=Fraction(1)).protocols == frozenset(ProtocolName)
        True
    """

    most_epsilon: Fraction
    most_delta: Fraction = Fraction(0)
    most_questions: int = 1000
    protocols: frozenset[ProtocolName] = frozenset(ProtocolName)
    protect: frozenset[str] = frozenset()

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """A policy from a TOML file with the keys most_epsilon, most_delta, and so on."""
        try:
            document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"{path}: is not a policy: {error}; write one in TOML") from None
        return cls._parsed(document, str(path))

    @classmethod
    def _parsed(cls, document: dict[str, Any], path: str) -> Policy:
        known = ("most_epsilon", "most_delta", "most_questions", "protocols", "protect")
        unknown = [key for key in document if key not in known]
        if unknown or "most_epsilon" not in document:
            what = f"{unknown[0]!r} is unknown" if unknown else "'most_epsilon' is missing"
            raise UsageError(f"{path}: {what}; a policy has {', '.join(known)}")
        named = document.get("protocols", list(ProtocolName))
        questions = document.get("most_questions", 1000)
        try:
            allowed = frozenset(ProtocolName(name) for name in named)
        except (ValueError, TypeError):
            choices = ", ".join(ProtocolName)
            raise UsageError(f"{path}: protocols is a list of some of {choices}") from None
        if not isinstance(questions, int):
            raise UsageError(f"{path}: most_questions is not a whole number; give one such as 100")
        epsilon = exact(document["most_epsilon"], what="most_epsilon")
        delta = exact(document.get("most_delta", 0), what="most_delta")
        protect = document.get("protect", [])
        if not isinstance(protect, list) or not all(isinstance(name, str) for name in protect):
            raise UsageError(f"{path}: protect is a list of attributes, such as ['illness']")
        return cls(
            most_epsilon=epsilon,
            most_delta=delta,
            most_questions=questions,
            protocols=allowed,
            protect=frozenset(protect),
        )

    def refusal(self, terms: Terms) -> str | None:
        """The first point at which the terms go beyond the policy."""
        budget = terms.budget
        if terms.protocol not in self.protocols:
            return f"protocol {terms.protocol} is not among those allowed here"
        if budget.amount > self.most_epsilon or budget.delta > self.most_delta:
            most = Spent(self.most_epsilon, self.most_delta).as_remainder
            return f"{budget} is asked for, and a run may cost {most} at most here"
        if terms.questions > self.most_questions:
            return f"{terms.questions} questions are asked for, {self.most_questions} allowed here"
        return self._unprotected(terms)

    def _unprotected(self, terms: Terms) -> str | None:
        """That a run would learn what some attribute depends on besides the target."""
        held = terms.restrictions.protection
        for name in sorted(self.protect):
            if name not in held.protected:
                return f"attribute {name!r} must be protected here; protect it"
            beyond = [other for other in held.kept[name] if other != held.target]
            if beyond:
                return (
                    f"protected {name!r} may depend on {', '.join(beyond)}, but here only on the "
                    "target; leave them out"
                )
        return None


@dataclass(frozen=True)
class AskSomebody:
    """Shows the terms to a person and waits for a yes.

    Attributes:
        agrees: shows lines of text and says whether the answer was yes.
    """

    agrees: Callable[[list[str]], bool]

    def refusal(self, terms: Terms) -> str | None:
        """That the person said no."""
        return None if self.agrees(terms.lines()) else "the holder does not agree to these terms"
