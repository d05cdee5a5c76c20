"""Columns whose values are listed: matched by text, decoded to the declared type."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import DataError
from understudy.facts.codec.fates import CellFates
from understudy.facts.codec.missing import Encoded
from understudy.facts.codes import Codes, code_type
from understudy.facts.column import (
    BooleanColumn,
    ListedColumn,
    Scalar,
    text_of,
)

_DROP = -1
# The types whose every value can be spelled; of bytes, for one, some cannot.
_HAVE_TEXT: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal128,
    pa.types.is_decimal256,
    pa.types.is_null,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
    pa.types.is_duration,
)


@dataclass(frozen=True)
class ListedCodec:
    """One column of listed values to codes and back."""

    name: str
    column: ListedColumn
    fill: int | None = None

    @property
    def read_type(self) -> pa.DataType:
        """Texts, each different one held once."""
        return pa.dictionary(pa.int32(), pa.string())

    def encode(self, cells: pa.ChunkedArray) -> Encoded:
        """Codes of every cell, looked up once for each different value."""
        encoded = [self._encode_chunk(chunk) for chunk in self._as_dictionary(cells).chunks]
        codes = np.concatenate([self._no_codes, *(e.codes for e in encoded)])
        if all(e.dropped is None for e in encoded):
            return Encoded(codes)
        masks = [np.zeros(len(e.codes), bool) if e.dropped is None else e.dropped for e in encoded]
        return Encoded(codes, np.concatenate(masks))

    @property
    def _no_codes(self) -> Codes:
        return np.empty(0, code_type(self.column.size))

    def _as_dictionary(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        is_dictionary = pa.types.is_dictionary(cells.type)
        kind = cells.type.value_type if is_dictionary else cells.type
        if not any(test(kind) for test in _HAVE_TEXT):
            raise DataError(
                f"column {self.name!r}: the data holds {kind}, which has no text to match; "
                "convert the column to text or numbers"
            )
        return cells if is_dictionary else cells.dictionary_encode()

    def _encode_chunk(self, chunk: pa.DictionaryArray) -> Encoded:
        lookup = self._lookup(chunk.dictionary)
        where = _places(chunk)
        codes = np.maximum(lookup, 0).astype(self._no_codes.dtype)[where]
        return Encoded(codes, (lookup == _DROP)[where] if (lookup == _DROP).any() else None)

    def _lookup(self, values: pa.Array) -> npt.NDArray[np.int32]:
        """The code of every different value, and last the code of a null."""
        codes = [self.code_of(value) for value in _listed(values)]
        return np.array([*codes, self.code_of(None)], np.int32)

    def tally(self, cells: pa.ChunkedArray) -> Counter[str]:
        """How often each text occurs that is not missing, declared or not, blanks around it off.

        Privacy: exact counts of undeclared values; they go to the Curator and nowhere else.
        """
        found: Counter[str] = Counter()
        for chunk in self._as_dictionary(cells).chunks:
            indices = chunk.indices.drop_null().to_numpy(zero_copy_only=False)
            times = np.bincount(indices.astype(np.int64), minlength=len(chunk.dictionary))
            found += tally_texts(self, zip(_listed(chunk.dictionary), times.tolist(), strict=True))
        return found

    def code_of(self, value: object) -> int:
        """The code of a value, below 0 when its row is dropped."""
        declared = self._declared_code(_spelled(value))
        if declared is not None:
            return declared
        outside = self.column.outside_code
        return _DROP if outside is None else outside

    def _declared_code(self, text: str) -> int | None:
        """The code of a declared value or missing marker; None for any other text."""
        known = self.known
        for spelling in (text, text.strip(), self._respelled(text.strip())):
            if spelling in known:
                return known[spelling]
        for beginning, code in getattr(self.column, "beginnings", ()):
            if text.strip().startswith(beginning):
                return int(code)
        return None

    def fates(self, cells: pa.ChunkedArray) -> CellFates:
        """Flag every cell that is missing, undeclared or dropped."""
        chunks = [self._fates_in(chunk) for chunk in self._as_dictionary(cells).chunks]
        flags = np.concatenate([np.empty((3, 0), bool), *chunks], axis=1)
        return CellFates(missing=flags[0], undeclared=flags[1], dropped=flags[2])

    def _fates_in(self, chunk: pa.DictionaryArray) -> npt.NDArray[np.bool_]:
        """Three lines of flags, one for each cell: missing, undeclared, dropped."""
        values = [*_listed(chunk.dictionary), None]
        lookup = np.array([self._fate_of(value) for value in values], bool)
        return np.ascontiguousarray(lookup[_places(chunk)].T)

    def _fate_of(self, value: object) -> tuple[bool, bool, bool]:
        text = _spelled(value)
        code = self._declared_code(text)
        missing = not text.strip() if code is None else code == self.column.missing_code
        return missing, code is None and not missing, self.code_of(value) == _DROP

    def _respelled(self, text: str) -> str:
        """Read a text's other meanings: 3.0 is 3 where numbers are listed, yes is true."""
        if isinstance(self.column, BooleanColumn):
            return self.column.respelled(text)
        if not self.is_numeric:
            return text
        try:
            return text_of(float(text))
        except (ValueError, OverflowError):
            return text

    @cached_property
    def known(self) -> dict[str, int]:
        """The codes of declared values and missing markers, by their texts."""
        known = {text: code for code, text in enumerate(self.column.texts)}
        if self.column.missing is None:
            return known
        level = self.column.missing_code
        # A declared value says what it says, though others may write it for a missing cell.
        return dict.fromkeys(self.column.missing_texts, _DROP if level is None else level) | known

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the declared values are numbers, however they are spelled."""
        return self._value_type in (pa.int64(), pa.float64())

    @cached_property
    def _value_type(self) -> pa.DataType:
        """The declared type, where one type holds every declared value; else text."""
        if isinstance(self.column, BooleanColumn):
            return pa.bool_()
        kinds = {type(value) for value in self.column.values}
        for python, arrow in (
            ({bool}, pa.bool_()),
            ({int}, pa.int64()),
            ({int, float}, pa.float64()),
        ):
            if kinds <= python and _holds(arrow, self.column.values):
                return arrow
        return pa.string()

    def decode(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        """The declared values of the codes; the first marker, else null, where missing."""
        del generator  # a listed value leaves nothing to draw
        if self.fill is not None:
            codes = np.where(codes == self.column.missing_code, self.fill, codes)
        values = pa.array([*self._declared, *self._missing_value], self._value_type)
        return values.take(pa.array(codes))

    @property
    def _declared(self) -> list[Scalar]:
        if isinstance(self.column, BooleanColumn):
            return [False, True]
        if self._value_type == pa.string():
            return list(self.column.texts)
        return list(self.column.values)

    @property
    def _missing_value(self) -> list[str | None]:
        """Return the missing value in the column's own type: a marker needs a column of texts."""
        if self.column.missing is None or self.column.missing_code is None:
            return []
        spelled = self.column.missing and self._value_type == pa.string()
        return [self.column.missing[0] if spelled else None]


