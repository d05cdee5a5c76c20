"""A Bayesian network with its conditionals: the kind of distribution that has probabilities."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.axes import Axes
from understudy.facts.constraints import Completions
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.models.archive import (
    CONDITIONALS,
    NETWORK,
    Parts,
    arrow_bytes,
    json_bytes,
    room_for,
    shape_of,
    within,
)
from understudy.models.bif import bif_lines
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.estimation.calibration import CALIBRATING_ROWS
from understudy.models.estimation.conditionals import conditionals_of
from understudy.models.inference import Evidence, conditioned, most_probable, posterior
from understudy.models.inference.elimination import Factor, factor_of, ties_of
from understudy.models.inference.labels import Label
from understudy.models.network import Family, Network
from understudy.models.sampling.choosing import way_of
from understudy.models.sampling.forward import configurations
from understudy.models.sampling.weighting import Proposal, WeightedRows
from understudy.models.sampling.without_replacement import deal_codes
from understudy.system.arrays import Floats, Probabilities
from understudy.system.files.arrow import Types, UnsoundArrow, read_arrow

if TYPE_CHECKING:
    from understudy.models.estimation.consistency import Estimate
    from understudy.models.intervals.refits import NetworkRefits
    from understudy.models.sampling.ways import How, Sampler, Way

# Rows that networks are calibrated by that are only asked for their spread.
_FEWER_ROWS = 2**15
_LISTED = pa.large_list(pa.float64())
_OF_CONDITIONALS: Types = {
    "attribute": (pa.string(),),
    "shape": (pa.list_(pa.int64()),),
    "probabilities": (_LISTED,),
    "within": (_LISTED,),
}


@dataclass(frozen=True, eq=False)
class BayesNet(Distribution):
    """P(child | parents) of every attribute, parents before children.

    Attributes:
        domain: the attributes.
        conditionals: one for each of them.
        completions: what the constraints allow that rows must obey; none forbids anything unless
            given. Constraints change the law of rows and no conditional.

    Example:
        >>> half = Conditional(Family("sex"), np.array([0.5, 0.5]))
        >>> BayesNet(Domain({"sex": 2}), (half,)).project(("sex",)).tolist()
        [0.5, 0.5]
    """

    kind: ClassVar[str] = "network"

    domain: Domain
    conditionals: tuple[Conditional, ...]
    completions: Completions = field(default_factory=lambda: Completions(()))

    def __post_init__(self) -> None:
        if set(self.network.order) != set(self.domain):
            raise UsageError("the network's attributes are not those of the schema")
        for conditional in self.conditionals:
            conditional.check(self.domain)

    def __repr__(self) -> str:
        return f"BayesNet({len(self.conditionals):,} attributes, degree {self.network.degree})"

    @classmethod
    def of(cls, schema: Schema, conditionals: Sequence[Conditional]) -> Self:
        """Return the network of conditionals over the attributes of a schema."""
        return cls(Domain.of(schema), tuple(conditionals))

    @cached_property
    def network(self) -> Network:
        """The structure the conditionals follow."""
        return Network(tuple(conditional.family for conditional in self.conditionals))

    def check_sampler(self) -> None:
        """Take any sampler: rows are drawn from tables."""

    def require_network(self) -> BayesNet:
        """Return the network itself."""
        return self

    # --- rows -------------------------------------------------------------------------------

    def draw(
        self, rows: int, generator: np.random.Generator, *, sampler: Sampler | None = None
    ) -> CodedRows:
        """Draw rows attribute by attribute; none of them is against a constraint."""
        return (sampler or deal_codes)(self, rows, generator)

    def chances_of(self, codes: CodedRows) -> Probabilities:
        """Return the probability of each of some rows, constraints left out."""
        rows = len(next(iter(codes.values())))
        found = np.ones(rows)
        for conditional in self.conditionals:
            family = conditional.family
            given = configurations(family.axes[:-1], codes, self.domain, rows)
            found *= conditional.chances(given, codes[family.child], self.domain)
        return found

    def log_chances(self, codes: CodedRows) -> Floats:
        """Return the logarithm of the probability of each row, constraints left out."""
        rows = len(next(iter(codes.values())))
        found = np.zeros(rows)
        with np.errstate(divide="ignore"):
            for conditional in self.conditionals:
                family = conditional.family
                given = configurations(family.axes[:-1], codes, self.domain, rows)
                found += np.log(conditional.chances(given, codes[family.child], self.domain))
        return found

    def subject_to(self, completions: Completions) -> BayesNet:
        """Return the law of rows that obey constraints."""
        return replace(self, completions=completions) if completions.nogoods else self

    @property
    def is_constrained(self) -> bool:
        """Whether constraints have a part in the law of rows."""
        return bool(self.completions.nogoods)

    def way(self, evidence: Evidence, how: How | str | None, *, sampler: Sampler) -> Way:
        """Condition the network where that can be done; else draw until enough rows fit."""
        return way_of(self, evidence, how, sampler=sampler)

    def weighted(
        self, evidence: Evidence, rows: int, generator: np.random.Generator
    ) -> WeightedRows:
        """Draw rows towards evidence, with the weights that this leaves out."""
        return Proposal.towards(self, evidence).draw(rows, generator)

    # --- probabilities ------------------------------------------------------------------------

    def posterior(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        """Return the exact joint distribution of attributes given evidence, and its probability."""
        self._check_unconstrained("ask by samples instead")
        return posterior(self.conditionals, targets, evidence, self.domain)

    def conditioned(self, evidence: Evidence) -> tuple[BayesNet, float]:
        """Return the network conditioned exactly; one that is too dense for it is refused."""
        self._check_unconstrained("draw by rejection instead")
        conditionals, chance = conditioned(self.conditionals, evidence, self.domain)
        return replace(self, conditionals=conditionals), chance

    def most_probable(self, evidence: Evidence) -> tuple[dict[str, int], float]:
        """Return the codes of the most probable row that fits evidence, and its probability."""
        return most_probable(self.conditionals, evidence, self.domain)

    def _check_unconstrained(self, way_out: str) -> None:
        """Refuse what is exact only where the conditionals alone say how rows are drawn."""
        if self.is_constrained:
            raise UsageError(
                "constraints change how rows are drawn, and exact answers would leave them out; "
                f"{way_out}"
            )

    def factors(self) -> list[Factor]:
        """The conditionals as functions of codes, and what ties coarser copies to attributes."""
        ties = ties_of(self.conditionals, self.domain)
        return [*map(factor_of, self.conditionals), *ties]

    # --- fitted again -------------------------------------------------------------------------

    def refitted(self, tables: Sequence[Estimate], *, rows: int = CALIBRATING_ROWS) -> BayesNet:
        """Return the network of the same structure whose conditionals come from other tables.

        Args:
            tables: in the place of those that the network was made from; they agree.
            rows: how many rows conditionals are calibrated by.
        """
        held = [Axes(table.attributes) for table in tables]
        for family in self.network:
            if not any(axes.holds(family.axes, self.domain) for axes in held):
                raise UsageError("the released tables do not hold all families of the network")
        found = conditionals_of(self.network, tables, self.domain, rows=rows)
        return replace(self, conditionals=found)

    def refits(self, drawn: Iterable[Sequence[Estimate]]) -> NetworkRefits:
        """Fit the conditionals to each of some lists of tables."""
        from understudy.models.intervals.refits import NetworkRefits

        return NetworkRefits.of(self, [self.refitted(each, rows=_FEWER_ROWS) for each in drawn])

    def kept_refits(self, numbers: Mapping[str, npt.NDArray[np.float32]]) -> NetworkRefits:
        """Return refitted networks that were kept as numbers."""
        from understudy.models.intervals.refits import NetworkRefits

        return NetworkRefits.kept(self, numbers)

    def bif_lines(self, labels: Mapping[str, Sequence[Label]]) -> Iterator[str]:
        """Write the network in the Bayesian interchange format, every attribute code by code."""
        room_for(sum(self.domain.cells(family.attributes) for family in self.network))
        return bif_lines([c.uncoarsened(self.domain) for c in self.conditionals], labels)

    # --- what leaves --------------------------------------------------------------------------

    def numbers(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the probabilities of each attribute, and its shares within groups."""
        found = {f"chances of {c.family.child}": c.probabilities for c in self.conditionals}
        shares = {c.family.child: c.within for c in self.conditionals if c.within is not None}
        return found | {f"shares of {child}": within for child, within in shares.items()}

    def members(self) -> dict[str, bytes]:
        """Return the families as JSON, and their conditionals as a table."""
        families = [_family_document(conditional.family) for conditional in self.conditionals]
        return {
            NETWORK: json_bytes({"families": families}),
            CONDITIONALS: arrow_bytes(_arrow_table(self.conditionals)),
        }

    @classmethod
    def read(cls, parts: Parts, domain: Domain) -> Self:
        """Read the families, then as many numbers as they and the schema announce."""
        named = json.loads(parts.document(NETWORK))["families"]
        families = [Family(child, *map(tuple, names)) for child, *names in named]
        cells = sum(domain.cells(family.axes) + domain[family.child] for family in families)
        data = parts.table(CONDITIONALS, cells=cells)
        with within(CONDITIONALS):
            return cls(domain, _conditionals(data, families, domain))


