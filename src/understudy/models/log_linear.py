"""A log-linear model: a network times correction factors of small tables.

The law of rows is P(row) ∝ network(row) · Π factor of the row's cell in each table. Rows are drawn
from the network and re-weighted, so that no table of many attributes is ever made and the number
of factors has no limit by treewidth. Proof: docs/proofs/log_linear.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from understudy.errors import CapacityError, UsageError
from understudy.facts.capacity import available_bytes
from understudy.facts.constraints import Completions, Constraint
from understudy.facts.domain import Attributes, Domain
from understudy.models.archive import Parts
from understudy.models.bayes_net import BayesNet
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.estimation.aims import aims_of
from understudy.models.inference import Evidence
from understudy.models.inference.elimination import (
    Factor,
    ImpossibleEvidence,
    best_of,
    joint_of,
    membership,
)
from understudy.models.network import Network
from understudy.models.sampling.estimate import estimated_distribution
from understudy.models.sampling.forward import Last, sample_codes, sample_last
from understudy.models.sampling.ways import How, Weighting
from understudy.models.sampling.weighting import Proposal, WeightedRows, fit_of
from understudy.models.sampling.without_replacement import deal_codes, deal_last
from understudy.models.weighted.factors import (
    LARGEST_LOGARITHM,
    MOST_ROWS,
    check_aim,
    factor_members,
    read_factors,
)
from understudy.models.weighted.pool import Pool, joined, rows_of
from understudy.models.weighted.raking import Aim, log_weights, raked, weighed
from understudy.models.weighted.reweighting import Reweighted, log_mean_weight
from understudy.models.weighted.rounding import rounded
from understudy.system.arrays import Floats, Probabilities

if TYPE_CHECKING:
    from understudy.models.intervals.refits import PoolRefits
    from understudy.models.sampling.ways import Sampler, Way
    from understudy.privacy.noisy_marginal import NoisyMarginal

# Rows of the network behind each row that is drawn, and behind a few; rows drawn together.
_POOL_PER_ROW, _LEAST_POOL, _TOGETHER = 4, 1 << 17, 1 << 16
_SWEEPS = 2
# Answers that are not exact come from so many rows, always the same ones.
_ASKED_ROWS, _SEED = 1 << 18, 20
# Fewer rows than this that fit are not enough for an answer.
_FEW = 2_000
# Tables that exact answers may make, in cells.
_MOST_CELLS = 1 << 22
# Rows that are weighed again for redrawn tables, and how often all tables are gone through.
_REFIT_ROWS, _REFIT_SWEEPS = 1 << 15, 4


@dataclass(frozen=True, eq=False)
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

    def require_network(self) -> BayesNet:
        """Refuse: the conditionals of the network alone are not the law of rows."""
        raise UsageError(
            f"a model of kind {self.kind!r} is a network times correction factors, and its "
            "conditionals alone are not its law; ask it questions, use its rows, or fit by nist"
        )

    @cached_property
    def _weighed(self) -> Domain:
        """The attributes that have a part in weights: all but those that are drawn last."""
        domain = self.domain
        sizes = {name: size for name, size in domain.sizes.items() if name not in self.last}
        coarser = {name: level for name, level in domain.coarser.items() if level.of in sizes}
        return Domain(sizes, coarser)

    @cached_property
    def _pooled(self) -> BayesNet:
        """The network of the attributes that have a part in weights."""
        kept = (c for c in self.base.conditionals if c.family.child not in self.last)
        return BayesNet(self._weighed, tuple(kept))

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
        starts = range(0, max(rows, 1), _TOGETHER)
        parts = [self._part(min(_TOGETHER, rows - s), generator, sampler) for s in starts]
        return joined(parts)

    def _part(
        self, rows: int, generator: np.random.Generator, sampler: Sampler | None
    ) -> CodedRows:
        if not len(self._weighed):
            return self._completed({}, rows, generator)
        pool = self.pool(max(_POOL_PER_ROW * rows, _LEAST_POOL), generator)
        most = self._most(pool, rows)
        if sampler is not sample_codes:
            chosen = rounded(pool, rows, generator, most=most)
            return self._completed(chosen, rows, generator)
        numbers = pool.chosen(rows, generator, most=most, ordered=False)
        chosen = rows_of(pool.codes, generator.permutation(numbers))
        return self._completed(chosen, rows, generator, draw=sample_last)

    def _most(self, pool: Pool, rows: int) -> Floats:
        """How often each row may be expected among n rows: as often as the law says, or once."""
        weights = pool.weights * (len(pool) / max(pool.total, 1e-300))
        return np.clip(rows * self._pooled.chances_of(pool.codes) * weights, 1.0, max(rows, 1))

    def pool(self, rows: int, generator: np.random.Generator) -> Pool:
        """Draw rows of the network, with weights at which they stand for rows of the law.

        Attributes that are drawn last are left out.
        """
        drawn = deal_codes(self.base, rows, generator)
        held = {name: drawn[name] for name in self._weighed}
        pool = Pool(self._weighed, held, np.full(rows, max(self.total, 1.0) / max(rows, 1)))
        pool = weighed(pool, self.aims)
        pool = raked(pool, self.aims, sweeps=_SWEEPS)[0] if self.calibrated else pool
        if rows and not 0 < pool.total < math.inf:
            raise UsageError(
                "the factors of the model leave its rows without weights; fit the model again"
            )
        return pool

    def _completed(
        self,
        codes: CodedRows,
        rows: int,
        generator: np.random.Generator,
        *,
        fits: Evidence | None = None,
        draw: Callable[..., CodedRows] = deal_last,
    ) -> CodedRows:
        """Rows that were chosen, with the attributes that are drawn last."""
        if not self.last:
            return codes
        return draw(self.base, codes, Last(self.last, rows, fits or {}), generator)

    def check_rows(self, rows: int) -> None:
        """Refuse a pool that would not fit into free memory."""
        together = min(max(_POOL_PER_ROW * rows, _LEAST_POOL), _POOL_PER_ROW * _TOGETHER)
        # Codes, twice while rows are exchanged, and the places of tables that are kept.
        needed = together * (4 * len(self.domain) + 1024) + 2 * rows * len(self.domain)
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
            return _Completing(self, evidence)
        return Weighting(self._towards(evidence))

    def weighted(
        self, evidence: Evidence, rows: int, generator: np.random.Generator
    ) -> WeightedRows:
        """Draw rows with the weights at which they stand for rows that fit evidence."""
        if evidence:
            return self._towards(evidence).draw(rows, generator)
        pool = self.pool(rows, generator)
        codes = self._completed(pool.codes, rows, generator)
        return WeightedRows(codes, pool.weights * (len(pool) / pool.total))

    def _towards(self, evidence: Evidence) -> Proposal:
        """Draw rows towards evidence, weighed by the network and by all factors."""
        return Reweighted.of(self.base, self.aims, evidence, log_mean=self._log_mean_weight)

    @cached_property
    def _log_mean_weight(self) -> float:
        """The logarithm of the mean weight of rows; constraints change which rows there are."""
        if not self.base.is_constrained:
            return self.scale
        drawn = deal_codes(self.base, _LEAST_POOL, np.random.default_rng(_SEED))
        return log_mean_weight(Pool.of(self.domain, drawn, 1.0), self.aims)

    @cached_property
    def _weights(self) -> tuple[Factor, ...]:
        """The factors, each divided by its largest value: what that leaves out cancels."""
        return tuple(
            Factor(aim.attributes, np.exp(aim.logarithms - aim.logarithms.max()))
            for aim in self.aims
        )

    # --- probabilities ------------------------------------------------------------------------

    @property
    def is_exact(self) -> bool:
        """Whether answers are exact: the factors leave small enough tables, and no constraints."""
        return self._log_constant is not None

    @cached_property
    def _log_constant(self) -> float | None:
        """The logarithm of what all rows of the law weigh together; None where it is too much."""
        if self.base.is_constrained:
            return None
        try:
            return joint_of(self._all_factors({}), (), most_cells=_MOST_CELLS)[1]
        except CapacityError:
            return None

    def _all_factors(self, evidence: Evidence) -> list[Factor]:
        return [
            *self.base.factors(),
            *self._weights,
            *self._ties,
            *(Factor((a,), f) for a, f in evidence.items()),
        ]

    @cached_property
    def _ties(self) -> list[Factor]:
        """Tie coarser copies of the tables to their attributes, where no family does."""
        tied = {name for family in self.network for name in family.copies}
        names = dict.fromkeys(name for aim in self.aims for name in aim.attributes)
        return [membership(self.domain, n) for n in names if n in self.domain.coarser.keys() - tied]

    def posterior(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        """Return the joint distribution of attributes given evidence, and its probability.

        It is exact where elimination is affordable, and else estimated from a fixed pool of rows.
        """
        constant = self._log_constant
        if constant is not None:
            try:
                joint, logarithm = joint_of(
                    self._all_factors(evidence), targets, most_cells=_MOST_CELLS
                )
                return joint, math.exp(logarithm - constant)
            except CapacityError:
                pass
        return self._estimated(targets, evidence)

    def _estimated(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        rows = self._fixed_rows
        if evidence:
            rows = replace(rows, weights=rows.weights * fit_of(rows.codes, evidence))
            if rows.effective < _FEW:
                generator = np.random.default_rng(_SEED)
                rows = self._towards(evidence).draw(_ASKED_ROWS, generator)
        if rows.chance == 0:
            raise ImpossibleEvidence()
        if not targets:
            return np.array(1.0), rows.chance
        found = estimated_distribution(rows, self.domain, targets)
        return found.chances, found.evidence

    @cached_property
    def _fixed_rows(self) -> WeightedRows:
        return self.weighted({}, _ASKED_ROWS, np.random.default_rng(_SEED))

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
        if self._log_constant is None:
            raise CapacityError(
                "the law has constraints or too many factors for its most probable row to be "
                "found; draw rows and look for it among them"
            )
        row, logarithm = best_of(self._all_factors(evidence), self.domain.attributes)
        return row, math.exp(logarithm - self._log_constant)

    # --- fitted again -------------------------------------------------------------------------

    def refitted(
        self, tables: Sequence[NoisyMarginal], constraints: Sequence[Constraint]
    ) -> LogLinear:
        """Return the law of the same network whose factors bring its rows near to other tables.

        Protected attributes keep their conditionals.
        """
        pool = self._refitting_pool(_LEAST_POOL)
        _, aims = raked(pool, self._aims_at(tables, constraints), sweeps=_REFIT_SWEEPS, doubt=1.0)
        return replace(self, aims=tuple(aims), scale=log_mean_weight(pool, aims))

    def refits(
        self, redrawn: Iterable[Sequence[NoisyMarginal]], constraints: Sequence[Constraint]
    ) -> PoolRefits:
        """Weigh the same rows for each of some lists of tables, beginning at the law's weights."""
        from understudy.models.intervals.refits import PoolRefits

        pool = self._refitting_pool(_REFIT_ROWS)
        weights = [
            raked(pool, self._aims_at(tables, constraints), sweeps=_REFIT_SWEEPS)[0].weights
            for tables in redrawn
        ]
        shares = [(each / each.sum()).astype(np.float32) for each in weights]
        return PoolRefits(self._weighed, pool.codes, np.array(shares))

    def kept_refits(self, numbers: Mapping[str, npt.NDArray[np.float32]]) -> PoolRefits:
        """Return rows and weights that were kept as numbers."""
        from understudy.models.intervals.refits import PoolRefits

        return PoolRefits.kept(self._weighed, [*self._weighed], numbers)

    def _refitting_pool(self, rows: int) -> Pool:
        """Rows of the network, always the same ones, that weigh as the law says."""
        drawn = deal_codes(self.base, rows, np.random.default_rng(_SEED))
        held = {name: drawn[name] for name in self._weighed}
        return weighed(Pool.of(self._weighed, held, max(self.total, 1.0)), self.aims)

    def _aims_at(
        self, tables: Sequence[NoisyMarginal], constraints: Sequence[Constraint]
    ) -> list[Aim]:
        """The law's tables with the counts that others say, and the factors that they have."""
        nogoods = {nogood for constraint in constraints for nogood in constraint.nogoods}
        found = {aim.attributes: aim for aim in aims_of(tables, self.domain, nogoods)}
        return [
            replace(aim, counts=found[aim.attributes].counts)
            for aim in self.aims
            if aim.attributes in found
        ]

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


class _Completing(Weighting):
    """Rows drawn towards evidence and chosen by weights, whose last attributes are drawn then."""

    def __init__(self, law: LogLinear, evidence: Evidence) -> None:
        super().__init__(law._towards(evidence))
        self._law, self._fits = law, evidence

    def take(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Return the next rows."""
        chosen = super().take(rows, generator)
        return self._law._completed(chosen, rows, generator, fits=self._fits)
