"""A study from its present state to its end: cells that are there are kept, others measured."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from understudy.errors import UsageError
from understudy_studies import find
from understudy_studies.cells import Cell, Setting, Size
from understudy_studies.processes import measured
from understudy_studies.record import StudyFolder
from understudy_studies.tables import DataFolder


def run(
    name: str,
    size: Size,
    folder: Path,
    *,
    shelf: DataFolder,
    processes: int = 2,
    most: int | None = None,
    watch: CellWatch = lambda done, total, label="": None,
) -> dict[str, Any]:
    """Run a study, or what is left of it, and keep its record.

    Args:
        name: of the study.
        folder: where its files are, or will be.
        shelf: the public tables.
        processes: how many cells are measured at a time; a smoke run takes one after another.
        most: the largest number of missing cells to measure; the record says which are left.
        watch: called with how many of the cells that were missing are done, and with the steps
            of a cell that takes long.

    Returns:
        The record, as it stands in the file.
    """
    study, record = find(name), StudyFolder(name, size, folder)
    study.check(size, shelf)
    if most is not None and not study.partial:
        raise UsageError(
            f"{name} has no record of some of its settings; leave --most out, and stop and "
            "continue the run as you like"
        )
    plan = study.settings(size)
    known = {_key(cell.setting): cell for cell in record.prepare()}
    # What was measured under an earlier law stays until it is measured again, after all else.
    missing = [setting for setting in plan if _key(setting) not in known]
    missing += [s for s in plan if _key(s) in known and known[_key(s)].outdated(study.laws(s))]
    missing = missing[:most]
    steps = StepLabels(watch, len(missing))
    count = 1 if size is Size.SMOKE else processes
    for cell in measured(name, missing, shelf, processes=count, report=steps.report):
        known[_key(cell.setting)] = cell
        record.keep(_in_order(plan, known), planned=len(plan))
        steps.finish()
    lacking = [setting for setting in plan if _key(setting) not in known]
    return record.finish(_in_order(plan, known), lacking=lacking)


class CellWatch(Protocol):
    """Shows how many cells are done, and a label where one of them is on its way."""

    def __call__(self, done: int, total: int | None, label: str = "") -> None:
        """Show the cells done, those there are in all, and a label if there is one."""


class StepLabels:
    """Turns the steps of cells into labels beside the number of cells that are done.

    Args:
        watch: shows cells and labels.
        cells: how many are to be measured.
        clock: the time in seconds.
    """

    def __init__(
        self, watch: CellWatch, cells: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._watch, self._cells, self._clock = watch, cells, clock
        self._done = 0
        # When each cell sent its first step, and which step that was.
        self._began: dict[str, tuple[float, int]] = {}
        watch(0, cells)

    def finish(self) -> None:
        """Count one more cell as done."""
        self._done += 1
        self._watch(self._done, self._cells)

    def report(self, setting: Setting, done: int, total: int | None) -> None:
        """Show a step of a cell with the time that the cell has left."""
        now = self._clock()
        began, first = self._began.setdefault(_key(setting), (now, done))
        of = "" if total is None else f" of {total:,}"
        text = f"{_about(setting)}, step {done:,}{of}"
        if total is not None and done > first:
            left = (now - began) / (done - first) * (total - done)
            text += f", about {max(round(left / 60), 1)} min left in this setting"
        self._watch(self._done, self._cells, text)


def _about(setting: Setting) -> str:
    """Say which setting it is, by its method and ε where it has them."""
    method, epsilon = setting.get("method"), setting.get("epsilon")
    parts = [] if method is None else [str(method)]
    parts += [] if epsilon is None else [f"ε = {epsilon}"]
    return ", ".join(parts) or "one setting"


def _key(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True)


def _in_order(plan: list[Setting], known: dict[str, Cell]) -> list[Cell]:
    return [known[_key(setting)] for setting in plan if _key(setting) in known]
