"""Protected attributes: what a network keeps of them, and what it withholds.

A protected attribute depends on a few named attributes, the target unless said otherwise, and
nothing depends on it. Source: SBA section IV. What follows from it, and what does
not: docs/guides/protection.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from understudy.facts.domain import Attributes
from understudy.system.reprs import shown_fields


@dataclass(frozen=True)
class Protection:
    """Which attributes are protected, and what each of them may depend on.

    Attributes:
        target: what the rows are used to predict; the first attribute of the network, if any.
        protected: for each protected attribute, all that it may depend on; None is the target.
        quasi_identifiers: what an attacker is thought to know of a person; named for reports.

    Example:
        >>> protection = Protection("income", {"relationship": None})
        >>> protection.allows("income", "relationship"), protection.allows("age", "relationship")
        (True, False)
    """

    target: str | None = None
    protected: Mapping[str, Attributes | None] = field(default_factory=dict)
    quasi_identifiers: Attributes = ()

    def __repr__(self) -> str:
        return f"Protection({shown_fields(self)})"

    def __bool__(self) -> bool:
        return bool(self.target or self.protected or self.quasi_identifiers)

    @property
    def kept(self) -> dict[str, Attributes]:
        """For each protected attribute, all that it may depend on."""
        usual = () if self.target is None else (self.target,)
        return {name: usual if of is None else of for name, of in self.protected.items()}

    @property
    def settled(self) -> Protection:
        """Return the protection with all kept attributes written out."""
        return replace(self, protected=self.kept)

    @property
    def required(self) -> list[tuple[str, str]]:
        """The target as parent of every attribute that may depend on nothing else."""
        alone = (name for name, of in self.kept.items() if of == (self.target,))
        return [(self.target, name) for name in alone if self.target not in (None, name)]

    def allows(self, parent: str, child: str) -> bool:
        """Whether an edge keeps the target first and protected attributes apart."""
        if child == self.target or parent in self.protected:
            return False
        return child not in self.protected or parent in self.kept[child]

    @property
    def sentence(self) -> str:
        """Describe what was withheld; empty where nothing was."""
        if not self.protected:
            return ""
        kept = "; ".join(f"{name} depends on {_alone(of)}" for name, of in self.kept.items())
        return (
            f"Withheld: {kept}, and nothing depends on {_listed(list(self.protected), 'or')}. "
            "That is a choice of what to learn, and no part of the promise."
        )

    def document(self) -> dict[str, Any]:
        """Return the protection for JSON."""
        return {
            "target": self.target,
            "protected": {name: list(of) for name, of in self.kept.items()},
            "quasi_identifiers": list(self.quasi_identifiers),
            "sentence": self.sentence,
        }

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Protection:
        """The protection that was written down."""
        protected = {str(name): tuple(of) for name, of in document["protected"].items()}
        return cls(document["target"], protected, tuple(document["quasi_identifiers"]))


def _alone(names: Sequence[str]) -> str:
    return f"{_listed(names)} alone" if names else "nothing"


def _listed(names: Sequence[str], last: str = "and") -> str:
    *others, final = names
    return f"{', '.join(others)} {last} {final}" if others else f"{final}"
