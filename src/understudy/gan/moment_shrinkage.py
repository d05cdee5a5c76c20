"""Gaussian laws of released moments: covariances are shrunk by as much noise as they have.

All of it is post-processing of released numbers, and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.gan.moment_release import NoisyMoments
from understudy.system.arrays import Floats

# How far covariances of classes may differ from the pooled one, entry by entry and squared, and
# the least share of the largest variance that is kept. Chosen on held-out training images.
_MOST_APART = 0.05
_LEAST_APART = 1e-4
_FLOOR = 1e-4


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """Gaussians in the space of vectors: how often each is drawn, its mean, and its root.

    Attributes:
        weights: how many images each stands for, by the noisy counts.
        means: a line each.
        roots: a square root of each covariance.
    """

    weights: Floats
    means: Floats
    roots: Floats


def gaussians(moments: NoisyMoments, *, wider: float = 1.0) -> GaussianMixture:
    """The laws of all centres, each covariance between its own and the pooled one.

    Args:
        moments: released.
        wider: makes Gaussians wider, along directions that are seen above their noise.
    """
    counts = np.maximum(moments.counts, 1.0)
    means = _shrunk_means(moments, counts)
    own = moments.products / counts[:, None, None] - means[:, :, None] * means[:, None, :]
    values, vectors, seen = _pooled(moments, counts, own)
    spread = np.sqrt(values) * np.where(seen, wider, 1.0)
    roots = np.stack(
        [
            _root(
                _towards(mine, values, vectors * spread, vectors, noise=moments.deviation / count)
            )
            for mine, count in zip(own, counts, strict=True)
        ]
    )
    weights = np.maximum(moments.counts, 0.0)
    return GaussianMixture(weights if weights.sum() > 0 else np.ones_like(weights), means, roots)


def _shrunk_means(moments: NoisyMoments, counts: Floats) -> Floats:
    """Means, cut to norm 1: no vector is longer."""
    means = moments.sums / counts[:, None]
    return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1.0))


def _pooled(
    moments: NoisyMoments, counts: Floats, own: Floats
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Variances and directions of all centres together, less the edge of their noise, and which
    of them are seen above it.

    Source: the eigenvalues of symmetric Gaussian noise of deviation s off the diagonal reach
    2s·√d; one of λ above it is seen at λ + s²d/λ (Baik, Ben Arous, Péché).
    """
    total = counts.sum()
    together = (own * counts[:, None, None]).sum(axis=0) / total
    noise = moments.deviation * np.sqrt(len(counts)) / total / np.sqrt(2)
    edge = 2 * noise * np.sqrt(len(together))
    seen, vectors = np.linalg.eigh(together)
    true = (seen + np.sqrt(np.maximum(seen * seen - edge * edge, 0.0))) / 2
    values = np.where(seen > edge, true, 0.0)
    floor = max(values.max() * _FLOOR, edge / 4, 1e-9)
    return np.maximum(values, floor), vectors, seen > edge


def _towards(own: Floats, values: Floats, back: Floats, vectors: Floats, *, noise: float) -> Floats:
    """A covariance whose entries differ from the pooled ones as far as their noise allows.

    `back` leads from the basis in which the pooled covariance is 1 to that of vectors.

    In the basis in which the pooled covariance is 1, an entry that truly differs by τ² on average
    and has noise v is multiplied by τ²/(τ² + v), the best linear estimate. τ² is read off all
    entries together.
    """
    identity = np.eye(len(values))
    whiten = vectors / np.sqrt(values)
    apart = whiten.T @ own @ whiten - identity
    variance = noise * noise / 2 / np.outer(values, values) * (1 + identity)
    weight = 1 / (variance + _MOST_APART) ** 2
    found = (weight * (apart * apart - variance)).sum() / weight.sum()
    true = np.clip(found, _LEAST_APART, _MOST_APART)
    return np.asarray(back @ (identity + apart * (true / (true + variance))) @ back.T)


def _root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, values.max() * _FLOOR / 10)))
