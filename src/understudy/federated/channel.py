"""How an analyst reaches holders: a channel carries bytes and knows nothing of what they say."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from understudy.federated.holder.holder import Holder


class Channel(Protocol):
    """Carries one message to each of some holders, and their replies back."""

    @property
    def holders(self) -> Sequence[str]:
        """The names of all holders that can be reached."""

    def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
        """Return the replies that came within the deadline; those that did not are absent."""


class LocalChannel:
    """Holders in this process, asked one after the other: for simulations and tests."""

    def __init__(self, holders: Mapping[str, Holder]) -> None:
        self._holders = dict(holders)

    @property
    def holders(self) -> Sequence[str]:
        """Return the names of all holders."""
        return tuple(self._holders)

    def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
        """The replies of all holders that were done in time."""
        replies = {}
        for name, request in requests.items():
            started = time.monotonic()
            reply = self._holders[name].handle(request)
            if time.monotonic() - started <= deadline:
                replies[name] = reply
        return replies
