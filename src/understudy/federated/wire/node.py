"""A holder on the network: it calls out, takes questions, and sends what its handler replies.

It stands in for Flower's SuperNode and for the process that Flower would start for each message.
That process would load the code that came with the run, next to private rows; this one never
fetches it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from understudy.errors import DataError, UnderstudyError
from understudy.federated.wire import bundle, flower
from understudy.federated.wire import envelopes as letters
from understudy.federated.wire.session import Link, Session, connected

__all__ = ["Link", "Node"]

_POLL_SECONDS = (0.02, 0.5)
_REMEMBERED = 10_000


@dataclass
class Node:
    """Serves a handler of requests until the analyst has closed the run.

    Privacy: whatever the handler returns leaves. What it raises does not: the analyst is told that
    there was a fault, and no more.
    """

    link: Link
    handle: Callable[[bytes], bytes]
    say: Callable[[str], None] = lambda text: None
    stay: bool = False
    answered: int = 0
    _runs: dict[int, bool] = field(default_factory=dict)
    _seen: deque[str] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def serve(self) -> int:
        """Answer until the closing message, through lost connections; the number of answers."""
        flower.prepare()
        while True:
            with connected(self.link, self.say) as session:
                if self._answer_all(session) and not self.stay:
                    return self.answered

    def _answer_all(self, session: Session) -> bool:
        """True after a closing message, False where the connection was lost."""
        import httpx

        pause = _POLL_SECONDS[0]
        try:
            while True:
                found = session.next()
                if found is None:
                    time.sleep(pause)
                    pause = min(1.2 * pause, _POLL_SECONDS[1])
                    continue
                pause = _POLL_SECONDS[0]
                if found.metadata.message_type == letters.CLOSING:
                    self.say("the analyst has closed the run")
                    if not self.stay:
                        return True
                    continue
                session.reply(self._reply(session, found))
        except httpx.HTTPError:
            self.say(f"connection to {self.link.superlink} was lost; trying again")
            return False
        except ValueError:
            raise DataError(
                f"superlink {self.link.superlink}: sent something that is not a message; "
                "nothing more is "
                "answered, check who runs it"
            ) from None

    def _reply(self, session: Session, message: Any) -> Any:
        """The reply to one message, made by the handler or saying why there is none."""
        try:
            return letters.answer(self._letter(session, message), message)
        except UnderstudyError as error:
            self.say(f"refused: {error}")
            return letters.failure(letters.REFUSED, str(error), message)
        except Exception as error:
            # Its text may quote rows.
            self.say(f"a fault in the handler: {type(error).__name__}")
            told = "the holder had a fault; ask its administrator"
            return letters.failure(letters.FAULT, told, message)

    def _letter(self, session: Session, message: Any) -> letters.Envelope:
        self._check_run(session, message.metadata.run_id)
        if message.metadata.message_type != letters.ASK:
            raise DataError("a message of an unknown kind arrived; it was not read")
        if message.metadata.message_id in self._seen:
            raise DataError("a message arrived for the second time; it was not read again")
        self._seen.append(message.metadata.message_id)
        asked = letters.opened(message)
        reply = self.handle(asked.body)
        self.answered += 1
        return letters.Envelope(reply, asked.nonce)

    def _check_run(self, session: Session, run: int) -> None:
        """Only runs with the bundle that holds no code are served."""
        if run not in self._runs:
            if len(self._runs) >= _REMEMBERED:
                self._runs.clear()
            self._runs[run] = session.bundle_of(run) == bundle.digest(bundle.content())
        if not self._runs[run]:
            raise DataError("the run's bundle is not the one without code; nothing was answered")