def _places(chunk: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    """The place of every cell's value in the dictionary; a null is after the last."""
    index = chunk.indices
    if chunk.null_count:
        index = index.cast(pa.int64()).fill_null(len(chunk.dictionary))
    return np.asarray(index.to_numpy(zero_copy_only=False))


def _spelled(value: object) -> str:
    """The text of a value; nothing for null, and for NaN, which differs from itself."""
    return "" if value is None or value != value else text_of(value)


def tally_texts(codec: ListedCodec, values: Iterable[tuple[object, int]]) -> Counter[str]:
    """Values with their counts as texts with theirs; what is missing is left out."""
    found: Counter[str] = Counter()
    for value, times in values:
        text = "" if value is None or value != value else text_of(value).strip()
        if times and text not in codec.column.missing_texts:
            found[text] += times
    return found


def _listed(values: pa.Array) -> list[object]:
    """Different values of a column as Python has them."""
    if pa.types.is_temporal(values.type):
        # Arrow spells every moment; Python's calendar ends with the year 9999.
        values = values.cast(pa.string())
    listed: list[object] = values.to_pylist()
    return listed


def spellings(codec: ListedCodec) -> list[str]:
    """Every text that a codec knows by itself; cases apart, where cases do not count."""
    column = codec.column
    words = itertools.chain(*column.words) if isinstance(column, BooleanColumn) else ()
    cased = (
        "".join(letters) for word in words for letters in itertools.product(*map(_cases, word))
    )
    return list(dict.fromkeys((*codec.known, *cased)))


def _cases(letter: str) -> set[str]:
    return {letter, letter.upper()}


def _holds(kind: pa.DataType, values: Sequence[Scalar]) -> bool:
    try:
        held: list[Scalar] = pa.array(values, kind).to_pylist()
    except (pa.ArrowInvalid, OverflowError):
        return False
    return held == list(values)
