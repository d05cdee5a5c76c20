"""Sheets of generated images as grey PNG files, for the eye."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from understudy.gan.images import Pixels
from understudy.system.files.writing import atomic

_GAP = 2


def sheet(images: Pixels, *, across: int) -> Pixels:
    """Return images side by side, `across` in a line."""
    count, height, width, *colours = images.shape
    lines = -(-count // across)
    extent = (lines * (height + _GAP) + _GAP, across * (width + _GAP) + _GAP)
    page = np.zeros((*extent, *colours), np.uint8)
    for i, image in enumerate(images):
        top = _GAP + (i // across) * (height + _GAP)
        left = _GAP + (i % across) * (width + _GAP)
        page[top : top + height, left : left + width] = image
    return page


def png(page: Pixels) -> bytes:
    """A page as PNG: a header, lines each after a zero for "as it is", and an end.

    Grey pages have 16 greys, and pages in colour 256 steps of red, green and blue.
    """
    height, width = page.shape[:2]
    depth, kind = (8, 2) if page.ndim == 3 else (4, 0)
    packed = page if page.ndim == 3 else _two_in_a_byte(page)
    lines = b"".join(b"\0" + line.tobytes() for line in packed)
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(kind, data) for kind, data in parts)


def _two_in_a_byte(page: Pixels) -> Pixels:
    greys = np.pad(page >> 4, ((0, 0), (0, page.shape[1] % 2)))
    return np.asarray((greys[:, ::2] << 4) | greys[:, 1::2], np.uint8)


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_sheet(path: Path, images: Pixels, *, across: int) -> None:
    """A sheet of images in a PNG file, whole or not at all."""
    with atomic(path) as file:
        file.write(png(sheet(images, across=across)))
