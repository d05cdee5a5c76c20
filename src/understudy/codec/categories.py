"""Columns whose values are listed: matched by text, decoded to the declared type."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.codec.missing import Encoded
from understudy.errors import DataError
from understudy.schema import BooleanColumn, ListedColumn, Scalar, text_of
from understudy.table import Codes, code_type

_DROP = -1
_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")


@dataclass(frozen=True)
class ListedCodec:
    """One column of listed values to codes and back."""

    name: str
    column: ListedColumn

    @property
    def read_type(self) -> pa.DataType:
        """Texts, each different one held once."""
        return pa.dictionary(pa.int32(), pa.string())

    def encode(self, cells: pa.ChunkedArray) -> Encoded:
        """Codes of every cell, looked up once for each different value."""
        encoded = [self._encode_chunk(chunk) for chunk in self._as_dictionary(cells).chunks]
        codes = np.concatenate([e.codes for e in encoded]) if encoded else self._no_codes
        if all(e.dropped is None for e in encoded):
            return Encoded(codes)
        masks = [np.zeros(len(e.codes), bool) if e.dropped is None else e.dropped for e in encoded]
        return Encoded(codes, np.concatenate(masks))

    @property
    def _no_codes(self) -> Codes:
        return np.empty(0, code_type(self.column.size))

    def _as_dictionary(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        if pa.types.is_dictionary(cells.type):
            return cells
        try:
            return cells.dictionary_encode()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise DataError(
                f"column {self.name!r}: the data holds {cells.type}, which has no text to match; "
                "convert the column to text or numbers"
            ) from None

    def _encode_chunk(self, chunk: pa.DictionaryArray) -> Encoded:
        lookup = self._lookup(chunk.dictionary)
        index = (
            chunk.indices.fill_null(len(chunk.dictionary)) if chunk.null_count else chunk.indices
        )
        where = index.to_numpy(zero_copy_only=False)
        codes = np.maximum(lookup, 0).astype(self._no_codes.dtype)[where]
        return Encoded(codes, (lookup == _DROP)[where] if (lookup == _DROP).any() else None)

    def _lookup(self, values: pa.Array) -> npt.NDArray[np.int32]:
        """The code of every different value, and last the code of a null."""
        codes = [self._code_of(value) for value in values.to_pylist()]
        return np.array([*codes, self._code_of(None)], np.int32)

    def _code_of(self, value: object) -> int:
        text = "" if value is None or value != value else text_of(value)  # NaN differs from itself
        known = self._codes
        for spelling in (text, text.strip(), self._respelled(text.strip())):
            if spelling in known:
                return known[spelling]
        outside = self.column.outside_code
        return _DROP if outside is None else outside

    def _respelled(self, text: str) -> str:
        """What a text also means: 3.0 is 3 where numbers are listed, yes is true."""
        if isinstance(self.column, BooleanColumn):
            lower = text.lower()
            return "true" if lower in _TRUE else "false" if lower in _FALSE else text
        if not self._is_numeric:
            return text
        try:
            return text_of(float(text))
        except (ValueError, OverflowError):
            return text

    @cached_property
    def _codes(self) -> dict[str, int]:
        known = {text: code for code, text in enumerate(self.column.texts)}
        level = self.column.missing_code
        if level is not None:
            known |= dict.fromkeys(("", *(self.column.missing or ())), level)
        return known

    @cached_property
    def _is_numeric(self) -> bool:
        return self._value_type in (pa.int64(), pa.float64())

    @cached_property
    def _value_type(self) -> pa.DataType:
        if isinstance(self.column, BooleanColumn):
            return pa.bool_()
        kinds = {type(value) for value in self.column.values}
        for python, arrow in (
            ({bool}, pa.bool_()),
            ({int}, pa.int64()),
            ({int, float}, pa.float64()),
        ):
            if kinds <= python:
                return arrow
        return pa.string()

    def decode(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        """The declared values of the codes; the first marker, else null, where missing."""
        del generator  # a listed value leaves nothing to draw
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
        """What stands for missing in the column's own type: a marker needs a column of texts."""
        if self.column.missing is None:
            return []
        spelled = self.column.missing and self._value_type == pa.string()
        return [self.column.missing[0] if spelled else None]
