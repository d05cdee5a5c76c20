"""How values of many fields show themselves in one line."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

_LONGEST = 30


def shown_fields(value: Any, *, without: tuple[str, ...] = ()) -> str:
    """The fields of a dataclass that differ from their defaults, in one short line.

    A value that takes more than 30 characters is shown by its type.

    Example:
        >>> from understudy.facts.protection import Protection
        >>> shown_fields(Protection(target="income"))
        "target='income'"
    """
    given = (
        (f.name, getattr(value, f.name)) for f in fields(value) if f.init and not _usual(value, f)
    )
    return ", ".join(f"{name}={_short(held)}" for name, held in given if name not in without)


def _usual(value: Any, field: Any) -> bool:
    held = getattr(value, field.name)
    if field.default_factory is not MISSING:
        return bool(held == field.default_factory())
    return field.default is not MISSING and bool(held == field.default)


def _short(held: object) -> str:
    text = repr(held)
    plain = len(text) <= _LONGEST and text.isprintable()
    return text if plain else f"{type(held).__name__}(…)"
