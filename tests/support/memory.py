"""Work that holds a known amount of memory, for processes of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def hold(megabytes: str) -> Callable[[], object]:
    """Work that fills a number of megabytes."""
    return lambda: np.ones(int(megabytes) << 17)
