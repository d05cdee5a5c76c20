"""Files of arrays with a document: checkpoints, and the models of images of earlier versions.

Nothing in them is executable. An `.npz` archive has a member `document`, which is JSON in bytes.
Members hold plain numbers and are stored as they are, so that no archive takes more memory than it
has bytes. Archives of images, which others write, may be packed; what unpacks to more than is free
is refused.
"""

from __future__ import annotations

import json
import math
import struct
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import CapacityError, ModelError
from understudy.facts.capacity import available_bytes
from understudy.system.files.members import parsed_document
from understudy.system.files.writing import atomic

Arrays = dict[str, npt.NDArray[Any]]

_DOCUMENT = "document"
# A member as it is read, and the array that is made of it.
_COPIES = 2
_PLAIN = "biuf"
# Headers of later versions may take gigabytes before a byte of them is looked at.
_HEADER = (1, 0)
# What zipfile and numpy say of bytes that are no archive of arrays.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, TypeError, ValueError),
    *(ArithmeticError, NotImplementedError, RuntimeError, SyntaxError),
)


def members(path: Path, wanted: Collection[str] | None = None) -> Arrays:
    """The arrays of an archive by name, or those that are wanted; one of `DAMAGED` where it is."""
    with zipfile.ZipFile(path) as archive:
        held = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        names = held if wanted is None else [name for name in wanted if name in held]
        _check_room(path, [held[name] for name in names])
        return {name: _array(archive, held[name]) for name in names}


def _check_room(path: Path, wanted: Collection[zipfile.ZipInfo]) -> None:
    """Refuse what would not fit into the memory that is free, as far as entries tell the truth."""
    needed = _COPIES * sum(member.file_size for member in wanted)
    if needed > available_bytes():
        raise CapacityError(
            f"{path}: its arrays need {needed / 2**30:,.1f} GiB, more than is free; "
            "give fewer or smaller ones, or use a larger machine"
        )


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != _HEADER:
            raise ValueError("version")
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
        size = math.prod(shape) * dtype.itemsize
        if dtype.kind not in _PLAIN or size != member.file_size - file.tell():
            raise ValueError("header")
        data = bytearray(file.read(size))
    return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C")


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]], document: Any) -> None:
    """Write an archive, whole or not at all."""
    text = np.frombuffer(json.dumps(document).encode(), np.uint8)
    members: dict[str, Any] = {**arrays, _DOCUMENT: text}
    with atomic(path) as file:
        np.savez(file, **members)


def read_arrays(path: Path, *, form: str) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of an archive and its document, which must be of a form.

    Raises:
        ModelError: for anything else.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            held = archive.infolist()
        packed = any(member.compress_type != zipfile.ZIP_STORED for member in held)
        if packed or sum(member.file_size for member in held) > path.stat().st_size:
            raise ValueError("size")
        arrays = members(path)
        document = parsed_document(arrays.pop(_DOCUMENT).tobytes())
        if document["format"] != form:
            raise ValueError("format")
    except OSError as error:
        reason = error.strerror or "it is damaged"
        raise ModelError(f"{path}: cannot be read: {reason}; check the path") from None
    except DAMAGED:
        raise ModelError(f"{path}: is not an {form}, or is damaged; fit again") from None
    return arrays, document
