"""What is kept between calls is bounded: nobody who varies a question can fill the memory."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import understudy.privacy

# More than this many entries of any one kind would be a store, not a cache.
_MOST = 256


def _caches() -> Iterator[tuple[str, Any]]:
    """Every cached function of the privacy room."""
    for module in pkgutil.walk_packages(understudy.privacy.__path__, "understudy.privacy."):
        room = importlib.import_module(module.name)
        for name, value in vars(room).items():
            if hasattr(value, "cache_parameters") and value.__module__ == room.__name__:
                yield f"{module.name}.{name}", value


def test_caches_of_the_privacy_room_are_bounded() -> None:
    """A cache keeps one constant, or at most 256 answers."""
    found = dict(_caches())
    assert found
    unbounded = {
        name
        for name, cached in found.items()
        if inspect.signature(cached).parameters
        and not 0 < (cached.cache_parameters()["maxsize"] or 2**62) <= _MOST
    }
    assert set() == unbounded
