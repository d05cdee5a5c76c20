"""What is found where in an SVG picture of a network, read from the document alone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass

from understudy.models.pictures.lettering import text_width

_SVG = "{http://www.w3.org/2000/svg}"
Spot = tuple[float, float]


@dataclass(frozen=True)
class Area:
    """A rectangle on the page."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Area) -> bool:
        """Whether both cover some spot."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: Area) -> bool:
        """Whether the other lies inside."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )


@dataclass(frozen=True)
class Edge:
    """A line of the picture, as spots along it, and how it looks."""

    parent: str
    child: str
    score: float
    width: float
    opacity: float
    spots: list[Spot]


@dataclass(frozen=True)
class Picture:
    """A parsed SVG document."""

    root: ElementTree.Element

    @classmethod
    def of(cls, svg: str) -> Picture:
        """The picture in a document, which must be well-formed."""
        return cls(ElementTree.fromstring(svg))

    @property
    def page(self) -> Area:
        """The whole sheet."""
        return Area(0, 0, float(self.root.attrib["width"]), float(self.root.attrib["height"]))

    @property
    def nodes(self) -> dict[str, ElementTree.Element]:
        """The group of every attribute."""
        return {
            group.attrib["data-attribute"]: group
            for group in self.root.iter(f"{_SVG}g")
            if "data-attribute" in group.attrib
        }

    @property
    def boxes(self) -> dict[str, Area]:
        """The box of every attribute, outside of any ring."""
        return {name: _largest(group) for name, group in self.nodes.items()}

    @property
    def labels(self) -> dict[str, Area]:
        """The room that every attribute's label may take."""
        return {name: _area(_only(group, "text")) for name, group in self.nodes.items()}

    def label(self, name: str) -> str:
        """What is written in a box."""
        return _only(self.nodes[name], "text").text or ""

    def title(self, name: str) -> str:
        """What a box says when it is pointed at."""
        return _only(self.nodes[name], "title").text or ""

    @property
    def texts(self) -> list[Area]:
        """All that is written, legend and caption too."""
        return [_area(text) for text in self.root.iter(f"{_SVG}text")]

    @property
    def edges(self) -> list[Edge]:
        """Every edge."""
        return [
            Edge(
                group.attrib["data-parent"],
                group.attrib["data-child"],
                float(group.attrib["data-score"]),
                float(group[1].attrib["stroke-width"]),
                float(group[1].attrib["stroke-opacity"]),
                [*_along(group[1].attrib["d"]), _tip(group[2].attrib["d"])],
            )
            for group in self.root.iter(f"{_SVG}g")
            if "data-parent" in group.attrib
        ]


def _only(group: ElementTree.Element, kind: str) -> ElementTree.Element:
    [found] = group.findall(f"{_SVG}{kind}")
    return found


def _largest(group: ElementTree.Element) -> Area:
    areas = []
    for rect in group.findall(f"{_SVG}rect"):
        x, y, width, height = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
        areas.append(Area(x, y, x + width, y + height))
    return max(areas, key=lambda area: area.right - area.left)


def _area(text: ElementTree.Element) -> Area:
    """Where a text may leave ink: below its base line, a third of its size."""
    x, y, size = (float(text.attrib[key]) for key in ("x", "y", "font-size"))
    width = text_width(text.text or "", size)
    left = x - width / 2 if text.attrib["class"] == "label" else x
    return Area(left, y - size, left + width, y + size / 3)


def _along(path: str, steps: int = 40) -> Iterator[Spot]:
    """Spots along a path of M, V and C."""
    here = (0.0, 0.0)
    for command, text in re.findall(r"([MVC])([^MVC]*)", path):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", text)]
        if command == "C":
            corners = [here, *zip(numbers[::2], numbers[1::2], strict=True)]
            yield from (_on_curve(corners, i / steps) for i in range(steps + 1))
            here = corners[-1]
        else:
            here = (here[0], numbers[0]) if command == "V" else (numbers[0], numbers[1])
            yield here


def _on_curve(corners: list[Spot], part: float) -> Spot:
    rest = 1 - part
    weights = (rest**3, 3 * rest**2 * part, 3 * rest * part**2, part**3)
    x, y = (sum(w * c[axis] for w, c in zip(weights, corners, strict=True)) for axis in (0, 1))
    return x, y


def _tip(arrow: str) -> Spot:
    _, tip, _ = re.findall(r"(-?[\d.]+),(-?[\d.]+)", arrow)
    return float(tip[0]), float(tip[1])
