"""The record of a study: FOLDER/NAME.json, whole after every cell, and FOLDER/NAME.svg."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from understudy.errors import DataError, OutputError
from understudy.models.pictures.charts import chart_sheet
from understudy.system.files.writing import atomic, check_writable, writing
from understudy.system.version import __version__
from understudy_studies import find
from understudy_studies.cells import Cell, Results, Setting, Size

FORMAT = "understudy-study"
_CALCULATING = ("numpy", "scipy", "numba", "pyarrow", "scikit-learn", "xgboost-cpu", "torch")


@dataclass(frozen=True)
class StudyFolder:
    """Where a study of some size is kept."""

    name: str
    size: Size
    folder: Path

    @property
    def path(self) -> Path:
        """Return the numbers."""
        return self.folder / f"{self.name}.json"

    @property
    def picture(self) -> Path:
        """Return the chart."""
        return self.folder / f"{self.name}.svg"

    def prepare(self) -> list[Cell]:
        """Cells that are there already, after making sure that others can be written."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        check_writable(self.path)
        if not self.path.exists():
            return []
        document = read(self.path, self.name)
        if document["size"] != self.size:
            raise OutputError(
                f"{self.path}: holds a study of {document['size']} size, which one of {self.size} "
                "size would replace; name another folder with -o"
            )
        return cells_of(document)

    def keep(self, cells: Sequence[Cell], *, planned: int) -> None:
        """Write what is there so far."""
        self._write(self._head(cells, planned) | _tail(cells))

    def finish(self, cells: Sequence[Cell], *, lacking: Sequence[Setting] = ()) -> dict[str, Any]:
        """Write the record of a run that came to its end, and its chart; the record.

        Args:
            cells: what was measured.
            lacking: settings that were left for another run; the record lists them.
        """
        head = self._head(cells, len(cells) + len(lacking)) | self._measured(cells)
        if lacking:
            head["missing"] = [dict(setting) for setting in lacking]
        document = head | derived(self.name, cells) | _tail(cells)
        self._write(document)
        with atomic(self.picture) as file:
            file.write(picture(self.name, document).encode())
        write_pictures(self.name, document, self.folder)
        return document

    def _measured(self, cells: Sequence[Cell]) -> dict[str, Any]:
        """The date and the versions on record, where not one cell was measured since."""
        if not self.path.exists():
            return {}
        document = read(self.path, self.name)
        if not all(cell in document["cells"] for cell in _tail(cells)["cells"]):
            return {}
        return {name: document[name] for name in ("date", "versions")}

    def _head(self, cells: Sequence[Cell], planned: int) -> dict[str, Any]:
        option = "" if self.size is Size.FULL else f" --{self.size}"
        return {
            "format": FORMAT,
            "study": self.name,
            **about(self.name),
            "size": str(self.size),
            "command": f"understudy study {self.name}{option}",
            "date": datetime.now(UTC).date().isoformat(),
            "versions": versions(),
            "complete": len(cells) == planned,
            "planned": planned,
            "seconds": round(sum(cell.seconds for cell in cells), 1),
            "parameters": Results(tuple(cells)).parameters(),
        }

    def _write(self, document: dict[str, Any]) -> None:
        text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
        with atomic(self.path) as file:
            file.write(f"{text}\n".encode())


def _tail(cells: Sequence[Cell]) -> dict[str, Any]:
    return {"cells": [cell.document() for cell in cells]}


def read(path: Path, name: str) -> dict[str, Any]:
    """A record from disk, refused where it is damaged or another study's."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT or document["study"] != name:
            raise ValueError("another file")
        _ = Size(document["size"]), cells_of(document)
    except FileNotFoundError:
        raise DataError(f"{path}: is not there; run the study first") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError):
        raise DataError(
            f"{path}: is not a complete record of the study {name}; move it away to start again"
        ) from None
    assert isinstance(document, dict)
    return document


def finished(path: Path, name: str) -> dict[str, Any]:
    """A record of which no cell is missing, or which lists the settings that are."""
    document = read(path, name)
    if not document.get("complete") and "missing" not in document:
        done = f"{len(document['cells'])} of {document.get('planned')}"
        raise DataError(f"{path}: {done} cells are done; run the study again to continue")
    return document | derived(name, cells_of(document))


def derived(name: str, cells: Sequence[Cell]) -> dict[str, Any]:
    """Describe a study and its cells, as of now."""
    study, results = find(name), Results(tuple(cells))
    found = {"sentence": study.sentence(results), "summary": study.summary(results).document()}
    return about(name) | found


def about(name: str) -> dict[str, str]:
    """Describe a study and its claim."""
    study = find(name)
    return {
        "title": study.title,
        "source": study.source,
        "claim": study.claim,
        "reduced": study.reduced,
    }


def cells_of(document: dict[str, Any]) -> list[Cell]:
    """The cells of a record; ValueError where one is damaged."""
    return [Cell.of(cell) for cell in document["cells"]]


def picture(name: str, document: dict[str, Any]) -> str:
    """Return the chart of a record."""
    study = find(name)
    caption = f"{study.title} ({study.source}). {document['sentence']}"
    panels = study.panels(Results(tuple(cells_of(document))))
    return chart_sheet(panels, caption=caption, columns=study.across)


def pictures(name: str, document: dict[str, Any]) -> dict[str, bytes]:
    """Return the files beside a record's chart, by name."""
    found = find(name).pictures(Results(tuple(cells_of(document))))
    files = {each if each.endswith(".svg") else f"{each}.png": data for each, data in found.items()}
    return {f"{name}-{each}": data for each, data in files.items()}


def write_pictures(name: str, document: dict[str, Any], folder: Path) -> None:
    """Such pictures as files of a folder."""
    for file_name, data in pictures(name, document).items():
        with atomic(folder / file_name) as file:
            file.write(data)


def versions() -> dict[str, str]:
    """Python, understudy, and the packages that calculate, as far as they are installed."""
    found = {"python": platform.python_version(), "understudy": __version__}
    for package in _CALCULATING:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
