"""Texts that are made up: names, addresses, and keys by a pattern. None is learned from rows.

Each text follows from the sampling seed, the name of its column and a key: the number of its row,
or the value of the column that it follows. So equal keys get equal texts, in all blocks of rows.
Private rows have no part in it. A text may still be someone's by chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.column import Column, TextColumn, text_of
from understudy.facts.column.patterns import read_pattern
from understudy.system.extras import require

if TYPE_CHECKING:
    from faker import Faker

_DEFAULT_LOCALE = "en_US"
_CALLS = {
    "name": "name",
    "email": "email",
    "phone": "phone_number",
    "address": "address",
    "iban": "iban",
    "company": "company",
    "sentence": "sentence",
}

Maker = Callable[[int], str]


@dataclass(frozen=True)
class MadeTexts:
    """Makes the texts of some rows.

    Attributes:
        seed: what all texts of one sample follow from.
        first_row: the number of the first row.
    """

    seed: bytes
    first_row: int

    @classmethod
    def seeded(cls, generator: np.random.Generator, first_row: int) -> MadeTexts:
        """Return texts that follow from the seed of a generator; nothing is drawn from it."""
        source: Any = generator.bit_generator.seed_seq
        return cls(repr((source.entropy, source.spawn_key)).encode(), first_row)

    def column(self, name: str, column: TextColumn, rows: int) -> pa.Array:
        """Return the texts of a column, one for each row."""
        keys = map(str, range(self.first_row, self.first_row + rows))
        return pa.array(self._texts(name, column, keys), pa.string())

    def following(self, name: str, column: TextColumn, cells: pa.Array) -> pa.Array:
        """Return the texts of a column that follows another: equal keys, equal texts.

        Without a generator or a pattern the texts are the keys themselves.
        """
        if column.is_copy:
            return cells
        values = [None if value is None else text_of(value) for value in cells.to_pylist()]
        keys = list(dict.fromkeys(value for value in values if value is not None))
        made = dict(zip(keys, self._texts(name, column, keys), strict=True))
        return pa.array([None if v is None else made[v] for v in values], pa.string())

    def _texts(self, name: str, column: TextColumn, keys: Iterable[str]) -> list[str]:
        maker = _maker(column)
        return [maker(self._number(name, key)) for key in keys]

    def _number(self, name: str, key: str) -> int:
        parts = (self.seed, name.encode(), key.encode())
        text = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return int.from_bytes(hashlib.sha256(text).digest()[:16], "big")


def check_makers(columns: Iterable[Column]) -> None:
    """Refuse generators whose package or locale is not there, before anything is spent."""
    for column in columns:
        if isinstance(column, TextColumn) and column.generator is not None:
            _maker(column)(0)


def _maker(column: TextColumn) -> Maker:
    if column.pattern is not None:
        part = read_pattern(column.pattern)
        return lambda number: part.text(Random(number))
    faker = _faker(column.locale or _DEFAULT_LOCALE)
    call = getattr(faker, _CALLS[str(column.generator)], None)
    if call is None:
        raise UsageError(
            f"locale is {column.locale!r}, for which faker has no {column.generator}; use another"
        )

    def make(number: int) -> str:
        faker.seed_instance(number)
        return " ".join(str(call()).split())

    return make


def _faker(locale: str) -> Faker:
    package = require("faker", extra="fakes")
    try:
        maker: Faker = package.Faker(locale)
        return maker
    except AttributeError:
        raise UsageError(
            f"locale is {locale!r}, which faker does not know; use one such as de_DE"
        ) from None
