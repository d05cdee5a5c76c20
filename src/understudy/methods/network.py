"""Bayesian networks: what the two methods that learn one share.

Structure and tables are asked for in stages, each by a public share of the budget. Everything a
stage is set by is public, declared, or already paid for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from understudy.errors import UsageError
from understudy.facts.capacity import ensure_tables_fit
from understudy.facts.domain import Domain
from understudy.facts.protection import Protection
from understudy.facts.unit import Neighbours
from understudy.methods.abilities import NETWORK_OPTIONS, SHARES, Abilities
from understudy.methods.base import Synthesizer
from understudy.methods.budget_plan import Shares, share_of
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import (
    estimated,
    family_tables,
    measure_families,
    measure_one_way,
    one_way_tables,
)
from understudy.methods.structure.extension import Extension, extended
from understudy.methods.structure.gains import gain_for
from understudy.methods.structure.genetic import (
    USUAL_DEGREE,
    GeneticSearch,
    genetic_network,
    search_names,
)
from understudy.methods.structure.given import GIVEN, STRUCTURES, Resolved
from understudy.methods.structure.greedy import affordable_degree, greedy_network
from understudy.methods.structure.pairwise import (
    capped_network,
    noisy_pair_scores,
    spanning_tree,
)
from understudy.methods.structure.required import least_tables
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.scores import score_for
from understudy.methods.structure.table_cost import (
    TableCost,
    by_gain,
    by_usefulness,
    in_shares_of,
)
from understudy.models.model import Model
from understudy.models.network import Network
from understudy.privacy.budget import Amount, Budget
from understudy.privacy.curator import Curator
from understudy.rows.counting import Score

# Bits, and distances to certainty, cannot be weighed against rows that noise displaces.
_NOT_IN_ROWS = ("MI", "F")
_THETA = 4.0

_SIZE_SHARE = Fraction(1, 100)
# Choices one by one need more than scores asked for all at once.
_STRUCTURE_SHARE = {name: Fraction(1, 5 if name == "greedy" else 10) for name in STRUCTURES} | {
    GIVEN: Fraction(0)
}
# Further parents are scored too, by as much of the budget at most; what they leave is for tables.
_EXTENSION_SHARE = Fraction(9, 100)
# Of a share that was asked for, pairs get this part, and further parents the rest.
_PAIRS_OF_STRUCTURE = Fraction(1, 2)
_MOST_PARENTS = 9


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkSynthesizer(Synthesizer):
    """Learns a Bayesian network and one noisy table for each of its families.

    Args:
        schema: the values that each column may hold.
        epsilon: as for every synthesizer.
        delta: as for every synthesizer.
        neighbours: as for every synthesizer.
        structure: "greedy", "pairwise", "tree", "genetic", a Network, or a file of one: JSON of
            each attribute's parents, BIF, or a matrix of predictors in CSV.
        degree: the most parents; chosen from public numbers unless given.
        score: "R" or "TVD", which follow from the neighbours, or, under replace, "MI" or "F".
        theta: a hard bound on tables instead of a price for cells: the average count must be at
            least θ times a cell's noise, as in the papers (4 there). MI and F, which are not in
            rows, always have one.
        rows: a declared number of rows, which saves measuring it where it is private.
        restrictions: edges that must, may and must not be, an order, and protected attributes.
        search: how long and how widely "genetic" searches.
        structure_share: β, the part of the budget that the network may cost: AAU's mixture
            parameter and TUC-1's ε₁/ε; the method's own unless given.
        one_way_share: the part of one-way tables, before the network is learned; the noisier they
            would be, the more, unless given.
        size_share: the part that counts the rows, where their number is private; 1/100 unless
            given.
    """

    abilities: ClassVar[Abilities] = Abilities(options=NETWORK_OPTIONS, learns_network=True)
    default_structure: ClassVar[str]

    structure: str | Path | Network | None = None
    degree: int | None = None
    score: str | None = None
    theta: float | None = None
    rows: int | None = None
    restrictions: Restrictions = NONE
    search: GeneticSearch | None = None
    structure_share: Amount | None = None
    one_way_share: Amount | None = None
    size_share: Amount | None = None

    _resolved: Resolved | None = field(init=False, default=None)

    @classmethod
    def remarks(cls, model: Model) -> list[str]:
        """Whether anything but single columns was worth its noise."""
        if model.network.degree or len(model.domain) == 1:
            return []
        return ["no two columns were worth the noise of a table: they are independent here"]

    @property
    def protection(self) -> Protection | None:
        """The dependences that the restrictions withhold, where they name any."""
        held = self.restrictions.protection
        return held.settled if held else None

    def check(self) -> None:
        """Refuse parameters that cannot work, an impossible network among them."""
        super().check()
        if self.degree is not None and self.degree < 0:
            raise UsageError(f"degree is {self.degree}; allow no parents or more")
        if self.theta is not None and self.theta <= 0:
            raise UsageError(f"theta is {self.theta}; it must be above 0, such as 4")
        domain = Domain.of(self.schema)
        given = self.resolved.over(domain)
        self._check_shares(given)
        score_for(self.unit, 1, domain, name=self.score)
        if self.restrictions:
            self._check_restrictions(domain, given)

    def _check_shares(self, given: Network | None) -> None:
        """Refuse shares that leave nothing for tables, or that pay for nothing."""
        usual = dict.fromkeys(SHARES, Fraction(0)) | {"structure_share": self._usual_structure}
        shares = [self._share(name) or usual[name] for name in SHARES]
        if sum(shares) >= 1:
            raise UsageError(
                "the shares add up to 1 or more; leave a part of the budget for tables"
            )
        if self.structure_share is not None and (given is not None or self.degree == 0):
            raise UsageError(
                "structure share is given, and there is no structure to learn; leave it out"
            )

    def _share(self, name: str) -> Fraction | None:
        """A share as it was asked for; None where the method has its own."""
        value = getattr(self, name)
        return None if value is None else share_of(value, what=name.replace("_", " "))

    def _check_restrictions(self, domain: Domain, given: Network | None) -> None:
        """Refuse contradictions, and required tables that no memory holds, before spending."""
        bounds = [self.degree] if self.resolved.learner != "tree" else [1, self.degree]
        degree = min((bound for bound in bounds if bound is not None), default=None)
        rules = self.restrictions
        rules.check(
            domain,
            degree=degree if given is None else None,
            constraints=self.schema.constraints,
        )
        ensure_tables_fit(domain, least_tables(rules, domain))
        if given is not None:
            rules.check_obeyed(given)

    def learn(self, curator: Curator) -> Learned:
        """Size, one-way tables, structure, all tables; then they are made to agree.

        One-way tables are measured again beside the families': where no family is worth its
        noise, they get the whole of what is left.
        """
        size, shares = self._prepared(curator)
        first = measure_one_way(curator, shares.one_way)
        network, tables = self._structure(curator, shares, size)
        second = measure_families(curator, network, tables)
        return estimated(curator, network, [*first, *second], self.schema, rows=self.rows)

    def _prepared(self, curator: Curator) -> tuple[float, Shares]:
        """The number of rows, as far as it is known, and what each stage may spend."""
        domain, given = curator.domain, self.resolved.over(curator.domain)
        families = [] if given is None else family_tables(given, domain)
        ensure_tables_fit(domain, [*one_way_tables(domain), *families])
        share = self._size_share(curator)
        size = self._size(curator, share)
        return size, self._shares(curator, size, share)

    def _shares(self, curator: Curator, size: float, spent: Budget) -> Shares:
        """The budgets of all stages after the first: those asked for, else the method's own."""
        structure = self._usual_structure
        asked, one_way = self._share("structure_share"), self._share("one_way_share")
        if asked is None:
            return Shares.of(curator, size, spent=spent, structure=structure, one_way=one_way)
        # One-way tables leave those of families half of what the network does not cost.
        most = (1 - asked) / 2
        return Shares.of(curator, size, spent=spent, structure=asked, one_way=one_way, most=most)

    @property
    def _usual_structure(self) -> Fraction:
        """The part of the budget that a structure is learned with unless another is asked for."""
        return Fraction(0) if self.degree == 0 else _STRUCTURE_SHARE[self.resolved.learner]

    @property
    def _extends(self) -> bool:
        """Whether parents beyond the first are scored given those that are there."""
        return self.resolved.learner == "pairwise" and self.theta is None and self.degree != 1

    @property
    def resolved(self) -> Resolved:
        """The structure asked for: a network, or a learner. A file of one is read once.

        What `check` found there is what `fit` learns, whatever becomes of the file in between.
        """
        asked = self.default_structure if self.structure is None else self.structure
        if self._resolved is None or self._resolved.asked is not asked:
            self._resolved = Resolved.of(asked)
        return self._resolved

    def _size_share(self, curator: Curator) -> Budget:
        """Find what the number of rows may cost: nothing where it is public or declared."""
        known = curator.public_rows is not None or self.rows is not None
        asked = self._share("size_share")
        return curator.budget * (0 if known else _SIZE_SHARE if asked is None else asked)

    def _size(self, curator: Curator, share: Budget) -> float:
        """The number of rows as far as it is known before anything is measured."""
        if curator.public_rows is not None:
            return curator.public_rows
        if self.rows is not None:
            return self.rows
        [count] = curator.measure([()], share)
        return max(float(count.total), 1.0)

    def _structure(self, curator: Curator, shares: Shares, size: float) -> tuple[Network, Budget]:
        """The network that was given, or one that is learned, and the budget of its tables."""
        domain, given = curator.domain, self.resolved.over(curator.domain)
        if given is not None:
            return given, shares.tables
        if len(domain) == 1 or self.degree == 0:
            return Network.without_edges(domain.attributes), shares.tables
        table_cost = self.table_cost(domain, shares.tables, size)
        if self._extends:
            return self._extended(curator, shares, size, table_cost)
        score = score_for(curator.unit, size, domain, name=self.score)
        if self.resolved.learner == "greedy":
            names = sum(len(domain.levels(attribute)) for attribute in domain)
            network = greedy_network(
                curator,
                shares.structure,
                score=score,
                table_cost=table_cost,
                degree=self._degree(affordable_degree(names)),
                restrictions=self.restrictions,
            )
            return network, shares.tables
        return self._from_pairs(curator, shares.structure, score, table_cost), shares.tables

    def _degree(self, usual: int) -> int:
        """The degree that was asked for, else the usual one, or what required edges need."""
        return max(usual, self.restrictions.most_required) if self.degree is None else self.degree

    def _extended(
        self, curator: Curator, shares: Shares, size: float, table_cost: TableCost
    ) -> tuple[Network, Budget]:
        """The tree, whose families get further parents, each scored given those before it."""
        domain, rules = curator.domain, self.restrictions
        score = score_for(curator.unit, size, domain, name=self.score)
        first, reserve, tables = self._reserved(shares)
        pairs = noisy_pair_scores(
            curator, first, score, most_cells=table_cost.most_cells, restrictions=rules
        )
        extension = Extension(
            pairs.discounted(),
            gain_for(curator.unit, size, domain, name=self.score),
            table_cost,
            degree=self._degree(_MOST_PARENTS),
            most_cells=_cells_above_noise(table_cost, size),
            restrictions=rules,
        )
        each = first * Fraction(1, max(len(pairs.scores), 1))
        tree = spanning_tree(pairs, table_cost, restrictions=rules)
        network, left = extended(curator, tree, extension, budget=reserve, each=each)
        return network, Budget(tables.measure, tables.amount + left.amount)

    def _reserved(self, shares: Shares) -> tuple[Budget, Budget, Budget]:
        """The budgets of pair scores, of further parents at the most, and of tables.

        A share that was asked for is all that the network may cost.
        """
        if self.structure_share is not None:
            pairs = shares.structure * _PAIRS_OF_STRUCTURE
            return pairs, shares.structure * (1 - _PAIRS_OF_STRUCTURE), shares.tables
        reserve, tables = shares.tables.split([_EXTENSION_SHARE, 1 - _EXTENSION_SHARE])
        return shares.structure, reserve, tables

    def _from_pairs(
        self, curator: Curator, budget: Budget, score: Score, table_cost: TableCost
    ) -> Network:
        """A network by one of the learners that see nothing but noisy scores of pairs."""
        domain, name, rules = curator.domain, self.resolved.learner, self.restrictions
        most = table_cost.most_cells
        pairs = noisy_pair_scores(
            curator,
            budget,
            score,
            most_cells=most,
            restrictions=rules,
            names=search_names(domain, most) if name == "genetic" else None,
        )
        if name == "genetic":
            degree = self._degree(USUAL_DEGREE)
            return genetic_network(
                pairs, table_cost, degree=degree, restrictions=rules, search=self.search
            )
        if self.theta is not None and name == "pairwise":
            return capped_network(pairs, most_cells=most, degree=self.degree, restrictions=rules)
        return spanning_tree(pairs, table_cost, restrictions=rules)

    def table_cost(self, domain: Domain, tables: Budget, size: float) -> TableCost:
        """Price tables by the budget that is left for them; public, declared or paid for."""
        unit = self.unit
        if self.theta is not None or self.score in _NOT_IN_ROWS:
            theta = _THETA if self.theta is None else self.theta
            return by_usefulness(domain, tables, unit, rows=size, theta=theta)
        table_cost = by_gain(domain, tables, unit, rows=size)
        return table_cost if self._counts_rows else in_shares_of(table_cost, size)

    @property
    def _counts_rows(self) -> bool:
        """Whether the score is in rows, and not in shares of them."""
        return self.unit.neighbours is Neighbours.ADD_REMOVE


def _cells_above_noise(table_cost: TableCost, size: float) -> int:
    """The most cells that hold, on average, as many rows as their noise would move."""
    most = size / table_cost.noise if table_cost.noise else table_cost.most_cells
    return min(table_cost.most_cells, max(int(most), 1))
