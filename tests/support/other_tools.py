"""Code of other tools on the pages for their users: run in environments of their own, on record.

Run: scripts/foreign, or scripts/foreign PAGE for one of them.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environments import DATA_SYNTHESIZER, DPMM, SMARTNOISE, Peer, environment
from support.documents import ROOT, blocks, write_patients

PAGES = ROOT / "docs" / "coming_from"
RECORD = ROOT / "tests" / "data" / "other_tools.json"
# Exactly this build of PyTorch, which comes without CUDA where a folder of wheels offers it.
SDV = Peer("sdv", {"sdv": "2.0.0", "torch": "2.13.0"})
TOOLS = {
    "datasynthesizer": DATA_SYNTHESIZER,
    "dpmm": DPMM,
    "sdv": SDV,
    "smartnoise": SMARTNOISE,
}
"""The tool whose code a page shows; the first of its packages is the one that the page names."""
LANGUAGES = ("py", "r")
"""The languages of blocks that are another tool's code."""
_MARKED = re.compile(r"^(.+)\n\n```(?:py|r)\n((?:.*\n)*?)```$", re.MULTILINE)


@dataclass(frozen=True)
class ForeignBlock:
    """A block of another tool's code on a page.

    Attributes:
        page: the name of the page.
        mark: the line above the block, which says whether it was run.
        body: the code.
    """

    page: str
    mark: str
    body: str

    @property
    def digest(self) -> str:
        """Return the checksum of the code."""
        return hashlib.sha256(self.body.encode()).hexdigest()

    @property
    def reason(self) -> str | None:
        """Return why the block was not run, or None where it was."""
        found = re.fullmatch(r"This was not run: (.+)\.", self.mark)
        return None if found is None else found[1]


def foreign_blocks(text: str, page: str) -> list[ForeignBlock]:
    """Return the blocks of another tool's code on a page, each with the line above it."""
    found = [ForeignBlock(page, mark, body) for mark, body in _MARKED.findall(text)]
    shown = [body for language, body in blocks(text) if language in LANGUAGES]
    assert shown == [each.body for each in found], f"{page}: a block has no line above it"
    return found


def run_mark(page: str, record: dict[str, Any]) -> str:
    """Return the line that a page has above a block that was run."""
    package = next(iter(TOOLS[page].versions))
    version = record["versions"][package]
    return f"This was run with {package} {version} and Python {record['python']}."


def run_page(page: str) -> dict[str, Any]:
    """Run a page's code of another tool on the made-up patients, and describe the run."""
    tool, text = TOOLS[page], (PAGES / f"{page}.md").read_text(encoding="utf-8")
    [block] = foreign_blocks(text, page)
    python = str(environment(tool))
    with tempfile.TemporaryDirectory() as folder:
        write_patients(Path(folder) / "patients.csv")
        subprocess.run([python, "-c", block.body], cwd=folder, check=True)
    return {"sha256": block.digest, "python": _python(python), "versions": _versions(python, tool)}


def _python(python: str) -> str:
    code = "import platform; print(platform.python_version())"
    return subprocess.check_output([python, "-c", code], text=True).strip()


def _versions(python: str, tool: Peer) -> dict[str, str]:
    """Ask the environment, not the pins, which versions are installed, whatever their build."""
    code = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    found = {
        package: subprocess.check_output([python, "-c", code, package], text=True)
        for package in tool.versions
    }
    return {package: version.strip().partition("+")[0] for package, version in found.items()}


def main(pages: list[str]) -> None:
    """Run the code of the named pages, or of all, and write the record and the lines above it."""
    kept: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for page in pages or sorted(TOOLS):
        kept[page] = run_page(page)
        path = PAGES / f"{page}.md"
        text = path.read_text(encoding="utf-8")
        [block] = foreign_blocks(text, page)
        path.write_text(text.replace(block.mark, run_mark(page, kept[page])), encoding="utf-8")
        RECORD.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
