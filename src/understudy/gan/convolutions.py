"""TUC-2's networks for images: a critic of two convolutions, a generator that turns them around.

Source: TUC-2 section 5.3. The critic has a score for each class and is asked for that of the label.
Its dropout leaves out the same units for all examples of a step, so that what an example adds
depends on no random number of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy.errors import UsageError
from understudy.gan.backend import Parameters, Tensor, leaky, torch
from understudy.gan.perceptrons import dense

_KERNEL, _STRIDE = 5, 2
_LEAST = 4


@dataclass(frozen=True)
class Shape:
    """Public facts about images: height and width in pixels, classes, and channels.

    Attributes:
        height: the height of every image in pixels.
        width: the width of every image in pixels.
        classes: how many labels there are.
        channels: 1 for grey images, 3 for red, green and blue.
    """

    height: int
    width: int
    classes: int
    channels: int = 1

    def __post_init__(self) -> None:
        for name in ("height", "width"):
            value = getattr(self, name)
            if value < _LEAST:
                raise UsageError(f"{name} is {value}; networks need {_LEAST} pixels or more")
        if self.classes < 2:
            raise UsageError(f"classes is {self.classes}; images need at least two, labelled in y")
        if self.channels not in (1, 3):
            raise UsageError(f"channels is {self.channels}; use 1 for grey or 3 for colour")

    @property
    def extent(self) -> tuple[int, ...]:
        """The shape of one image as an array."""
        flat = (self.height, self.width)
        return flat if self.channels == 1 else (*flat, self.channels)

    @property
    def half(self) -> tuple[int, int]:
        """Return the size after a halving, rounded up."""
        return -(-self.height // 2), -(-self.width // 2)

    @property
    def quarter(self) -> tuple[int, int]:
        """Return the size after two halvings, rounded up."""
        return -(-self.height // 4), -(-self.width // 4)


@dataclass(frozen=True)
class ImageCritic:
    """Two convolutions of stride 2 with leaky rectifiers and dropout, and a dense layer."""

    shape: Shape
    filters: tuple[int, int] = (64, 128)
    dropout: float = 0.3

    def initial(self, random: object) -> Parameters:
        """Return the initial parameters."""
        first, second = self.filters
        flat = second * math.prod(self.shape.quarter)
        return {
            "c0": _kernel(first, self.shape.channels, random),
            "b0": torch().zeros(first),
            "c1": _kernel(second, first, random),
            "b1": torch().zeros(second),
            "w": dense(flat, self.shape.classes, random),
            "b": torch().zeros(self.shape.classes),
        }

    def masks(self, random: object) -> tuple[Tensor, ...]:
        """Which units take part in a step, weighted so that sums stay as large."""
        first = (self.filters[0], *self.shape.half)
        second = (self.filters[1], *self.shape.quarter)
        return tuple(self._mask(size, random) for size in (first, second))

    def _mask(self, size: tuple[int, ...], random: object) -> Tensor:
        kept = torch().rand(size, generator=random) >= self.dropout
        return kept.float() / (1 - self.dropout)

    def score(
        self, parameters: Parameters, examples: Tensor, labels: Tensor, masks: tuple[Tensor, ...]
    ) -> Tensor:
        """The score of every image under its label."""
        values = examples
        for i, mask in enumerate(masks):
            values = leaky(_convolved(parameters, values, i)) * mask
        return _scored(parameters, values, labels)

    def gradients(
        self, parameters: Parameters, examples: Tensor, labels: Tensor, masks: tuple[Tensor, ...]
    ) -> Parameters:
        """The gradient of each image's own score.

        A layer's gradient is the product of what went in and how the score depends on what came
        out: one pass back for all images of a chunk, and one product for each of them.
        """
        inputs, outputs = [examples], []
        for i, mask in enumerate(masks):
            outputs.append(_convolved(parameters, inputs[-1], i).requires_grad_())
            inputs.append(leaky(outputs[-1]) * mask)
        scores = _scored(parameters, inputs[-1], labels)
        slopes = torch().autograd.grad(scores.sum(), outputs)
        found: Parameters = {}
        for i, (went_in, slope) in enumerate(zip(inputs[:-1], slopes, strict=True)):
            found |= {f"c{i}": _of_kernel(went_in, slope), f"b{i}": slope.sum(dim=(2, 3))}
        known = torch().nn.functional.one_hot(labels, self.shape.classes).to(examples.dtype)
        weighed = inputs[-1].detach().flatten(1)[:, :, None] * known[:, None, :]
        return found | {"w": weighed.flatten(1), "b": known}


def _convolved(parameters: Parameters, values: Tensor, layer: int) -> Tensor:
    return torch().nn.functional.conv2d(
        *(values, parameters[f"c{layer}"], parameters[f"b{layer}"]),
        stride=_STRIDE,
        padding=_KERNEL // 2,
    )


def _scored(parameters: Parameters, values: Tensor, labels: Tensor) -> Tensor:
    scores = values.flatten(1) @ parameters["w"] + parameters["b"]
    return scores.gather(1, labels[:, None])[:, 0]


def _of_kernel(went_in: Tensor, slope: Tensor) -> Tensor:
    """The gradient by a kernel: for each image, slopes times the patches they came from."""
    patches = torch().nn.functional.unfold(
        went_in.detach(), _KERNEL, padding=_KERNEL // 2, stride=_STRIDE
    )
    return (slope.flatten(2) @ patches.transpose(1, 2)).flatten(1)


@dataclass(frozen=True)
class ImageMaker:
    """A dense layer and three transposed convolutions, normalised over the batch it makes."""

    shape: Shape
    latent: int = 100
    filters: tuple[int, int, int] = (256, 128, 64)

    @property
    def dense_units(self) -> int:
        """How many units the dense layer has: 12,544 for images of 28 by 28."""
        return self.filters[0] * math.prod(self.shape.quarter)

    @property
    def most_units(self) -> int:
        """How many numbers the largest layer has for one image."""
        quarter = math.prod(self.shape.quarter)
        first, second, third = self.filters
        return max(first, second, 4 * third, 16 * self.shape.channels) * quarter

    @property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the parameters; they are compared before any of them is made."""
        first, second, third = self.filters
        square = (_KERNEL, _KERNEL)
        return {
            "w": (self.latent + self.shape.classes, self.dense_units),
            "g0": (self.dense_units,),
            "s0": (self.dense_units,),
            "t1": (first, second, *square),
            "g1": (second,),
            "s1": (second,),
            "t2": (second, third, *square),
            "g2": (third,),
            "s2": (third,),
            "t3": (third, self.shape.channels, *square),
            "b3": (self.shape.channels,),
        }

    def initial(self, random: object) -> Parameters:
        """The first parameters; for each normalisation a scale and a shift."""
        first, second, third = self.filters
        ones, zeros = torch().ones, torch().zeros
        inputs = self.latent + self.shape.classes
        return {
            "w": dense(inputs, self.dense_units, random),
            "g0": ones(self.dense_units),
            "s0": zeros(self.dense_units),
            "t1": _kernel(first, second, random),
            "g1": ones(second),
            "s1": zeros(second),
            "t2": _kernel(second, third, random),
            "g2": ones(third),
            "s2": zeros(third),
            "t3": _kernel(third, self.shape.channels, random),
            "b3": zeros(self.shape.channels),
        }

    def make(
        self, parameters: Parameters, latents: Tensor, labels: Tensor, random: object
    ) -> Tensor:
        """Images from −1 to 1: channels × height × width."""
        del random
        pytorch = torch()
        turned = pytorch.nn.functional.conv_transpose2d
        known = pytorch.nn.functional.one_hot(labels, self.shape.classes).to(latents.dtype)
        values = pytorch.cat([latents, known], dim=1) @ parameters["w"]
        values = leaky(_normalised(values, parameters["g0"], parameters["s0"]))
        values = values.reshape(-1, self.filters[0], *self.shape.quarter)
        for i, stride in ((1, 1), (2, 2)):
            values = turned(
                values, parameters[f"t{i}"], stride=stride, padding=2, output_padding=stride - 1
            )
            values = leaky(_normalised(values, parameters[f"g{i}"], parameters[f"s{i}"]))
        values = turned(
            values, parameters["t3"], parameters["b3"], stride=2, padding=2, output_padding=1
        )
        # Two doublings of a quarter that was rounded up are up to three pixels too large.
        return values[:, :, : self.shape.height, : self.shape.width].tanh()


def _kernel(outside: int, inside: int, random: object) -> Tensor:
    scale = math.sqrt(2 / (1.04 * min(inside, outside) * _KERNEL**2))
    return torch().randn(outside, inside, _KERNEL, _KERNEL, generator=random) * min(scale, 0.05)


def _normalised(values: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Mean 0 and deviation 1 over a batch of generated values, then scaled and shifted."""
    return torch().nn.functional.batch_norm(values, None, None, scale, shift, training=True)
