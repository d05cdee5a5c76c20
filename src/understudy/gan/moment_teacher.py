"""Draws of `moments` as lessons: for the same random numbers, an image that a generator is to make.

A generator that is given the random numbers of a draw, and the image they lead to, learns by plain
regression. Everything here is post-processing of a released law, and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.gan.backend import Tensor, torch
from understudy.gan.moment_model import ImageMoments
from understudy.system.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class MomentTeacher:
    """Makes the image of a law that some latent numbers stand for.

    The latent numbers are coordinates along the widest directions of the Gaussians; where a label
    has several Gaussians, the last number chooses one of them.

    Attributes:
        law: released.
        latent: how many latent numbers a generator has.
    """

    law: ImageMoments
    latent: int

    def lesson(self, latents: Tensor, labels: Tensor) -> Tensor:
        """The images of latent numbers: channels × height × width each, from −1 to 1."""
        pixels = self._brightness(latents.double().numpy(), labels.numpy())
        size = self.law.size
        shown = pixels.reshape(-1, size.height, size.width, size.channels).transpose(0, 3, 1, 2)
        return torch().from_numpy(np.ascontiguousarray(shown / 127.5 - 1, np.float32))

    def _brightness(self, latents: Floats, labels: Integers) -> Floats:
        which = self.law.gaussian_of(labels, self._chances(latents))
        means = self.law.arrays["means"].astype(np.float64)
        vectors = means[which]
        for i in np.unique(which):
            places = np.flatnonzero(which == i)
            directions = self.directions[i]
            vectors[places] += latents[places, : directions.shape[1]] @ directions.T
        return self.law.shown(vectors)

    def _chances(self, latents: Floats) -> Floats:
        """A number from 0 to 1 for each image, as likely to be anywhere."""
        last = torch().from_numpy(np.ascontiguousarray(latents[:, -1]))
        return np.asarray(torch().special.ndtr(last).numpy())

    @cached_property
    def directions(self) -> Floats:
        """For every Gaussian, what each latent number adds to a vector, a column each.

        All Gaussians share the widest directions of their mean covariance, each turned into its
        own by the symmetric root of its covariance. So a latent number means nearly the same for
        every label, and a generator need not learn it for each of them.
        """
        roots = self.law.arrays["roots"].astype(np.float64)
        covariances = roots @ roots.transpose(0, 2, 1)
        most = min(self.latent - (1 if self.law.each > 1 else 0), roots.shape[1])
        shared = np.linalg.eigh(covariances.mean(axis=0))[1][:, -most:][:, ::-1]
        values, vectors = np.linalg.eigh(covariances)
        deviations = np.sqrt(np.maximum(values, 0.0))
        symmetric = (vectors * deviations[:, None, :]) @ vectors.transpose(0, 2, 1)
        return np.asarray(symmetric @ shared)


__all__ = ["MomentTeacher"]
