"""A generator of images with its statement: all of it released. It may leave."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.engines.capacity import available_bytes
from understudy.errors import CapacityError, ModelError, UsageError
from understudy.gan.archive import Arrays, read_arrays, write_arrays
from understudy.gan.backend import Parameters, random_from, torch
from understudy.gan.convolutions import ImageMaker, Shape
from understudy.gan.images import LabelledImages
from understudy.privacy.binding import BINDING, MODEL, Signer, bound, canonical, digest, same
from understudy.privacy.statement import Statement

FORM = "understudy image model"
STATEMENT = "statement"
# Normalisation is over a batch, so that every image is made among as many others.
_TOGETHER = 256
# What is made stands in memory beside what it is made of.
_COPIES = 2


@dataclass(frozen=True, eq=False)
class ImageModel:
    """What makes images: its shape, weights, how often each class comes, and what is promised."""

    maker: ImageMaker
    weights: Arrays
    chances: tuple[float, ...]
    rows: int
    statement: Statement

    def sample(self, rows: int | None = None, *, seed: int | None = None) -> LabelledImages:
        """Generated images and their labels.

        Privacy: post-processing of the model; costs nothing, however often.
        """
        wanted = self.rows if rows is None else rows
        if wanted < 0:
            raise UsageError(f"rows is {wanted}; ask for none or more")
        self._check_room(wanted)
        drawn = np.random.default_rng(seed)
        labels = drawn.choice(len(self.chances), wanted, p=self.chances).astype(np.int64)
        return self.of_labels(labels, seed=int(drawn.integers(2**62)))

    def _check_room(self, rows: int) -> None:
        """Refuse images, or layers of the generator, that would not fit into free memory."""
        shape = self.maker.shape
        needed = _COPIES * rows * (shape.height * shape.width + np.dtype(np.int64).itemsize)
        needed += _COPIES * _TOGETHER * self.maker.most_units * np.dtype(np.float32).itemsize
        if needed > available_bytes():
            raise CapacityError(
                f"{rows:,} images need {needed / 2**30:,.1f} GiB, more than is free; "
                "ask for fewer rows"
            )

    def of_labels(self, labels: npt.NDArray[np.int64], *, seed: int) -> LabelledImages:
        """One generated image for each label."""
        random = random_from(seed)
        parameters = as_tensors(self.weights)
        size = (0, self.maker.shape.height, self.maker.shape.width)
        blocks = [np.zeros(size, np.uint8)]
        for start in range(0, len(labels), _TOGETHER):
            blocks.append(self._block(parameters, labels[start : start + _TOGETHER], random))
        return LabelledImages(np.concatenate(blocks), labels)

    def _block(
        self, parameters: Parameters, labels: npt.NDArray[np.int64], random: Any
    ) -> npt.NDArray[np.uint8]:
        pytorch = torch()
        others = np.arange(_TOGETHER - len(labels)) % len(self.chances)
        asked = pytorch.from_numpy(np.concatenate([labels, others]).astype(np.int64))
        latents = pytorch.randn(_TOGETHER, self.maker.latent, generator=random)
        with pytorch.no_grad():
            made = self.maker.make(parameters, latents, asked, random)[: len(labels), 0]
        return np.asarray(((made + 1) * 127.5).round().clamp(0, 255).byte().numpy())

    def save(self, path: str | os.PathLike[str], *, signer: Signer | None = None) -> None:
        """Write the model: arrays and JSON.

        Args:
            path: where it goes.
            signer: signs the statement in it, and by that the whole model.
        """
        document = {"format": FORM, "version": 1, **self.document()}
        record = self.statement.record
        document[STATEMENT] = bound(
            document[STATEMENT],
            kind=MODEL,
            found=_content(self.weights, document),
            seal_key=None if record is None else record.seal_key,
            signer=signer,
        )
        write_arrays(Path(path), self.weights, document)

    def document(self) -> dict[str, Any]:
        """All but the weights, for JSON."""
        shape = self.maker.shape
        return {
            "height": shape.height,
            "width": shape.width,
            "classes": shape.classes,
            "latent": self.maker.latent,
            "filters": list(self.maker.filters),
            "chances": list(self.chances),
            "rows": self.rows,
            "statement": self.statement.document(),
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ImageModel:
        """Read a model; a damaged one is refused."""
        arrays, document = read_arrays(Path(path), form=FORM)
        try:
            shape = Shape(*(int(document[name]) for name in ("height", "width", "classes")))
            first, second, third = (int(count) for count in document["filters"])
            maker = ImageMaker(shape, int(document["latent"]), (first, second, third))
            chances = tuple(float(chance) for chance in document["chances"])
            statement = Statement.parse(document["statement"])
            rows = int(document["rows"])
            check_weights(arrays, maker, chances)
            _check_bound(arrays, document, Path(path))
        except (LookupError, TypeError, ValueError, ArithmeticError, UsageError):
            raise ModelError(f"{path}: the model is damaged; fit it again") from None
        return cls(maker, arrays, chances, rows, statement)


def _content(arrays: Arrays, document: Mapping[str, Any]) -> str:
    """The digest of all of a model but its statement."""
    members = {
        name: {
            "type": array.dtype.str,
            "shape": list(array.shape),
            "sha256": digest(array.tobytes()),
        }
        for name, array in arrays.items()
    }
    rest = {name: value for name, value in document.items() if name != STATEMENT}
    return digest(canonical({**rest, "members": members}))


def _check_bound(arrays: Arrays, document: Mapping[str, Any], path: Path) -> None:
    """Refuse a statement that speaks of another model; version 0.1.0 did not say of which."""
    binding = document[STATEMENT].get(BINDING)
    if binding is None:
        return
    if binding["of"] != MODEL or not same(binding["sha256"], _content(arrays, document)):
        raise ModelError(
            f"{path}: the statement in it belongs to another model, or one of the two was altered; "
            "ask for the model as it was written"
        )


def bound_content(path: Path) -> tuple[dict[str, Any], str]:
    """The statement in a model on disk, and the digest of all else, both as they are found."""
    arrays, document = read_arrays(path, form=FORM)
    written = document.get(STATEMENT)
    if not isinstance(written, dict):
        raise ModelError(f"{path}: holds no statement; it is damaged or something else")
    return written, _content(arrays, document)


def check_weights(arrays: Arrays, maker: ImageMaker, chances: tuple[float, ...]) -> None:
    """Refuse weights and chances that are not those of the generator."""
    found = {name: array.shape for name, array in arrays.items()}
    numbers = all(
        array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values()
    )
    shared = len(chances) == maker.shape.classes and abs(sum(chances) - 1) < 1e-9
    if found != maker.sizes or not numbers or not shared or min(chances) < 0:
        raise ValueError("weights")


def as_arrays(parameters: Parameters) -> Arrays:
    """Parameters as arrays of their own."""
    return {name: value.detach().numpy().copy() for name, value in parameters.items()}


def as_tensors(arrays: Mapping[str, npt.NDArray[Any]]) -> Parameters:
    """Arrays as parameters."""
    return {name: torch().from_numpy(array.copy()) for name, array in arrays.items()}
