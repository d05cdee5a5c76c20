"""A study from its present state to its end: cells that are there are kept, others measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from understudy.system.progress import ProgressCallback
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
    watch: ProgressCallback = lambda done, total: None,
) -> dict[str, Any]:
    """Run a study, or what is left of it, and keep its record.

    Args:
        name: of the study.
        folder: where its files are, or will be.
        shelf: the public tables.
        processes: how many cells are measured at a time; a smoke run takes one after another.
        watch: called with how many of the cells that were missing are done.

    Returns:
        The record, as it stands in the file.
    """
    study, record = find(name), StudyFolder(name, size, folder)
    study.check(size, shelf)
    plan = study.settings(size)
    known = {_key(cell.setting): cell for cell in record.prepare()}
    # What was measured under an earlier law stays until it is measured again, after all else.
    missing = [setting for setting in plan if _key(setting) not in known]
    missing += [s for s in plan if _key(s) in known and known[_key(s)].outdated(study.laws(s))]
    watch(0, len(missing))
    count = 1 if size is Size.SMOKE else processes
    for done, cell in enumerate(measured(name, missing, shelf, processes=count), 1):
        known[_key(cell.setting)] = cell
        record.keep(_in_order(plan, known), planned=len(plan))
        watch(done, len(missing))
    return record.finish(_in_order(plan, known))


def _key(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True)


def _in_order(plan: list[Setting], known: dict[str, Cell]) -> list[Cell]:
    return [known[_key(setting)] for setting in plan if _key(setting) in known]
