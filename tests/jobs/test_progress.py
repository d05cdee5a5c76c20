"""Progress: silent unless someone watches, and rows are counted as they are written."""

from __future__ import annotations

import pyarrow as pa
import pytest

from support.progress import RecordedProgress
from understudy.errors import UsageError
from understudy.jobs.choices import suggestion, unknown_choice
from understudy.jobs.progress import SILENT, Stopwatch, counted
from understudy.jobs.reading import ClusterReadingRequest, bytes_of


def test_nobody_is_shown_anything(capsys: pytest.CaptureFixture[str]) -> None:
    """Silent progress takes everything and prints nothing."""
    with SILENT.spinner("reading") as show, SILENT.bar("writing") as update:
        show("1 of 2")
        update(1, 2, "more")
    SILENT.message("said")
    SILENT.warning("warned")
    assert ("", "") == tuple(capsys.readouterr())


def test_rows_are_counted_as_they_are_written() -> None:
    """Each block is passed on, after the rows before it were shown."""
    blocks = [pa.table({"a": [1, 2]}), pa.table({"a": [3]})]
    progress = RecordedProgress()
    assert blocks == list(counted(blocks, 3, progress))
    assert [(0, 3), (2, 3)] == progress.steps


def test_stages_are_timed_by_name() -> None:
    """Each stage has its seconds."""
    watch = Stopwatch()
    with watch.timed("fit"):
        pass
    assert 0 <= watch.seconds["fit"] < 60


def test_one_choice_is_suggested() -> None:
    """The closest one, or none where nothing is close."""
    assert "did you mean 'tree'?" == suggestion("tee", ["greedy", "tree"])
    assert "" == suggestion("magic", ["greedy", "tree"])
    error = unknown_choice("structure", "magic", ["greedy", "tree"])
    assert isinstance(error, UsageError)
    assert "structure 'magic' is unknown; use one of greedy, tree" == str(error)


def test_readings_become_accesses() -> None:
    """Sizes are read, and a size that is not one is refused."""
    access = ClusterReadingRequest(ignore_extra=True, memory="2GB", table="people").access
    assert (True, 2 * 10**9, "people") == (access.ignore_extra, access.memory, access.table)
    with pytest.raises(UsageError, match="write a size such as 2GB"):
        bytes_of("much")
