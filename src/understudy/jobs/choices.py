"""Errors about a choice that does not exist, with one suggestion where one is close."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from understudy.errors import UsageError

# How like a choice a value must be, from 0 to 1; below it a suggestion is a guess.
_ALIKE = 0.7


def suggestion(value: str, choices: Iterable[str]) -> str:
    """A question after the choice that is closest to a mistyped one; empty where none is close.

    Example:
        >>> suggestion("privbays", ["nist", "privbayes"])
        "did you mean 'privbayes'?"
    """
    close = get_close_matches(value, list(choices), n=1, cutoff=_ALIKE)
    return f"did you mean {close[0]!r}?" if close else ""


def unknown_choice(what: str, value: str, choices: Iterable[str]) -> UsageError:
    """The error for a value that is not one of the choices; it lists them.

    Example:
        >>> print(unknown_choice("method", "nits", ["nist", "random"]))
        method 'nits' is unknown; did you mean 'nist'? Use one of nist, random
    """
    known = list(choices)
    close, listed = suggestion(value, known), f"se one of {', '.join(known)}"
    return UsageError(
        f"{what} {value!r} is unknown; {f'{close} U{listed}' if close else f'u{listed}'}"
    )
