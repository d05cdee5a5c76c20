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
}


@pytest.mark.parametrize("features", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6, float("nan")])
def test_no_line_is_longer_than_a_unit(features: FeatureMap, scale: float) -> None:
    """In exact integers, however large an example is; and there are at most 64 features."""
    torch = need_torch()
    examples = torch.randn(50, features.length, generator=torch.Generator().manual_seed(1)) * scale
    lines = features.lines(examples, torch.arange(50) % features.classes)
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
    exact = features.lines(torch.zeros(1000, 100), labels) / UNIT
    noisy = exact + np.random.default_rng(1).normal(0, 0.1, exact.shape)
    expected = [0.6, 0.3, 0.1, 0, 0, 0, 0]
    assert expected == pytest.approx(list(features.chances(noisy)), abs=0.03)
    assert (1 / 7,) * 7 == features.chances(noisy[:0])


def test_weights_are_the_same_for_everybody() -> None:
    """No two maps of a shape differ; directions are at right angles."""
    need_torch()
    first, second = (FeatureMap(100, 7, 4.0).weights.numpy() for _ in range(2))
    assert first.tolist() == second.tolist()
    gram = first.T @ first
    assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-6
