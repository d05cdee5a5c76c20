"""Networks fitted to released tables, and to pools of made-up rows: all of it is free.

A tree is fitted to noisy tables of pairs. A network with more parents is fitted to a pool that was
re-weighted by all tables: the pool costs nothing, so that its families may be large.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes, Domain
from understudy.models.conditional import Conditional
from understudy.models.estimation.consistency import onto_simplex
from understudy.models.network import Family
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, raked
from understudy.system.arrays import Floats, Probabilities

# Of every line of a tree's table this part is the child's own distribution, so that no
# combination of codes is without rows.
_ALONE = 0.02
_TREE_SWEEPS = 15
# A parent is seen as finely as this, or as its finest copy below it.
_MOST_CODES = 128
_DEGREE, _MOST_CELLS = 4, 20_000
# A line of a table is as uncertain as if this many rows were those of one parent less.
_PRIOR_ROWS = 5.0
# Cells that no rows can fill cost nothing: this many rows are thought of for each that is.
_ROWS_PER_CELL = 5.0

ScoredPair = tuple[float, Attributes, Floats]


def one_way_shares(aims: Sequence[Aim], total: float) -> dict[str, Probabilities]:
    """The distribution of every attribute on its own: not negative, adding up to one."""
    single = {aim.attributes[0]: aim for aim in aims if len(aim.attributes) == 1}
    return {name: _shares(aim.counts, total) for name, aim in single.items()}


def _shares(counts: Floats, total: float) -> Probabilities:
    found = onto_simplex(counts, max(total, 1.0))
    return np.asarray(found / found.sum())


def fitted_tree(aims: Sequence[Aim], domain: Domain, total: float) -> tuple[Conditional, ...]:
    """The tree of the strongest pairs among those that tables hold (Chow, Liu 1968).

    Each pair is fitted by itself, to its two attributes and its own table, shrunk to independence
    by what the table shows beyond its noise.
    """
    alone = one_way_shares(aims, total)
    pairs = [aim for aim in aims if len(aim.attributes) == 2]
    edges = [_edge(aim, alone, domain, total) for aim in pairs]
    edges = sorted((edge for edge in edges if edge[0] > 0), key=lambda edge: -edge[0])
    return _rooted(_spanning(edges, domain), alone, domain)


def _edge(aim: Aim, alone: Mapping[str, Probabilities], domain: Domain, total: float) -> ScoredPair:
    """The mutual information of a pair, in rows, and its table."""
    bases = [domain.base(name) for name in aim.attributes]
    shares = [
        Axes((base,)).project(alone[base], (name,), domain)
        for base, name in zip(bases, aim.attributes, strict=True)
    ]
    apart = np.multiply.outer(*shares)
    beyond = ((aim.counts - total * apart) ** 2).sum() - aim.variance * apart.size
    if beyond <= 0 or total <= 0:
        return 0.0, aim.attributes, apart
    weights = _pair(aim, shares, total)
    seen = (weights > 0) & (apart > 0)
    gain = float((weights[seen] * np.log(weights[seen] / apart[seen])).sum())
    return max(gain, 0.0) * total, aim.attributes, weights


def _pair(aim: Aim, shares: Sequence[Probabilities], total: float) -> Probabilities:
    """A pair's own table, raked cell by cell: a pool that has every combination once."""
    names = ("first", "second")
    small = Domain(dict(zip(names, aim.counts.shape, strict=True)))
    grid = np.indices(aim.counts.shape).reshape(2, -1).astype(np.uint16)
    weights = np.maximum(np.multiply.outer(*shares).ravel() * total, 1e-9)
    pool = Pool(small, dict(zip(names, grid, strict=True)), weights)
    single = [
        Aim.of((name,), share * total, 1e-6, spread=1.0)
        for name, share in zip(names, shares, strict=True)
    ]
    both = Aim.of(names, aim.counts, aim.variance)
    found, _ = raked(pool, [both, *single], sweeps=_TREE_SWEEPS, loose=True)
    return found.weights.reshape(aim.counts.shape) / found.total


