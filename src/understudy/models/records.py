"""Records: rows that were released one by one. There are no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.codes import code_type
from understudy.facts.domain import Domain
from understudy.models.archive import RECORDS, Parts, arrow_bytes, within
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.sampling.ways import Filter, How
from understudy.system.files.arrow import read_arrow

if TYPE_CHECKING:
    from understudy.models.inference import Evidence
    from understudy.models.sampling.ways import Sampler, Way

_CODES = (pa.uint8(), pa.uint16())


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedRecords(Distribution):
    """The rows that a method released, as codes: they come in their order, and no others.

    Example:
        >>> codes = {"sex": np.array([0, 1, 1], np.uint8)}
        >>> held = ReleasedRecords(Domain({"sex": 2}), codes)
        >>> held.draw(2, np.random.default_rng())["sex"].tolist()
        [0, 1]
    """

    kind: ClassVar[str] = "records"
    without_probabilities: ClassVar[str] = "holds released rows and no probabilities"

    domain: Domain
    codes: CodedRows

    def __post_init__(self) -> None:
        fits = list(self.codes) == list(self.domain) and all(
            codes.shape == (len(self),) and (codes < self.domain[attribute]).all()
            for attribute, codes in self.codes.items()
        )
        if not fits:
            raise UsageError("the records are not rows of the schema")

    def __len__(self) -> int:
        return len(next(iter(self.codes.values()), ()))

    @property
    def rows_note(self) -> str:
        """Say that there are no other rows."""
        return "rows held, no network"

    def draw(
        self, rows: int, generator: np.random.Generator, *, sampler: Sampler | None = None
    ) -> CodedRows:
        """Return the first rows."""
        [found] = self.blocks([rows], generator, sampler=sampler)
        return found

    def blocks(
        self,
        sizes: Iterable[int],
        generator: np.random.Generator,
        *,
        sampler: Sampler | None = None,
    ) -> Iterator[CodedRows]:
        """Return the rows in their order, in blocks of these sizes."""
        del generator, sampler  # the rows were drawn when they were released
        reached = 0
        for rows in sizes:
            start, reached = reached, reached + rows
            self.check_rows(reached)
            yield {attribute: held[start:reached] for attribute, held in self.codes.items()}

    def stand_ins(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Return released rows, as many as there are at most."""
        return self.draw(min(rows, len(self)), generator)

    def check_rows(self, rows: int) -> None:
        """Refuse more rows than were released."""
        if rows > len(self):
            raise UsageError(
                f"rows is {rows:,}; this model holds {len(self):,} released rows and has no "
                "others: ask for those at most, or fit again for more"
            )

    def check_total(self, rows: int) -> None:
        """Refuse a model that says to have another number of rows."""
        if rows != len(self):
            raise UsageError("the records are not rows of the schema")

    def way(self, evidence: Evidence, how: How | str | None, *, sampler: Sampler) -> Way:
        """Keep those of the rows that fit."""
        del sampler
        if how not in (None, How.FILTER):
            raise UsageError(
                f"how is {how!r}; a model of kind {self.kind!r} holds released rows, and those "
                "that fit are kept: leave it out"
            )
        return Filter(self.codes, evidence)

    def numbers(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the codes of each attribute."""
        return {f"rows of {attribute}": codes for attribute, codes in self.codes.items()}

    def members(self) -> dict[str, bytes]:
        """Return the rows as a table of codes."""
        return {RECORDS: arrow_bytes(pa.table(self.codes))}

    @classmethod
    def read(cls, parts: Parts, domain: Domain) -> Self:
        """Read the rows, as many as the manifest says."""
        data = parts.table(RECORDS, cells=parts.rows * len(domain))
        with within(RECORDS):
            table = read_arrow(data, dict.fromkeys(domain, _CODES), rows=parts.rows)
        kinds = {attribute: code_type(domain[attribute]) for attribute in domain}
        return cls(
            domain, {a: table[a].to_numpy().astype(k, casting="safe") for a, k in kinds.items()}
        )
