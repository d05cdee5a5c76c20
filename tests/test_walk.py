"""The walks of docs/architecture.md are true: functions run in that order, numbers are these."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from support.documents import ROOT, blocks, walk, write_patients
from understudy import Independent, Nist
from understudy.cli.main import run
from understudy.facts.codec import Codec
from understudy.jobs import example
from understudy.rows.table import Table

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCE = str(ROOT / "src" / "understudy") + "/"
MOST_LINES = 50
MOST_COLUMNS = 120


@contextmanager
def _recorded() -> Iterator[dict[str, None]]:
    """Record the functions of the package that run inside, in the order of their first call."""
    called: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE):
            place = code.co_filename.removeprefix(SOURCE).removesuffix(".py")
            called.setdefault(f"{place}.{code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)


@pytest.mark.slow
def test_the_walk_of_a_row_is_the_way_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The functions that the page lists are called for the first time in that order."""
    monkeypatch.chdir(tmp_path)
    write_patients(tmp_path / "patients.csv")
    header, *rows = (tmp_path / "patients.csv").read_text().splitlines(keepends=True)
    # Of few rows nothing but single columns can be learned.
    (tmp_path / "patients.csv").write_text(header + 100 * "".join(rows))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [schema] = [body for language, body in blocks(readme) if language == "toml"]
    (tmp_path / "patients.toml").write_text(schema, encoding="utf-8")
    [command] = re.findall(r"^`understudy (synth .*?)` calls", PAGE, re.MULTILINE)
    with _recorded() as called:
        assert 0 == run([*command.split(), "-o", "synthetic.csv"])
    assert walk(PAGE) == [name for name in called if name in walk(PAGE)]


def test_every_section_fits_on_one_screen() -> None:
    """It has fifty lines at most in a terminal of 120 columns, and the page says so."""
    assert f"a terminal, {MOST_LINES} lines of {MOST_COLUMNS} columns" in PAGE
    long = {}
    for section in PAGE.split("\n## "):
        title, *lines = section.replace("\n\n", "\n", 1).strip().splitlines()
        shown = sum(max(1, -(-len(line) // MOST_COLUMNS)) for line in lines)
        if shown > MOST_LINES:
            long[title] = shown
    assert {} == long


def test_the_codes_of_the_first_row_are_those_of_the_page() -> None:
    """Codes and sizes of every attribute, and the number of all cells."""
    encoding = Codec(example.schema()).encode(example.rows())
    table = Table.of(encoding)
    found = {name: (int(table.column(name)[0]), table.domain[name]) for name in table.domain}
    told = re.findall(r"(\w+) (\d+) \(of (\d+)\)", PAGE)
    assert found == {name: (int(code), int(size)) for name, code, size in told}
    cells = sum(size for _, size in found.values())
    assert f"to {len(found)} of {cells} cells" in PAGE


def _fitted(delta: str, kind: type[Independent | Nist] = Independent) -> dict[str, object]:
    synthesizer = kind(example.schema(), epsilon=1, delta=delta)
    synthesizer.fit(example.rows(200), ledger=None)
    document: dict[str, object] = synthesizer.model_.statement.document()
    return document


def test_the_walk_of_a_pure_budget_has_the_right_numbers() -> None:
    """Scales of the first two tables, as fractions and as decimals."""
    events = _fitted("0")["events"]
    assert isinstance(events, list)
    age, sex = (event["scale_exact"] for event in events[:2])
    assert f"scale {age}, about {events[0]['scale']:.2f}" in PAGE
    assert "{1}/{0} (0.054), scale {2:.1f}".format(*sex.split("/"), events[1]["scale"]) in PAGE


def test_the_walk_of_a_budget_with_a_delta_has_the_right_numbers() -> None:
    """The rho of all tables, the noise of the first, and the grant that is claimed by its name."""
    document = _fitted("1e-6")
    events = document["events"]
    assert isinstance(events, list)
    rho = sum(event["rho"] for event in events)
    sigma = np.sqrt(events[0]["sigma_squared"])
    wider = sigma * np.sqrt(rho / 0.0243559704)
    words = f"allows ρ = {rho:.5f}: σ = {sigma:.2f} instead of {wider:.2f} on the age table"
    assert words in PAGE
    assert (1, "Gaussian curve") == (document["epsilon"], document["accounting"])


def test_the_walk_of_a_budget_for_a_network_has_the_right_numbers() -> None:
    """All charges together are the rho of the page, and a hundredth is for the number of rows."""
    document = _fitted("1e-6", Nist)
    events = document["events"]
    assert isinstance(events, list)
    rho = sum(event["rho"] for event in events)
    assert f"because ρ = {rho:.5f} is fixed beforehand" in PAGE
    assert "number of rows" == events[0]["question"]
    assert abs(events[0]["rho"] / rho - 0.01) < 1e-6