def _family_document(family: Family) -> list[Any]:
    """A child and its parents and, where some are coarsened, the names of the table's axes."""
    copies = [list(family.copies)] if family.copies else []
    return [family.child, list(family.parents), *copies]


def _arrow_table(conditionals: tuple[Conditional, ...]) -> pa.Table:
    return pa.table(
        {
            "attribute": pa.array([c.family.child for c in conditionals], pa.string()),
            "shape": pa.array([c.probabilities.shape for c in conditionals], pa.list_(pa.int64())),
            "probabilities": pa.array([c.probabilities.ravel() for c in conditionals], _LISTED),
            "within": pa.array([c.within for c in conditionals], _LISTED),
        }
    )


def _conditionals(
    data: bytes, families: Sequence[Family], domain: Domain
) -> tuple[Conditional, ...]:
    """The probabilities of every attribute and, where it is coarsened, shares within groups."""
    if not families:
        # Earlier versions wrote no rows in another type, and there is nothing to read.
        return ()
    table = read_arrow(data, _OF_CONDITIONALS, rows=len(families))
    names, shapes = table["attribute"].to_pylist(), map(shape_of, table["shape"])
    held = table["within"] if "within" in table.column_names else [pa.scalar(None)] * len(names)
    lines = zip(shapes, table["probabilities"], held, strict=True)
    tables = dict(zip(names, lines, strict=True))
    return tuple(_conditional(family, domain, *tables[family.child]) for family in families)


def _conditional(
    family: Family, domain: Domain, shape: list[int], chances: Any, shares: Any
) -> Conditional:
    """One conditional, whose numbers are counted before they are taken."""
    announced, found = domain.shape(family.axes), len(chances.values)
    if tuple(shape) != announced or found != math.prod(announced):
        raise UnsoundArrow(
            f"says that the table of {family.child!r} has shape {tuple(shape)} and holds {found:,} "
            f"numbers for it, where schema and network say {announced}"
        )
    known = np.array(shares.values, np.float64) if shares.is_valid else None
    return Conditional(family, np.array(chances.values, np.float64).reshape(announced), known)
