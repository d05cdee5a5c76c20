"""Few features of a row, by fixed weights: all that a noise-layer critic ever sees.

The weights are public, random ones of a public seed, and no private row has a part in them. A
feature vector has norm 1 at most, its label included.
Proof: docs/proofs/noise_gan.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.gan.backend import Tensor, random_from, torch
from understudy.privacy.mechanisms.sampled import UNIT

MOST_FEATURES = 64
# The share of a vector's squared length that tells its label.
_LABEL_SHARE = 0.25
_MARGIN = 1 - 2.0**-12


@dataclass(frozen=True)
class FeatureMap:
    """Projections of an example that fall into the places of its class, and the class itself.

    Attributes:
        length: how many numbers an example has.
        classes: how many labels there are; with one, labels are uninformative and take no place.
        largest: the norm at which an example's projections are cut off.
        seed: of the fixed weights; public.
    """

    length: int
    classes: int
    largest: float
    seed: int = 0

    @property
    def for_labels(self) -> int:
        """Places that say the label."""
        return self.classes if self.classes > 1 else 0

    @property
    def for_each(self) -> int:
        """Projections of each class."""
        found = (MOST_FEATURES - self.for_labels) // self.classes
        if found < 1:
            raise UsageError(
                f"{self.classes} classes leave no room in {MOST_FEATURES} features; "
                "choose a target with fewer, or none"
            )
        return found

    @property
    def size(self) -> int:
        """How many features there are."""
        return self.for_labels + self.classes * self.for_each

    @cached_property
    def weights(self) -> Tensor:
        """Fixed directions at right angles, shorter than one where labels take a share."""
        pytorch = torch()
        count, random = self.for_each, random_from(self.seed)
        drawn = pytorch.randn(self.length, count, generator=random)
        upright = pytorch.linalg.qr(drawn).Q if self.length >= count else drawn
        share = 1 - _LABEL_SHARE if self.for_labels else 1.0
        return upright * (share**0.5 / self.largest)

    def of(self, examples: Tensor, labels: Tensor) -> Tensor:
        """Features of examples, differentiable by them."""
        pytorch = torch()
        known = pytorch.nn.functional.one_hot(labels, self.classes).to(examples.dtype)
        projected = examples.flatten(1) @ self.weights
        placed = (known[:, :, None] * projected[:, None, :]).flatten(1)
        parts = [known * _LABEL_SHARE**0.5, placed] if self.for_labels else [placed]
        features = pytorch.cat(parts, dim=1)
        return features / features.norm(dim=1, keepdim=True).clamp(min=1)

    def lines(self, examples: Tensor, labels: Tensor) -> npt.NDArray[np.int64]:
        """Features in whole units, of norm `UNIT` at most."""
        features = self.of(examples, labels).double().numpy() * (UNIT * _MARGIN)
        return np.asarray(np.trunc(np.nan_to_num(features)), np.int64)

    def chances(self, noisy: npt.NDArray[np.float64]) -> tuple[float, ...]:
        """Estimate the shares of the labels from noisy features: post-processing."""
        if not self.for_labels or len(noisy) == 0:
            return (1.0,) if not self.for_labels else (1 / self.classes,) * self.classes
        means = np.maximum(noisy[:, : self.classes].mean(axis=0), 0.0)
        if means.sum() == 0:
            return (1 / self.classes,) * self.classes
        return tuple(float(share) for share in means / means.sum())
