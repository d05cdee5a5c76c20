"""Arrays by the type of their entries. Nothing here knows what the entries mean in a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]  # machine words: random bits, bitmaps, hashes
Integers = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int64]  # numbers of rows, from 0
Floats = npt.NDArray[np.float64]
Numbers = Integers | Floats  # whole numbers, or multiples of a part of one
Singles = npt.NDArray[np.float32]
Probabilities = npt.NDArray[np.float64]  # in [0, 1]; those of one distribution add up to 1
