"""Features of a noise-layer critic: few, bounded, and public in how they are made."""

from __future__ import annotations

import numpy as np
import pytest

from support.torches import need_torch
from understudy.errors import UsageError
from understudy.gan.features import MOST_FEATURES, FeatureMap
from understudy.privacy.mechanisms.sampled import UNIT

MAPS = {
    "rows": FeatureMap(100, 1, 4.0),
    "rows with a target": FeatureMap(100, 7, 4.0),
    "narrow rows": FeatureMap(3, 1, 2.0),
    "images": FeatureMap.of_images(8, 8, 2),
    "images of ten classes": FeatureMap.of_images(28, 28, 10),
}


@pytest.mark.parametrize("features", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6, float("nan")])
def test_no_line_is_longer_than_a_unit(features: FeatureMap, scale: float) -> None:
    """In exact integers, however large an example is; and there are at most 64 features."""
    torch = need_torch()
    examples = torch.randn(50, features.length, generator=torch.Generator().manual_seed(1)) * scale
    lines = features.lines(examples, torch.arange(50) % features.classes, torch.arange(50))
    assert (50, features.size) == lines.shape
    assert features.size <= MOST_FEATURES
    assert max(sum(int(cell) ** 2 for cell in line) for line in lines) <= UNIT**2


def test_too_many_classes_are_refused() -> None:
    """They would leave no room for anything else."""
    with pytest.raises(UsageError, match="leave no room"):
        _ = FeatureMap(100, 60, 1.0).for_each


def test_shares_of_classes_are_read_off_noisy_lines() -> None:
    """As far as noise allows; without any line they are equal."""
    torch = need_torch()
    features = MAPS["rows with a target"]
    labels = torch.tensor([0] * 600 + [1] * 300 + [2] * 100)
    exact = features.lines(torch.zeros(1000, 100), labels, torch.arange(1000)) / UNIT
    noisy = exact + np.random.default_rng(1).normal(0, 0.1, exact.shape)
    expected = [0.6, 0.3, 0.1, 0, 0, 0, 0]
    assert expected == pytest.approx(list(features.chances(noisy)), abs=0.03)
    assert (1 / 7,) * 7 == features.chances(noisy[:0])


def test_waves_are_slow_and_the_same_for_everybody() -> None:
    """No two maps of a shape differ; directions are at right angles, one of them constant."""
    need_torch()
    first, second = (FeatureMap.of_images(28, 28, 10).weights.numpy() for _ in range(2))
    assert first.tolist() == second.tolist()
    gram = first.T @ first
    assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-6
    assert 1 == sum(np.ptp(column) < 1e-7 for column in first.T)


def test_groups_see_other_directions_by_turns() -> None:
    """A line has the features of its place's group; apart, every group has its own places."""
    torch = need_torch()
    features = FeatureMap.of_images(28, 28, 10)
    assert (10, 5, 510) == (features.groups, features.for_each, features.spread)
    examples = torch.rand(1, 1, 28, 28, generator=torch.Generator().manual_seed(1)).expand(
        20, 1, 28, 28
    )
    places, labels = torch.arange(20), torch.zeros(20, dtype=torch.int64)
    found = features.of(examples, labels, places)
    assert found[:10].tolist() == found[10:].tolist()
    assert 10 == len({tuple(line) for line in found.tolist()})
    told = features.apart(found, places)[:, 10:].unflatten(1, (10, 50))
    for place in range(10):
        assert [place] == told[place].abs().sum(dim=1).nonzero().flatten().tolist()
        assert found[place, 10:].tolist() == told[place, place].tolist()
