"""The start of dpgan for tables: what it asks, what it costs, and how rows teach a generator."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from support.torches import adversarial, need_torch
from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.gan.perceptrons import RowMaker
from understudy.gan.row_start import PairShares, RowLessons, RowTeaching
from understudy.gan.tables import DPGAN, TABLE_SETTINGS, NoiseGAN, settings_of
from understudy.gan.training import QUESTION, Hyperparameters
from understudy.models.generator import RowGenerator
from understudy.privacy.preflight import Preflight
from understudy.system.arrays import Integers

SIZES = (2, 3, 2)
SCHEMA = Schema.parse({"columns": {name: {"kind": "boolean"} for name in ("smoker", "coughs")}})


def _drawn(rows: int = 4_000) -> Integers:
    """Two attributes that agree in nine rows of ten, and one on its own."""
    generator = np.random.default_rng(0)
    first, last = (generator.random(rows) < share for share in (0.3, 0.8))
    same = np.where(generator.random(rows) < 0.9, first, ~first)
    return np.stack([first, 2 * same, last], axis=1).astype(np.int64)


def _lessons(steps: int, *, target: int | None) -> RowLessons:
    need_torch()
    return RowLessons(
        generator=RowMaker(SIZES, target),
        rows=_drawn(),
        chances=(1.0,) if target is None else (0.7, 0.3),
        teaching=RowTeaching(steps=steps, batch=256),
    )


def _fitted(method: DPGAN, **terms: object) -> DPGAN:
    rows = {"smoker": [True, False] * 150, "coughs": [True, False] * 150}
    return method.fit(rows, ledger=None, dataset="rows", **terms)  # type: ignore[arg-type]


def test_tables_of_drawn_rows_count_them() -> None:
    """Each cell is the share of rows that have both codes, the last line that of one code."""
    need_torch()
    rows = _drawn()
    [found] = PairShares(SIZES).counted(rows, (0, 1, 2)).numpy()
    starts = (0, 2, 5)
    for place, start in enumerate(starts):
        for code in range(SIZES[place]):
            has = rows[:, place] == code
            assert has.mean() == pytest.approx(found[start + code, -1], abs=1e-6)
            both = (has & (rows[:, 1] == 2)).mean()
            assert both == pytest.approx(found[start + code, starts[1] + 2], abs=1e-6)


def test_made_rows_are_compared_by_the_same_tables() -> None:
    """Chances of 0 and 1 are rows, whichever attributes are compared."""
    torch = need_torch()
    rows, tables = _drawn(50), PairShares(SIZES, 0)
    codes = torch.from_numpy(rows)
    parts = [torch.nn.functional.one_hot(codes[:, place], SIZES[place]) for place in range(3)]
    ones = torch.cat(parts, dim=1).to(torch.float32)
    for chosen in ((0, 1, 2), (1, 2), (2,)):
        expected = tables.counted(rows, chosen).numpy()
        assert np.allclose(expected, tables.expected(ones, codes[:, 0], chosen).numpy())


def test_classes_have_tables_of_their_own() -> None:
    """With a target each class is counted by itself, and all of them add up to the rows."""
    need_torch()
    rows, chosen = _drawn(), (0, 1, 2)
    alone, apart = (PairShares(SIZES, place).counted(rows, chosen) for place in (None, 0))
    assert ((1, 8, 8), (2, 8, 8)) == (tuple(alone.shape), tuple(apart.shape))
    assert np.allclose(alone[0].numpy(), apart.sum(dim=0).numpy(), atol=1e-6)
    few = PairShares(SIZES, 0, cells=100).counted(rows, chosen)
    assert np.array_equal(alone.numpy(), few.numpy())


def test_an_attribute_is_not_compared_with_itself() -> None:
    """A generator cannot say how likely a code meets itself, which is not asked of it."""
    need_torch()
    mask = PairShares(SIZES).apart((0, 1)).numpy()
    assert 0 == mask[:2, :2].sum() == mask[2:5, 2:5].sum()
    assert 36 - 2 * 2 - 3 * 3 == mask.sum()


def test_of_wide_tables_some_attributes_are_compared() -> None:
    """As many as there are places for, others in other steps, and one that is wide by itself."""
    random, sizes = need_torch().Generator().manual_seed(1), (9, 3, 3, 4)
    tables = PairShares(sizes, places=7)
    seen = {tables.compared(random) for _ in range(60)}
    assert {0, 1, 2, 3} == {place for chosen in seen for place in chosen}
    assert all(chosen == (0,) or sum(sizes[c] for c in chosen) <= 7 for chosen in seen)


@pytest.mark.slow
@pytest.mark.parametrize("target", [None, 0])
def test_a_generator_learns_what_goes_together(target: int | None) -> None:
    """After its lessons two attributes agree about as often as in the rows."""
    state = _lessons(400, target=target).play()
    weights = {name: value.numpy().copy() for name, value in state.averaged.items()}
    domain = Domain.of(
        Schema.parse(
            {
                "columns": {
                    name: {"kind": "categorical", "values": [str(code) for code in range(size)]}
                    for name, size in zip("abc", SIZES, strict=True)
                }
            }
        )
    )
    chances = () if target is None else (0.7, 0.3)
    law = RowGenerator(domain, weights, None if target is None else "a", chances)
    codes = law.draw(20_000, np.random.default_rng(1))
    rows = _drawn()
    expected = (2 * rows[:, 0] == rows[:, 1]).mean()
    assert expected == pytest.approx(float((2 * codes["a"] == codes["b"]).mean()), abs=0.06)
    assert rows[:, 2].mean() == pytest.approx(float(codes["c"].mean()), abs=0.06)


@pytest.mark.slow
def test_the_start_is_paid_from_the_same_budget() -> None:
    """First what the default method asks, then the steps of the critic, and in all at most ε."""
    method = _fitted(adversarial(SCHEMA, lessons=2, epsilon=3, delta="1e-5"))
    statement = method.model_.statement
    names = [charge.question for charge in statement.charges]
    first = names.index(QUESTION)
    assert first > 0
    assert {QUESTION} == {*names[first:]}
    assert Fraction(3, 2) < (statement.bound.epsilon or 0) <= 3
    assert statement.bound.delta <= Fraction(1, 10**5)


@pytest.mark.slow
def test_a_preflight_leaves_so_much_less_for_the_critic() -> None:
    """The question comes first, and everything together is within the budget."""
    method = adversarial(SCHEMA, lessons=2, epsilon=3, delta="1e-5")
    found = _fitted(method, preflight=Preflight())
    assert found.fitting_ is not None
    assert (found.model_.statement.bound.epsilon or 0) <= 3


def test_usual_settings_have_a_start() -> None:
    """That of dpgan can be left out; noise-gan has none."""
    need_torch()
    assert TABLE_SETTINGS.lessons > 0
    assert (TABLE_SETTINGS, Hyperparameters()) == (settings_of("dpgan"), settings_of("noise-gan"))
    assert TABLE_SETTINGS == DPGAN(SCHEMA, epsilon=1, delta="1e-6").played
    with pytest.raises(UsageError, match="takes none"):
        NoiseGAN(SCHEMA, epsilon=1, delta="1e-6", settings=Hyperparameters(lessons=3)).check()


def test_the_start_counts_as_memory() -> None:
    """As for the default method itself; without lessons there are no made-up rows."""
    method, domain = adversarial(SCHEMA, lessons=2, epsilon=3, delta="1e-5"), Domain.of(SCHEMA)
    assert method.starting.pool_bytes(domain) == method.pool_bytes(domain) > 0
    assert 0 == adversarial(SCHEMA, epsilon=3, delta="1e-5").pool_bytes(domain)
