"""One typed wrapper around numba, so that kernels keep their signatures for the type checker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

FEW = 10_000
"""Rows or cells up to which Python is done before a compiler has started: about a microsecond each,
against half a second."""

MANY = 100_000
"""Rows up to which vectors of NumPy are done before a compiler has started."""

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


def compiler_started() -> bool:
    """Whether this process has a compiler already, so that another kernel need not start one."""
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
