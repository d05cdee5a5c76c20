"""One private look at images for a generator: moments of classes, and sums of features.

`noise-gan` spends all of its budget here, and `dpgan` a share of it, before its first step.
Proof: docs/proofs/noise_gan.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.facts.unit import Neighbours
from understudy.gan.image_size import ImageSize
from understudy.gan.layer_features import FeatureGaps, FeatureQuestion, LayerFeatures
from understudy.gan.moment_asking import CuratorSums
from understudy.gan.moment_model import ImageMoments
from understudy.gan.moment_release import ImageSum
from understudy.gan.moments import MomentMethod
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.curator import Curator
from understudy.system.arrays import Floats

FEATURES = "features of classes"

# The share of the sums of features, in hundredths; the moments have the rest.
_OF_FEATURES = 10
# Draws of the moments by which features are centred, and how far beyond their usual distance
# features are cut off.
_DRAWS, _BEYOND = 2048, 1.25


@dataclass(frozen=True, eq=False)
class ImageStart:
    """The release about images before a generator is taught.

    Attributes:
        law: Gaussians of every class.
        rows: how many images there are, with noise unless that is public.
        features: public.
        gaps: how far mean features are from those of the law.
    """

    law: ImageMoments
    rows: int
    features: LayerFeatures
    gaps: FeatureGaps

    @classmethod
    def asked_of(cls, curator: Curator, size: ImageSize, neighbours: Neighbours) -> ImageStart:
        """Ask for everything, in rounds that add up to the Curator's budget.

        Privacy: each round is charged to the Curator's grant before it is drawn.
        """
        sums = CuratorSums(curator, neighbours)
        most, rest = _shared(sums.budget)
        law, rows = MomentMethod(size=size, epsilon=1, delta=1).learn(_Share(sums, most))
        question = centred_question(law)
        noisy, deviation = sums.ask(question, rest, name=FEATURES)
        counts = np.array(law.chances) * max(rows, 1)
        gaps = FeatureGaps.of(noisy, deviation, question, counts)
        return cls(law, rows, question.features, gaps)


def centred_question(law: ImageMoments) -> FeatureQuestion:
    """Ask for features around their means among draws of a released law."""
    features = LayerFeatures(law.size)
    classes = law.size.classes
    labels = np.arange(_DRAWS) % classes
    seen = features.of(law.of_labels(labels, np.random.default_rng(0)).pixels)
    centres = np.zeros((classes, features.cells), np.int64)
    for label in range(min(classes, _DRAWS)):
        centres[label] = np.rint(seen[labels == label].mean(axis=0))
    distances = np.linalg.norm(seen - centres[labels], axis=1)
    length = max(float(np.median(distances)) * _BEYOND, 1.0)
    return FeatureQuestion(classes, features, centres, length)


def _shared(budget: Budget) -> tuple[Budget, Budget]:
    if budget.measure is Measure.UNLIMITED:
        return budget, budget
    most, rest = budget.split([100 - _OF_FEATURES, _OF_FEATURES])
    return most, rest


@dataclass(frozen=True)
class _Share:
    """Asks for sums within a share of a budget."""

    sums: CuratorSums
    budget: Budget

    @property
    def parts(self) -> int:
        """How many noisy sums are added up to one."""
        return self.sums.parts

    @property
    def public_rows(self) -> int | None:
        """How many images there are, where that is public."""
        return self.sums.public_rows

    def ask(self, question: ImageSum, budget: Budget, *, name: str) -> tuple[Floats, float]:
        """Ask the Curator."""
        return self.sums.ask(question, budget, name=name)


__all__ = ["FEATURES", "ImageStart", "centred_question"]
