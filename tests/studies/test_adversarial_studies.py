"""Studies of adversarial networks: their plans, their pictures, and what they say of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.torches import need_torch
from understudy.errors import DataError
from understudy.models.pictures.charts import Panel
from understudy_studies import digits, find, image_lines, private_rows
from understudy_studies.cells import Cell, Results, Setting, Size
from understudy_studies.page import write_page
from understudy_studies.private_images import PrivateImages
from understudy_studies.running import run
from understudy_studies.tables import DataFolder

NOWHERE = DataFolder(Path("nowhere"))


def _cell(setting: Setting, numbers: Mapping[str, Any]) -> Cell:
    return Cell(setting, numbers, 1.0, "0")


def test_the_plan_has_every_figure_and_all_runs() -> None:
    """56 to 67, as in the thesis; three runs at ε = 1, 10 and none, and of moments everywhere."""
    study = find("gan-mnist")
    assert list(range(56, 68)) == sorted(image_lines.FIGURES.values())
    planned = Counter((str(s["method"]), str(s["epsilon"])) for s in study.settings(Size.FULL))
    expected = {
        (method, epsilon): 3 if epsilon in ("1", "10", "none") else 1
        for method, epsilon in image_lines.FIGURES
    }
    expected |= {(image_lines.MOMENTS, epsilon): 3 for epsilon in image_lines.EPSILONS}
    # Without noise all runs of moments are the same one.
    expected |= {(image_lines.REAL, "none"): 1, (image_lines.MOMENTS, "none"): 1}
    assert expected == dict(planned)


def test_the_first_seeds_are_those_of_the_cells_on_record() -> None:
    """Cells are found by their seed: a setting that is not put last would take another's."""
    first = PrivateImages().settings(Size.FULL)[:29]
    seeds = {(s["method"], s["epsilon"], s.get("run", 0)): s["seed"] for s in first}
    found = (
        *(("noise-gan", "1", 0), ("moments", "1", 0), ("moments", "20", 2), ("moments", "none", 0)),
    )
    assert [5, 13, 27, 28] == [seeds[each] for each in found]


def test_cells_name_the_law_of_moments() -> None:
    """All generators begin with moments, so that their cells are out of date when these change."""
    study = find("gan-mnist")
    laws = {m: set(study.laws({"method": m})) for m in (*image_lines.GENERATORS, image_lines.REAL)}
    both = {"study", "moments of images"}
    assert {
        "dpgan": both | {"dpgan of images"},
        "noise-gan": both | {"noise-gan of images"},
        "moments": both,
        image_lines.REAL: {"study"},
    } == laws


@pytest.mark.slow
def test_steps_of_a_network_are_reported() -> None:
    """The watch of a cell hears of every lesson and of every step of the critic."""
    need_torch()
    setting = next(s for s in find("gan-mnist").settings(Size.SMOKE) if s["method"] == "dpgan")
    steps: list[tuple[int, int | None]] = []
    find("gan-mnist").measure_watched(setting, NOWHERE, lambda *step: steps.append(step))
    [total] = {total for _, total in steps}
    assert list(range(1, len(steps) + 1)) == [done for done, _ in steps]
    assert len(steps) == total


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
    expected = "Taught by dpgan: 50.0 % at ε = 10 (1 run, 1,200 steps). 1 of 1 generators collapsed"
    assert expected in said
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
