"""The page on audits: its tables are those of the record, and its numbers those of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.audits import REPEATED, REPEATED_RUNS, TIMES, entries, tables
from support.faults import FAULTS
from understudy.methods import Independent
from understudy.methods.auditing import PERSON, SCHEMA, cases_for, largest_provable

PAGE = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())


def test_the_tables_are_those_of_the_record() -> None:
    """Made by `scripts/audits tables` and pasted between the marks."""
    between = PAGE.split("<!-- audits: begin -->\n", 1)[1].split("<!-- audits: end -->", 1)[0]
    assert tables() == between.strip()


def test_the_record_is_whole_and_nobody_was_accused() -> None:
    """A hundred audits of each cheap method, every method once, and every planted fault."""
    held = entries()
    repeated = [e for e in held if "repeated" == e["part"]]
    assert TIMES * len(REPEATED) == len({(e["command"], e["turn"]) for e in repeated})
    assert [] == [e for e in held if e.get("reasons")]
    found = {e["fault"]: e for e in held if "faults" == e["part"]}
    assert set(FAULTS) == set(found)
    assert all(found[name][fault.part] for name, fault in FAULTS.items())


def test_numbers_in_the_text_are_those_of_the_code() -> None:
    """What 10,000 runs could show, and how many pairs of tables there are."""
    shown = largest_provable(10_000, delta=0, confidence=1 - 0.01 / 3)
    assert f"{shown:.2f} for 10,000 runs" in TEXT
    short = largest_provable(REPEATED_RUNS, delta=0, confidence=1 - 0.01 / 3)
    assert f"With {REPEATED_RUNS} runs the attack by laws could show {short:.2f} at most" in TEXT
    shared = largest_provable(REPEATED_RUNS, delta=0, confidence=1 - 0.01 / 3 / 9)
    assert f"could show {shared:.2f} on the first pair" in TEXT
    assert 9 == len(cases_for(Independent(SCHEMA, epsilon=1)))
    persons = Independent(SCHEMA, epsilon=1, person_id=PERSON, rows_per_person=2)
    assert 13 == len(cases_for(persons))
    assert (
        largest_provable(10_000, delta=0, confidence=0.99) > shown == pytest.approx(5.97, abs=0.01)
    )
