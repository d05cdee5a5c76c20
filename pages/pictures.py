"""Make the README's picture: the network that the demo's rows gave, and the page about them.

Run it as `python -m pages.pictures`. The network is drawn by `understudy inspect`, the page is
written by `understudy evaluate`, and Chromium puts both on one sheet. The rows are made up.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from understudy.cli.main import run

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "demo.png"
WIDTH, HEIGHT = 1400, 640
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
_SECONDS = 120
_SHEET = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: {width}px; height: {height}px; display: flex; background: #fff;
  font: 15px system-ui, sans-serif; color: #46505c }}
figure {{ margin: 24px 20px; flex: 5; min-width: 0; display: flex; flex-direction: column }}
figcaption {{ margin-bottom: 12px }}
figure + figure {{ flex: 6 }}
svg {{ width: 100%; height: auto; margin: auto 0 }}
.page {{ flex: 1; overflow: hidden; border: 1px solid #d5dae0; border-radius: 8px }}
img {{ width: 100% }}
</style>
<figure><figcaption>The network that was learned at ε = 1: <code>understudy inspect</code>
</figcaption>{network}</figure>
<figure><figcaption>The page for the owner of the data: <code>understudy evaluate</code>
</figcaption><div class="page"><img src="page.png"></div></figure>
"""


def browser() -> str | None:
    """Return the path of a browser that takes pictures, or None where there is none."""
    return next((path for path in map(shutil.which, _BROWSERS) if path), None)


def make(picture: Path, program: str) -> None:
    """Write the picture, from a demo of its own in a folder that is removed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _commands(folder)
        _taken(program, folder / "page.html", folder / "page.png", width=980, height=1300)
        network = (folder / "network.svg").read_text(encoding="utf-8")
        sheet = _SHEET.format(width=WIDTH, height=HEIGHT, network=network)
        (folder / "sheet.html").write_text(sheet, encoding="utf-8")
        picture.parent.mkdir(parents=True, exist_ok=True)
        _taken(program, folder / "sheet.html", picture, width=WIDTH, height=HEIGHT)


def _commands(folder: Path) -> None:
    """Run what a reader would run: the demo, a model of its table, its network and its page."""
    demo, model, rows = folder / "demo", folder / "clinic.zip", folder / "synthetic.csv"
    clinic, schema = demo / "clinic.csv", ("--schema", str(demo / "clinic.toml"))
    ledger = ("--ledger", str(demo / "ledger.jsonl"))
    _run("demo", "--folder", demo)
    _run("fit", clinic, *schema, "--epsilon", 1, *ledger, "-o", model)
    _run("sample", model, "--seed", 7, "-o", rows)
    _run("inspect", model, "--theme", "light", "-o", folder / "network.svg")
    page = ("--classifiers", "none", "-o", folder / "page.html")
    _run("evaluate", clinic, rows, *schema, "--model", model, *page)


def _run(*words: object) -> None:
    arguments = [str(word) for word in words]
    if run(arguments) != 0:
        raise RuntimeError(f"understudy {' '.join(arguments)} failed; its message is above")


def _taken(program: str, page: Path, picture: Path, *, width: int, height: int) -> None:
    """Have the browser take a picture of a page."""
    size = (f"--window-size={width},{height}", f"--screenshot={picture}")
    profile = f"--user-data-dir={page.parent / 'profile'}"
    words = [program, *_OPTIONS, profile, *size, page.as_uri()]
    subprocess.run(words, check=True, capture_output=True, timeout=_SECONDS)


def main() -> int:
    """Make the picture, or say why it is left as it is."""
    program = browser()
    if program is None:
        print(f"{PICTURE.name} is left as it is: no Chromium is installed", file=sys.stderr)
        return 0
    make(PICTURE, program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
