"""Tables made consistent: they agree, are possible, and are nearer to the truth."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from support.tiers import full_but
from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes, Domain
from understudy.models.estimation import consistency
from understudy.models.estimation.consistency import Estimate, made_consistent
from understudy.privacy.noisy_marginal import NoisyMarginal

Table = npt.NDArray[np.float64]

SIZES = dict(zip("abcdefg", (2, 3, 2, 4, 2, 3, 2), strict=True))
# Mission, section 4: agreeing on pairwise intersections alone fails here.
NEEDS_CLOSURE: list[Attributes] = [tuple("abdf"), tuple("afg"), tuple("defg")]


def _noisy(sets: Sequence[Attributes], seed: int, *, rows: float = 200) -> list[NoisyMarginal]:
    """Tables that never saw the same rows: random counts with many negative ones."""
    generator = np.random.default_rng(seed)
    tables = []
    for attributes in sets:
        shape = tuple(SIZES[a] for a in attributes)
        scale = 10 ** generator.uniform(-1, 2)
        shares = generator.dirichlet(np.full(int(np.prod(shape)), 0.3)).reshape(shape)
        counts = np.rint(rows * shares + scale * generator.standard_normal(shape))
        tables.append(NoisyMarginal(attributes, counts.astype(np.int64), scale**2))
    return tables


def _random_family(generator: np.random.Generator) -> list[Attributes]:
    """Random sets of attributes, some of them nested, cyclic, repeated or in another order."""
    kind = generator.integers(5)
    names = generator.permutation(list(SIZES)).tolist()
    if kind == 0:
        return [tuple(names[: size + 1]) for size in generator.permutation(4)]
    if kind == 1:
        length = int(generator.integers(3, 8))
        return [(names[i], names[(i + 1) % length]) for i in range(length)]
    count = int(generator.integers(1, 7))
    sets = [
        tuple(generator.choice(names, int(generator.integers(0, 5)), replace=False).tolist())
        for _ in range(count)
    ]
    if kind == 2:
        return [*sets, *(tuple(reversed(s)) for s in sets)]
    if kind == 3:
        return [tuple(names[:2]), tuple(names[2:4]), tuple(names[4:6]), *sets[:1]]
    return sets


def _seen(estimate: Estimate, names: Attributes) -> Table:
    return Axes(estimate.attributes).project(estimate.counts, names, Domain(SIZES))


def _largest_disagreement(estimates: Sequence[Estimate]) -> float:
    """Over all pairs of tables and all they share, the largest difference of a cell."""
    worst = 0.0
    for first, second in itertools.combinations(estimates, 2):
        shared = tuple(sorted(set(first.attributes) & set(second.attributes)))
        difference = _seen(first, shared) - _seen(second, shared)
        worst = max(worst, float(np.abs(difference).max()))
    return worst


@pytest.mark.parametrize("count", full_but({80}, [80, 1000]))
def test_many_families_of_tables_become_consistent(count: int) -> None:
    """Nested, cyclic, overlapping, repeated, disjoint: all agree, are possible, and add up."""
    generator = np.random.default_rng(0)
    for seed in range(count):
        sets = _random_family(generator)
        total = float(10 ** generator.uniform(-1, 5))
        estimates = made_consistent(_noisy(sets, seed, rows=total), total)
        tolerance = 1e-9 * max(total, 1.0)
        assert len({frozenset(s) for s in sets}) == len(estimates)
        # Raking ends when agreement is reached, or after so many rounds.
        assert _largest_disagreement(estimates) <= 1e-6 * max(total, 1.0), sets
        for estimate in estimates:
            assert (estimate.counts >= 0).all(), sets
            assert total == pytest.approx(float(estimate.counts.sum()), abs=tolerance)


@pytest.mark.parametrize("seed", range(20))
def test_the_family_that_needs_the_closure(seed: int) -> None:
    """{0,1,3,5}, {0,5,6}, {3,4,5,6} agree on everything they share."""
    estimates = made_consistent(_noisy(NEEDS_CLOSURE, seed), 200.0)
    assert _largest_disagreement(estimates) <= 200e-8


def test_without_the_closure_that_family_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The printed algorithm, pairwise intersections alone, leaves tables that disagree."""

    def pairwise(sets: Sequence[frozenset[str]], _: Domain) -> list[Attributes]:
        shared = {frozenset[str](), *(a & b for a, b in itertools.combinations(list(sets), 2))}
        return sorted((tuple(sorted(s)) for s in shared), key=lambda s: (len(s), s))

    sure = [
        NoisyMarginal(t.attributes, t.counts + 1000, t.variance) for t in _noisy(NEEDS_CLOSURE, 1)
    ]
    assert _largest_disagreement(made_consistent(sure, 1e4)) <= 1e-5
    monkeypatch.setattr(consistency, "_closed_under_meets", pairwise)
    assert _largest_disagreement(made_consistent(sure, 1e4)) > 1


def _joint(seed: int) -> Table:
    """Integer counts over all attributes, many of them zero."""
    generator = np.random.default_rng(seed)
    shape = tuple(SIZES.values())
    shares = generator.dirichlet(np.full(int(np.prod(shape)), 0.05))
    return np.asarray(generator.multinomial(5000, shares).reshape(shape), np.float64)


