"""Few features of an example, by fixed weights: all that a noise-layer critic ever sees.

The weights are public, random ones of a public seed or cosine waves, and no private example has a
part in them. Which of several sets of weights an example gets depends on its place alone, which
replacing an example does not change. A feature vector has norm 1 at most, its label included.
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
_IMAGE_GROUPS = 10
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
        grid: height and width, where examples are images: then directions are the slowest cosine
            waves, in which images have most of their strength, and not random ones.
        groups: sets of directions, which examples get in turn: of each example few directions are
            seen, of all of them together many.
        floor: the number that stands for nothing in an example.
    """

    length: int
    classes: int
    largest: float
    seed: int = 0
    grid: tuple[int, int] | None = None
    groups: int = 1
    floor: float = 0.0

    @classmethod
    def of_images(cls, height: int, width: int, classes: int) -> FeatureMap:
        """The map of images from −1, which is black, to 1."""
        pixels = height * width
        one = cls(pixels, classes, 1.0)
        groups = max(min(_IMAGE_GROUPS, pixels // one.for_each), 1)
        # Images are white on a third of their squared length or less, by the look of digits.
        white = 2 * (pixels / groups) ** 0.5
        return cls(pixels, classes, white / 3, grid=(height, width), groups=groups, floor=-1.0)

    @property
    def spread(self) -> int:
        """How many places all groups have together, labels counted once."""
        return self.for_labels + self.groups * self.classes * self.for_each

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
        count, random = self.for_each * self.groups, random_from(self.seed)
        if self.grid is None:
            drawn = pytorch.randn(self.length, count, generator=random)
        else:
            drawn = pytorch.from_numpy(waves(*self.grid, count))
        upright = pytorch.linalg.qr(drawn).Q if self.length >= count else drawn
        share = 1 - _LABEL_SHARE if self.for_labels else 1.0
        # Every group gets slow waves and faster ones.
        mixed = upright[:, pytorch.randperm(count, generator=random)]
        return mixed * (share**0.5 / self.largest)

    def of(self, examples: Tensor, labels: Tensor, places: Tensor) -> Tensor:
        """Features of examples at these places, differentiable by the examples."""
        pytorch = torch()
        known = pytorch.nn.functional.one_hot(labels, self.classes).to(examples.dtype)
        each = ((examples.flatten(1) - self.floor) @ self.weights).unflatten(1, (self.groups, -1))
        projected = each[pytorch.arange(len(labels)), places % self.groups]
        placed = (known[:, :, None] * projected[:, None, :]).flatten(1)
        parts = [known * _LABEL_SHARE**0.5, placed] if self.for_labels else [placed]
        features = pytorch.cat(parts, dim=1)
        return features / features.norm(dim=1, keepdim=True).clamp(min=1)

    def apart(self, features: Tensor, places: Tensor) -> Tensor:
        """Put the features of every group at separate places, so that groups can be told apart."""
        pytorch = torch()
        labels, others = features[:, : self.for_labels], features[:, self.for_labels :]
        group = pytorch.nn.functional.one_hot(places % self.groups, self.groups).to(features.dtype)
        return pytorch.cat([labels, (group[:, :, None] * others[:, None, :]).flatten(1)], dim=1)

    def lines(self, examples: Tensor, labels: Tensor, places: Tensor) -> npt.NDArray[np.int64]:
        """Features in whole units, of norm `UNIT` at most."""
        features = self.of(examples, labels, places).double().numpy() * (UNIT * _MARGIN)
        return np.asarray(np.trunc(np.nan_to_num(features)), np.int64)

    def chances(self, noisy: npt.NDArray[np.float64]) -> tuple[float, ...]:
        """Estimate the shares of the labels from noisy features: post-processing."""
        if not self.for_labels or len(noisy) == 0:
            return (1.0,) if not self.for_labels else (1 / self.classes,) * self.classes
        means = np.maximum(noisy[:, : self.classes].mean(axis=0), 0.0)
        if means.sum() == 0:
            return (1 / self.classes,) * self.classes
        return tuple(float(share) for share in means / means.sum())


def waves(height: int, width: int, count: int) -> npt.NDArray[np.float32]:
    """The slowest products of a wave down and a wave across, a column each."""
    orders = sorted(np.ndindex(height, width), key=lambda order: (sum(order), order))[:count]
    down, across = (np.arange(size) + 0.5 for size in (height, width))
    columns = [
        np.outer(np.cos(np.pi * i * down / height), np.cos(np.pi * j * across / width)).ravel()
        for i, j in orders
    ]
    return np.stack(columns, axis=1).astype(np.float32)
