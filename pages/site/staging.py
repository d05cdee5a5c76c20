"""The pages of the site, laid out as Sphinx reads them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from benchmarks.report import ROOT
from pages.site.api import api_pages
from pages.site.commands import commands_page
from pages.site.contents import sections, table_of_contents
from pages.site.examples import example_pages, example_places
from pages.site.external import external_list
from pages.site.includes import FOLDER, included, moved_includes
from pages.site.links import moved_links
from pages.site.llms import llms_text
from pages.site.records import record_files, records_page

LISTING = "docs/README.md"
# Where the pages are that have another place on the site than below docs/.
_MOVED = {
    "README.md": "index.md",
    LISTING: "pages.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code_of_conduct.md",
    "examples/README.md": "examples/README.md",
}
_FILES = {".md", ".png", ".svg", ".json", ".jsonl", ".toml"}
# Folders with a list of their own pages.
_LISTED_APART = ("proofs", "studies", "examples")
# Pages that are made from the code, by the section in which the reader finds them.
_MADE = {"Reference": ("reference/options.md", "reference/api.md", "reference/records.md")}


def places() -> dict[str, str]:
    """Return the path on the site of every file of the repository that is there."""
    files = [path for path in (ROOT / "docs").rglob("*") if path.suffix in _FILES]
    named = {str(path.relative_to(ROOT)): str(path.relative_to(ROOT / "docs")) for path in files}
    moved = {name: place for name, place in _MOVED.items() if (ROOT / name).exists()}
    return named | moved | example_places()


def pages() -> dict[str, str]:
    """Return the text of every page of the site by its path there."""
    where = places()
    found = {
        where[name]: moved_includes(moved_links(text, page=name, places=where), page=name)
        for name, text in sources(where).items()
    }
    found |= {"reference/options.md": commands_page(), "reference/records.md": records_page()}
    found |= api_pages() | example_pages()
    for folder in _LISTED_APART:
        inner = sorted(p for p in found if p.startswith(f"{folder}/") and "README" not in p)
        found[f"{folder}/README.md"] += "\n" + table_of_contents(
            "", [path.removeprefix(f"{folder}/") for path in inner]
        )
    found["index.md"] += "\n" + _contents(where)
    return found


def sources(where: Mapping[str, str]) -> dict[str, str]:
    """Return the text of every page of the repository by its path."""
    return {name: (ROOT / name).read_text("utf-8") for name in where if name.endswith(".md")}


def _contents(where: Mapping[str, str]) -> str:
    """Return the side bar: the sections of the list of pages, and the list itself."""
    listing = (ROOT / LISTING).read_text(encoding="utf-8")
    parts = [table_of_contents("", ["pages.md"])]
    for section in sections(listing):
        moved = [where[str(_within(path))] for path, _ in section.pages]
        parts.append(table_of_contents(section.title, [*moved, *_MADE.get(section.title, ())]))
    return "\n".join(parts)


def _within(path: str) -> Path:
    return (ROOT / "docs" / path).resolve().relative_to(ROOT.resolve())


def stage(folder: Path) -> None:
    """Write the pages, pictures and settings into a folder; what is unchanged stays untouched."""
    written = {folder / place: text.encode() for place, text in pages().items()}
    for name, place in places().items():
        if not place.endswith(".md"):
            written[folder / place] = (ROOT / name).read_bytes()
    for name, text in sources(places()).items():
        for path in included(text, page=name):
            written[folder / FOLDER / path] = (ROOT / path).read_bytes()
    here = Path(__file__).parent
    written[folder / "conf.py"] = (here / "conf.py").read_bytes()
    written[folder / "_static" / "site.css"] = (here / "site.css").read_bytes()
    written[folder / "_extra" / "llms.txt"] = llms_text().encode()
    listed = external_list(sources(places()))
    written[folder / "_extra" / "external_links.txt"] = listed.encode()
    for name, text in record_files().items():
        written[folder / "_extra" / "schemas" / name] = text.encode()
    _write(folder, written)


def _write(folder: Path, written: Mapping[Path, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in [path for path in folder.rglob("*") if path.is_file() and path not in written]:
        path.unlink()
    for path, content in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
    for empty in sorted(folder.rglob("*"), reverse=True):
        if empty.is_dir() and not any(empty.iterdir()):
            shutil.rmtree(empty)
