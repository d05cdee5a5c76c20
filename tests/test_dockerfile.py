"""The Dockerfile keeps common rules; no test builds it, since no daemon runs here."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib

from support.documents import ROOT
from support.promised import missing

FILE = ROOT / "Dockerfile"
TEXT = FILE.read_text(encoding="utf-8")


def test_hadolint_finds_nothing() -> None:
    """The linter of Dockerfiles has nothing to say."""
    program = shutil.which("hadolint")
    if program is None:
        missing("hadolint")
    subprocess.run([program, str(FILE)], check=True)


def test_nothing_runs_as_root() -> None:
    """The last user is a steward, set before the program is entered."""
    users = re.findall(r"^USER (\S+)$", TEXT, re.MULTILINE)
    assert ["10001"] == users
    assert "--uid 10001" in TEXT
    assert TEXT.index("USER 10001") < TEXT.index("ENTRYPOINT")


def test_images_have_versions_and_files_exist() -> None:
    """No image is the newest one by chance, and whatever is copied is in the repository."""
    images = re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE)
    assert images
    for image in images:
        assert re.fullmatch(r"[\w./-]+:\d[\w.-]*", image)
    for line in re.findall(r"^COPY (?!--from)(.+)$", TEXT, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name


def test_its_extras_exist() -> None:
    """What it installs is what the package offers."""
    [named, *others] = re.findall(r"\bEXTRAS=([\w,]+)", TEXT)
    named = ",".join([named, *others])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(named.split(",")) <= set(project["optional-dependencies"])
    [python] = set(re.findall(r"python:(\d\.\d+)", TEXT))
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
