"""Hostile and broken files of rows: each is refused in a sentence with a way out, in little memory.

No cell is quoted, and nothing is unpacked that does not fit.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from support.bad_files import FILES, SCHEMA, SECRET, SLOW
from support.tiers import slow_but
from understudy.errors import UnderstudyError
from understudy.rows.sources import Access, open_source


@pytest.mark.parametrize("name", slow_but({*FILES} - SLOW, FILES))
def test_it_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    """The message names the file and the way out, and quotes no cell."""
    file, make, words = FILES[name]
    path = tmp_path / file
    path.write_bytes(make())
    access = Access(table="people" if file == "r.db" else None, memory=1 << 30)
    with pytest.raises(UnderstudyError) as caught, open_source(path, SCHEMA, access):
        pass
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.exit_code in (2, 4)
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_packed_file_is_read_in_blocks_where_memory_is_short(tmp_path: Path) -> None:
    """What it unpacks to is counted, and not what it takes on the disk."""
    path = tmp_path / "r.csv.gz"
    path.write_bytes(gzip.compress(b"name,age\n" + b"x,1\n" * 10**6))
    with open_source(path, SCHEMA, Access(memory=8 << 20)) as source:
        assert "ChunkedSource" == type(source).__name__
        assert 10**6 == source.rows_read
