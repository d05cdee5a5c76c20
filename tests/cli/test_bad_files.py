"""Bad files at the command line: a sentence with the way out, exit code 2 or 4, nothing spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.bad_files import FILES, SCHEMA, SECRET, SLOW
from support.commands import Desk
from support.tiers import slow_but


def _laid(desk: Desk, name: str) -> tuple[Path, list[object], str]:
    """The file, how it is opened, and the words that refuse it."""
    file, make, words = FILES[name]
    path = desk.folder / file
    path.write_bytes(make())
    desk.schema.write_text(SCHEMA.text_for(desk.schema))
    return path, ["--table", "people"] if path.suffix == ".db" else [], words


@pytest.mark.parametrize("name", slow_but({*FILES} - SLOW, FILES))
def test_a_file_that_cannot_be_read_costs_nothing(desk: Desk, name: str) -> None:
    """`synth` and `check` say why, quote no cell, spend nothing and leave nothing behind."""
    path, more, words = _laid(desk, name)
    before = desk.files
    for command in ("synth", "check"):
        paid = ["--epsilon", 1, "-o", desk.output] if command == "synth" else []
        refused = desk.run(command, path, "--schema", desk.schema, *paid, *more)
        assert refused.code in (2, 4), refused.err
        # `check` reads block by block, and may find the line too long before the file.
        other = "is not a readable" if command == "check" and name in SLOW else words
        assert words in refused.err or other in refused.err
        assert SECRET not in refused.err + refused.out
        assert ({}, before) == (desk.spent, desk.files - {"ledger.jsonl"})


@pytest.mark.parametrize("name", slow_but({*FILES} - SLOW, FILES))
def test_no_schema_is_begun_from_it(desk: Desk, name: str) -> None:
    """`schema init` reads no more than the header, and refuses in a sentence where it cannot."""
    path, more, _ = _laid(desk, name)
    begun = desk.run("schema", "init", path, *more, "-o", desk.folder / "new.toml")
    assert begun.code in (0, 2, 4), begun.err
    assert (begun.code == 0) == ("new.toml" in desk.files)
    assert begun.code == 0 or begun.err.startswith("error: ")
    assert SECRET not in begun.err + begun.out
    assert {} == desk.spent


@pytest.mark.parametrize("suffix", [".xls", ".ods", ".rds", ".json", ".csv.bz2", ".pdf", ""])
def test_a_format_that_is_not_read_names_those_that_are(desk: Desk, suffix: str) -> None:
    """Exit code 2 or 4, and a way to convert the file."""
    path = desk.folder / f"people{suffix}"
    path.write_text("name,age\n")
    refused = desk.synth(data=path)
    assert (True, {}) == (refused.code in (2, 4), desk.spent)
    assert ".csv" in refused.err
