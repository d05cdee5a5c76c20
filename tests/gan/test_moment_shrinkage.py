"""Covariances of released moments: exact without noise, and pooled where noise drowns them."""

from __future__ import annotations

import numpy as np

from understudy.gan.moment_release import NoisyMoments
from understudy.gan.moment_shrinkage import gaussians
from understudy.system.arrays import Floats

COUNTS = np.array([400.0, 100.0])
COVARIANCES = np.array([np.diag([0.3, 0.1, 0.1]), np.diag([0.1, 0.3, 0.1])])


def _covariances(noise: float) -> Floats:
    """What is left of two covariances that differ, with so much noise said to be on them."""
    products = COVARIANCES * COUNTS[:, None, None]
    moments = NoisyMoments(counts=COUNTS, sums=np.zeros((2, 3)), products=products, deviation=noise)
    roots = gaussians(moments).roots
    return np.asarray(roots @ roots.transpose(0, 2, 1))


def test_without_noise_nothing_is_shrunk() -> None:
    """Each covariance is its own."""
    assert np.allclose(COVARIANCES, _covariances(0.0))


def test_under_much_noise_all_are_the_pooled_one() -> None:
    """Where noise is as large as the counts the two are alike."""
    first, second = _covariances(10.0)
    assert np.abs(first - second).max() < 0.1 * np.abs(COVARIANCES[0] - COVARIANCES[1]).max()


def test_an_empty_class_is_never_drawn() -> None:
    """A count below zero has no weight, and its covariance is finite."""
    counts = np.array([50.0, -3.0])
    moments = NoisyMoments(
        counts=counts, sums=np.zeros((2, 3)), products=COVARIANCES, deviation=1.0
    )
    found = gaussians(moments)
    assert [50.0, 0.0] == found.weights.tolist()
    assert np.isfinite(found.roots).all()


def test_gaussians_are_made_wider_where_they_are_seen() -> None:
    """Without noise every direction is twice as wide; under much noise none is."""
    products = COVARIANCES * COUNTS[:, None, None]
    for noise, times in ((0.0, 4.0), (1e4, 1.0)):
        moments = NoisyMoments(
            counts=COUNTS, sums=np.zeros((2, 3)), products=products, deviation=noise
        )
        usual, wide = (gaussians(moments, wider=wider).roots for wider in (1.0, 2.0))
        spread = [np.einsum("kij,kij->k", roots, roots) for roots in (usual, wide)]
        assert np.allclose(times * spread[0], spread[1])
