"""Bayesian networks: what the two methods that learn one share.

Structure and tables are asked for in stages, each by a public share of the budget. Everything a
stage is set by is public, declared, or already paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from understudy.counting import Score
from understudy.domain import Domain
from understudy.engines.capacity import ensure_tables_fit
from understudy.errors import UsageError
from understudy.learn import scores
from understudy.learn.allocation import least_error_weights
from understudy.learn.consistency import best_total
from understudy.learn.genetic import (
    USUAL_DEGREE,
    GeneticSearch,
    genetic_network,
    search_names,
)
from understudy.learn.given import SUFFIXES, check_network, read_network
from understudy.learn.greedy import affordable_degree, greedy_network
from understudy.learn.pairwise import (
    capped_network,
    noisy_pair_scores,
    spanning_tree,
    weighed_network,
)
from understudy.learn.parameters import (
    conditionals,
    family_tables,
    measure_tables,
    one_way_tables,
)
from understudy.learn.required import least_tables
from understudy.learn.restrict import NONE, Restrictions
from understudy.learn.weighing import Weighing, by_gain, by_usefulness, expected_noise
from understudy.network import Network
from understudy.privacy.budget import Amount, Budget
from understudy.privacy.curator import Curator
from understudy.privacy.unit import Neighbours, Unit
from understudy.protection import Protection
from understudy.schema import Schema
from understudy.synthesizers.base import Learned, Synthesizer

STRUCTURES = ("greedy", "pairwise", "tree", "genetic")

# Bits, and distances to certainty, cannot be weighed against rows that noise displaces.
_NOT_IN_ROWS = ("MI", "F")
_THETA = 4.0

_SIZE_SHARE = Fraction(1, 100)
# Choices one by one need more than scores asked for all at once.
_STRUCTURE_SHARE = {name: Fraction(1, 5 if name == "greedy" else 10) for name in STRUCTURES}
# One-way tables get at least this share, and more, up to the most, when they would be poor.
_LEAST_ONE_WAY, _MOST_ONE_WAY = Fraction(15, 100), Fraction(1, 2)
_ONE_WAY_PER_ERROR = 4


@dataclass(frozen=True)
class Shares:
    """How a budget is divided among the stages of a fit."""

    size: Budget
    one_way: Budget
    structure: Budget
    tables: Budget


class NetworkSynthesizer(Synthesizer):
    """Learns a Bayesian network and one noisy table for each of its families.

    Args:
        schema: what may stand in each column.
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
    """

    default_structure: str

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: Amount | Budget,
        delta: Amount = 0,
        neighbours: Neighbours | str | None = None,
        person_id: str | None = None,
        rows_per_person: int | None = None,
        structure: str | Path | Network | None = None,
        degree: int | None = None,
        score: str | None = None,
        theta: float | None = None,
        rows: int | None = None,
        restrictions: Restrictions = NONE,
        search: GeneticSearch | None = None,
    ) -> None:
        super().__init__(
            schema,
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            person_id=person_id,
            rows_per_person=rows_per_person,
        )
        self.structure = structure
        self.degree = degree
        self.score = score
        self.theta = theta
        self.rows = rows
        self.restrictions = restrictions
        self.search = search

    @property
    def protection(self) -> Protection | None:
        """What the restrictions withhold, where they name anything."""
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
        given = self._given_network(domain)
        score_for(self.unit, 1, domain, name=self.score)
        if self.restrictions:
            self._check_restrictions(domain, given)

    def _check_restrictions(self, domain: Domain, given: Network | None) -> None:
        """Refuse contradictions, and required tables that no memory holds, before spending."""
        bounds = [self.degree] if self._learner != "tree" else [1, self.degree]
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
        given, alone = self._given_network(curator.domain), one_way_tables(curator.domain)
        ensure_tables_fit(
            curator.domain, [*alone, *(family_tables(given, curator.domain) if given else [])]
        )
        size_share = self._size_share(curator)
        size = self._size(curator, size_share)
        needed = Fraction(0) if given or self.degree == 0 else _STRUCTURE_SHARE[self._learner]
        shares = divide(curator, size, size_share, structure=needed)

        first = measure_tables(curator, alone, shares.one_way)
        network = given or self._learn_structure(curator, shares, size)
        second = measure_tables(
            curator, [*family_tables(network, curator.domain), *alone], shares.tables
        )

        marginals, rows = [*first, *second], curator.public_rows
        total = best_total(marginals) if rows is None else float(rows)
        learned = conditionals(network, marginals, total, curator.domain, self.schema.constraints)
        return Learned(learned, self._to_make(total))

    def _given_network(self, domain: Domain) -> Network | None:
        match self.structure:
            case Network():
                return check_network(self.structure, domain)
            case None:
                return None
            case name if str(name) in STRUCTURES:
                return None
            case path if Path(path).suffix in SUFFIXES:
                return check_network(read_network(path), domain)
            case unknown:
                choices, files = ", ".join(STRUCTURES), ", ".join(SUFFIXES)
                raise UsageError(
                    f"structure {unknown!r} is unknown; use {choices} or a file ({files})"
                )

    @property
    def _learner(self) -> str:
        return str(self.structure or self.default_structure)

    def _size_share(self, curator: Curator) -> Budget:
        """What the number of rows may cost: nothing where it is public or declared."""
        known = curator.public_rows is not None or self.rows is not None
        return curator.budget * (0 if known else _SIZE_SHARE)

    def _size(self, curator: Curator, share: Budget) -> float:
        """The number of rows as far as it is known before anything is measured."""
        if curator.public_rows is not None:
            return curator.public_rows
        if self.rows is not None:
            return self.rows
        [count] = curator.measure([()], share)
        return max(float(count.total), 1.0)

    def _to_make(self, total: float) -> int:
        return max(round(total), 0) if self.rows is None else self.rows

    def _learn_structure(self, curator: Curator, shares: Shares, size: float) -> Network:
        domain = curator.domain
        if len(domain) == 1 or self.degree == 0:
            return Network.without_edges(domain.attributes)
        score = score_for(curator.unit, size, domain, name=self.score)
        weighing = self.weighing(domain, shares.tables, size)
        if self._learner == "greedy":
            names = sum(len(domain.levels(attribute)) for attribute in domain)
            return greedy_network(
                curator,
                shares.structure,
                score=score,
                weighing=weighing,
                degree=self._degree(affordable_degree(names)),
                restrictions=self.restrictions,
            )
        return self._from_pairs(curator, shares.structure, score, weighing)

    def _degree(self, usual: int) -> int:
        """The degree that was asked for, else the usual one, or what required edges need."""
        return max(usual, self.restrictions.most_required) if self.degree is None else self.degree

    def _from_pairs(
        self, curator: Curator, budget: Budget, score: Score, weighing: Weighing
    ) -> Network:
        """A network by one of the learners that see nothing but noisy scores of pairs."""
        domain, name, rules = curator.domain, self._learner, self.restrictions
        most = weighing.most_cells
        pairs = noisy_pair_scores(
            curator,
            budget,
            score,
            most_cells=most,
            restrictions=rules,
            names=search_names(domain, most) if name == "genetic" else None,
        )
        if name == "tree":
            return spanning_tree(pairs, weighing, restrictions=rules)
        if name == "genetic":
            degree = self._degree(USUAL_DEGREE)
            return genetic_network(
                pairs, weighing, degree=degree, restrictions=rules, search=self.search
            )
        if self.theta is not None:
            return capped_network(pairs, most_cells=most, degree=self.degree, restrictions=rules)
        degree = self._degree(len(domain))
        return weighed_network(pairs, weighing, degree=degree, restrictions=rules)

    def weighing(self, domain: Domain, tables: Budget, size: float) -> Weighing:
        """What tables may cost when so much is left for them; public, declared or paid for."""
        unit = self.unit
        if self.theta is not None or self.score in _NOT_IN_ROWS:
            theta = _THETA if self.theta is None else self.theta
            return by_usefulness(domain, tables, unit, rows=size, theta=theta)
        weighing = by_gain(domain, tables, unit, rows=size)
        return weighing if self._counts_rows else in_shares_of(weighing, size)

    @property
    def _counts_rows(self) -> bool:
        """Whether the score is in rows, and not in shares of them."""
        return self.unit.neighbours is Neighbours.ADD_REMOVE


def score_for(unit: Unit, size: float, domain: Domain, *, name: str | None = None) -> Score:
    """The score asked for, when its sensitivity holds for the relation; R or TVD unless asked."""
    rows, binary = round(size), all(n == 2 for n in domain.sizes.values())
    if unit.neighbours is Neighbours.ADD_REMOVE:
        choices = {"TVD": scores.total_variation()}
    else:
        information = scores.mutual_information(rows, binary=binary)
        choices = {"R": scores.r_score(rows), "MI": information, "F": scores.f_score(rows)}
    chosen = name or next(iter(choices))
    if chosen not in choices:
        known = " or ".join(choices)
        raise UsageError(
            f"score {chosen!r} has no sensitivity under {unit.neighbours}; use {known}"
        )
    if chosen == "F" and not binary:
        raise UsageError("score F is for tables of two-valued columns only; use R")
    return choices[chosen]


def in_shares_of(weighing: Weighing, size: float) -> Weighing:
    """A price in rows as one in shares of n, for scores that are divided by n."""
    return Weighing(weighing.price / max(size, 1.0), weighing.most_cells, weighing.noise)


def divide(curator: Curator, size: float, size_share: Budget, *, structure: Fraction) -> Shares:
    """The shares of a fit's stages, from the number of rows, the domain and the budget alone.

    One-way tables get a larger share when, with the least one, they would be far off.
    """
    whole, spent = curator.budget, size_share.amount
    for_structure = structure if len(curator.domain) > 1 else Fraction(0)
    error = one_way_error(curator.domain, whole * _LEAST_ONE_WAY, curator.unit, size)
    wanted = _LEAST_ONE_WAY + Fraction(round(_ONE_WAY_PER_ERROR * min(error, 1.0) * 1000), 1000)
    one_way = min(wanted, _MOST_ONE_WAY)
    left = Budget(whole.measure, whole.amount - spent)
    parts = left.split([one_way, for_structure, 1 - one_way - for_structure])
    return Shares(size_share, *parts)


def one_way_error(domain: Domain, budget: Budget, unit: Unit, size: float) -> float:
    """The mean total variation distance that one-way tables would have from their noise."""
    cells = [domain[attribute] for attribute in domain]
    shares = budget.split(least_error_weights(cells, budget.measure))
    off = [
        0.4 * count * expected_noise(share, unit, tables=1)
        for count, share in zip(cells, shares, strict=True)
    ]
    return sum(off) / len(off) / max(size, 1.0)
