"""One typed wrapper around numba, so that kernels keep their signatures for the type checker."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

FEW = 10_000
"""Rows or cells up to which Python is done before a compiler has started: about a microsecond each,
against half a second."""

MANY = 100_000
"""Rows up to which vectors of NumPy are done before a compiler has started."""

START_SECONDS = 0.3
"""What the start of a compiler takes at least."""

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop on its first call; cached on disk, and free of the interpreter lock.

    Compilation waits for the first call so that importing a room costs nothing. A cache that
    cannot be written is done without: no run ends because of it.
    """
    compiled: list[Callable[P, R]] = []

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not compiled:
            compiled.append(_compile(function))
        try:
            return compiled[0](*args, **kwargs)
        except OSError:
            compiled[:] = [_compile(function, cache=False)]
            return compiled[0](*args, **kwargs)

    return run


def kernel_after(vectors: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a loop only when vectors of NumPy have taken as long as a compiler takes to start.

    A short command is done before that. Where a compiler has started for another loop, this one
    is compiled at once. The results must be the same to the last bit, since time decides.

    Args:
        vectors: does what the loop does.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        compiled, spent = kernel(function), [0.0]

        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            if spent[0] > START_SECONDS or has_started():
                return compiled(*args, **kwargs)
            began = time.perf_counter()
            try:
                return vectors(*args, **kwargs)
            finally:
                spent[0] += time.perf_counter() - began

        return run

    return decorate


def has_started() -> bool:
    """Whether a compiler has started in this process."""
    return "numba" in sys.modules


def uncompiled(compiled: Callable[P, R]) -> Callable[P, R]:
    """The loop of a kernel as Python runs it: the same results, without the start of a compiler.

    Example:
        >>> uncompiled(kernel(max))(2, 3)
        3
    """
    return cast("Callable[P, R]", getattr(compiled, "__wrapped__", compiled))


def _compile(function: Callable[P, R], *, cache: bool = True) -> Callable[P, R]:
    import numba

    try:
        decorate: Any = numba.njit(cache=cache, nogil=True, boundscheck=False)
        return cast("Callable[P, R]", decorate(function))
    except RuntimeError:
        # Numba found no folder for its cache.
        if not cache:
            raise
        return _compile(function, cache=False)
