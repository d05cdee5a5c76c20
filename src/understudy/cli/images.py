"""Images at the command line: arrays in, arrays out, by networks that were trained privately."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli.console import Stopwatch, messages, print_json, results, training_bar
from understudy.cli.groups import Group
from understudy.cli.keeping import rescued, write_statement
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.cli.keeping import Sealing
    from understudy.cli.learning import Learning
    from understudy.cli.options import Purse
    from understudy.gan.convolutions import Shape
    from understudy.gan.image_model import ImageModel
    from understudy.gan.pictures import ImageGAN
    from understudy.privacy.binding import Signer


@dataclass(frozen=True)
class ImageOptions(Group):
    """Options that images alone take."""

    height: Annotated[
        int | None, typer.Option("--height", help="Images: pixels, a public fact.")
    ] = None
    width: Annotated[int | None, typer.Option("--width", help="Images: pixels, a public fact.")] = (
        None
    )
    classes: Annotated[
        int | None, typer.Option("--classes", help="Images: how many labels there are, from 0 on.")
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", help="Images by dpgan: an .npz file from which a killed run goes on."
        ),
    ] = None

    @property
    def shape(self) -> Shape:
        """The public facts, all of which are needed."""
        from understudy.gan.convolutions import Shape

        sizes = {"height": self.height, "width": self.width, "classes": self.classes}
        for name in (name for name, value in sizes.items() if value is None):
            raise UsageError(
                f"{name} is not given; images need public facts, as --height 28 --width 28 "
                "--classes 10"
            )
        return Shape(*(value or 0 for value in sizes.values()))

    def refuse_for_tables(self) -> None:
        """Refuse what only images take."""
        for option in self.given:
            raise UsageError(f"{option} is for images in an .npz file; leave it out")


def build(learning: Learning) -> ImageGAN:
    """The method asked for; what cannot work is refused before anything is read."""
    from understudy.gan.pictures import IMAGE_SETTINGS, ImageGAN

    epsilon, asked = _epsilon_of(learning), learning.request
    checkpoint = learning.images.checkpoint
    if checkpoint is not None and checkpoint.suffix != ".npz":
        raise UsageError(f"checkpoint {checkpoint}: must end in .npz")
    settings = asked.training.settings(IMAGE_SETTINGS)
    found = ImageGAN(
        learning.images.shape,
        *(epsilon, asked.delta, asked.method, settings),
        checkpoint=checkpoint,
    )
    found.check()
    return found


def _epsilon_of(learning: Learning) -> str:
    """What may be spent; what the command line asks beyond images is refused."""
    from understudy.gan.pictures import METHODS

    asked = learning.request
    if learning.schema is not None:
        raise UsageError("images have no schema; leave it out, and give height, width and classes")
    if asked.method not in METHODS:
        raise UsageError(f"method {asked.method!r} makes no images; use {' or '.join(METHODS)}")
    if asked.neighbours not in (None, str(METHODS[asked.method])):
        raise UsageError(
            f"{asked.method} of images has no bound under {asked.neighbours}; leave it out"
        )
    if asked.epsilon is None:
        raise UsageError("epsilon is not given; say how much privacy loss is allowed, as -e 10")
    for option in asked.wishes.given:
        raise UsageError(f"images have labels in y and no columns; leave out {option}")
    for option in (*asked.people.given, *learning.reading.given):
        raise UsageError(f"{option} is for tables; images are protected one by one; leave it out")
    return asked.epsilon


def synth_images(
    learning: Learning, output: Path, *, seed: int | None, signer: Signer | None, as_json: bool
) -> None:
    """Fit, sample, and write OUTPUT with OUTPUT.privacy.json beside it."""
    from understudy.files import check_apart, check_writable
    from understudy.gan.images import write_images

    method = build(learning)
    check_apart(_for_images(output), *learning.inputs)
    check_writable(f"{check_writable(output)}.privacy.json")
    watch = Stopwatch()
    model = _fitted(method, Path(learning.data), learning.purse, watch)
    with rescued(model), watch.timed("sample"):
        made = model.sample(learning.request.rows, seed=seed)
        write_images(output, made)
        record = model.statement.record
        document = write_statement(summary(model, made.rows), output, record=record, signer=signer)
    if as_json:
        print_json(document | {"seconds": watch.seconds})
        return
    messages().print(f"{made.rows:,} images → {output}", style="bold")
    messages().print(model.statement.sentence)
    messages().print(f"statement in {output}.privacy.json", style="dim")


def fit_images(learning: Learning, output: Path, *, signer: Signer | None, as_json: bool) -> None:
    """Learn a model of private images and keep it in one file."""
    from understudy.files import check_apart, check_writable

    method = build(learning)
    check_apart(output, *learning.inputs)
    check_writable(output)
    watch = Stopwatch()
    model = _fitted(method, Path(learning.data), learning.purse, watch)
    with rescued(model):
        model.save(output, signer=signer)
    if as_json:
        print_json(summary(model, model.rows) | {"seconds": watch.seconds})
        return
    messages().print(f"model of images → {output}", style="bold")
    messages().print(model.statement.sentence)


def sample_images(
    path: Path,
    output: Path,
    *,
    rows: int | None,
    seed: int | None,
    sealing: Sealing,
    as_json: bool,
) -> None:
    """Draw images from a model; this costs no budget, however often."""
    from understudy.files import check_apart, check_writable
    from understudy.gan.image_model import ImageModel, bound_content
    from understudy.gan.images import write_images

    check_apart(check_writable(_for_images(output)), str(path))
    check_writable(f"{output}.privacy.json")
    model = ImageModel.load(path)
    record = sealing.record(model.statement, bound_content, path=path)
    watch = Stopwatch()
    with watch.timed("sample"):
        made = model.sample(rows, seed=seed)
        write_images(output, made)
    document = summary(model, made.rows)
    document = write_statement(document, output, record=record, signer=sealing.signer)
    if as_json:
        print_json(document | {"seconds": watch.seconds})
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
    from understudy.privacy.fingerprints import Sighting

    images = read_images(data, method.shape)
    name = purse.dataset or data.stem
    purse.warn_of_copies(name, Sighting(data))
    method.notice = _warn
    with watch.timed("fit"), training_bar() as method.progress:
        return method.fit(images, ledger=purse.book, dataset=name)


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
