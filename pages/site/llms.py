"""The list of pages for programs that read text: `llms.txt`."""

from __future__ import annotations

import re

from benchmarks.report import ROOT
from pages.site.contents import sections


def llms_text() -> str:
    """Return a short description and a link with a sentence for every page, by section."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = readme.split("\n\n")[1]
    listing = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    parts = ["# understudy", f"> {' '.join(first.split())}"]
    for section in sections(listing):
        lines = [f"- [{_name(path)}]({_address(path)}): {words}" for path, words in section.pages]
        parts.append("\n".join([f"## {section.title}", "", *lines]))
    return "\n\n".join(parts) + "\n"


def _name(path: str) -> str:
    return re.sub(r"\W+|_", " ", path.removeprefix("../").removesuffix(".md")).strip()


def _address(path: str) -> str:
    """Return where the page is on the site."""
    moved = path.replace("../README.md", "index.md")
    if moved.startswith("../examples/"):
        moved = moved.removeprefix("../")
    elif moved.startswith("../"):
        moved = "project/" + moved.removeprefix("../").lower()
    return moved.removesuffix(".md") + ".html"
