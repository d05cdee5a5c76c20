"""Files of arrays with a document: models of images and checkpoints. Nothing in them is executable.

An `.npz` archive whose member `document` is JSON in bytes. Members hold plain numbers; what a
header says of its size is believed only if the archive has as many bytes.
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

from understudy.errors import ModelError
from understudy.files import atomic

Arrays = dict[str, npt.NDArray[Any]]

_DOCUMENT = "document"
# No archive of this room is larger; a damaged one may say it is.
_LARGEST = 2**31
_PLAIN = "biuf"
_HEADERS: Mapping[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# What zipfile and numpy say of bytes that are no archive of arrays.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, TypeError, ValueError),
    *(ArithmeticError, NotImplementedError, RuntimeError, SyntaxError),
)


def is_archive(path: Path) -> bool:
    """Whether a file has the looks of one: what it holds is checked when it is read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{_DOCUMENT}.npy" in archive.namelist()
    except (OSError, *DAMAGED):
        return False


def members(path: Path, wanted: Collection[str] | None = None) -> Arrays:
    """The arrays of an archive by name, or those that are wanted; one of `DAMAGED` where it is."""
    with zipfile.ZipFile(path) as archive:
        held = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        names = held if wanted is None else [name for name in wanted if name in held]
        return {name: _array(archive, held[name]) for name in names}


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        shape, by_columns, dtype = _HEADERS[version](file)
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
            if sum(member.file_size for member in archive.infolist()) > _LARGEST:
                raise ValueError("size")
        arrays = members(path)
        document = json.loads(arrays.pop(_DOCUMENT).tobytes())
        if document["format"] != form:
            raise ValueError("format")
    except OSError as error:
        reason = error.strerror or "it is damaged"
        raise ModelError(f"{path}: cannot be read: {reason}; check the path") from None
    except DAMAGED:
        raise ModelError(f"{path}: is no {form}, or is damaged; fit again") from None
    return arrays, document
