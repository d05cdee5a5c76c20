"""Refitted models: the same model, fitted to draws of the tables given the released ones.

Their answers spread as answers of the model do under fresh noise. What the tables never measured is
in none of them: answers that rest on the model can be further off than they spread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy.errors import CapacityError, UsageError
from understudy.facts.codes import code_type
from understudy.facts.domain import Attributes, Domain
from understudy.models.bayes_net import BayesNet
from understudy.models.distribution import CodedRows
from understudy.models.inference.elimination import Evidence, ImpossibleEvidence
from understudy.models.sampling.weighting import fit_of
from understudy.system.arrays import Floats

REFITS = 200
# Fewer weighted rows than this that fit the evidence show no spread.
_FEW = 50.0

Numbers32 = Mapping[str, npt.NDArray[np.float32]]
"""What a cache keeps of refitted models: arrays by name, whose sizes the model announces."""


class NoSpread(UsageError):
    """Refitted models cannot answer this question; the sentence says why."""


class Refits(ABC):
    """Some refitted models, to be asked the same question."""

    @abstractmethod
    def posteriors(self, targets: Attributes, evidence: Evidence) -> tuple[Floats, Floats]:
        """Ask all models for a joint distribution given evidence, and for the evidence's chance.

        Returns:
            An axis for the models, then one for each target; and a chance for each model.
        """

    @abstractmethod
    def numbers(self) -> Numbers32:
        """Return everything that a cache keeps."""


@dataclass(frozen=True, eq=False)
class NetworkRefits(Refits):
    """Networks of one structure: the conditionals of all of them.

    Attributes:
        base: the network whose structure they have.
        tables: for every attribute the probabilities, an axis for the models first.
        within: for coarsened attributes their shares in groups, likewise.
    """

    base: BayesNet
    tables: Mapping[str, npt.NDArray[np.float32]]
    within: Mapping[str, npt.NDArray[np.float32]]

    @classmethod
    def of(cls, base: BayesNet, refitted: Sequence[BayesNet]) -> Self:
        """Keep the conditionals of refitted networks."""
        tables, within = dict[str, Any](), dict[str, Any]()
        for place, own in enumerate(base.conditionals):
            held = [network.conditionals[place] for network in refitted]
            tables[own.family.child] = np.array([c.probabilities for c in held], np.float32)
            if own.within is not None:
                within[own.family.child] = np.array([c.within for c in held], np.float32)
        return cls(base, tables, within)

    def __iter__(self) -> Iterator[BayesNet]:
        for number in range(len(next(iter(self.tables.values()), ()))):
            yield replace(self.base, conditionals=tuple(self._conditionals(number)))

    def _conditionals(self, number: int) -> Iterator[Any]:
        for own in self.base.conditionals:
            child = own.family.child
            table = self.tables[child][number].astype(float)
            shares = None if own.within is None else self.within[child][number].astype(float)
            yield replace(own, probabilities=table, within=shares)

    def posteriors(self, targets: Attributes, evidence: Evidence) -> tuple[Floats, Floats]:
        """Ask every network by elimination; constraints are left out of account."""
        try:
            found = [network.posterior(targets, evidence) for network in self]
        except CapacityError:
            raise NoSpread("the network is too dense to be asked so often") from None
        except ImpossibleEvidence:
            raise NoSpread("under other noise the model would have no such rows") from None
        return np.array([joint for joint, _ in found]), np.array([chance for _, chance in found])

    def numbers(self) -> Numbers32:
        """Return the conditionals and shares of all networks."""
        shares = {f"shares of {child}": held for child, held in self.within.items()}
        return {f"chances of {child}": held for child, held in self.tables.items()} | shares

    @classmethod
    def kept(cls, base: BayesNet, numbers: Numbers32) -> Self:
        """Return the networks that a cache kept."""
        names = [c.family.child for c in base.conditionals]
        coarse = [c.family.child for c in base.conditionals if c.within is not None]
        tables = {name: numbers[f"chances of {name}"] for name in names}
        within = {name: numbers[f"shares of {name}"] for name in coarse}
        for own in base.conditionals:
            child = own.family.child
            _check_chances(tables[child], own.probabilities.shape)
            if own.within is not None and within[child].shape != (REFITS, *own.within.shape):
                raise ValueError("the networks have other groups")
        if any((shares < 0).any() for shares in within.values()):
            raise ValueError("shares are negative")
        return cls(base, tables, within)


@dataclass(frozen=True, eq=False)
class PoolRefits(Refits):
    """Rows of a network, weighted once for every refitted model.

    Attributes:
        domain: the attributes of the rows.
        codes: the rows.
        weights: for every model, the share of each row.
    """

    domain: Domain
    codes: CodedRows
    weights: npt.NDArray[np.float32]

    def posteriors(self, targets: Attributes, evidence: Evidence) -> tuple[Floats, Floats]:
        """Add up the weights of rows that fit the evidence, cell by cell of the targets."""
        if {*targets, *evidence} - {*self.codes}:
            raise NoSpread("protected columns are drawn last, and are not fitted again")
        fits = fit_of(self.codes, evidence) if evidence else np.ones(self.weights.shape[1])
        seen = np.flatnonzero(fits)
        weights = self.weights[:, seen] * fits[seen]
        chances = weights.sum(axis=1)
        if _effective(weights) < _FEW:
            raise NoSpread("too few rows of the model fit the conditions")
        shape = self.domain.shape(targets)
        codes = [self.codes[name][seen] for name in targets]
        cells = np.ravel_multi_index(codes, shape) if targets else np.zeros(len(seen), np.int64)
        size = int(np.prod(shape))
        sums = np.array([np.bincount(cells, line, size) for line in weights])
        return (sums / chances[:, None]).reshape(-1, *shape), chances

    def numbers(self) -> Numbers32:
        """Return the rows and their weights."""
        codes = {f"codes of {name}": held.astype(np.float32) for name, held in self.codes.items()}
        return codes | {"weights": self.weights}

    @classmethod
    def kept(cls, domain: Domain, names: Sequence[str], numbers: Numbers32) -> Self:
        """Return the rows and weights that a cache kept."""
        held = {name: numbers[f"codes of {name}"] for name in names}
        fits = all(((held[n] >= 0) & (held[n] < domain[n])).all() for n in names)
        if not fits:
            raise ValueError("the codes are not those of the model")
        codes: CodedRows = {name: held[name].astype(code_type(domain[name])) for name in names}
        weights = numbers["weights"]
        if any(weights.shape != (REFITS, each.size) for each in codes.values()):
            raise ValueError("the rows are not those of the model")
        _check_chances(weights, weights.shape[1:])
        return cls(domain, codes, weights)


def _check_chances(found: npt.NDArray[np.float32], shape: tuple[int, ...]) -> None:
    """Refuse numbers that are not distributions of this shape, one for every refitted model."""
    if found.shape != (REFITS, *shape):
        raise ValueError("the refitted models have another shape")
    if (found < 0).any() or not np.allclose(found.sum(axis=-1, dtype=float), 1, atol=1e-3):
        raise ValueError("chances do not add up")


def _effective(weights: Floats) -> float:
    """How many rows of equal weight the rows are worth, in the first model (Kish 1965)."""
    first = weights[0].astype(float)
    return float(first.sum() ** 2 / max((first**2).sum(), 1e-300))
