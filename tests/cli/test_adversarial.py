"""Adversarial methods at the command line: tables, images, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from support.commands import Desk
from support.tiers import slow_but
from support.torches import need_torch

SMALL = ("--epochs", 2, "--batch", 50)
TAUGHT = ("--lessons", 2)
SIZES = ("--height", 8, "--width", 8, "--classes", 2)


def _images(folder: Path) -> Path:
    labels = np.arange(40) % 2
    np.savez(folder / "in.npz", x=np.full((40, 8, 8), labels[:, None, None] * 200, "u1"), y=labels)
    return folder / "in.npz"


@pytest.mark.parametrize("method", slow_but({"noise-gan"}, ["dpgan", "noise-gan"]))
def test_a_table(desk: Desk, method: str) -> None:
    """Fit, sample, inspect, rows that fit conditions: all without a word on private cells."""
    need_torch()
    model, budget = desk.folder / "model.zip", ("--epsilon", 100, "--delta", "1e-6")
    started = TAUGHT if method == "dpgan" else ()
    where = ("--schema", desk.schema, "--method", method, "--target", "name", *SMALL, *started)
    assert 0 == desk.run("fit", desk.data, *where, *budget, "-o", model).code
    drawn = desk.run(
        *("sample", model, "-o", desk.output, "--rows", 30, "--where", "name = Ann", "--json")
    )
    assert (0, "rejection", 30) == (drawn.code, drawn.document["how"], drawn.document["rows"])
    assert {"Ann"} == {line.split(",")[0] for line in desk.output.read_text().split()[1:]}
    shown = desk.run("inspect", model)
    assert 0 == shown.code
    assert "by a generator" in shown.out
    asked = desk.run("query", model, "P(name)")
    assert 2 == asked.code
    assert "no probabilities" in asked.err


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dpgan", "noise-gan"])
def test_images(desk: Desk, method: str) -> None:
    """Arrays in, arrays out, the statement beside them and in the ledger."""
    need_torch()
    source, made = _images(desk.folder), desk.folder / "out.npz"
    trained = SMALL if method == "dpgan" else ()
    asked = ("--method", method, *SIZES, *TAUGHT, *trained, "--epsilon", 3, "--delta", "1e-5")
    result = desk.run("synth", source, *asked, "--rows", 12, "-o", made, "--json")
    assert 0 == result.code, result.err
    with np.load(made) as arrays:
        assert ((12, 8, 8), (12,)) == (arrays["x"].shape, arrays["y"].shape)
    document = json.loads(Path(f"{made}.privacy.json").read_text())
    assert document["statement"] == result.document["statement"]
    assert 0 < document["statement"]["epsilon"] <= 3
    [account] = desk.run("ledger", "show", "--json").document["datasets"]
    assert document["statement"]["epsilon"] == account["spent"]["epsilon"]


@pytest.mark.parametrize("name", slow_but({"model"}, ["model", "model.npz"]))
def test_a_model_of_images(desk: Desk, name: str) -> None:
    """Fit once, draw often: the same seed gives the same images, and nothing more is spent."""
    need_torch()
    model, outs = desk.folder / name, [desk.folder / f"{i}.npz" for i in range(2)]
    # The noise on the labels is small beside their numbers, so that no label has chance zero.
    asked = ("--method", "noise-gan", *SIZES, *TAUGHT, "--epsilon", 1000, "--delta", "1e-5")
    fitted = desk.run("fit", _images(desk.folder), *asked, "-o", model, "--json")
    assert 0 == fitted.code, fitted.err
    spent = desk.run("ledger", "show", "--json").document["datasets"]
    for out in outs:
        drawn = desk.run("sample", model, "-n", 100, "-o", out, "--seed", 5, "--json")
        assert (0, 100) == (drawn.code, drawn.document["rows"])
    first, second = (np.load(out)["x"] for out in outs)
    assert ((100, 8, 8), True) == (first.shape, np.array_equal(first, second))
    assert spent == desk.run("ledger", "show", "--json").document["datasets"]
    shown = desk.run("inspect", model, "--json")
    assert fitted.document["statement"] == shown.document["statement"]
    assert (8, 8, 2) == tuple(shown.document[name] for name in ("height", "width", "classes"))
    assert "8 × 8 pixels in 2 classes" in desk.run("inspect", model).out
    verified = desk.run("verify", model, "--ledger", desk.ledger.path, "--json")
    assert verified.document["belongs_together"]
    drawn = desk.run("sample", model, "-n", 9, "-o", outs[0], "--where", "y = 1", "--json")
    assert ("y = 1", 9) == (drawn.document["where"], drawn.document["rows"])
    assert {1} == set(np.load(outs[0])["y"].tolist())


@pytest.mark.slow
def test_an_old_copy_of_a_checkpoint(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 3 with the way out, nothing spent: while its run can resume, and when it is finished."""
    need_torch()
    kept, copy, source = desk.folder / "run.npz", desk.folder / "copy.npz", _images(desk.folder)
    budget = ("--epsilon", 3, "--delta", "1e-5", "--epochs", 6, "--batch", 1000, *TAUGHT)
    asked = ("synth", source, "--method", "dpgan", *SIZES, *budget, "-o", desk.folder / "out.npz")
    with monkeypatch.context() as patch:
        _cut_after(patch, 2, copy)
        assert 130 == desk.run(*asked, "--checkpoint", kept).code
    before = desk.ledger.path.read_bytes()
    older = desk.run(*asked, "--checkpoint", copy)
    assert (3, before) == (older.code, desk.ledger.path.read_bytes())
    assert "knows step 2 of this run" in older.err
    assert "continue from the checkpoint of step 2, or start again without one" in older.err
    assert 0 == desk.run(*asked, "--checkpoint", kept).code
    before = desk.ledger.path.read_bytes()
    finished = desk.run(*asked, "--force", "--checkpoint", copy)
    assert (3, before) == (finished.code, desk.ledger.path.read_bytes())
    assert (
        "is finished, and cannot continue; remove the checkpoint, or name another" in finished.err
    )


