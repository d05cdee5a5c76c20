"""A headless Chromium, spoken to over a pair of pipes: what a page looks like to a reader.

Where continuous integration runs a missing browser is a failure; elsewhere the test is skipped.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.promised import missing

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 180.0
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe"),
)
# DevTools reads commands from file 3 and writes answers to file 4, each ended by a zero byte.
_START = 'exec "$@" 3<&"$COMMANDS" 4>&"$ANSWERS"'


def chromium() -> str:
    """The browser's path; without one the test is skipped, under CI it fails."""
    found = next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None:
        missing("chromium")
    return found


@dataclass
class Browser:
    """One page of a running browser.

    Attributes:
        requests: the addresses of everything that the page asked for.
    """

    commands: int
    answers: int
    session: str = ""
    requests: list[str] = field(default_factory=list)
    _number: int = 0
    _held: bytes = b""
    _events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result
            self._events.append(answer)
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + _SECONDS
        while b"\0" not in self._held:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            got = os.read(self.answers, 1 << 20)
            assert got, "the browser has ended"
            self._held += got
        line, self._held = self._held.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, page: Path, *, width: int, scheme: str, media: str = "screen") -> None:
        """Show a file at some width, light or dark, on a screen or on paper."""
        phone = width < 600
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": phone}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.call("Page.navigate", url=page.as_uri())
        while self.run("document.readyState") != "complete":
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """Return the value of an expression on the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """A browser with a blank page, ended afterwards."""
    commands, ours = os.pipe()
    theirs, answers = os.pipe()
    environment = os.environ | {"COMMANDS": str(commands), "ANSWERS": str(answers)}
    options = (*_OPTIONS, f"--user-data-dir={folder / 'profile'}", "about:blank")
    process = subprocess.Popen(
        ["bash", "-c", _START, "browser", chromium(), *options],
        env=environment,
        pass_fds=(commands, answers),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands)
    os.close(answers)
    try:
        yield _attached(Browser(ours, theirs))
    finally:
        os.close(ours)
        os.close(theirs)
        process.terminate()
        process.wait(_SECONDS)


def _attached(browser: Browser) -> Browser:
    [page] = [t for t in browser.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
    found = browser.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
    browser.session = found["sessionId"]
    for part in ("Page", "Runtime", "Network"):
        browser.call(f"{part}.enable")
    return browser


# Two rectangles overlap when they share more than a pixel in both directions.
_RECTANGLES = """
const seen = e => {
  const r = e.getBoundingClientRect();
  return e.checkVisibility() && r.width > 0 && r.height > 0;
};
const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1
  || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
const named = e => e.tagName + ' ' + (e.textContent || '').trim().slice(0, 40);
const scrolled = e => e.closest('.scroll') !== null;
"""

_OVERLAPS = """(() => {
%s
const found = [];
const check = parts => parts.forEach((a, i) => parts.slice(i + 1).forEach(b => {
  if (!a.contains(b) && !b.contains(a)
      && !apart(a.getBoundingClientRect(), b.getBoundingClientRect()))
    found.push(named(a) + ' / ' + named(b));
}));
document.querySelectorAll('svg').forEach(s => check([...s.querySelectorAll('text')].filter(seen)));
const kinds = 'h1, h2, h3, p, li, dt, dd, figure, figcaption, summary, blockquote, .tile, .mark';
check([...document.querySelectorAll(kinds)].filter(e => seen(e) && !scrolled(e)));
document.querySelectorAll('table').forEach(t =>
  [...t.rows].forEach(r => check([...r.cells].filter(seen))));
return found;
})()"""

_CUT_OFF = """(() => {
%s
const found = [], wide = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > wide) found.push('the page scrolls sideways');
for (const e of document.body.querySelectorAll('*')) {
  if (!seen(e) || (scrolled(e) && !e.closest('svg.chart'))) continue;
  const r = e.getBoundingClientRect();
  if (r.right > wide + 1 || r.left < -1) found.push('beyond the page: ' + named(e));
  if (!(e instanceof SVGElement) && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0
      && getComputedStyle(e).display !== 'inline')
    found.push('wider than its place: ' + named(e));
  if (e.tagName === 'text') {
    const s = e.closest('svg').getBoundingClientRect();
    if (r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 1
        || r.bottom > s.bottom + 1) found.push('outside its chart: ' + named(e));
  }
}
return found;
})()"""

# A theme hides what is too wide, so the width of the page is not enough to see it.
_SPILLED = """(() => {
const found = [], page = document.documentElement, wide = page.clientWidth;
if (Math.max(page.scrollWidth, document.body.scrollWidth) > wide)
  found.push('the page scrolls sideways');
const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
const boxed = e => e.tagName !== 'ARTICLE' && (scrolls(e) || boxed(e.parentElement));
for (const e of document.querySelectorAll('article *')) {
  const r = e.getBoundingClientRect();
  if (r.width && r.height && (r.right > wide + 1 || r.left < -1) && !boxed(e.parentElement))
    found.push(e.tagName + ' ' + (e.textContent || '').trim().slice(0, 40));
}
return found;
})()"""

_BARE = """[...document.querySelectorAll('figure')].filter(f => {
  const caption = f.querySelector('figcaption'), chart = f.querySelector('svg.chart');
  const axes = ['x', 'y'].every(a => f.querySelector('svg .axis.' + a + ' text'));
  return !caption || !caption.textContent.trim() || (chart ? !axes : !f.querySelector('svg'));
}).map(f => f.textContent.trim().slice(0, 40))"""


def overlaps(browser: Browser) -> list[str]:
    """Pairs of texts, figures or cells that lie on each other."""
    found: list[str] = browser.run(_OVERLAPS % _RECTANGLES)
    return found


def cut_off(browser: Browser) -> list[str]:
    """Whatever reaches beyond the page, its place or its chart."""
    found: list[str] = browser.run(_CUT_OFF % _RECTANGLES)
    return found


def spilled(browser: Browser) -> list[str]:
    """Whatever of an article lies beside the page; boxes that scroll by themselves may be wide."""
    found: list[str] = browser.run(_SPILLED)
    return found


def bare_figures(browser: Browser) -> list[str]:
    """Figures without a caption, and charts without both axes."""
    found: list[str] = browser.run(_BARE)
    return found
