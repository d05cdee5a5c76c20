"""Refitted models in the user's cache folder, so that a second question is answered at once.

A file is named by the digest of its model and holds that digest. It is made from released tables
alone, and can be deleted at any time. The folder is $UNDERSTUDY_CACHE, else the system's folder for
caches. What other users may write to is not read.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from understudy.errors import ModelError, UnderstudyError
from understudy.models.archive import arrow_bytes
from understudy.system.files.arrow import Types, read_arrow
from understudy.system.files.members import read_file
from understudy.system.files.writing import atomic

if TYPE_CHECKING:
    from understudy.models.intervals.refits import Numbers32, Refits
    from understudy.models.model import Model

# The number of the way in which models are refitted: another one makes them again.
_FORM = 2
_MOST_BYTES = 2**28
_LISTS, _SHAPES = pa.large_list(pa.float32()), pa.list_(pa.int64())
_COLUMNS: Types = {"name": (pa.string(),), "shape": (_SHAPES,), "numbers": (_LISTS,)}
# What reading something else than such a file raises.
_MISFITS = (OSError, ArithmeticError, LookupError, ValueError, pa.ArrowException, UnderstudyError)


def cached_refits(model: Model) -> Refits:
    """Read the refitted models of a model from the cache, or make and keep them.

    A cache that cannot be read or written, or that others can write to, changes nothing but the
    time.

    Privacy: what is kept is post-processing of released tables.
    """
    path = _path(model)
    with suppress(OSError, UnderstudyError):
        check_own(path)
        return read_refits(path, model)
    refits = model.refits
    with suppress(OSError, UnderstudyError):
        write_refits(path, model, refits)
    return refits


def read_refits(path: Path, model: Model) -> Refits:
    """Read refitted models from a file, if they are those of this model.

    Raises:
        ModelError: the file is of another model, or its numbers cannot be what it says.
    """
    try:
        numbers = _read(path, _key(model), most=4 * len(model.domain) + 4)
        return model.distribution.kept_refits(numbers)
    except _MISFITS:
        raise ModelError(
            f"{path}: does not hold the refitted models of this model; delete it"
        ) from None


def check_own(path: Path) -> None:
    """Refuse a file or folder that another user owns or may write to.

    Whoever can write there could make intervals narrower than they are.

    Raises:
        ModelError: with the place.
    """
    if not hasattr(os, "getuid"):
        return
    for place in (path, path.parent):
        held = place.stat()
        if held.st_uid != os.getuid() or held.st_mode & 0o022:
            raise ModelError(f"{place}: other users may write there; choose another cache folder")


def _path(model: Model) -> Path:
    import platformdirs

    named = os.environ.get("UNDERSTUDY_CACHE")
    folder = Path(named) if named else platformdirs.user_cache_path("understudy")
    return folder / f"{_key(model)}.refits"


def _key(model: Model) -> str:
    return f"{model.digest}-{_FORM}"


def _read(path: Path, key: str, *, most: int) -> Numbers32:
    """The arrays of a file, if it is about this model."""
    table = read_arrow(read_file(path, _MOST_BYTES), _COLUMNS, rows=most)
    names, shapes = table["name"].to_pylist(), table["shape"].to_pylist()
    if names[0] != key:
        raise ValueError("digest")
    held = [np.array(row.values, np.float32) for row in table["numbers"]]
    if not all(np.isfinite(numbers).all() for numbers in held):
        raise ValueError("numbers")
    each = zip(names[1:], shapes[1:], held[1:], strict=True)
    return {name: numbers.reshape(shape) for name, shape, numbers in each}


def write_refits(path: Path, model: Model, refits: Refits) -> None:
    """Keep refitted models of a model in a file that nobody else may read or change."""
    numbers = refits.numbers()
    shapes = [[0], *(array.shape for array in numbers.values())]
    flat = [np.zeros(0, np.float32), *(array.ravel() for array in numbers.values())]
    table = pa.table(
        {
            "name": pa.array([_key(model), *numbers], pa.string()),
            "shape": pa.array(shapes, _SHAPES),
            "numbers": pa.array(flat, _LISTS),
        }
    )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic(path) as file:
        os.chmod(file.name, 0o600)
        file.write(arrow_bytes(table))
