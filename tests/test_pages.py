"""Pages about the promise say what the program does, and name who could learn what."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages import pictures
from pages.__main__ import main
from pages.documents import blocks, texts
from support.browser import chromium
from support.torches import need_torch
from understudy.facts.unit import Neighbours
from understudy.gan.tables import NoiseGAN
from understudy.methods import Random, registry
from understudy.privacy.statements.assurance import METHODS, Vetting

ROOT = Path(__file__).parent.parent
PARTIES = (
    "receiver of a model",
    "receiver of synthetic rows",
    "analyst",
    "holder",
    "hub",
    "co-tenant",
    "owner's colleague",
    "thief of a stream's state",
)


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _promises() -> dict[str, list[str]]:
    """The generated table of whom each result protects, by the result."""
    lines = blocks()["docs/promise.md"]["promises"].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first.strip("`"): rest for first, *rest in cells}


def test_documents_are_as_the_program_makes_them() -> None:
    """The blocks are what `python -m pages --write` makes of the code."""
    need_torch()
    for path, made in texts().items():
        assert made == path.read_text(encoding="utf-8"), path.name


def test_printing_the_blocks_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Without `--write` the blocks are printed, and documents stay as they are."""
    need_torch()
    before = {path: path.stat().st_mtime_ns for path in texts()}
    assert 0 == main([])
    assert blocks()["docs/promise.md"]["promises"] in capsys.readouterr().out
    assert before == {path: path.stat().st_mtime_ns for path in texts()}


def test_the_table_of_promises_names_every_method() -> None:
    """Each method of `--method` has its line, and so have the releases that are not methods."""
    need_torch()
    others = {
        "schema infer",
        "schema init --epsilon",
        "evaluate --release-epsilon",
        "stream",
        "holder` and `analyst",
    }
    assert set() == {*registry.names(), *others} - _promises().keys()


def test_the_table_of_promises_follows_the_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another default of a class is another line; a relation that is refused is not offered."""
    need_torch()
    assert ["a row", "replace", "none", "pure ε"] == _promises()["histogram"]
    assert ["a row", "replace", "none", "(ε, δ)"] == _promises()["noise-gan"]
    images = _promises()["images by `moments"]
    assert ["an image", "add-remove", "replace", "(ε, δ)"] == images
    monkeypatch.setattr(Random, "default_neighbours", Neighbours.REPLACE)
    monkeypatch.setattr(NoiseGAN, "default_neighbours", Neighbours.ADD_REMOVE)
    assert ["replace", "add-remove"] == _promises()["random"][1:3]
    assert ["a row", "add-remove", "none", "(ε, δ)"] == _promises()["noise-gan"]


def test_the_readme_names_what_is_less_proven() -> None:
    """The README's sentence on assurance names exactly the methods that are less proven."""
    [sentence] = re.findall(r"which are\s+less proven: (.*?)\.", _text("README.md"), re.DOTALL)
    less = {name for name, found in METHODS.items() if found.level is Vetting.LESS_PROVEN}
    assert less == set(re.findall("`([^`]+)`", sentence))


@pytest.mark.parametrize("party", PARTIES)
def test_the_threat_model_tells_of_every_party(party: str) -> None:
    """What they see and can do, what protects and what does not, and tests that are there."""
    lines = _text("docs/threat_model.md").splitlines()
    [line] = [line for line in lines if line.startswith(f"| **{party}**")]
    *cells, tests = [cell.strip() for cell in line.strip("|").split("|")]
    assert (5, []) == (len(cells), [cell for cell in cells if not cell])
    named = re.findall(r"`(tests/[\w/]+\.py)`", tests)
    assert [] != named == [path for path in named if (ROOT / path).is_file()]


@pytest.mark.parametrize("name", ["README.md", "docs/promise.md", "SECURITY.md"])
def test_pages_that_promise_lead_to_the_threat_model(name: str) -> None:
    """Readers of the promise find who it is against, and how much it is proven."""
    assert {"threat_model.md", "assurance.md"} <= set(re.findall(r"(\w+\.md)\)", _text(name)))


def test_security_says_what_a_reporter_needs() -> None:
    """How to report, what is supported, what counts, and the two kinds of privacy faults."""
    text = _text("SECURITY.md")
    headings = ("Reporting", "What is supported", "What counts as a vulnerability")
    assert [] == [words for words in headings if f"\n## {words}\n" not in text]
    assert "*the claim is false*" in text
    assert "*the claim fails in corners*" in text
    assert None is re.search(r"\S+@\S+\.\w+", text)


def test_without_a_browser_the_picture_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`scripts/pictures` says why it does nothing, and ends well."""
    before = pictures.PICTURE.stat().st_mtime_ns
    monkeypatch.setenv("PATH", "/nowhere")
    assert 0 == pictures.main()
    assert "no Chromium is installed" in capsys.readouterr().err
    assert before == pictures.PICTURE.stat().st_mtime_ns


@pytest.mark.slow
def test_the_picture_can_be_made_again(tmp_path: Path) -> None:
    """The commands run, and the browser writes a PNG of the size that was asked for."""
    made = tmp_path / "demo.png"
    pictures.make(made, chromium())
    for picture in (made, pictures.PICTURE):
        head = picture.read_bytes()[:24]
        size = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
        assert (pictures.WIDTH, pictures.HEIGHT) == size
