"""The messages between analyst and holders: typed fields and raw arrays, nothing executable.

A message is the letters `UNDF`, a version byte, the length of a header in four bytes, the header in
JSON, and the bytes of its arrays one after the other. The header names the run, the question and
the kind, and declares a type and a shape for every array; what is declared and what is there must
be the same to the byte. Both sides read with the same function and trust nothing else.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from understudy.errors import MessageError
from understudy.federated.terms import ExactText, Fields, Names, Terms
from understudy.system.arrays import Array
from understudy.system.files.members import check_document

VERSION = 1
MOST_BYTES = 2**27
NOBODY = "0" * 32

_MAGIC = b"UNDF"
_START = struct.Struct("<4sBI")
_MOST_HEADER = 2**24
_MOST_AXES = 32
_MOST_ARRAYS = 2**16

Identity = Annotated[str, Field(pattern=r"\A[0-9a-f]{32}\z")]
ScoreName = Literal["R", "MI", "F", "TVD"]


class Propose(Fields):
    """Will you take part, on these terms?"""

    kind: Literal["propose"] = "propose"
    terms: Terms


class MeasureTables(Fields):
    """Noisy tables of some attributes, for a share of the run's budget.

    Negative counts are set to zero before they leave where `clip` asks for it.
    """

    kind: Literal["measure"] = "measure"
    share: ExactText
    tables: tuple[Names, ...] = Field(min_length=1)
    weights: tuple[int, ...]
    clip: bool = False


class MeasureGroups(Fields):
    """Noisy tables of attributes in groups of codes, for a share of the run's budget.

    An array follows for each attribute that is in groups: of every code of the coarsest copy that
    the domain has, the number of its group.
    """

    kind: Literal["measure groups"] = "measure groups"
    share: ExactText
    grouped: Names = Field(min_length=1)
    tables: tuple[Names, ...] = Field(min_length=1)
    weights: tuple[int, ...]


class Vote(Fields):
    """Which family should enter the network next?

    Two arrays follow: of each candidate the axes of its table, the child's last, by their numbers
    among the domain's names and filled up with −1; and what is taken off each one's score.
    A plain vote is by the exponential mechanism, as in the theses.
    """

    kind: Literal["vote"] = "vote"
    share: ExactText
    score: ScoreName
    plain: bool = False


class Rate(Fields):
    """A noisy score of some sets of attributes, which follow as an array like a vote's."""

    kind: Literal["rate"] = "rate"
    share: ExactText
    score: ScoreName


class MeasureSums(Fields):
    """A noisy sum over records, for a share of the run's budget.

    What the sum depends on follows as arrays; which ones is decided by its step.
    """

    kind: Literal["measure sums"] = "measure sums"
    share: ExactText
    step: str = Field(max_length=64)


class Fit(Fields):
    """A model of your own rows, for a share of the run's budget.

    A plain one is the theses' own: choices by the exponential mechanism, tables that share the
    other half of the budget equally, negative counts set to zero.
    """

    kind: Literal["fit"] = "fit"
    structure: Literal["greedy", "pairwise", "tree"]
    degree: int | None = Field(default=None, ge=0, le=64)
    score: ScoreName | None = None
    theta: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    plain: bool = False


class Close(Fields):
    """The analyst ends the run and asks what it cost."""

    kind: Literal["close"] = "close"


class Accepted(Fields):
    """I take part. The number of rows is there where the neighbouring relation makes it public."""

    kind: Literal["accepted"] = "accepted"
    rows: int | None = Field(default=None, ge=0)


class Tables(Fields):
    """The tables asked for follow as arrays of counts."""

    kind: Literal["tables"] = "tables"


class Sums(Fields):
    """The sum asked for follows as one array of whole numbers."""

    kind: Literal["sums"] = "sums"


class Chosen(Fields):
    """The number of the candidate that I vote for."""

    kind: Literal["chosen"] = "chosen"
    index: int = Field(ge=0)


class Rated(Fields):
    """The scores asked for follow as one array."""

    kind: Literal["rated"] = "rated"


class Fitted(Fields):
    """My model: of each family the axes, the child's last; then probabilities, one array each.

    Shares within groups follow for the families, in order, whose child is coarsened.
    """

    kind: Literal["fitted"] = "fitted"
    families: tuple[Names, ...]
    rows: int = Field(ge=0)


class Closed(Fields):
    """The holder states the run's cost for its rows, and every answer that was charged."""

    kind: Literal["closed"] = "closed"
    epsilon: ExactText
    delta: ExactText
    accounting: str = Field(max_length=1024)
    private: bool
    charges: tuple[dict[str, str | int | float | None], ...]


