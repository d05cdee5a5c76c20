"""The site builds offline without a warning, can be searched, and can be read on any screen."""

from __future__ import annotations

import itertools
import json
import os
import re
import time
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer.main

import understudy
from pages.site.__main__ import main
from pages.site.api import api_pages, public_names
from pages.site.commands import commands_page
from pages.site.contents import sections
from pages.site.external import external_links
from pages.site.links import moved_links, targets
from pages.site.llms import llms_text
from pages.site.staging import pages, places, sources, stage
from support.browser import Browser, browsing, overlaps, spilled
from support.documents import ROOT
from support.promised import need
from understudy.cli.main import app

LISTING = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
# Hosts that pages may link to; nobody can follow such links offline, so there are few.
HOSTS = {"keepachangelog.com", "semver.org"}
# Pages of every sort, looked at on a wide screen and on a phone.
LOOKED_AT = (
    *("index", "tutorials/hospital", "reference/options", "reference/api/methods"),
    *("arena", "genindex", "examples/first_table"),
)
# The least contrast of words that can be read, by the guidelines for accessible pages.
LEAST_CONTRAST = 4.5
# Words that a reader types into the search, and a page where each is found.
SEARCHED = {
    "epsilon": "explanation/choosing_epsilon",
    "ledger": "guides/ledger",
    "marginals": "explanation/how_methods_work",
    "neighbours": "promise",
    "spark": "tutorials/bank",
    "synthpop": "coming_from/synthpop",
}


