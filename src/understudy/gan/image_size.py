"""Public facts about images that any method may learn: size, channels and classes."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.errors import UsageError

LARGEST = 64
_CHANNELS = (1, 3)


@dataclass(frozen=True)
class ImageSize:
    """Height and width in pixels, grey or colour, and how many labels there are.

    Attributes:
        height: the height of every image in pixels.
        width: the width of every image in pixels.
        classes: how many labels there are; 1 for images without labels.
        channels: 1 for grey images, 3 for red, green and blue.

    Example:
        >>> ImageSize(8, 8, classes=10, channels=3).extent
        (8, 8, 3)
    """

    height: int
    width: int
    classes: int = 1
    channels: int = 1

    def __post_init__(self) -> None:
        for name in ("height", "width"):
            if not 1 <= getattr(self, name) <= LARGEST:
                raise UsageError(
                    f"{name} is {getattr(self, name)}; moments takes images of 1 to {LARGEST} "
                    "pixels a side, so make them smaller"
                )
        if self.height * self.width == 1:
            raise UsageError("images of a single pixel have no waves; declare a column of a table")
        if self.channels not in _CHANNELS:
            raise UsageError(f"channels is {self.channels}; use 1 for grey or 3 for colour")
        if self.classes < 1:
            raise UsageError(f"classes is {self.classes}; use 1 for images without labels, or more")

    @property
    def extent(self) -> tuple[int, ...]:
        """The shape of one image as an array."""
        flat = (self.height, self.width)
        return flat if self.channels == 1 else (*flat, self.channels)

    @property
    def cells(self) -> int:
        """How many numbers an image has."""
        return self.height * self.width * self.channels

    @property
    def text(self) -> str:
        """The size as a message says it."""
        colour = "" if self.channels == 1 else " in colour"
        return f"{self.height} × {self.width} pixels{colour}"
