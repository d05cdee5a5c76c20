"""The wheel of this tree, and an environment in which nothing else of this tree is installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.documents import ROOT


def build(folder: Path) -> Path:
    """Build the wheel and the sdist of this tree into a folder."""
    wheel = pytest.importorskip("hatchling.builders.wheel")
    sdist = pytest.importorskip("hatchling.builders.sdist")
    for builder in (wheel.WheelBuilder, sdist.SdistBuilder):
        [_] = builder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return folder


def environment(wheel: Path, folder: Path) -> Path:
    """Return the Python of a new environment that has the wheel, and what it needs.

    What it needs is taken from the environment of the tests, because nothing may be fetched.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    needed = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "needed.pth").write_text("\n".join(needed) + "\n", encoding="utf-8")
    return folder / "bin" / "python"
