"""Studies of adversarial networks: their plans, their pictures, and what they say of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.torches import need_torch
from understudy.errors import DataError
from understudy.models.pictures.charts import Panel
from understudy_studies import digits, find, image_lines, private_images, private_rows
from understudy_studies.cells import Cell, Results, Setting, Size
from understudy_studies.page import write_page
from understudy_studies.running import run
from understudy_studies.tables import DataFolder

NOWHERE = DataFolder(Path("nowhere"))


def _cell(setting: Setting, numbers: Mapping[str, Any]) -> Cell:
    return Cell(setting, numbers, 1.0, "0")


def test_every_sheet_has_its_figure() -> None:
    """56 to 67, as in the thesis; the plan has a cell for each that is not left for later."""
    study = find("gan-mnist")
    assert list(range(56, 68)) == sorted(image_lines.FIGURES.values())
    planned = {(s["method"], s["epsilon"]) for s in study.settings(Size.FULL)}
    moments = {(image_lines.MOMENTS, epsilon) for epsilon in image_lines.EPSILONS}
    others = {(image_lines.REAL, image_lines.NONE)} | moments
    measured = set(image_lines.FIGURES) - set(private_images.LATER)
    assert measured
    assert measured | others == planned


def test_images_are_judged_by_numbers_alone() -> None:
    """The line of a cell has its sizes; the sentence counts collapses; a sheet is a file."""
    sizes = {"images": 9, "lessons": 3, "made": 4}
    real = _cell({"method": image_lines.REAL, "epsilon": "none"}, {"accuracy": 0.9, "images": 9})
    numbers = {
        "accuracy": 0.5,
        "relabelled": 0.75,
        "histogram": [1, 3],
        "diversity": 0.5,
        "collapsed": True,
        "images": 9,
        "steps": 1200,
        "seconds": 7.5,
        "sheet": "aGVsbG8=",
    }
    made = _cell({"method": "dpgan", "epsilon": "10", **sizes}, numbers)
    study, results = find("gan-mnist"), Results((made, real))
    said = study.sentence(results)
    assert said.startswith("A student of real images finds 90.0 % of classes.")
    assert "Taught by dpgan: 50.0 % at ε = 10 (1,200 steps). 1 of 1 generators collapsed." in said
    [first, second] = study.summary(results).document()
    assert (image_lines.REAL, 0.9) == (first["method"], first["accuracy"])
    assert (25, 75, 59, "yes") == tuple(
        second[name] for name in ("fewest %", "most %", "figure", "collapsed")
    )
    assert (3, 1200, 9, 4, 7.5) == tuple(
        second[name] for name in ("lessons", "steps", "images", "made", "seconds")
    )
    assert {"figure-59-dpgan-10": b"hello"} == study.pictures(results)
    assert "not covered by ε" in study.words
    panels = [panel for panel in study.panels(results) if isinstance(panel, Panel)]
    assert [[0.5], [0.75]] == [list(panel.lines[0].up) for panel in panels]


@pytest.mark.slow
def test_pictures_stand_beside_record_and_page(tmp_path: Path) -> None:
    """PNG files under the study's name, and the page shows them."""
    need_torch()
    document = run("gan-mnist", Size.SMOKE, tmp_path / "out", shelf=NOWHERE)
    write_page("gan-mnist", tmp_path / "out" / "gan-mnist.json", tmp_path / "page" / "gan-mnist.md")
    names = [
        "gan-mnist-figure-59-dpgan-10.png",
        "gan-mnist-figure-65-noise-gan-10.png",
        "gan-mnist-moments-10.png",
    ]
    for folder in ("out", "page"):
        assert names == sorted(path.name for path in (tmp_path / folder).glob("*.png"))
    page = (tmp_path / "page" / "gan-mnist.md").read_text(encoding="utf-8")
    assert all(f"]({name})" in page for name in names)
    assert 4 == document["planned"]


def test_a_file_that_is_no_mnist_is_refused(tmp_path: Path) -> None:
    """With what is expected."""
    np.savez(tmp_path / "x.npz", x=np.zeros(1))
    with pytest.raises(DataError, match="x_train"):
        digits.load_mnist(tmp_path / "x.npz")


def test_methods_for_rows_are_compared_at_equal_epsilon() -> None:
    """The sentence names the best of either kind."""

    def one(method: str, epsilon: str, mean: float, distance: float) -> Cell:
        numbers = {"mean": mean, "baseline": 0.5, "distance": distance, "rows": 9, "seconds": 1.0}
        return _cell({"method": method, "epsilon": epsilon}, numbers)

    cells = (
        one(private_rows.REAL, private_rows.REAL, 0.9, 0.0),
        *(one("nist", "1", 0.8, 0.2), one("privbayes", "1", 0.7, 0.1)),
        *(one("dpgan", "1", 0.6, 0.3), one("noise-gan", "1", 0.55, 0.4)),
    )
    study = find("gan-adult")
    assert study.sentence(Results(cells)) == (
        "Real rows teach 90.0 % (baseline 50.0 %). At ε = 1, of networks nist teaches 80.0 % and "
        "privbayes is 0.100 away; of adversarial methods dpgan teaches 60.0 % and dpgan is 0.300 "
        "away."
    )
    assert 5 == len(study.summary(Results(cells)).document())
