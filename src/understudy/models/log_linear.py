"""A log-linear model: a network times correction factors of small tables.

The law of rows is P(row) ∝ network(row) · Π factor of the row's cell in each table. Rows are drawn
from the network and re-weighted, so that no table of many attributes is ever made and the number
of factors has no limit by treewidth. Proof: docs/proofs/log_linear.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from understudy.errors import CapacityError, UsageError
from understudy.facts.capacity import available_bytes
from understudy.facts.constraints import Completions
from understudy.facts.domain import Attributes, Domain
from understudy.models.archive import Parts
from understudy.models.bayes_net import BayesNet
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.inference import Evidence
from understudy.models.network import Network
from understudy.models.sampling.ways import How, Weighting
from understudy.models.sampling.weighting import Proposal, WeightedRows
from understudy.models.sampling.without_replacement import deal_codes
from understudy.models.weighted.answers import SEED, FactorAnswers
from understudy.models.weighted.drawing import LEAST_POOL, Completing, PoolDrawing
from understudy.models.weighted.factors import (
    LARGEST_LOGARITHM,
    MOST_ROWS,
    check_aim,
    factor_members,
    read_factors,
)
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, log_weights
from understudy.models.weighted.refitting import pool_refits, refitted_aims
from understudy.models.weighted.reweighting import Reweighted, log_mean_weight
from understudy.system.arrays import Floats, Probabilities

if TYPE_CHECKING:
    from understudy.models.estimation.consistency import Estimate
    from understudy.models.intervals.refits import PoolRefits
    from understudy.models.sampling.ways import Sampler, Way

# Rows that are weighed again for drawn tables to be asked.
_REFIT_ROWS = 1 << 15


@dataclass(frozen=True, eq=False, repr=False)
class LogLinear(Distribution):
    """A network, and factors of tables by which its rows are re-weighted.

    Attributes:
        base: the network that rows are drawn from.
        aims: the tables that factors belong to, with the counts that weights come near to.
        total: the number of rows that the counts are of.
        scale: the logarithm of the mean weight of the network's rows.
        effective: how many independent rows one row of the network is worth, at most 1.
        calibrated: whether weights of drawn rows are brought near to the counts again. A law
            under evidence has only its factors.
        last: protected attributes. No family has one as a parent and no table holds one, so that
            they have no part in weights; they are drawn when the rows have been chosen.
    """

    kind: ClassVar[str] = "log-linear"

    base: BayesNet
    aims: tuple[Aim, ...]
    total: float
    scale: float = 0.0
    effective: float = 1.0
    calibrated: bool = True
    last: Attributes = ()

    def __post_init__(self) -> None:
        """Refuse numbers that are not those of tables over the network's attributes."""
        sound = 0 <= self.total <= MOST_ROWS and 0 <= self.effective <= 1
        if not sound or not abs(self.scale) < LARGEST_LOGARITHM:
            raise UsageError("the log-linear model's numbers are not possible")
        for aim in self.aims:
            check_aim(aim, self.domain)
        if len({frozenset(aim.attributes) for aim in self.aims}) < len(self.aims):
            raise UsageError("the log-linear model has two factors for the same attributes")
        for name in self.last:
            if name not in self.domain.sizes or name in self._depended_on:
                raise UsageError(f"attribute {name!r} cannot be drawn last: others depend on it")

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """Return the attributes of the network."""
        return self.base.domain

    @property
    def network(self) -> Network:
        """The structure of the network that rows are drawn from."""
        return self.base.network

    def sampling_network(self) -> BayesNet:
        """Return the network that rows are drawn from before they are re-weighted."""
        return self.base

    def check_sampler(self) -> None:
        """Take any sampler: rows are drawn from tables."""

    def require_network(self) -> BayesNet:
        """Refuse: the conditionals of the network alone are not the law of rows."""
        raise UsageError(
            f"a model of kind {self.kind!r} is a network times correction factors, and its "
            "conditionals alone are not its law; ask it questions, use its rows, or fit by nist"
        )

    @cached_property
    def _drawing(self) -> PoolDrawing:
        """Return the part that draws rows and weighs them."""
        return PoolDrawing(
            self.base, self.aims, self.total, calibrated=self.calibrated, last=self.last
        )

    @cached_property
    def _depended_on(self) -> frozenset[str]:
        """The attributes that are parents in the network, or in a table that has factors."""
        parents = (name for family in self.network for name in family.parents)
        held = (self.domain.base(name) for aim in self.aims for name in aim.attributes)
        return frozenset((*parents, *held))

    # --- rows -------------------------------------------------------------------------------

    @property
    def rows_note(self) -> str:
        """Say how the rows are made, and how far the network is from them."""
        return (
            f"rows by default, re-weighted by {len(self.aims):,} tables; "
            f"100 rows of the network are worth {100 * self.effective:.0f}"
        )

    def draw(
        self, rows: int, generator: np.random.Generator, *, sampler: Sampler | None = None
    ) -> CodedRows:
        """Draw rows of the network, re-weight them, and choose as many as are asked for.

        Args:
            rows: how many.
            generator: what the draws are made from.
            sampler: with `sample_codes` rows are chosen independently; otherwise so that their
                small tables are as near to those of the law as whole rows allow.
        """
        return self._drawing.draw(rows, generator, sampler)

    def pool(self, rows: int, generator: np.random.Generator) -> Pool:
        """Draw rows of the network, with weights at which they stand for rows of the law.

        Attributes that are drawn last are left out.
        """
        return self._drawing.pool(rows, generator)

    def check_rows(self, rows: int) -> None:
        """Refuse a pool that would not fit into free memory."""
        needed = self._drawing.bytes_needed(rows)
        if needed > available_bytes():
            raise CapacityError(
                f"{rows:,} rows need {needed / 2**30:,.1f} GiB, more than is free; "
                "ask for fewer rows"
            )

    def log_chances(self, codes: CodedRows) -> Floats:
        """Return the logarithm of the weight of each row under the law, constraints left out."""
        factors = log_weights(Pool.of(self.domain, codes, 1.0), self.aims)
        return np.asarray(self.base.log_chances(codes) + factors)

    @property
    def log_left_out(self) -> float:
        """The logarithm of the mean weight of rows of the network."""
        return self._log_mean_weight

    def subject_to(self, completions: Completions) -> LogLinear:
        """Return the law of rows that obey constraints."""
        return replace(self, base=self.base.subject_to(completions))

    def way(self, evidence: Evidence, how: How | str | None, *, sampler: Sampler) -> Way:
        """Draw rows of the network towards the evidence, and choose them by their weights."""
        del sampler
        if how not in (None, How.WEIGHTING):
            raise UsageError(
                f"how is {str(how)!r}; a model of kind {self.kind!r} draws rows towards the "
                "conditions and weighs them: leave it out"
            )
        if self.last:
            return Completing(self._towards(evidence), self._drawing, evidence)
        return Weighting(self._towards(evidence))

    def weighted(
        self, evidence: Evidence, rows: int, generator: np.random.Generator
    ) -> WeightedRows:
        """Draw rows with the weights at which they stand for rows that fit evidence."""
        if evidence:
            return self._towards(evidence).draw(rows, generator)
        pool = self.pool(rows, generator)
        codes = self._drawing.completed(pool.codes, rows, generator)
        return WeightedRows(codes, pool.weights * (len(pool) / pool.total))

    def _towards(self, evidence: Evidence) -> Proposal:
        """Draw rows towards evidence, weighed by the network and by all factors."""
        return Reweighted.of(self.base, self.aims, evidence, log_mean=self._log_mean_weight)

    @cached_property
    def _log_mean_weight(self) -> float:
        """The logarithm of the mean weight of rows; constraints change which rows there are."""
        if not self.base.is_constrained:
            return self.scale
        drawn = deal_codes(self.base, LEAST_POOL, np.random.default_rng(SEED))
        return log_mean_weight(Pool.of(self.domain, drawn, 1.0), self.aims)

    # --- probabilities ------------------------------------------------------------------------

    @cached_property
    def _answers(self) -> FactorAnswers:
        """Return the part that answers questions about probabilities."""

        def weighted(rows: int, generator: np.random.Generator) -> WeightedRows:
            return self.weighted({}, rows, generator)

        return FactorAnswers(self.base, self.aims, weighted, self._towards)

    @property
    def is_exact(self) -> bool:
        """Whether answers are exact: the factors leave small enough tables, and no constraints."""
        return self._answers.is_exact

    def posterior(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        """Return the joint distribution of attributes given evidence, and its probability.

        It is exact where elimination is affordable, and else estimated from a fixed pool of rows.
        """
        return self._answers.posterior(targets, evidence)

    def conditioned(self, evidence: Evidence) -> tuple[LogLinear, float]:
        """Return the law of the rows that fit evidence, and the probability of the evidence."""
        base, of_network = self.base.conditioned(evidence)
        chance = self.posterior((), evidence)[1]
        # Rows that fit weigh so much more, on average, as the law has more of them.
        scale = self.scale + math.log(chance) - math.log(of_network)
        last = tuple(name for name in self.last if not any(name in f.parents for f in base.network))
        return replace(self, base=base, scale=scale, calibrated=False, last=last), chance

    def most_probable(self, evidence: Evidence) -> tuple[dict[str, int], float]:
        """Return the codes of the most probable row that fits evidence, and its probability."""
        return self._answers.most_probable(evidence)

    # --- fitted again -------------------------------------------------------------------------

    def refitted(self, tables: Sequence[Estimate]) -> LogLinear:
        """Return the law of the same network whose factors give its rows other tables.

        Protected attributes keep their conditionals.
        """
        aims, scale = refitted_aims(
            self._drawing.refitting_pool(LEAST_POOL, SEED), self.aims, tables
        )
        return replace(self, aims=aims, scale=scale, calibrated=False)

    def refits(self, drawn: Iterable[Sequence[Estimate]]) -> PoolRefits:
        """Weigh the same rows for each of some lists of tables, beginning at the law's weights."""
        return pool_refits(self._drawing.refitting_pool(_REFIT_ROWS, SEED), self.aims, drawn)

    def kept_refits(self, numbers: Mapping[str, npt.NDArray[np.float32]]) -> PoolRefits:
        """Return rows and weights that were kept as numbers."""
        from understudy.models.intervals.refits import PoolRefits

        return PoolRefits.kept(self._drawing.weighed, [*self._drawing.weighed], numbers)

    # --- what leaves --------------------------------------------------------------------------

    def numbers(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the network's probabilities, and the counts and factors of every table."""
        found: dict[str, npt.NDArray[Any]] = dict(self.base.numbers())
        for aim in self.aims:
            name = " × ".join(aim.attributes)
            found |= {f"counts of {name}": aim.counts, f"factors of {name}": aim.logarithms}
        return found

    def members(self) -> dict[str, bytes]:
        """Return the members of the network, the list of tables, and their numbers."""
        facts = {"total": self.total, "scale": self.scale, "effective": self.effective}
        held = factor_members(self.aims, {**facts, "last": list(self.last)})
        return {**self.base.members(), **held}

    @classmethod
    def read(cls, parts: Parts, domain: Domain) -> Self:
        """Read the network, then as many numbers as the list of tables announces."""
        base = BayesNet.read(parts, domain)
        document, aims = read_factors(parts, domain)
        total, scale, effective = (float(document[n]) for n in ("total", "scale", "effective"))
        last = tuple(map(str, document["last"]))
        return cls(base, aims, total, scale=scale, effective=effective, last=last)