def _spanning(
    edges: Sequence[ScoredPair], domain: Domain
) -> dict[str, list[tuple[Attributes, Floats]]]:
    """Edges that close no circle, strongest first, by the attributes at their ends."""
    group = {attribute: attribute for attribute in domain}
    found: dict[str, list[tuple[Attributes, Floats]]] = {attribute: [] for attribute in domain}
    for _, names, table in edges:
        one, other = (domain.base(name) for name in names)
        if group[one] == group[other]:
            continue
        before = group[other]
        group = {a: group[one] if g == before else g for a, g in group.items()}
        found[one].append((names, table))
        found[other].append((names[::-1], table.T))
    return found


def _rooted(
    edges: Mapping[str, list[tuple[Attributes, Floats]]],
    alone: Mapping[str, Probabilities],
    domain: Domain,
) -> tuple[Conditional, ...]:
    """The conditionals of a forest, each tree from its first attribute."""
    found: dict[str, Conditional] = {}
    for root in domain:
        if root in found:
            continue
        found[root] = Conditional.from_weights(Family(root), alone[root])
        waiting = [root]
        while waiting:
            for names, table in edges[waiting.pop()]:
                child = domain.base(names[1])
                if child not in found:
                    found[child] = _given_parent(names, table, alone[child], domain)
                    waiting.append(child)
    return tuple(found.values())


def _given_parent(
    names: Attributes, table: Floats, own: Probabilities, domain: Domain
) -> Conditional:
    coarse = Axes((domain.base(names[1]),)).project(own, (names[1],), domain)
    lines = Conditional.from_weights(Family("child", ("parent",)), table, fallback=coarse)
    mixed = (1 - _ALONE) * lines.probabilities + _ALONE * coarse
    family = Family.over(names, domain)
    return Conditional(family, mixed, shares_within(names[1], own, domain))


def shares_within(name: str, own: Probabilities, domain: Domain) -> Probabilities | None:
    """The share of every code in its group, where a name is a coarser copy; all alike if empty."""
    if name not in domain.coarser:
        return None
    groups = domain.coarser[name].groups
    sums, alike = np.bincount(groups, own)[groups], 1 / np.bincount(groups)[groups]
    return np.divide(own, sums, out=alike, where=sums > 0)


@dataclass
class _Entropies:
    """Entropies of a pool's tables, in nats times the rows that the pool is worth."""

    pool: Pool
    rows: float
    known: dict[frozenset[str], float] = field(default_factory=dict)

    def of(self, names: Sequence[str]) -> float:
        key = frozenset(names)
        if not key:
            return 0.0
        if key not in self.known:
            shares = self.pool.project(tuple(sorted(key))).ravel() / self.pool.total
            seen = shares[shares > 0]
            self.known[key] = -self.rows * float((seen * np.log(seen)).sum())
        return self.known[key]

    def shared(self, one: str, other: str) -> float:
        """Return the mutual information of two names."""
        return self.of([one]) + self.of([other]) - self.of([one, other])

    def gain(self, child: str, parents: Sequence[str], more: str) -> float:
        """How much better a child is known by one more parent."""
        before = self.of([*parents, child]) - self.of(parents)
        return before - (self.of([*parents, more, child]) - self.of([*parents, more]))


