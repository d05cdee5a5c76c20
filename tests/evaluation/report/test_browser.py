"""Pages in a browser: nothing overlaps, nothing is cut off, every figure can be read."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.browser import Browser, bare_figures, browsing, cut_off, overlaps
from support.pages import HOSTILE, clinic, clinic_attacked, hard, little, released
from support.promised import missing
from support.tiers import full_but
from understudy.evaluation.report import evaluation_page

PAGES: dict[str, Callable[[], str]] = {
    "clinic": lambda: evaluation_page(
        *clinic(classifiers=["decision-tree", "naive-bayes"]), disclosure=clinic_attacked()
    ),
    "hard": lambda: evaluation_page(*hard()),
    "little": lambda: evaluation_page(*little()),
    "released": lambda: released().page(),
}
_AUDIT = """axe.run(document, {resultTypes: ['violations']}).then(found =>
found.violations.map(v => v.id + ': ' + v.nodes[0].html.slice(0, 120)))"""
_UNFOLD = "document.querySelectorAll('details').forEach(d => { d.open = true; })"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all pages."""
    with browsing(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture(scope="module", params=list(PAGES))
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each page as a file."""
    path = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    path.write_text(PAGES[request.param](), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"),
    full_but(
        {(1920, "light"), (1280, "dark"), (390, "light")},
        itertools.product((1920, 1280, 390), ("light", "dark")),
    ),
)
def test_pages_can_be_read(browser: Browser, page: Path, width: int, scheme: str) -> None:
    """On wide and usual screens and phones, light and dark, folded and unfolded."""
    browser.open(page, width=width, scheme=scheme)
    for unfolded in (False, True):
        if unfolded:
            browser.run(_UNFOLD)
        assert [] == overlaps(browser)
        assert [] == cut_off(browser)
        assert [] == bare_figures(browser)


_SEEN = """(words => [...document.querySelectorAll('#verdict *')].some(e =>
(!e.children.length || e.classList.contains('brief')) && e.textContent.toLowerCase().includes(words)
&& e.getClientRects().length && e.getBoundingClientRect().bottom <= 900))"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1920, 1280, 390])
def test_the_first_screen_has_decision_reason_and_a_limit(
    browser: Browser, page: Path, width: int
) -> None:
    """What a reader needs is above 900 pixels, on phones in one paragraph."""
    browser.open(page, width=width, scheme="light")
    script = "document.querySelector('.decision').getBoundingClientRect().bottom"
    assert browser.run(script) < 900
    for words in ("privacy", "fidelity", "usefulness"):
        assert browser.run(f"{_SEEN}({words!r})"), words
    limits = browser.run("document.querySelectorAll('.uses > div:nth-child(2) li').length")
    if limits and width == 390:
        assert browser.run(f"{_SEEN}('not good for')")


@pytest.mark.slow
def test_pages_can_be_printed(browser: Browser, page: Path) -> None:
    """On paper of 700 points nothing is beyond the edge, whatever the reader's theme."""
    browser.open(page, width=700, scheme="dark", media="print")
    assert "rgb(255, 255, 255)" == browser.run("getComputedStyle(document.body).backgroundColor")
    assert [] == overlaps(browser)
    assert [] == cut_off(browser)


@pytest.mark.slow
def test_pages_load_nothing_and_run_nothing(browser: Browser, page: Path) -> None:
    """The file itself is all that is asked for, and texts from schemas stay texts."""
    browser.requests.clear()
    browser.open(page, width=1280, scheme="light")
    assert {page.as_uri()} == set(browser.requests)
    assert 0 == browser.run("document.querySelectorAll('script, link, img, iframe').length")
    if page.stem == "hard":
        assert browser.run("document.body.textContent").count(HOSTILE) > 3


@pytest.mark.slow
def test_themes_differ_and_have_contrast(browser: Browser, page: Path) -> None:
    """Text stands out from the page by at least 7 to 1 in either theme, as WCAG's AAA asks."""
    for scheme in ("light", "dark"):
        browser.open(page, width=1280, scheme=scheme)
        assert 7 <= _contrast(browser, "backgroundColor", "color")


def _contrast(browser: Browser, *parts: str) -> float:
    style = "getComputedStyle(document.body)"
    lights = sorted(_luminance(browser.run(f"{style}.{part}")) for part in parts)
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: str) -> float:
    """Of rgb(r, g, b), by WCAG's definition."""
    numbers = [int(part) / 255 for part in colour.strip("rgb()").split(",")]
    linear = [n / 12.92 if n <= 0.04045 else ((n + 0.055) / 1.055) ** 2.4 for n in numbers]
    return sum(w * n for w, n in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.slow
def test_pages_pass_an_audit_of_accessibility(browser: Browser, page: Path) -> None:
    """axe-core finds nothing, unfolded, light and dark; its code is not part of this repository."""
    script = _axe()
    # A hundred columns take axe long; what is folded there is the same again.
    is_long = page.stem == "hard"
    for scheme in ("light",) if is_long else ("light", "dark"):
        browser.open(page, width=1280, scheme=scheme)
        browser.run("0" if is_long else _UNFOLD)
        browser.call("Runtime.evaluate", expression=script)
        found = browser.call(
            "Runtime.evaluate", expression=_AUDIT, awaitPromise=True, returnByValue=True
        )
        assert [] == found["result"]["value"]


@pytest.mark.slow
def test_the_audit_would_find_something(browser: Browser, tmp_path: Path) -> None:
    """A picture without a text beside it, and words that hardly differ from the page."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<html lang="en"><title>bad</title><main><h1>bad</h1><img src="data:,">'
        "<p style='color: #ddd'>faint</p></main></html>",
        encoding="utf-8",
    )
    browser.open(bad, width=1280, scheme="light")
    browser.call("Runtime.evaluate", expression=_axe())
    found = browser.call(
        "Runtime.evaluate", expression=_AUDIT, awaitPromise=True, returnByValue=True
    )
    named = {line.partition(":")[0] for line in found["result"]["value"]}
    assert {"image-alt", "color-contrast"} <= named


def _axe() -> str:
    """The script of axe-core: that of $UNDERSTUDY_AXE, else of the package that tests install."""
    given = os.environ.get("UNDERSTUDY_AXE", "")
    if given:
        return Path(given).read_text(encoding="utf-8")
    if find_spec("axe_core_python") is None:
        missing("axe-core-python")
    return (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.slow
def test_overlaps_and_cuts_are_found(browser: Browser, tmp_path: Path) -> None:
    """The checks themselves fail on a page that is broken in these ways."""
    broken = tmp_path / "broken.html"
    chart = '<svg class="chart"><text x="5" y="9">one</text><text x="5" y="9">two</text></svg>'
    broken.write_text(
        f"<body><figure>{chart}</figure><p style='width: 3000px'>wide</p>"
        "<p style='margin: -20px 0 0'>over</p></body>",
        encoding="utf-8",
    )
    browser.open(broken, width=390, scheme="light")
    assert {"text one / text two", "P wide / P over"} <= set(overlaps(browser))
    assert "the page scrolls sideways" in cut_off(browser)
    assert 1 == len(bare_figures(browser))