def _projected(joint: Table, attributes: Attributes) -> Table:
    return Axes(tuple(SIZES)).project(joint, attributes, Domain(SIZES))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_consistent_stays_as_it_is(seed: int) -> None:
    """Projections of one table, zeros included, come back unchanged."""
    joint = _joint(seed)
    sets = _random_family(np.random.default_rng(seed))
    given = [NoisyMarginal(s, _projected(joint, s).astype(np.int64), 1.0 + len(s)) for s in sets]
    for estimate in made_consistent(given, 5000.0):
        change = estimate.counts - _projected(joint, estimate.attributes)
        assert np.abs(change).max() < 1e-6


def test_the_more_precise_table_pulls_harder() -> None:
    """Two tables that share an attribute meet at their inverse-variance mean."""
    precise = NoisyMarginal(("a",), np.array([60, 40]), 1.0)
    # Each sum of three cells has variance 9.
    vague = NoisyMarginal(("a", "b"), np.array([[30, 10, 10], [20, 15, 15]]), 3.0)
    for estimate in made_consistent([precise, vague], 100.0):
        assert [59.0, 41.0] == pytest.approx(_seen(estimate, ("a",)).tolist())
    [_, spread] = made_consistent([precise, vague], 100.0)
    assert [33.0, 13.0, 13.0] == pytest.approx(spread.counts[0].tolist())


def test_releases_of_one_table_are_merged_by_inverse_variance() -> None:
    """Whatever the order of their axes; the merged table is more precise than either."""
    first = NoisyMarginal(("a", "c"), np.array([[40, 20], [20, 20]]), 1.0)
    second = NoisyMarginal(("c", "a"), np.array([[44, 16], [24, 16]]), 3.0)
    [merged] = made_consistent([first, second], 100.0)
    assert ("a", "c") == merged.attributes
    assert [41.0, 21.0, 19.0, 19.0] == pytest.approx(merged.counts.ravel().tolist())
    assert 0.75 == merged.variance


@pytest.mark.parametrize("exact_first", [True, False])
def test_exact_tables_win(exact_first: bool) -> None:
    """A table without noise decides, but for a millionth of the rows that the mixture may take."""
    exact = NoisyMarginal(("a",), np.array([70, 30]), 0.0)
    again = NoisyMarginal(("a",), np.array([20, 80]), 5.0)
    joint = NoisyMarginal(("a", "b"), np.array([[9, 5, 1], [9, 50, 26]]), 5.0)
    tables = [exact, again, joint] if exact_first else [joint, again, exact]
    for estimate in made_consistent(tables, 100.0):
        assert [70.0, 30.0] == pytest.approx(_seen(estimate, ("a",)).tolist(), abs=1e-4)


@pytest.mark.parametrize("total", [0.0, -3.0])
def test_no_rows_are_zeros(total: float) -> None:
    """A total of nothing, or of less, leaves nothing."""
    for estimate in made_consistent(_noisy(NEEDS_CLOSURE, 2), total):
        assert (estimate.counts == 0).all()


def test_a_table_of_no_attributes_is_the_total() -> None:
    """The number of rows is a table too, and says what all must add up to."""
    [rows, ages] = made_consistent(
        [NoisyMarginal((), np.array(7), 1.0), NoisyMarginal(("a",), np.array([3, 9]), 1.0)], 10.0
    )
    assert 10.0 == float(rows.counts)
    assert [2.0, 8.0] == ages.counts.tolist()


def _clipped(marginal: NoisyMarginal, total: float) -> Table:
    """What many tools do: negatives to zero, then rescale."""
    positive = np.maximum(marginal.counts, 0).astype(np.float64)
    return np.asarray(positive * (total / max(positive.sum(), 1)))


@pytest.mark.parametrize("scale", [3.0, 30.0])
def test_consistency_lowers_the_error(scale: float) -> None:
    """On noisy tables of a known distribution, by at least a tenth against clip-and-rescale."""
    sets: list[Attributes] = [tuple("abdf"), tuple("afg"), tuple("defg"), ("a",), ("d",), ("c",)]
    ours, plain = [], []
    for seed in range(20):
        generator = np.random.default_rng(seed)
        joint = _joint(seed)
        truth = [_projected(joint, s) for s in sets]
        noisy = [
            NoisyMarginal(
                s, np.rint(t + scale * generator.standard_normal(t.shape)).astype(int), scale**2
            )
            for s, t in zip(sets, truth, strict=True)
        ]
        consistent = made_consistent(noisy, 5000.0)
        ours.append(
            [np.abs(e.counts - t).sum() / 2 for e, t in zip(consistent, truth, strict=True)]
        )
        plain.append(
            [np.abs(_clipped(m, 5000.0) - t).sum() / 2 for m, t in zip(noisy, truth, strict=True)]
        )
    assert np.mean(ours) < 0.9 * np.mean(plain)
    assert (np.mean(ours, axis=0)[:3] < np.mean(plain, axis=0)[:3]).all()
