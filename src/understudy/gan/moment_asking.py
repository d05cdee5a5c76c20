"""Who is asked for sums over images: one Curator, or holders whose noisy sums are added up.

A question travels to holders as a step and arrays, and is checked when it arrives: it was sent by
an analyst who is trusted with nothing. Whatever passes the checks keeps the sensitivities.
Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from understudy.errors import UsageError
from understudy.facts.unit import Neighbours
from understudy.gan.image_size import ImageSize
from understudy.gan.moment_release import (
    CentreQuestion,
    Clusters,
    ImageSum,
    MomentQuestion,
    PooledQuestion,
)
from understudy.gan.slants import WHITE
from understudy.gan.waves import ImageVectors, Waves
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.system.arrays import Array, Floats

IN_WAVES = 20
"""In how many waves centres are compared, at most."""

MOST_CENTRES = 8
"""How many centres a class has, at most."""

_POOLED = "pooled"
_CLUSTERED: dict[str, type[CentreQuestion | MomentQuestion]] = {
    "centres": CentreQuestion,
    "moments": MomentQuestion,
}
_NO_GROUND = -1
# The shortest length of vectors, as a share of the longest; a released one is a hundredth or more.
_SHORTEST = 1e-4


class SumAsker(Protocol):
    """Answers questions for sums over images, with noise."""

    @property
    def budget(self) -> Budget:
        """The whole budget of the images of one Curator, in the measure that noise is paid in."""

    @property
    def parts(self) -> int:
        """How many noisy sums are added up to one."""

    @property
    def public_rows(self) -> int | None:
        """How many images there are, where that is public."""

    def ask(self, question: ImageSum, budget: Budget, *, name: str) -> tuple[Floats, float]:
        """Return the sum with noise on every cell, and the deviation of the noise."""


@dataclass(frozen=True)
class CuratorSums:
    """Sums over the images behind one Curator.

    Privacy: each is charged to the Curator's grant before it is looked at.
    """

    curator: Curator
    neighbours: Neighbours

    @property
    def budget(self) -> Budget:
        """Return the whole budget."""
        return self.curator.budget

    @property
    def parts(self) -> int:
        """Return one: there is one noise."""
        return 1

    @property
    def public_rows(self) -> int | None:
        """Return the number of images where the relation makes it public."""
        return self.curator.public_rows

    def ask(self, question: ImageSum, budget: Budget, *, name: str) -> tuple[Floats, float]:
        """Ask the Curator."""
        mechanism = question.sensitivity(self.neighbours).mechanism(budget)
        found = self.curator.release(mechanism, question.answer, name=name)
        return np.asarray(found, np.float64), float(np.sqrt(mechanism.variance))


def sent(question: ImageSum) -> tuple[str, tuple[Array, ...]]:
    """Return a question as it travels: its step, and all that it depends on."""
    if not isinstance(question, CentreQuestion | MomentQuestion):
        return _POOLED, ()
    vectors = question.vectors
    ground = _NO_GROUND if vectors.ground is None else vectors.ground
    [step] = [name for name, kind in _CLUSTERED.items() if isinstance(question, kind)]
    numbers = np.array([vectors.length]), np.array([ground], np.int64)
    return step, (vectors.centre, *numbers, question.clusters.centres)


def received(step: str, arrays: tuple[Array, ...], size: ImageSize) -> ImageSum:
    """Return the question that travelled; UsageError where it is not one about such images."""
    wide = ImageVectors.of_all(Waves(size))
    if step == _POOLED and not arrays:
        return PooledQuestion(size.classes, wide)
    if step not in _CLUSTERED or len(arrays) != 4:
        raise UsageError("this is not a sum over images that moments asks for")
    vectors = _vectors(arrays, wide)
    return _CLUSTERED[step](size.classes, vectors, _clusters(arrays[3], size))


def _vectors(arrays: tuple[Array, ...], wide: ImageVectors) -> ImageVectors:
    """Vectors around a centre, all of whose numbers leave the arithmetic exact."""
    centre, length, ground, _ = arrays
    shapes = [(wide.waves.count,), (1,), (1,)]
    if [array.shape for array in arrays[:3]] != shapes or ground.dtype.kind != "i":
        raise UsageError("the centre, the length or the ground of the vectors has another shape")
    if {centre.dtype.kind, length.dtype.kind} != {"f"}:
        raise UsageError("the centre and the length of the vectors are not whole numbers")
    if not np.abs(centre).max() <= 2 * wide.length:
        raise UsageError("the centre of the vectors is further away than any image")
    if not _SHORTEST * wide.length <= float(length[0]) <= wide.length:
        raise UsageError("the length of the vectors is not one of images")
    if int(ground[0]) not in (_NO_GROUND, 0, WHITE):
        raise UsageError("the ground of images is black, white or none")
    found = None if int(ground[0]) == _NO_GROUND else int(ground[0])
    return ImageVectors(wide.waves, centre.astype(np.float64), float(length[0]), found)


def _clusters(centres: Array, size: ImageSize) -> Clusters:
    most = (size.classes, MOST_CENTRES, min(IN_WAVES, Waves(size).count))
    if centres.ndim != 3 or centres.dtype.kind != "i" or centres.shape[0] != size.classes:
        raise UsageError("centres are whole numbers, some for each class")
    if not all(1 <= found <= known for found, known in zip(centres.shape, most, strict=True)):
        raise UsageError(f"there are at most {MOST_CENTRES} centres in at most {most[2]} waves")
    return Clusters(centres.astype(np.int64))


__all__ = ["IN_WAVES", "MOST_CENTRES", "CuratorSums", "SumAsker", "received", "sent"]
