"""A study: settings, what is measured in each, and what the numbers say of the claim."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from understudy.models.pictures.charts import Panel
from understudy.models.pictures.heat import HeatMap
from understudy_studies.cells import CellValues, Results, Setting, Size
from understudy_studies.tables import DataFolder


@dataclass(frozen=True)
class StudyTable:
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
        across: how many panels are side by side in the chart.
        files: of the folder of public tables, which quick and full sizes read.
    """

    title: ClassVar[str]
    source: ClassVar[str]
    claim: ClassVar[str]
    words: ClassVar[str]
    reduced: ClassVar[str] = ""
    across: ClassVar[int] = 2
    files: ClassVar[tuple[str, ...]] = ()

    def check(self, size: Size, shelf: DataFolder) -> None:
        """Refuse a run whose tables are not there, before anything is measured."""
        if size is not Size.SMOKE:
            shelf.check(self.files)

    @abstractmethod
    def settings(self, size: Size) -> list[Setting]:
        """What is measured: each setting holds all that its numbers depend on."""

    @abstractmethod
    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """The numbers of one setting, for JSON; the same ones every time."""

    @abstractmethod
    def sentence(self, results: Results) -> str:
        """Say what the numbers show about the claim, computed from them."""

    @abstractmethod
    def summary(self, results: Results) -> StudyTable:
        """Return the numbers with their spreads."""

    @abstractmethod
    def panels(self, results: Results) -> Sequence[Panel | HeatMap]:
        """Return the numbers as charts."""

    def pictures(self, results: Results) -> Mapping[str, bytes]:
        """Further pictures of the numbers, PNG files by name, which are beside the page."""
        del results
        return {}
