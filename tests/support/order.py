"""In which order tests run, so that what is costly to start is started once.

Each worker of pytest-xdist begins with its own run of neighbouring tests, and takes others only
when it has finished. Tests of one server that are neighbours are thus run by one worker.
"""

from __future__ import annotations

from typing import Any

# Fixtures of a session, and the word that parameters have where a test asks for one by itself.
SHARED = {
    "spark_connect_server": "spark connect",
    "spark_session": "spark",
    "mariadb_server": "mariadb",
    "postgres_server": "postgres",
    "built": "wheel",
}


def place(item: Any) -> int:
    """The number of the shared fixture that a test needs; tests that need none come after these.

    Of them, tests of the whole repository are first: many read the same parsed source, and some
    take longest, so that none of these is left when the other worker has nothing to do.
    """
    path, _, name = str(item.nodeid).partition("::")
    _, _, parameters = name.partition("[")
    for number, (fixture, word) in enumerate(SHARED.items()):
        if fixture in item.fixturenames or word in parameters:
            return number
    return len(SHARED) + int(path.count("/") > 1)
