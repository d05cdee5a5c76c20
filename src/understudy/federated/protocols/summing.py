"""Sums over records of all holders: each adds its own noise, and the analyst adds them up.

Source: the class moments of images are sums, so that TUC-2's last wish, adversarial images of
distributed data, needs nothing but sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.errors import MessageError
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.messages import MeasureSums, Message, Sums
from understudy.privacy.budget import Budget
from understudy.system.arrays import Array, Floats

# In standard deviations, which Gaussian noise never passes.
_FAR = 60.0


@dataclass(frozen=True)
class HolderSums:
    """Asks all holders for sums.

    Attributes:
        conversation: with the holders.
        public: the number of records of each holder, where it is public.
    """

    conversation: Conversation
    public: Mapping[str, int | None]

    @property
    def budget(self) -> Budget:
        """The budget at each holder, in the measure that questions are charged in."""
        return self.conversation.plan.spendable

    @property
    def parts(self) -> int:
        """How many holders add their noise."""
        return len(self.conversation.holders)

    @property
    def public_rows(self) -> int | None:
        """How many records the holders have that are still there, where that is public."""
        rows = [self.public[name] for name in self.conversation.holders]
        known = [count for count in rows if count is not None]
        return sum(known) if len(known) == len(rows) else None

    def ask(self, step: str, arrays: tuple[Array, ...], share: Fraction) -> tuple[Floats, float]:
        """Return the sum over all holders, and the deviation of its noise."""
        protocol = self.conversation.plan.sums
        assert protocol is not None
        question = protocol.read(step, arrays)
        variance = question.mechanism(self.budget * share).variance

        def check(name: str, message: Message) -> None:
            found = [(array.shape, array.dtype.kind) for array in message.arrays]
            if not isinstance(message.body, Sums) or found != [(question.shape, "i")]:
                raise MessageError("this is not the sum that was asked for")

        asked = MeasureSums(share=str(share), step=step), arrays
        replies = self.conversation.ask(dict.fromkeys(self.conversation.holders, asked), check)
        far = _FAR * math.sqrt(variance)
        total = sum(
            self._bounded(name, message.arrays[0], question.most, far)
            for name, message in replies.items()
        )
        return np.asarray(total, np.float64), math.sqrt(len(replies) * variance)

    def _bounded(self, name: str, found: Array, most: int, far: float) -> Floats:
        """A holder's sum within what its records and its noise allow."""
        rows = self.public[name]
        limit = (self.conversation.plan.most_rows if rows is None else rows) * float(most) + far
        outside = int((np.abs(found.astype(np.float64)) > limit).sum())
        if outside:
            self.conversation.report.note(
                f"holder {name!r}: {outside} cells of a sum lie beyond what its records and its "
                "noise allow; they were cut to that"
            )
        return np.asarray(found.astype(np.float64).clip(-limit, limit))
