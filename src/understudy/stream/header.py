"""The header of a state file: its terms and counts, one sector of JSON with a check."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from understudy.errors import DataError, UsageError
from understudy.privacy.budget import exactly
from understudy.stream.design import Design
from understudy.stream.texts import Texts
from understudy.stream.universe import Edges, Hashed, Keys, Range, Sketch, Universe
from understudy.system.files.descriptors import read_at

SECTOR = 512
_FORMAT = "understudy stream"
_VERSION = 1
# What a header holds, in this order of writing.
_TEXTS = ("format", "kind", "key", "epsilon", "estimator")
_NUMBERS = ("version", "size", "first", "answers", "levels", "sample", "shards", "given", "epochs")
_KEY = re.compile("[0-9a-f]{64}")


def read_header(path: Path, descriptor: int) -> dict[str, Any]:
    """The header of an open file; anything else is refused."""
    try:
        document = json.loads(read_at(descriptor, SECTOR, 0).decode("ascii"))
        check = document.pop("check")
        whole = check == check_of(document) and _is_header(document)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise DataError(f"state {path}: is not a state of a stream, or is damaged; start a new one")
    if document["version"] != _VERSION:
        raise DataError(f"state {path}: is of a newer version; update understudy")
    return dict(document)


def _is_header(document: Mapping[str, Any]) -> bool:
    numbers = [document[name] for name in _NUMBERS]
    return (
        document["format"] == _FORMAT
        and all(isinstance(document[name], str) for name in _TEXTS)
        and all(type(number) is int and number >= 0 for number in numbers)
        and _KEY.fullmatch(document["key"]) is not None
    )


def check_of(document: Mapping[str, Any]) -> str:
    """The check of a header without it."""
    text = json.dumps(document, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def document_of(design: Design) -> dict[str, Any]:
    """Return the terms for a header."""
    universe = design.universe
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": universe.kind,
        "size": _stated_size(universe),
        "first": universe.first if isinstance(universe, Range) else 0,
        "key": universe.key,
        "epsilon": str(design.epsilon),
        "answers": design.answers,
        "estimator": design.estimator,
        "levels": design.levels,
        "sample": design.sample,
        "shards": design.shards,
    }


def _stated_size(universe: Universe) -> int:
    """The number that a universe is made of."""
    match universe:
        case Edges(vertices=vertices):
            return vertices
        case Sketch(buckets=buckets):
            return buckets
        case _:
            return universe.size


def design_of(path: Path, header: Mapping[str, Any], names: Texts | None) -> Design:
    """The terms that a header says."""
    try:
        return Design.of(
            _universe(header, names),
            epsilon=exactly(header["epsilon"]),
            answers=header["answers"],
            estimator=header["estimator"],
            levels=header["levels"],
            sample=header["sample"],
            shards=header["shards"],
        )
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise DataError(f"state {path}: does not say what it must; start a new one") from None


def _universe(header: Mapping[str, Any], names: Texts | None) -> Universe:
    size, key = header["size"], header["key"]
    match header["kind"]:
        case "range":
            return Range(size, header["first"], key=key)
        case "edges":
            return Edges(size, key=key)
        case "hash":
            return Hashed(size, key)
        case "sketch":
            return Sketch(size, key)
        case "keys":
            if names is None or len(names) != size:
                raise UsageError(
                    f"this state is about {size} listed keys; give the same file again"
                )
            return Keys(names, key)
    raise ValueError("no such kind")


def header_line(design: Design, *, given: int, epochs: int) -> bytes:
    """Return a header of exactly one sector."""
    document = document_of(design) | {"given": given, "epochs": epochs}
    line = json.dumps(document | {"check": check_of(document)}).encode()
    assert len(line) <= SECTOR, "a header is one sector"
    return line.ljust(SECTOR)


def key_of(path: Path) -> str:
    """The key of a state, for others that are to share its sample."""
    with _opened(path) as descriptor:
        return str(read_header(path, descriptor)["key"])


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A state's file, opened to be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise DataError(f"state {path}: cannot be opened: {error.strerror}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)
