"""The table of everything that the papers describe, made from docs/studies/rows.toml."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.report import ROOT
from understudy_studies import STUDIES
from understudy_studies.page import changed_laws

ROWS = ROOT / "docs" / "studies" / "rows.toml"
VERDICTS = (
    *("works", "reproduced", "reproduced in part", "contradicted", "not comparable"),
    *("partly", "missing", "wrong"),
)
# Verdicts that rest on what a study measured.
_MEASURED = ("reproduced", "reproduced in part", "contradicted", "not comparable", "partly")
_ROOMS = ("src/understudy", "src/understudy_studies", ".")


@dataclass(frozen=True)
class PaperRow:
    """One thing that a paper describes, and what became of it here.

    Attributes:
        paper: its short name.
        name: its id.
        about: what is described, in our words.
        verdict: one of `VERDICTS`.
        where: files that hold it.
        test: the file of a test, with its name where one test is meant.
        why: the reason where it is not simply done.
    """

    paper: str
    name: str
    about: str
    verdict: str
    where: tuple[str, ...] = ()
    test: str = ""
    why: str = ""

    @property
    def files(self) -> list[Path]:
        """The files of `where`, each in the first room that has it."""
        return [_found(name) for name in self.where]

    @property
    def test_file(self) -> Path | None:
        """The file of the test, where there is one."""
        return ROOT / "tests" / self.test.partition("::")[0] if self.test else None

    @property
    def line(self) -> str:
        """Return the row of the table."""
        where = ", ".join(f"[{_shown(path)}](../../{_short(path)})" for path in self.files)
        path, _, function = self.test.partition("::")
        test = f"[{function or Path(path).stem}](../../tests/{path})" if self.test else ""
        verdict = f"{self.verdict}: {self.why}" if self.why else self.verdict
        verdict += "".join(
            f" *({_outdated(name)} are out of date)*" for name in outdated_studies(self)
        )
        return f"| {self.name} | {self.about} | {verdict} | {where} | {test} |"


def outdated_studies(row: PaperRow) -> list[str]:
    """The studies whose measurements a verdict rests on, and that were measured before a change."""
    if row.verdict not in _MEASURED:
        return []
    own = [name for name, module in STUDIES.items() if f"{module}.py" in row.where]
    return [name for name in own if outdated_cells()[name][0]]


@cache
def outdated_cells() -> dict[str, tuple[int, int]]:
    """Count for every study on record how many cells were measured before a change, of how many."""
    found = {}
    for name in STUDIES:
        text = (ROWS.parent / f"{name}.json").read_text(encoding="utf-8")
        changed = changed_laws(name, json.loads(text))
        found[name] = sum(map(bool, changed)), len(changed)
    return found


def _outdated_sentence(rows: list[PaperRow]) -> str:
    """How many verdicts rest on measurements that are out of date, and on which."""
    resting = sum(bool(outdated_studies(row)) for row in rows)
    studies = ", ".join(_outdated(name) for name, (count, _) in outdated_cells().items() if count)
    if not studies:
        return "No verdict rests on measurements made before a method or study changed."
    return (
        f"{resting} of these verdicts rest on measurements made before a method or study changed, "
        f"and are marked: {studies}."
    )


def _outdated(name: str) -> str:
    count, of = outdated_cells()[name]
    return f"{count} of {of} cells of {name}"


def _found(name: str) -> Path:
    places = [ROOT / room / name for room in _ROOMS]
    return next((place for place in places if place.exists()), places[0])


def _short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _shown(path: Path) -> str:
    return _short(path).removeprefix("src/understudy/").removeprefix("src/")


def paper_rows() -> list[PaperRow]:
    """All rows of the file, in its order."""
    return list(_read(tomllib.loads(ROWS.read_text(encoding="utf-8"))))


def _read(document: dict[str, dict[str, dict[str, object]]]) -> Iterator[PaperRow]:
    for paper, rows in document.items():
        for name, fields in rows.items():
            where = fields.pop("where", [])
            assert isinstance(where, list)
            texts = {key: str(value) for key, value in fields.items()}
            yield PaperRow(paper, name, where=tuple(map(str, where)), **texts)


def rows_table() -> str:
    """The numbers of verdicts by paper, then every row."""
    rows = paper_rows()
    return "\n".join(
        [
            *_counts(rows),
            "",
            _outdated_sentence(rows),
            "",
            *_head("id", "what", "verdict", "where", "test"),
            *(row.line for row in rows),
        ]
    )


def _counts(rows: list[PaperRow]) -> list[str]:
    papers = list(dict.fromkeys(row.paper for row in rows))
    counts = {paper: Counter(row.verdict for row in rows if row.paper == paper) for paper in papers}
    counts["together"] = Counter(row.verdict for row in rows)
    lines = [
        f"| {paper} | {sum(found.values())} | {' | '.join(str(found[v]) for v in VERDICTS)} |"
        for paper, found in counts.items()
    ]
    return [*_head("paper", "rows", *VERDICTS), *lines]


def _head(*columns: str) -> list[str]:
    return [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
