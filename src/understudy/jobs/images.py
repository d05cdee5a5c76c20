"""Images: arrays in, arrays out, by neural networks that were trained privately."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.output import (
    JobResult,
    check_stated_output,
    check_unpaid,
    kept_on_failure,
    statement_file,
    summary,
    write_statement,
)
from understudy.jobs.progress import Stopwatch
from understudy.jobs.request import JobRequest
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from understudy.gan.convolutions import Shape
    from understudy.gan.pictures import ImageGAN
    from understudy.jobs.learning import LearningRequest
    from understudy.jobs.progress import BarUpdate, JobProgress
    from understudy.models.model import Model
    from understudy.privacy.statements.binding import Signer


@dataclass(frozen=True)
class ImageRequest(JobRequest):
    """Public facts about images, and where training is kept so that it can be resumed.

    Attributes:
        height: the height of every image in pixels.
        width: the width of every image in pixels.
        classes: how many labels there are.
        checkpoint: the file from which an interrupted run is resumed.
    """

    height: int | None = None
    width: int | None = None
    classes: int | None = None
    checkpoint: Path | None = None

    @property
    def shape(self) -> Shape:
        """The public facts, all of which are needed."""
        from understudy.gan.convolutions import Shape

        sizes = {"height": self.height, "width": self.width, "classes": self.classes}
        for name in (name for name, value in sizes.items() if value is None):
            raise UsageError(
                f"{name} is not given; images need public facts, such as --height 28 --width 28 "
                "--classes 10"
            )
        return Shape(*(value or 0 for value in sizes.values()))

    def refuse_for_tables(self) -> None:
        """Refuse options that only images take."""
        for option in self.given:
            raise UsageError(f"{option} is for images in an .npz file; leave it out")


def build(request: LearningRequest) -> ImageGAN:
    """The method asked for; a request that cannot work is refused before anything is read."""
    from understudy.gan.pictures import IMAGE_SETTINGS, ImageGAN

    epsilon, asked = _checked_epsilon(request), request.fit
    checkpoint = request.images.checkpoint
    if checkpoint is not None and checkpoint.suffix != ".npz":
        raise UsageError(f"checkpoint {checkpoint}: must end in .npz; rename it")
    method = ImageGAN(
        request.images.shape,
        epsilon=epsilon,
        delta=asked.delta,
        method=asked.method,
        settings=asked.training.settings(IMAGE_SETTINGS),
        checkpoint=checkpoint,
    )
    method.check()
    return method


def _checked_epsilon(request: LearningRequest) -> str:
    """The epsilon that was given; options that do not apply to images are refused."""
    from understudy.gan.pictures import METHODS

    asked = request.fit
    if request.schema is not None:
        raise UsageError("images have no schema; leave it out, and give height, width and classes")
    if asked.method not in METHODS:
        known = " or ".join(METHODS)
        raise UsageError(f"method {asked.method!r} does not make images; use {known}")
    if asked.neighbours not in (None, str(METHODS[asked.method])):
        raise UsageError(
            f"{asked.method} of images has no bound under {asked.neighbours}; leave it out"
        )
    if asked.epsilon is None:
        raise UsageError("epsilon is not given; say how much privacy loss is allowed, as -e 10")
    for option in asked.network.given:
        raise UsageError(f"images have labels in y and no columns; leave out {option}")
    for option in (*asked.people.given, *request.reading.given):
        raise UsageError(f"{option} is for tables; each image is protected by itself; leave it out")
    return asked.epsilon


def synthesize_images(
    request: LearningRequest,
    output: Path,
    *,
    seed: int | None,
    signer: Signer | None,
    progress: JobProgress,
) -> JobResult:
    """Fit a model of private images, sample from it, and write the images with a statement."""
    from understudy.gan.images import check_image_file
    from understudy.models.sampling import sample_blocks
    from understudy.system.files.writing import check_apart

    method = build(request)
    check_apart(check_image_file(output), *request.inputs)
    check_stated_output(output)
    check_unpaid(output, force=request.force)
    watch = Stopwatch()
    model = _fitted(method, request, progress, watch)
    with kept_on_failure(model, progress), watch.timed("sample"):
        made = model.decoder.write(sample_blocks(model, request.fit.rows, seed=seed), output)
        record = model.statement.record
        document = write_statement(summary(model, made), output, record=record, signer=signer)
    return JobResult(
        output=output,
        headline=f"{made:,} images",
        document=document,
        sentences=(model.statement.sentence,),
        remarks=(f"the privacy statement is in {statement_file(output)}", *request.standing),
        seconds=watch.seconds,
    )


def fit_images(
    request: LearningRequest, output: Path, *, signer: Signer | None, progress: JobProgress
) -> JobResult:
    """Fit a model of private images and save it."""
    from understudy.models.archive import check_place
    from understudy.system.files.writing import check_apart

    method = build(request)
    check_apart(output, *request.inputs)
    check_place(output)
    check_unpaid(output, force=request.force)
    watch = Stopwatch()
    model = _fitted(method, request, progress, watch)
    with kept_on_failure(model, progress):
        model.save(output, signer=signer)
    return JobResult(
        output=output,
        headline="model of images",
        document=summary(model, model.rows),
        sentences=(model.statement.sentence,),
        remarks=request.standing,
        seconds=watch.seconds,
    )


def _fitted(
    method: ImageGAN, request: LearningRequest, progress: JobProgress, watch: Stopwatch
) -> Model:
    from understudy.gan.images import read_images
    from understudy.privacy.spending.fingerprints import Sighting

    data, payer = Path(request.data), request.payer
    images = read_images(data, method.shape)
    name = request.dataset
    payer.warn_of_copies(name, Sighting(data))
    method.notice = progress.warning
    with watch.timed("fit"), progress.bar("training") as update:
        method.progress = _TrainingBar(update)
        return method.fit(images, ledger=payer.opened(), dataset=name)


@dataclass(frozen=True)
class _TrainingBar:
    """Shows training steps, and the epsilon that they have cost so far."""

    update: BarUpdate

    def __call__(self, done: int, total: int, epsilon: float | None) -> None:
        """Show how far training is."""
        cost = "" if epsilon is None else f", ε = {at_most_text(epsilon, digits=3)} so far"
        self.update(done, total, f"training{cost}")
