"""Say why a holder does not answer: the kind of the reason, and nothing about rows."""

from __future__ import annotations

import logging

from understudy.errors import (
    BudgetExceeded,
    CapacityError,
    MessageError,
    UnderstudyError,
    UsageError,
)
from understudy.federated.messages import Refused
from understudy.system.faults import place_of, shows_messages

_LOG = logging.getLogger(__name__)
_LONGEST_REASON = 2000


class Refusal(UnderstudyError):
    """A question that is not answered; says of which kind the reason is."""

    def __init__(self, because: str, reason: str) -> None:
        self.because = because
        super().__init__(reason)


def refused(error: Exception) -> Refused:
    """Why a question is not answered; nothing in it depends on rows."""
    match error:
        case Refusal():
            return Refused(because=error.because, reason=str(error)[:_LONGEST_REASON])  # type: ignore[arg-type]  # pydantic checks it
        case MessageError():
            return Refused(because="message", reason=str(error)[:_LONGEST_REASON])
        case BudgetExceeded():
            return Refused(because="budget", reason=str(error)[:_LONGEST_REASON])
        case CapacityError():
            # How much memory is free here is nobody's affair.
            return Refused(because="request", reason="the tables are too large for this holder")
        case UsageError():
            return Refused(because="request", reason=str(error)[:_LONGEST_REASON])
        case _:
            # What went wrong may have to do with rows: nobody but the owner who asks reads of it.
            what = str(error) if isinstance(error, UnderstudyError) else place_of(error)
            shown = error if shows_messages() else None
            _LOG.error("a fault while answering: %s", what, exc_info=shown)
            return Refused(because="fault", reason="something failed here; ask the holder")
