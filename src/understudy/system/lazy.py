"""Packages whose public names are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Getter = Callable[[str], Any]
Lister = Callable[[], list[str]]


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[list[str], Getter, Lister]:
    """Make the `__all__`, `__getattr__` and `__dir__` of a package from one table.

    Args:
        package: the package's own name.
        homes: for every public name the module it comes from, as "module", or as "module:name"
            where the module calls it otherwise.

    Example:
        >>> names, find, _ = lazy_names("shapes", {"root": "math:sqrt", "pi": "math"})
        >>> names, find("root")(9.0)
        (['pi', 'root'], 3.0)
    """

    def find(name: str) -> Any:
        """Import a public name."""
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own = homes[name].partition(":")
        return getattr(import_module(module), own or name)

    return sorted(homes), find, lambda: sorted(homes)
