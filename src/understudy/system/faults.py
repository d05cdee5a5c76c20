"""Describe a fault of ours without its message, which may quote a private value."""

from __future__ import annotations

import os

SHOWN_BY = "UNDERSTUDY_TRACEBACK"
"""The variable that asks for tracebacks and messages, which may quote rows, on stderr."""


def shows_messages() -> bool:
    """Whether the owner asks to see faults in full."""
    return bool(os.environ.get(SHOWN_BY))


def place_of(error: BaseException) -> str:
    """The kind of an error and where it arose, and nothing that it says.

    Example:
        >>> try:
        ...     {}["Ann"]
        ... except KeyError as error:
        ...     place_of(error).partition(" at ")[0]
        'KeyError'
    """
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    where = (
        f"{os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno}" if place else "?"
    )
    return f"{type(error).__name__} at {where}"