class Refused(Fields):
    """I do not answer, and why. Nothing was spent unless the reason says so."""

    kind: Literal["refused"] = "refused"
    because: Literal["message", "terms", "consent", "budget", "replay", "request", "fault"]
    reason: str = Field(max_length=4096)


Request = Propose | MeasureTables | MeasureGroups | MeasureSums | Vote | Rate | Fit | Close
Reply = Accepted | Tables | Sums | Chosen | Rated | Fitted | Closed | Refused
Body = Request | Reply

_TYPES: dict[str, np.dtype[Any]] = {
    "<i2": np.dtype("<i2"),
    "<i8": np.dtype("<i8"),
    "<f8": np.dtype("<f8"),
}


class _Shape(Fields):
    type: Literal["<i2", "<i8", "<f8"]
    shape: tuple[Annotated[int, Field(ge=0, le=2**31)], ...] = Field(max_length=_MOST_AXES)

    @property
    def size(self) -> int:
        return math.prod(self.shape) * int(self.type[-1])


class _Header(Fields):
    run: Identity
    request: Identity
    arrays: tuple[_Shape, ...] = Field(default=(), max_length=_MOST_ARRAYS)
    body: Annotated[Body, Field(discriminator="kind")]


@dataclass(frozen=True, eq=False)
class Message:
    """One message.

    Attributes:
        run: the run it belongs to.
        request: the question that it asks or answers.
        body: its fields.
        arrays: whole numbers or finite real ones.
    """

    run: str
    request: str
    body: Body
    arrays: tuple[Array, ...] = ()

    def encoded(self) -> bytes:
        """The bytes that travel."""
        plain = [_plain(array) for array in self.arrays]
        shapes = tuple(_Shape(type=a.dtype.str, shape=a.shape) for a in plain)  # type: ignore[arg-type]  # pydantic checks it
        header = _Header(run=self.run, request=self.request, arrays=shapes, body=self.body)
        text = header.model_dump_json().encode()
        start = _START.pack(_MAGIC, VERSION, len(text))
        return b"".join([start, text, *(array.tobytes() for array in plain)])

    @classmethod
    def decoded(cls, data: bytes, *, most_bytes: int = MOST_BYTES) -> Message:
        """The message that some bytes are; anything else is refused with a MessageError."""
        header, rest = _parts(data, most_bytes)
        sizes = [shape.size for shape in header.arrays]
        if sum(sizes) != len(rest):
            raise MessageError(
                f"message of {len(data)} bytes: its arrays need {sum(sizes)} bytes and "
                f"{len(rest)} are there; send it again"
            )
        return cls(header.run, header.request, header.body, tuple(_arrays(header.arrays, rest)))


def _plain(array: Array) -> Array:
    kind = "<f8" if array.dtype.kind == "f" else "<i2" if array.dtype == np.int16 else "<i8"
    return np.ascontiguousarray(array, kind).reshape(array.shape)


def _parts(data: bytes, most_bytes: int) -> tuple[_Header, memoryview]:
    """The header and the bytes after it."""
    if len(data) > most_bytes:
        raise MessageError(f"message of {len(data)} bytes: the most is {most_bytes}; ask for less")
    if len(data) < _START.size:
        raise MessageError("the message is cut short; send it again")
    magic, version, length = _START.unpack_from(data)
    if magic != _MAGIC:
        raise MessageError("this is not a message of understudy; check who speaks to whom")
    if version != VERSION:
        raise MessageError(
            f"the message has version {version}, and this understudy reads {VERSION}; "
            "use the same version on both sides"
        )
    end = _START.size + length
    if length > _MOST_HEADER or end > len(data):
        raise MessageError("the message's header is cut short or too long; send it again")
    try:
        text = check_document(data[_START.size : end])
    except ValueError:
        raise MessageError("the message's header holds too many values; ask for less") from None
    return _header(text), memoryview(data)[end:]


def _header(text: bytes) -> _Header:
    try:
        return _Header.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:200]
        raise MessageError(
            f"the message's header is not as it must be at {place or 'its start'}: {first['msg']}"
        ) from None


def _arrays(shapes: Sequence[_Shape], rest: memoryview) -> list[Array]:
    arrays, start = [], 0
    for shape in shapes:
        part = np.frombuffer(rest[start : start + shape.size], _TYPES[shape.type])
        start += shape.size
        if part.dtype.kind == "f" and not np.isfinite(part).all():
            raise MessageError("an array of the message holds infinities or no numbers at all")
        arrays.append(part.reshape(shape.shape).astype(part.dtype.newbyteorder("=")))
    return arrays
