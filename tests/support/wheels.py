"""The wheel of this tree, and an environment in which nothing else of this tree is installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.documents import ROOT
from support.promised import need


def build(folder: Path) -> Path:
    """Build the wheel and the sdist of this tree into a folder."""
    wheel = need("hatchling.builders.wheel")
    sdist = need("hatchling.builders.sdist")
    for builder in (wheel.WheelBuilder, sdist.SdistBuilder):
        [_] = builder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return folder


def environment(wheel: Path, folder: Path) -> Path:
    """Return the Python of a new environment that has the wheel, and what it needs without extras.

    What it needs is linked from the environment of the tests, because nothing may be fetched. Other
    packages of that environment cannot be imported.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    [metadata] = packages.glob("understudy-*.dist-info")
    for needed in _needed(Distribution.at(metadata)).values():
        for top in {file.parts[0] for file in needed.files or []} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(str(needed.locate_file(top))))
    return folder / "bin" / "python"


def _needed(package: Distribution) -> dict[str, Distribution]:
    """Return what a package requires without extras, and what that requires in turn."""
    found: dict[str, Distribution] = {}
    waiting = [package]
    while waiting:
        for requirement in map(Requirement, waiting.pop().requires or []):
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            name = canonicalize_name(requirement.name)
            if wanted and name not in found:
                found[name] = distribution(name)
                waiting.append(found[name])
    return found
