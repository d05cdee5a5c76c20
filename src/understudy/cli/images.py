"""Images at the command line: arrays in, arrays out, by networks that were trained privately."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli import options
from understudy.cli.console import Stopwatch, messages, print_json, results, training_bar
from understudy.cli.wishes import Wishes
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.cli.methods import Training
    from understudy.gan.image_model import ImageModel
    from understudy.gan.pictures import ImageGAN


@dataclass(frozen=True)
class ImageRequest:
    """What the command line asks of images."""

    method: str
    epsilon: str | None
    delta: str
    training: Training
    height: int | None
    width: int | None
    classes: int | None
    checkpoint: Path | None
    rows: int | None
    seed: int | None
    schema: Path | None = None
    neighbours: str | None = None
    wishes: Wishes = field(default_factory=Wishes)


def build(asked: ImageRequest) -> ImageGAN:
    """The method asked for; what cannot work is refused before anything is read."""
    from understudy.gan.convolutions import Shape
    from understudy.gan.pictures import IMAGE_SETTINGS, METHODS, ImageGAN

    if asked.schema is not None:
        raise UsageError("images have no schema; leave it out, and give height, width and classes")
    if asked.method not in METHODS:
        raise UsageError(f"method {asked.method!r} makes no images; use {' or '.join(METHODS)}")
    if asked.neighbours not in (None, str(METHODS[asked.method])):
        raise UsageError(
            f"{asked.method} of images has no bound under {asked.neighbours}; leave it out"
        )
    if asked.epsilon is None:
        raise UsageError("epsilon is not given; say how much privacy loss is allowed, as -e 10")
    if asked.wishes.given:
        raise UsageError(
            f"images have labels in y and no columns; leave out {asked.wishes.given[0]}"
        )
    if asked.checkpoint is not None and asked.checkpoint.suffix != ".npz":
        raise UsageError(f"checkpoint {asked.checkpoint}: must end in .npz")
    settings = asked.training.settings(IMAGE_SETTINGS)
    found = ImageGAN(
        Shape(*_declared(asked)),
        *(asked.epsilon, asked.delta, asked.method, settings),
        checkpoint=asked.checkpoint,
    )
    found.check()
    return found


def _declared(asked: ImageRequest) -> tuple[int, int, int]:
    sizes = {"height": asked.height, "width": asked.width, "classes": asked.classes}
    missing = [name for name, value in sizes.items() if value is None]
    if missing:
        raise UsageError(
            f"{missing[0]} is not given; images need public facts, as --height 28 --width 28 "
            "--classes 10"
        )
    height, width, classes = (value or 0 for value in sizes.values())
    return height, width, classes


def refuse_for_tables(**given: object) -> None:
    """Refuse what only images take."""
    unfit = [name for name, value in given.items() if value is not None]
    if unfit:
        raise UsageError(f"--{unfit[0]} is for images in an .npz file; leave it out")


@dataclass(frozen=True)
class Purse:
    """Who pays for images: a ledger, and the name under which they stand in it."""

    ledger: Path | None
    dataset: str | None


def synth_images(
    asked: ImageRequest, data: Path, output: Path, purse: Purse, *, as_json: bool
) -> None:
    """Fit, sample, and write OUTPUT with OUTPUT.privacy.json beside it."""
    from understudy.cli.synth import rescued, write_json
    from understudy.files import check_apart, check_writable
    from understudy.gan.images import write_images

    method = build(asked)
    check_apart(_for_images(output), str(data))
    statement_path = check_writable(f"{check_writable(output)}.privacy.json")
    watch = Stopwatch()
    model = _fitted(method, data, purse, watch)
    with rescued(model), watch.timed("sample"):
        made = model.sample(asked.rows, seed=asked.seed)
        write_images(output, made)
        document = summary(model, made.rows)
        write_json(statement_path, document)
    if as_json:
        print_json(document | {"seconds": watch.seconds})
        return
    messages().print(f"{made.rows:,} images → {output}", style="bold")
    messages().print(model.statement.sentence)
    messages().print(f"statement in {output}.privacy.json", style="dim")


def fit_images(
    asked: ImageRequest, data: Path, output: Path, purse: Purse, *, as_json: bool
) -> None:
    """Learn a model of private images and keep it in one file."""
    from understudy.cli.synth import rescued
    from understudy.files import check_apart, check_writable

    method = build(asked)
    check_apart(output, str(data))
    check_writable(output)
    watch = Stopwatch()
    model = _fitted(method, data, purse, watch)
    with rescued(model):
        model.save(output)
    if as_json:
        print_json(summary(model, model.rows) | {"seconds": watch.seconds})
        return
    messages().print(f"model of images → {output}", style="bold")
    messages().print(model.statement.sentence)


def sample_images(
    path: Path, output: Path, *, rows: int | None, seed: int | None, as_json: bool
) -> None:
    """Draw images from a model; this costs no budget, however often."""
    from understudy.files import check_apart, check_writable
    from understudy.gan.image_model import ImageModel
    from understudy.gan.images import write_images

    check_apart(check_writable(_for_images(output)), str(path))
    model = ImageModel.load(path)
    watch = Stopwatch()
    with watch.timed("sample"):
        made = model.sample(rows, seed=seed)
        write_images(output, made)
    if as_json:
        print_json(summary(model, made.rows) | {"seconds": watch.seconds})
        return
    messages().print(f"{made.rows:,} images → {output}", style="bold")


def inspect_images(path: Path, *, as_json: bool) -> None:
    """Show what a model of images makes, and its statement."""
    from understudy.gan.image_model import ImageModel

    model = ImageModel.load(path)
    if as_json:
        print_json(summary(model, model.rows))
        return
    shape = model.maker.shape
    results().print(
        f"images of {shape.height} × {shape.width} pixels in {shape.classes} classes, "
        f"by a generator ({model.statement.method})"
    )
    results().print(model.statement.sentence)


def _for_images(output: Path) -> Path:
    if output.suffix != ".npz":
        raise UsageError(f"{output}: images are written to .npz files; name one")
    return output


def _fitted(method: ImageGAN, data: Path, purse: Purse, watch: Stopwatch) -> ImageModel:
    from understudy.gan.images import read_images

    images = read_images(data, method.shape)
    ledger, name = options.open_ledger(purse.ledger), purse.dataset or data.stem
    method.notice = _warn
    with watch.timed("fit"), training_bar() as method.progress:
        return method.fit(images, ledger=ledger, dataset=name)


def _warn(text: str) -> None:
    messages().print(text, style="yellow")


def summary(model: ImageModel, rows: int) -> dict[str, Any]:
    """What is said about generated images, for machines."""
    shape = model.maker.shape
    return {
        "method": model.statement.method,
        "rows": rows,
        "height": shape.height,
        "width": shape.width,
        "classes": shape.classes,
        "statement": model.statement.document(),
    }
