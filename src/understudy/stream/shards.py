"""Shards: states of several parts of one stream, answered for together.

Where no user is in more than one part, every shard runs at the whole ε, and sums add up. Where
users may be in several, each of S shards runs at ε/S, and the answer counts how many ones each user
has over the shards. Proof and error analysis: docs/proofs/pan_private.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from understudy.errors import UsageError
from understudy.privacy.accounting.events import Charge
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.privacy.noise.system import Noise, SystemNoise
from understudy.privacy.spending.grant import Grant
from understudy.stream.density import DistinctCount, worded
from understudy.stream.design import Design
from understudy.stream.state import State, check_answers_left
from understudy.stream.union import Union, entries_variance, possible, product_weights
from understudy.stream.universe import Range, Sketch
from understudy.system.arrays import Integers

_CHUNK = 1 << 20


def merged(
    shards: Sequence[State], grant: Grant, *, disjoint: bool = False, noise: Noise | None = None
) -> DistinctCount:
    """One answer for all shards, counted as an answer of each.

    Privacy: charged as one answer. The caller must ensure, where `disjoint`, that no user is in
    more than one shard; states started as shards of shared users need no such word.
    """
    design = _common(shards, disjoint=disjoint)
    mechanism = _noise(design, disjoint=disjoint)
    number = max(shard.given for shard in shards) + 1
    question = f"density of {len(shards)} shards, answer {number} of {design.answers}"
    grant.charge([Charge(question, mechanism.event)])
    for shard in shards:
        shard.count_answer()
    merge = _disjoint_union if disjoint else _shared_union
    answer = worded(shards[0], merge(shards, mechanism, noise or SystemNoise()))
    # Disjoint or not, a user's states cost ε together.
    return replace(answer, epsilon_state=design.epsilon, epsilon_total=2 * design.epsilon)


def _noise(design: Design, *, disjoint: bool) -> DiscreteLaplace:
    """A user moves one sum by an entry, or one unit from one number of ones to another."""
    sensitivity = Fraction(design.response.sensitivity if disjoint else 2)
    return DiscreteLaplace.costing(design.answer_epsilon, sensitivity=sensitivity)


def _disjoint_union(shards: Sequence[State], mechanism: DiscreteLaplace, noise: Noise) -> Union:
    design, response = shards[0].design, shards[0].design.response
    total = np.array([sum(shard.live.total for shard in shards)])
    released = float(mechanism.release(total, noise)[0])
    spread = design.sample * response.gap
    density = (released - len(shards) * design.sample * response.mean) / spread
    # Every user has an entry in every shard, and in all but one of them it is as drawn at first.
    entries = (len(shards) - 1) * response.variance(0.0) + response.variance(possible(density))
    variance = (entries * design.sample + mechanism.variance) / spread**2
    return Union.of(design, density, variance)


def _shared_union(shards: Sequence[State], mechanism: DiscreteLaplace, noise: Noise) -> Union:
    design = shards[0].design
    counts = mechanism.release(_ones(shards), noise)
    weights = product_weights(design.response, len(shards))
    density = 1 - float((weights * counts).sum()) / design.sample
    entries = entries_variance(design, density, float((weights**2 * counts).sum()))
    answer = float((weights**2).sum()) * mechanism.variance / design.sample**2
    return Union.of(design, density, entries + answer)


def _ones(shards: Sequence[State]) -> Integers:
    """How many users have 0, 1, ... ones over the shards."""
    sample, counts = shards[0].design.sample, np.zeros(len(shards) + 1, np.int64)
    for start in range(0, sample, _CHUNK):
        end = min(start + _CHUNK, sample)
        ones = np.zeros(end - start, np.int64)
        for shard in shards:
            ones += shard.live.levels(start, end)
        counts += np.bincount(ones, minlength=counts.size)
    return counts


def _common(shards: Sequence[State], *, disjoint: bool) -> Design:
    """The terms that all shards share; anything that keeps them from being merged is refused."""
    if not shards:
        raise UsageError("no shards were given; name the state files of all of them")
    design = shards[0].design
    if isinstance(design.universe, Sketch):
        raise UsageError("sketches cannot be merged; start the shards on a hash space instead")
    if any(_terms(shard.design) != _terms(design) for shard in shards):
        raise UsageError(
            "the shards were started on different terms or keys; start every one like the first"
        )
    if any(len(shard.epochs) > 1 for shard in shards):
        raise UsageError("a shard has been through an announced intrusion; it cannot be merged")
    _check_number(design, len(shards), disjoint=disjoint)
    for shard in shards:
        check_answers_left(shard)
    return design


def _check_number(design: Design, shards: int, *, disjoint: bool) -> None:
    if disjoint and design.shards != 1:
        raise UsageError("these are shards of shared users; merge them as such")
    if not disjoint and design.shards != shards:
        raise UsageError(
            f"{shards} states were given, started as {design.shards}; give all of them, or say "
            "that they are disjoint if no user is in more than one"
        )
    if not disjoint and design.response.levels > 2:
        raise UsageError("shards of shared users are merged only for entries of two levels")


def _terms(design: Design) -> tuple[object, ...]:
    """All that shards must agree in: not the key, where places do not depend on it."""
    universe = design.universe
    ordered = design.sample < universe.size or universe.kind not in ("range", "edges")
    first = universe.first if isinstance(universe, Range) else 0
    place = (universe.kind, universe.size, first, universe.key if ordered else "")
    terms = (design.epsilon, design.answers, design.estimator, design.levels, design.sample)
    return *place, *terms, design.shards
