"""A study from where it stands to its end: cells that are there are kept, others measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from understudy import __version__
from understudy.studies import find
from understudy.studies.cells import Cell, Setting, Size
from understudy.studies.processes import measured
from understudy.studies.record import Record
from understudy.studies.tables import Shelf

Watch = Callable[[int, int], None]


def run(
    name: str,
    size: Size,
    folder: Path,
    *,
    shelf: Shelf,
    processes: int = 2,
    watch: Watch = lambda done, total: None,
) -> dict[str, Any]:
    """Run a study, or what is left of it, and keep its record.

    Args:
        name: of the study.
        folder: where its files are, or will be.
        shelf: the public tables.
        processes: how many cells are measured at a time; a smoke run takes one after another.
        watch: told how many of the cells that were missing are done.

    Returns:
        The record, as it stands in the file.
    """
    study, record = find(name), Record(name, size, folder)
    study.check(size, shelf)
    plan = study.settings(size)
    known = {_key(c.setting): c for c in record.prepare() if c.version == __version__}
    missing = [setting for setting in plan if _key(setting) not in known]
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
