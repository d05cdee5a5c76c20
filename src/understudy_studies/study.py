"""A study: settings, what is measured in each, and what the numbers say of the claim."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from understudy.models.pictures.charts import Panel
from understudy.models.pictures.heat import HeatMap
from understudy.system.progress import ProgressCallback
from understudy_studies.cells import CellValues, Results, Setting, Size
from understudy_studies.laws import law_of
from understudy_studies.tables import DataFolder


@dataclass(frozen=True)
class StudyTable:
    """The numbers as a table: what a page shows and a record holds beside the cells."""

    columns: tuple[str, ...]
    lines: Sequence[Sequence[Any]]

    def document(self) -> list[dict[str, Any]]:
        """A line for JSON is an object."""
        return [dict(zip(self.columns, line, strict=True)) for line in self.lines]


class Reproduction(StrEnum):
    """The outcome of one claim of a paper."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    PARTLY = "reproduced in part"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class JudgedClaim:
    """One claim of a paper beside what was measured.

    Attributes:
        claim: what the paper says, in our words.
        measured: the numbers that speak for or against it.
        verdict: what became of it.
        reason: why, where it is contradicted or cannot be compared.
    """

    claim: str
    measured: str
    verdict: Reproduction
    reason: str = ""

    @classmethod
    def judged(cls, claim: str, measured: str, holds: bool, *, otherwise: str) -> JudgedClaim:
        """A claim that the numbers bear out, or contradict for a reason that is given."""
        if holds:
            return cls(claim, measured, Reproduction.REPRODUCED)
        return cls(claim, measured, Reproduction.CONTRADICTED, otherwise)

    @property
    def line(self) -> tuple[str, str, str]:
        """Return the finding as a line of the page's first table."""
        verdict = f"{self.verdict}: {self.reason}" if self.reason else str(self.verdict)
        return self.claim, self.measured, verdict


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
        law: raised when the numbers of a setting come to have another distribution, because the
            study measures something else.
        methods: whose own laws the numbers depend on; `laws` names them for each setting.
        partial: whether some of its cells are enough for a sentence, a table and a page, which
            then say how many are missing.
    """

    title: ClassVar[str]
    source: ClassVar[str]
    claim: ClassVar[str]
    words: ClassVar[str]
    reduced: ClassVar[str] = ""
    across: ClassVar[int] = 2
    files: ClassVar[tuple[str, ...]] = ()
    law: ClassVar[int] = 1
    methods: ClassVar[tuple[str, ...]] = ()
    partial: ClassVar[bool] = False

    def laws(self, setting: Setting) -> dict[str, int]:
        """The numbers of all laws that a setting's cell was measured under, the study's first."""
        return {"study": self.law, **{name: law_of(name) for name in self.made_by(setting)}}

    def made_by(self, setting: Setting) -> Sequence[str]:
        """Return the methods and protocols that the numbers of a setting depend on."""
        del setting
        return self.methods

    def check(self, size: Size, shelf: DataFolder) -> None:
        """Refuse a run whose tables are not there, before anything is measured."""
        if size is not Size.SMOKE:
            shelf.check(self.files)

    @abstractmethod
    def settings(self, size: Size) -> list[Setting]:
        """List what is measured: each setting holds all that its numbers depend on."""

    @abstractmethod
    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """The numbers of one setting, for JSON; the same ones every time."""

    def measure_watched(
        self, setting: Setting, shelf: DataFolder, watch: ProgressCallback
    ) -> CellValues:
        """Measure a setting; a study whose settings take long calls the watch on the way."""
        del watch
        return self.measure(setting, shelf)

    @abstractmethod
    def sentence(self, results: Results) -> str:
        """Say what the numbers show about the claim, computed from them."""

    @abstractmethod
    def summary(self, results: Results) -> StudyTable:
        """Return the numbers with their spreads."""

    def further(self, results: Results) -> Mapping[str, StudyTable]:
        """Return more tables for the page, each by what it shows, after the summary."""
        del results
        return {}

    @abstractmethod
    def panels(self, results: Results) -> Sequence[Panel | HeatMap]:
        """Return the numbers as charts."""

    @abstractmethod
    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return each claim of the paper with what was measured, and the verdict, one by one."""

    def pictures(self, results: Results) -> Mapping[str, bytes]:
        """Further pictures of the numbers by name, which are beside the page.

        They are PNG files, and SVG files where the name says so.
        """
        del results
        return {}