def _cut_after(patch: pytest.MonkeyPatch, times: int, copy: Path) -> None:
    """Interrupt a run after some checkpoints, the first of which is copied."""
    from understudy.gan.checkpoints import Checkpoint

    show, shown = Checkpoint._show, list[bytes]()

    def showing(self: Checkpoint) -> None:
        show(self)
        shown.append(self.path.read_bytes())
        if len(shown) == times:
            copy.write_bytes(shown[0])
            raise KeyboardInterrupt

    patch.setattr(Checkpoint, "_show", showing)


@pytest.mark.slow
def test_what_models_of_images_refuse(desk: Desk) -> None:
    """Questions, networks, outputs for rows; and a damaged model."""
    need_torch()
    model = desk.folder / "model.zip"
    asked = ("--method", "noise-gan", *SIZES, *TAUGHT, "--epsilon", 3, "--delta", "1e-5")
    assert 0 == desk.run("fit", _images(desk.folder), *asked, "-o", model).code
    out = desk.folder / "out.npz"
    refused = [
        (("sample", model, "-o", out, "--where", "x = 1"), "'x' is not a column"),
        (("query", model, "P(y)"), "a model of kind 'images' makes images"),
        (("sample", model, "-o", desk.output), "written to .npz"),
        (("inspect", model, "-o", desk.folder / "n.svg"), "no network to draw"),
        (("fit", desk.data, "-o", desk.folder / "m", "--epsilon", 1), "schema is not given"),
    ]
    for arguments, message in refused:
        result = desk.run(*arguments)
        assert 2 == result.code
        assert message in result.err
    raw = model.read_bytes()
    model.write_bytes(raw[:200] + bytes([raw[200] ^ 255]) + raw[201:])
    assert 4 == desk.run("sample", model, "-o", out).code


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "dpgan", "--epsilon", 1), "needs a delta above 0"),
        (("--method", "dpgan", "--epsilon", 1, "--delta", "1e-6", "--target", "x"), "not a column"),
        (
            ("--method", "dpgan", "--epsilon", 1, "--delta", "1e-6", "--neighbours", "replace"),
            "no bound for a row under replace",
        ),
        (("--method", "nist", "--epsilon", 1, "--delta", "1e-6", "--clip", 1), "--clip is for"),
        (("--method", "dpgan", "--epsilon", 1, "--delta", "1e-6", "--pace", 0), "pace is 0"),
        (("--epsilon", 1, "--height", 28), "--height is for images"),
        (
            ("--method", "noise-gan", "--epsilon", 1, "--delta", "1e-6", *TAUGHT),
            "--lessons is for dpgan, and for images",
        ),
        (("--method", "dpgan", "--epsilon", 1, "--delta", "1e-6", "--clip", 0), "clip is 0"),
    ],
)
def test_impossible_tables_are_refused(
    desk: Desk, options: tuple[object, ...], message: str
) -> None:
    """Before anything is read or spent."""
    need_torch()
    result = desk.run("synth", desk.data, "--schema", desk.schema, "-o", desk.output, *options)
    assert 2 == result.code
    assert message in result.err
    assert not desk.output.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "nist", *SIZES), "does not make images"),
        (("--method", "dpgan", "--height", 8, "--width", 8), "classes is not given"),
        (("--method", "dpgan", *SIZES, "--neighbours", "replace"), "no bound under replace"),
        (("--method", "dpgan", *SIZES, "--target", "y"), "leave out --target"),
        (("--method", "dpgan", *SIZES, "--person-id", "p"), "--person-id is for tables"),
        (("--method", "dpgan", *SIZES, "--memory", "1GB"), "--memory is for tables"),
        (("--method", "dpgan", *SIZES, "--schema", "s.toml"), "images have no schema"),
        (("--method", "dpgan", *SIZES, "--checkpoint", "a.zip"), "must end in .npz"),
        (("--method", "noise-gan", *SIZES, "--checkpoint", "a.npz"), "is not resumed"),
    ],
)
def test_impossible_images_are_refused(
    desk: Desk, options: tuple[object, ...], message: str
) -> None:
    """Before anything is read or spent."""
    need_torch()
    out = ("-o", desk.folder / "out.npz", "--epsilon", 1, "--delta", "1e-5")
    result = desk.run("synth", _images(desk.folder), *out, *options)
    assert 2 == result.code
    assert message in result.err


def test_a_missing_package_names_its_extra(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyTorch is not installed, the message says how to get it."""
    monkeypatch.setitem(sys.modules, "torch", None)
    asked = ("--method", "dpgan", "--epsilon", 1, "--delta", "1e-6", "-o", desk.output)
    result = desk.run("synth", desk.data, "--schema", desk.schema, *asked)
    assert 2 == result.code
    assert "understudy[gan]" in result.err


def test_a_plan_of_training_is_refused(desk: Desk) -> None:
    """What networks learn cannot be forecast."""
    result = desk.run(
        *("plan", "--schema", desk.schema, "--rows", 900, "--epsilon", 1, "--delta", "1e-6"),
        *("--method", "dpgan"),
    )
    assert 2 == result.code
    assert "cannot be forecast" in result.err
