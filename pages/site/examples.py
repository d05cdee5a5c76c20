"""Examples as pages of the site: scripts with their code, notebooks with cells and outputs."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from benchmarks.report import ROOT

FOLDER = "examples"


def example_files() -> list[Path]:
    """Return every script and notebook, by name."""
    return sorted(p for p in (ROOT / FOLDER).iterdir() if p.suffix in (".py", ".ipynb"))


def example_places() -> dict[str, str]:
    """Return the page on the site of every example, by its path in the repository."""
    return {f"{FOLDER}/{path.name}": f"{FOLDER}/{path.stem}.md" for path in example_files()}


def example_pages() -> dict[str, str]:
    """Return the text of the page of every example, by its path on the site."""
    makers = {".py": _script, ".ipynb": _notebook}
    return {f"{FOLDER}/{p.stem}.md": makers[p.suffix](p) for p in example_files()}


def _script(path: Path) -> str:
    """Show a script below its docstring, which says what it is about."""
    text = path.read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text)) or ""
    return f"# {path.name}\n\n{said}\n\n{_block('python', text)}"


def _notebook(path: Path) -> str:
    """Show the cells of a notebook in order, each with what it printed."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join(part for cell in cells for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [f"{source}\n"]
    return [_block("python", source), *(_block("text", text) for text in printed(cell))]


def printed(cell: dict[str, Any]) -> list[str]:
    """Return the texts that a cell left behind: what it printed, and its value."""
    found = []
    for output in cell.get("outputs", ()):
        text = output.get("text", output.get("data", {}).get("text/plain", ""))
        # A bar of progress is for someone who waits.
        if output["output_type"] != "display_data":
            found.append("".join(text))
    return found


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"
