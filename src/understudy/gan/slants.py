"""How far the figure of an image leans, by the image's own moments and in whole numbers.

Figures before a plain ground, such as written characters, differ much in their slant. An image that
is set upright by its own slant is nearer to the others of its class.
Source: LeCun, Bottou, Bengio and Haffner (1998), section III.C, who deskew digits by moments.
Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

import numpy as np

from understudy.system.arrays import Bytes, Floats, Integers

STEPS = 10
"""Slants are whole tenths of a pixel to the side for each pixel down."""

MOST_SLANT = 8
"""The largest slant, in these steps; figures that lean further count as much."""

WHITE = 255
# From this share of pixels of one brightness on, black or white, it is the ground of the images.
_GROUND = 0.4


def slants(pixels: Bytes, *, ground: int) -> Integers:
    """Return the slant of every image, of which each pixel weighs by its distance from the ground.

    With x across and y down, it is the covariance of x and y over the variance of y, which is the
    slope of the line that predicts x from y. All moments are integers below 2⁵³, and the division
    rounds in integers. Private.
    """
    total, x, y, both, squares = _moments(pixels, ground)
    shared, spread = total * both - x * y, total * squares - y * y
    rounded = (2 * STEPS * shared + spread) // np.maximum(2 * spread, 1)
    return np.where(spread > 0, rounded, 0).clip(-MOST_SLANT, MOST_SLANT)


def _moments(pixels: Bytes, ground: int) -> Integers:
    """The sums of the weights, and of x, y, xy and y² by weight, each for all images."""
    height, width = pixels.shape[1:3]
    down, across = np.divmod(np.arange(height * width), width)
    places = np.stack([np.ones_like(down), across, down, across * down, down * down])
    return np.concatenate(
        [np.zeros((5, 0), np.int64)]
        + [
            (places @ _weights(pixels[start : start + _BLOCK], ground)).astype(np.int64)
            for start in range(0, len(pixels), _BLOCK)
        ],
        axis=1,
    )


_BLOCK = 4096


def _weights(pixels: Bytes, ground: int) -> Floats:
    """How far each pixel is from the ground, all colours together; a column for each image."""
    flat = pixels.reshape(len(pixels), pixels.shape[1] * pixels.shape[2], -1)
    return np.asarray(np.abs(flat.astype(np.float64) - ground).sum(axis=2).T)


def ground_of(tones: Floats) -> int | None:
    """The ground of images by the released shares of their tones, or None without one."""
    for brightness, share in ((0, tones[0]), (WHITE, tones[-1])):
        if share >= _GROUND:
            return brightness
    return None