class Anchors(HTMLParser):
    """The anchors and the links of a page of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the anchor of a tag, and where it links to."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if name in ("href", "src") and value and tag in ("a", "img"):
                self.links.append(unquote(value))


@pytest.mark.parametrize(
    ("link", "moved"),
    [
        ("[a](../README.md)", "[a](../index.md)"),
        ("[a](../README.md#why)", "[a](../index.md#why)"),
        ("[a](#here)", "[a](#here)"),
        ("[a](https://semver.org/)", "[a](https://semver.org/)"),
        ("[`a`](../tests/test_docs.py)", "`a` (`tests/test_docs.py`)"),
        ("`[a](../README.md)`", "`[a](../README.md)`"),
        ("```\n[a](../README.md)\n```", "```\n[a](../README.md)\n```"),
        ("![a](pictures/demo.png)", "![a](../pictures/demo.png)"),
    ],
)
def test_links_are_moved(link: str, moved: str) -> None:
    """Links follow their pages; files that are not on the site are named; code stays."""
    where = {"docs/page.md": "deep/page.md", "README.md": "index.md"}
    where |= {"docs/pictures/demo.png": "pictures/demo.png"}
    assert moved == moved_links(link, page="docs/page.md", places=where)


def test_targets_are_found_outside_of_code_alone() -> None:
    """A link in a block of code is not a link."""
    assert ["b", "d"] == [*targets("[a](b) `[x](y)`\n```\n[x](y)\n```\n![c](d)")]


def test_every_section_of_the_list_is_on_the_site() -> None:
    """The sections that a reader needs are there, and each has pages."""
    found = sections(LISTING)
    titles = [section.title for section in found]
    wanted = ["Start", "Tutorials", "Guides", "Reference", "Explanation", "Trust", "Benchmarks"]
    assert [*wanted, "Papers", "Coming from", "Project"] == titles
    assert [] == [section.title for section in found if not section.pages]


def test_the_reference_of_options_has_every_option() -> None:
    """Each visible option of each command is in the tables of its command."""
    page = commands_page()

    def missing(command: object, name: str) -> list[str]:
        inner = getattr(command, "commands", None)
        if inner is not None:
            return [
                gone for part, each in inner.items() for gone in missing(each, f"{name} {part}")
            ]
        [said] = re.findall(rf"^## `{name}`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        shown = [o for o in getattr(command, "params", []) if not getattr(o, "hidden", False)]
        options = [o for o in shown if o.param_type_name == "option"]
        return [f"{name} {o.opts[0]}" for o in options if f"`{o.opts[0]}`" not in said]

    assert [] == missing(typer.main.get_command(app), "understudy")


def test_the_reference_of_python_has_every_public_name() -> None:
    """Each name of the four public modules has its heading."""
    text = "\n".join(api_pages().values())
    edges = [
        n for edge in ("federated", "stream", "testing") for n in public_names(f"understudy.{edge}")
    ]
    names = {*understudy.__all__, *edges} - {"__version__"}
    assert names == set(re.findall(r"^## (\w+)$", text, re.MULTILINE))


def test_links_that_leave_the_site_are_few_and_listed() -> None:
    """They lead to known hosts by HTTPS; the site has the list of them."""
    found = external_links(sources(places()))
    assert HOSTS == {link.split("/")[2] for link in found}
    assert [] == [link for link in found if not link.startswith("https://")]


def test_programs_that_read_find_every_page() -> None:
    """`llms.txt` has what it is about, and a link with a sentence for every page of the list."""
    text = llms_text()
    assert text.startswith("# understudy\n\n> `understudy` makes a stand-in")
    linked = re.findall(r"^- \[.+?\]\((.+?)\): \S", text, re.MULTILINE)
    listed = [path for section in sections(LISTING) for path, _ in section.pages]
    assert len(listed) == len(linked) == len(set(linked))
    made = {path.removesuffix(".md") + ".html" for path in pages()}
    assert [] == [link for link in linked if link not in made]


@pytest.mark.slow
def test_what_is_unchanged_is_not_written_again(tmp_path: Path) -> None:
    """A second layout touches nothing, removes what is gone, and so the next build is short."""
    stage(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    (tmp_path / "gone.md").write_text("# Gone\n")
    stage(tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}


@pytest.mark.slow
def test_the_site_builds_and_can_be_read_offline(tmp_path: Path) -> None:
    """No page is warned about, every link and anchor is there, and words are found."""
    need("sphinx")
    assert 0 == main(["-o", str(tmp_path)])
    html = tmp_path / "html"
    assert len([*html.rglob("*.html")]) > 100
    assert [] == _broken(html)
    assert {} == {word: page for word, page in SEARCHED.items() if page not in _found(html, word)}
    scripts = re.findall(
        r"<(?:script|link)[^>]+(?:src|href)=\"(https?:[^\"]+)", _read(html, "search")
    )
    assert [] == scripts
    assert "understudy" in (html / "llms.txt").read_text(encoding="utf-8")
    assert (html / "schemas" / "statement.json").is_file()
    assert {} == _ugly(html, tmp_path)
    with browsing(tmp_path) as browser:
        assert "guides/ledger.html" in _typed(browser, html, "ledger")
        assert [] == _typed(browser, html, "xyzzy")
        light, dark = (_shades(browser, html, scheme) for scheme in ("light", "dark"))
    assert dark.ground < 0.1 < 0.9 < light.ground
    assert min(light.contrast, dark.contrast) >= LEAST_CONTRAST


@dataclass(frozen=True)
class Shades:
    """How bright the ground of a page is, from 0 to 1, and the words before it."""

    ground: float
    words: float

    @property
    def contrast(self) -> float:
        """The ratio of both, as the guidelines for accessible pages define it."""
        least, most = sorted((self.ground, self.words))
        return (most + 0.05) / (least + 0.05)


def _shades(browser: Browser, html: Path, scheme: str) -> Shades:
    """Return the shades of a page for a reader who asks for light or for dark."""
    browser.open(html / "guides" / "ledger.html", width=1280, scheme=scheme)
    colours = browser.run(
        "[getComputedStyle(document.body).backgroundColor, "
        "getComputedStyle(document.querySelector('article p')).color]"
    )
    return Shades(*(_luminance(colour) for colour in colours))


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


_FINISHED = "!!document.querySelector('#search-results .search-summary')?.textContent.trim()"


def _typed(browser: Browser, html: Path, word: str) -> list[str]:
    """Return the pages that the search of the site offers for a word, from the disk."""
    browser.open(html / "index.html", width=1280, scheme="light")
    browser.run(f"document.querySelector('.sidebar-search').value = '{word}'")
    browser.run("document.querySelector('.sidebar-search-container').submit()")
    until = time.monotonic() + 120
    while not browser.run(_FINISHED):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert word in browser.run("location.href")
    links = browser.run(
        "[...document.querySelectorAll('#search-results li a')].map(a => a.getAttribute('href'))"
    )
    return [link.partition("#")[0].partition("?")[0] for link in links]


def _ugly(html: Path, folder: Path) -> dict[str, list[str]]:
    """Return what a reader in Chromium sees beside the page, or on top of something else."""
    found = {}
    with browsing(folder) as browser:
        for page, width in itertools.product(LOOKED_AT, (1280, 390)):
            browser.open(html / f"{page}.html", width=width, scheme="light")
            found[f"{page} at {width}"] = [*spilled(browser), *overlaps(browser)]
            assert [] == [url for url in browser.requests if not url.startswith(("file:", "data:"))]
    return {where: what for where, what in found.items() if what}


def _read(html: Path, page: str) -> str:
    return (html / f"{page}.html").read_text(encoding="utf-8")


def _broken(html: Path) -> list[str]:
    """Return the links and pictures that lead to no file of the site, or to no anchor there."""
    read = {path: Anchors(path.read_text("utf-8")) for path in html.rglob("*.html")}
    return [
        f"{path.relative_to(html)}: {link}"
        for path, page in read.items()
        for link in page.links
        if not re.match(r"[a-z]+:", link) and not _leads(path, link, read)
    ]


def _leads(path: Path, link: str, read: dict[Path, Anchors]) -> bool:
    target, _, anchor = link.partition("#")
    there = Path(os.path.normpath(path.parent / target)) if target else path
    known = read.get(there)
    return there.exists() and not (anchor and known and anchor not in known.anchors)


def _found(html: Path, word: str) -> set[str]:
    """Return the pages to which the index of the search leads from a word."""
    text = (html / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    every = [*index["terms"].items(), *index["titleterms"].items()]
    numbers = [places for term, places in every if word.startswith(term) and len(term) > 4]
    flat = [n for each in numbers for n in (each if isinstance(each, list) else [each])]
    return {index["docnames"][number] for number in flat}


@pytest.mark.slow
def test_a_broken_link_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: a page that is not there, or an anchor, is an error."""
    need("sphinx")
    whole = {
        "index.md": "# A\n\n[b](b.md#here)\n\n```{toctree}\nb.md\n```\n",
        "b.md": "# B\n\n## Here\n",
    }
    monkeypatch.setattr("pages.site.staging.places", dict)
    for wrong, code in (({}, 0), ({"b.md": "# B\n\n[a](no.md)\n"}, 1), ({"b.md": "# B\n"}, 1)):
        monkeypatch.setattr("pages.site.staging.pages", lambda wrong=wrong: whole | wrong)
        assert code == main(["-o", str(tmp_path / str(code + len(wrong.get("b.md", ""))))])
