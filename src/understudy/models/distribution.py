"""The noun of the released side: a law of coded rows, whatever it was learned as.

A distribution is drawn from, asked, conditioned and written to an archive, and none of that costs
budget. Kinds differ in what they can answer: a network has probabilities; released records and
trained generators, of rows or of images, have rows alone. Whoever uses a distribution asks it, and
never which kind it is; a kind that cannot answer refuses by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.facts.codes import Codes
from understudy.facts.constraints import Completions
from understudy.facts.domain import Attributes, Domain
from understudy.models.network import Network
from understudy.system.arrays import Floats, Probabilities

if TYPE_CHECKING:
    from understudy.facts.codec.regions import Region
    from understudy.facts.schema import Schema
    from understudy.models.archive import Parts
    from understudy.models.bayes_net import BayesNet
    from understudy.models.decoding import Decoder
    from understudy.models.estimation.consistency import Estimate
    from understudy.models.inference import Evidence
    from understudy.models.intervals.refits import Refits
    from understudy.models.sampling.ways import How, Sampler, Way
    from understudy.models.sampling.weighting import WeightedRows

CodedRows = dict[str, Codes]
"""The codes of some rows, by attribute, in the order of the domain."""


class Distribution(ABC):
    """A released law of coded rows. Nothing here costs budget.

    Attributes:
        kind: the name of the kind in archives and messages.
        without_probabilities: how a refusal describes a kind that has rows and nothing else.
        domain: the attributes of the rows.
    """

    kind: ClassVar[str]
    without_probabilities: ClassVar[str] = "has no probabilities"

    domain: Domain

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.domain):,} attributes)"

    # --- rows -------------------------------------------------------------------------------

    @property
    def rows_note(self) -> str:
        """Return the words that follow the number of a model's rows in a listing."""
        return "rows by default"

    def decoder(self, schema: Schema, within: Mapping[str, Region] | None = None) -> Decoder:
        """Return what makes tables, and files, of the coded rows.

        Args:
            schema: the values that each column may have.
            within: for some columns, the part of the line that values are decoded to.
        """
        from understudy.facts.codec import Codec
        from understudy.models.decoding import ColumnDecoder

        return ColumnDecoder(Codec(schema, within=within or {}))

    @abstractmethod
    def draw(
        self, rows: int, generator: np.random.Generator, *, sampler: Sampler | None = None
    ) -> CodedRows:
        """Draw some rows.

        Args:
            rows: how many.
            generator: what the draws are made from.
            sampler: how the tables of a network are drawn from; without replacement unless given.
                Kinds without tables have no use for it.
        """

    def blocks(
        self,
        sizes: Iterable[int],
        generator: np.random.Generator,
        *,
        sampler: Sampler | None = None,
    ) -> Iterator[CodedRows]:
        """Draw rows in blocks of these sizes, one after the other."""
        for rows in sizes:
            yield self.draw(rows, generator, sampler=sampler)

    def stand_ins(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Draw rows that stand for the law where it has no probabilities: at most this many."""
        return self.draw(rows, generator)

    def check_rows(self, rows: int) -> None:
        """Refuse more rows than there are; most kinds make any number."""
        del rows

    def check_total(self, rows: int) -> None:
        """Refuse a number of rows that the kind cannot have; most kinds take any number."""
        del rows

    def check_sampler(self) -> None:
        """Refuse to be drawn from in another way; kinds that have tables take any sampler."""
        raise UsageError(
            f"a model of kind {self.kind!r} has one way of drawing; leave the sampler out"
        )

    def subject_to(self, completions: Completions) -> Distribution:
        """Return the law of rows that obey constraints; a kind that cannot is returned as it is."""
        del completions
        return self

    @abstractmethod
    def way(self, evidence: Evidence, how: How | str | None, *, sampler: Sampler) -> Way:
        """Choose how rows are drawn that fit evidence.

        Args:
            evidence: how well each code of some attributes fits.
            how: the way that was asked for; the kind's own choice unless given.
            sampler: how a conditioned network is drawn from.
        """

    # --- probabilities ------------------------------------------------------------------------

    @property
    def network(self) -> Network:
        """The structure, where there is one; without families where there is none."""
        return Network(())

    @property
    def is_exact(self) -> bool:
        """Whether probabilities are exact, and not estimated from rows."""
        return True

    def sheet(self) -> bytes | None:
        """Return a PNG picture of samples where rows are images; else None."""
        return None

    def require_structure(self) -> Network:
        """Return the structure to be drawn; a kind whose picture would show nothing refuses."""
        return self.network

    def require_network(self) -> BayesNet:
        """Return the network of conditionals; a kind that has none refuses."""
        raise self._refusal()

    def sampling_network(self) -> BayesNet:
        """Return the network that rows are first drawn from; a kind that has none refuses."""
        return self.require_network()

    def project(self, attributes: Attributes) -> Probabilities:
        """Return the joint distribution of some attributes, an axis for each in their order."""
        return self.posterior(attributes, {})[0]

    def posterior(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        """Return the joint distribution of attributes given evidence, and its probability."""
        raise self._refusal()

    def log_chances(self, codes: CodedRows) -> Floats | None:
        """Return how likely each row is, as a logarithm up to a constant; None where unknown.

        Constraints have no part in it.
        """
        del codes
        return None

    @property
    def log_left_out(self) -> float:
        """The constant that `log_chances` leave out; 0 where they are those of the law."""
        return 0.0

    def given(self, evidence: Evidence) -> Distribution:
        """Return the law of the rows that fit evidence."""
        return self.conditioned(evidence)[0]

    def conditioned(self, evidence: Evidence) -> tuple[Distribution, float]:
        """Return the law of the rows that fit evidence, and the probability of the evidence."""
        raise self._refusal()

    def most_probable(self, evidence: Evidence) -> tuple[dict[str, int], float]:
        """Return the codes of the most probable row that fits evidence, and its probability."""
        raise self._refusal()

    def weighted(
        self, evidence: Evidence, rows: int, generator: np.random.Generator
    ) -> WeightedRows:
        """Draw rows with the weights at which they stand for rows that fit evidence."""
        raise self._refusal()

    def _refusal(self) -> UsageError:
        """The error of a kind that has rows and no probabilities."""
        return UsageError(
            f"a model of kind {self.kind!r} {self.without_probabilities}; "
            "use its rows, or a method that learns conditionals"
        )

    # --- fitted again -------------------------------------------------------------------------

    def refitted(self, tables: Sequence[Estimate]) -> Distribution:
        """Return the same kind of law, fitted to other tables of the same attributes.

        Args:
            tables: in the place of those that the law was made from; they agree, hold nothing
                negative, and are taken at their word.
        """
        del tables
        raise self._cannot_be_refitted()

    def refits(self, drawn: Iterable[Sequence[Estimate]]) -> Refits:
        """Fit the law to each of some lists of tables, fast and just well enough to be asked."""
        del drawn
        raise self._cannot_be_refitted()

    def kept_refits(self, numbers: Mapping[str, npt.NDArray[np.float32]]) -> Refits:
        """Return refitted laws that were kept as numbers."""
        del numbers
        raise self._cannot_be_refitted()

    def _cannot_be_refitted(self) -> UsageError:
        return UsageError(
            f"a model of kind {self.kind!r} was not made from released tables; "
            "use a method that releases tables, such as adaptive"
        )

    # --- what leaves --------------------------------------------------------------------------

    @abstractmethod
    def numbers(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return all numbers of the distribution by name: what an attacker sees of it."""

    @abstractmethod
    def members(self) -> dict[str, bytes]:
        """Return what is written to an archive, by the names of its members."""

    @classmethod
    @abstractmethod
    def read(cls, parts: Parts, domain: Domain) -> Self:
        """Read the distribution of an archive, within the sizes that are announced."""
