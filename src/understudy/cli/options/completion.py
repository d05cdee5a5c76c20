"""Shell completion of values that are chosen from a list."""

from __future__ import annotations

from collections.abc import Callable

from understudy.methods import registry


def from_list(*choices: str) -> Callable[[str], list[str]]:
    """Complete the beginning of a value to the choices that begin so."""
    return lambda incomplete: _beginning(incomplete, choices)


def _beginning(incomplete: str, choices: tuple[str, ...]) -> list[str]:
    return [choice for choice in choices if choice.startswith(incomplete)]


def methods(incomplete: str) -> list[str]:
    """Complete the name of a method, of this package or of others."""
    return _beginning(incomplete, registry.names())


def methods_or_auto(incomplete: str) -> list[str]:
    """Complete the name of a method, or auto."""
    return _beginning(incomplete, (registry.AUTOMATIC, *registry.names()))


def planned_methods_or_auto(incomplete: str) -> list[str]:
    """Complete the name of a method that a plan can rehearse, or auto."""
    return _beginning(incomplete, (registry.AUTOMATIC, *registry.planned_names()))


NEIGHBOURS = from_list("add-remove", "replace")
