"""Examples run: scripts as a reader starts them, notebooks cell by cell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pages.site.examples import printed
from support.documents import ROOT
from support.promised import need

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# Stored outputs show a reader what to expect, and are no place for data.
MOST_BYTES = 20_000


def _masked(cells: list[Any]) -> list[str]:
    """Return what every cell of code printed, without what noise and draws decide.

    A kernel may send what a cell prints in one part or in several.
    """
    outputs = ["".join(printed(cell)) for cell in cells if cell["cell_type"] == "code"]
    varied = r"\d+(?:\.\d+)?(?:e-?\d+)?|True|False"
    return [re.sub(varied, "#", text).strip() for text in outputs]


def _cells(notebook: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return cells


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_run(script: Path, tmp_path: Path) -> None:
    """Each ends well, prints something, and leaves no file and no ledger behind."""
    environment = os.environ | {"UNDERSTUDY_LEDGER": str(tmp_path / "ledger.jsonl")}
    command = [sys.executable, str(script)]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip()
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path, tmp_path: Path) -> None:
    """Every cell runs in a fresh kernel, and prints what is stored, but for numbers of noise."""
    nbclient = need("nbclient")
    nbformat = need("nbformat")
    need("ipykernel")
    read = nbformat.read(notebook, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    ran = nbclient.NotebookClient(read, timeout=120, resources=resources).execute()
    assert _masked(_cells(notebook)) == _masked(ran.cells)


def test_other_words_in_an_output_would_be_seen() -> None:
    """The comparison can fail: numbers may differ, and words may not."""
    first, other, last = (
        {"cell_type": "code", "outputs": [{"output_type": "stream", "text": [text]}]}
        for text in ("mean 0.25 (0.2 to 1e-06)\n", "mean 3 (7 to 9)\n", "median 3 (7 to 9)\n")
    )
    assert _masked([first]) == _masked([other])
    assert _masked([other]) != _masked([last])


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_small_and_whole(notebook: Path) -> None:
    """Each is stored with its outputs, none of which is an error, a path or large."""
    outputs = [output for cell in _cells(notebook) for output in cell.get("outputs", [])]
    assert outputs
    assert [] == [output for output in outputs if output["output_type"] == "error"]
    assert notebook.stat().st_size < MOST_BYTES
    assert None is re.search(r"/(?:tmp|home|root|work|opt)/", notebook.read_text("utf-8"))


def test_the_list_has_every_example() -> None:
    """Each script and notebook has its line in the list, and its docstring or title says what."""
    listed = re.findall(r"^\| \[([\w.]+)\]\(\1\) \| \S", (EXAMPLES / "README.md").read_text(), re.M)
    assert sorted(path.name for path in (*SCRIPTS, *NOTEBOOKS)) == sorted(listed)
    assert all(path.read_text("utf-8").startswith('"""') for path in SCRIPTS)
    assert all(_cells(path)[0]["source"][0].startswith("# ") for path in NOTEBOOKS)
