"""A standalone cluster of Spark counts rows on its executors, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import cluster_driver
from support.counted import SCHEMA
from support.servers import spark_cluster
from understudy.errors import UsageError
from understudy.rows.sources import Access, open_source

pytestmark = pytest.mark.slow


def test_a_cluster_counts_as_memory_does_and_a_lost_part_is_never_made_again(
    tmp_path: Path,
) -> None:
    """Texts, bins, dropped rows and persons, also once the file is another one."""
    script = [sys.executable, "-W", "ignore", cluster_driver.__file__]
    with spark_cluster() as (address, here, worker):
        places = [str(Path(cluster_driver.__file__).parents[1]), *sys.path]
        done = subprocess.run(
            [*script, address, str(tmp_path), str(worker)],
            env=here | {"PYTHONPATH": ":".join(place for place in places if place)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert 0 == done.returncode, done.stderr
    assert "refused: the database lost a part of the rows" in done.stdout
    assert "the guide's command: 0, ['clinic.patients']" in done.stdout


def test_another_cluster_than_the_session_of_a_process_is_refused(spark_session: Any) -> None:
    """PySpark would give the session that is there, and a table of the same name on it."""
    del spark_session
    with (
        pytest.raises(UsageError, match=r"session on local\[2\] already.* on spark://127.0.0.1:9"),
        open_source("spark://127.0.0.1:9", SCHEMA, Access(table="people")),
    ):
        pass