def refitted_network(
    pool: Pool,
    measured: Sequence[Attributes],
    *,
    last: Collection[str] = (),
    degree: int = _DEGREE,
) -> tuple[Conditional, ...]:
    """A network of several parents, fitted to a weighted pool.

    Args:
        pool: made-up rows with weights.
        measured: tables that were released; a parent shares one with its child.
        last: attributes that come after all others and are not parents.
        degree: the most parents.
    """
    domain, entropies = pool.domain, _Entropies(pool, pool.effective)
    names = {attribute: seen_as(attribute, domain) for attribute in domain}
    near = _near(measured, domain)
    first = {a: near[a].difference(last) for a in domain if a not in last}
    order = _in_order({a: names[a] for a in first}, first, entropies)
    families: list[Attributes] = []
    for child, placed in [*order, *((name, [*first]) for name in last)]:
        axes = [names[p] for p in placed if p in near[child]]
        families.append((*_parents(names[child], axes, entropies, degree), names[child]))
    return tuple(_smoothed(pool, family) for family in families)


def seen_as(attribute: str, domain: Domain) -> str:
    """The name under which an attribute is seen in tables: the finest copy of few codes."""
    levels = domain.levels(attribute)
    return next((name for name in levels if domain[name] <= _MOST_CODES), levels[-1])


def _near(measured: Sequence[Attributes], domain: Domain) -> dict[str, set[str]]:
    """For every attribute, those with which it shares a table."""
    found: dict[str, set[str]] = {attribute: set() for attribute in domain}
    for table in measured:
        bases = [domain.base(name) for name in table]
        for one, other in itertools.permutations(bases, 2):
            found[one].add(other)
    return found


def _in_order(
    names: Mapping[str, str], near: Mapping[str, set[str]], entropies: _Entropies
) -> list[tuple[str, list[str]]]:
    """Attributes, each with those before it: next comes the one that is tied most strongly."""
    ties = {
        frozenset((a, b)): entropies.shared(names[a], names[b])
        for a, others in near.items()
        for b in others
        if a < b
    }
    left, placed = [*names], list[str]()
    best = {a: sum(ties.get(frozenset((a, b)), 0.0) for b in near[a]) for a in names}
    found = []
    while left:
        child = max(left, key=best.__getitem__)
        found.append((child, [*placed]))
        if not placed:
            best = dict.fromkeys(names, 0.0)
        placed.append(child)
        left.remove(child)
        for other in near[child]:
            best[other] = max(best[other], ties[frozenset((child, other))])
    return found


def _parents(child: str, offered: Sequence[str], entropies: _Entropies, degree: int) -> Attributes:
    """The parents that explain most, while each explains more than its cells could by chance."""
    domain, parents, left = entropies.pool.domain, list[str](), list(offered)
    while left and len(parents) < degree:
        cells = domain.cells((*parents, child))
        gains = {name: _surplus(child, parents, name, cells, entropies) for name in left}
        best = max(left, key=gains.__getitem__)
        if gains[best] <= 0:
            break
        parents.append(best)
        left.remove(best)
    return tuple(parents)


def _surplus(
    child: str, parents: Sequence[str], more: str, cells: int, entropies: _Entropies
) -> float:
    """Return the gain of one more parent, less the gain that chance alone would show."""
    domain = entropies.pool.domain
    wider = cells * domain[more]
    if wider > _MOST_CELLS:
        return -np.inf
    free = (wider - cells) * (1 - 1 / domain[child])
    by_chance = 0.5 * min(free, entropies.rows / _ROWS_PER_CELL)
    return entropies.gain(child, parents, more) - by_chance


def _smoothed(pool: Pool, axes: Attributes) -> Conditional:
    """P(child | parents) from weighted rows; rare lines lean on those of one parent less."""
    *parents, child = axes
    rows = pool.effective / pool.total
    base = pool.domain.base(child)
    own = pool.project((child,)) + 1e-9 * pool.total
    chances = own / own.sum()
    for count in range(1, len(parents) + 1):
        seen = pool.project((*parents[:count], child)) * rows
        lean = np.broadcast_to(chances[..., None, :], seen.shape)
        chances = (seen + _PRIOR_ROWS * lean) / (seen.sum(-1, keepdims=True) + _PRIOR_ROWS)
    within = shares_within(child, pool.project((base,)), pool.domain)
    return Conditional(Family.over(axes, pool.domain), chances, within)
