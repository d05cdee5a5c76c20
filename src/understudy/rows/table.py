"""Encoded rows. A table is private: it shows its shape in public facts only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.errors import UsageError
from understudy.facts.codec import Encoding
from understudy.facts.codes import Codes, Mask, as_coarse
from understudy.facts.domain import Domain


def _check_codes(name: str, codes: Codes | None, size: int, rows: int) -> None:
    """Refuse codes that were not made by a codec of this domain; say nothing about a row."""
    if codes is None or codes.dtype not in (np.uint8, np.uint16) or codes.shape != (rows,):
        raise UsageError(
            f"attribute {name!r} needs one code for every row, as an array of uint8 or uint16"
        )
    if rows and codes.max() >= size:
        raise UsageError(
            f"attribute {name!r} has codes beyond its {size}; encode the rows by a codec of the "
            "same domain"
        )


def _is_mask_of(dropped: Mask, rows_read: int, kept: int) -> bool:
    fits = dropped.dtype == np.bool_ and dropped.shape == (rows_read,)
    return fits and rows_read - int(dropped.sum()) == kept


def _check_dropped(dropped: Mask | None, rows_read: int, kept: int) -> None:
    """Refuse a table that read more rows than it kept and does not say which; name no row."""
    known = rows_read == kept if dropped is None else _is_mask_of(dropped, rows_read, kept)
    if not known:
        raise UsageError(
            "a table needs to know which of the rows read were dropped, so that every other row "
            "keeps its place; pass one flag for each row read as dropped="
        )


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Rows as codes, one contiguous array per attribute.

    Attributes:
        domain: the attributes and their sizes.
        codes: of the rows that were kept, in the order in which they were read.
        rows_read: how many rows the source has, those dropped by the codec included: under
            replace-one neighbours it is the public n, whatever the rows hold.
        rows_per_person: set when no person was left with more rows than that.
        dropped: a flag for each row read, set where it was not kept; None where all were. Private.
        person_misfits: how many rows did not fit the schema, of each person at most what is left
            of the allowance; None where persons are not known. Private.
    """

    domain: Domain
    codes: Mapping[str, Codes]
    rows_read: int
    rows_per_person: int | None = None
    dropped: Mask | None = None
    person_misfits: int | None = None

    @classmethod
    def of(cls, encoding: Encoding) -> Table:
        """The table of rows that a codec has encoded."""
        return cls(
            domain=encoding.domain,
            codes=encoding.codes,
            rows_read=encoding.rows_read,
            rows_per_person=encoding.rows_per_person,
            dropped=encoding.dropped,
            person_misfits=encoding.person_misfits,
        )

    def __post_init__(self) -> None:
        # Kernels count without looking where they write.
        for name in self.domain:
            _check_codes(name, self.codes.get(name), self.domain[name], self.rows)
        _check_dropped(self.dropped, self.rows_read, self.rows)

    @property
    def kept(self) -> Mask:
        """A flag for each row read, set where it was kept; private."""
        return np.ones(self.rows_read, bool) if self.dropped is None else ~self.dropped

    @property
    def rows(self) -> int:
        """How many rows were kept; private."""
        return len(next(iter(self.codes.values()), ()))

    @property
    def misfits(self) -> int:
        """How many rows did not fit the schema, of each person within the allowance; private."""
        return self.rows_read - self.rows if self.person_misfits is None else self.person_misfits

    def column(self, name: str) -> Codes:
        """The codes of an attribute, or of a coarser copy of it."""
        if name in self.codes:
            return self.codes[name]
        if name not in self._coarser:
            own = self.codes[self.domain.base(name)]
            self._coarser[name] = as_coarse(own, name, self.domain)
        return self._coarser[name]

    @cached_property
    def _coarser(self) -> dict[str, Codes]:
        """Codes of coarser copies, made when first asked for."""
        return {}

    def __repr__(self) -> str:
        return f"Table({', '.join(self.domain)}; rows private)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.domain == other.domain and all(
            np.array_equal(self.codes[a], other.codes[a]) for a in self.domain
        )

    __hash__ = None  # type: ignore[assignment]  # arrays inside: equal, not hashable
