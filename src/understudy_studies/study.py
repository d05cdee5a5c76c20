"""What a study is: settings, what is measured in each, and what the numbers say of the claim."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from understudy.draw.charts import Panel
from understudy.draw.heat import HeatMap
from understudy.studies.cells import Numbers, Results, Setting, Size
from understudy.studies.tables import Shelf


@dataclass(frozen=True)
class Summary:
    """The numbers as a table: what a page shows and a record holds beside the cells."""

    columns: tuple[str, ...]
    lines: Sequence[Sequence[Any]]

    def document(self) -> list[dict[str, Any]]:
        """A line for JSON is an object."""
        return [dict(zip(self.columns, line, strict=True)) for line in self.lines]


class Study(ABC):
    """One table or figure of a paper, measured again.

    Attributes:
        title: what is asked.
        source: where the paper does it.
        claim: what the paper found, in our words.
        words: one paragraph: what is done here, what differs, and how to read it.
        reduced: what is smaller at full size than in the paper; empty where nothing is.
        across: how many panels stand side by side in the chart.
        files: of the folder of public tables, which quick and full sizes read.
    """

    title: ClassVar[str]
    source: ClassVar[str]
    claim: ClassVar[str]
    words: ClassVar[str]
    reduced: ClassVar[str] = ""
    across: ClassVar[int] = 2
    files: ClassVar[tuple[str, ...]] = ()

    def check(self, size: Size, shelf: Shelf) -> None:
        """Refuse a run whose tables are not there, before anything is measured."""
        if size is not Size.SMOKE:
            shelf.check(self.files)

    @abstractmethod
    def settings(self, size: Size) -> list[Setting]:
        """What is measured: each setting holds all that its numbers depend on."""

    @abstractmethod
    def measure(self, setting: Setting, shelf: Shelf) -> Numbers:
        """The numbers of one setting, for JSON; the same ones every time."""

    @abstractmethod
    def sentence(self, results: Results) -> str:
        """What the numbers say beside the claim, computed from them."""

    @abstractmethod
    def summary(self, results: Results) -> Summary:
        """The numbers with their spreads."""

    @abstractmethod
    def panels(self, results: Results) -> Sequence[Panel | HeatMap]:
        """The numbers as charts."""

    def pictures(self, results: Results) -> Mapping[str, bytes]:
        """Further pictures of the numbers, PNG files by name, which stand beside the page."""
        del results
        return {}
