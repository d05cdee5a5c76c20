"""Images: arrays in, arrays out, by moments of classes or by privately trained networks."""

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
from understudy.methods.registry import AUTOMATIC
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from understudy.gan.convolutions import Shape
    from understudy.gan.image_size import ImageSize
    from understudy.gan.moments import MomentMethod
    from understudy.gan.pictures import ImageGAN
    from understudy.jobs.checking import Owner
    from understudy.jobs.learning import LearningRequest
    from understudy.jobs.progress import BarUpdate, JobProgress
    from understudy.models.model import Model
    from understudy.privacy.statements.binding import Signer


@dataclass(frozen=True)
class ImageSizeRequest(JobRequest):
    """Public facts about images.

    Attributes:
        height: the height of every image in pixels.
        width: the width of every image in pixels.
        classes: how many labels there are; None for images without labels, which moments takes.
        channels: 1 for grey images, 3 for colour; grey unless given.
    """

    height: int | None = None
    width: int | None = None
    classes: int | None = None
    channels: int | None = None

    @property
    def size(self) -> ImageSize:
        """The public facts that moments needs; images without classes have no labels."""
        from understudy.gan.image_size import ImageSize

        if self.classes is not None and self.classes < 2:
            raise UsageError(
                f"classes is {self.classes}; labels need at least two, and images without labels "
                "leave --classes out"
            )
        height, width = self._required({"height": self.height, "width": self.width})
        channels = 1 if self.channels is None else self.channels
        return ImageSize(height, width, classes=self.classes or 1, channels=channels)

    @staticmethod
    def _required(sizes: dict[str, int | None]) -> list[int]:
        for name in (name for name, value in sizes.items() if value is None):
            raise UsageError(
                f"{name} is not given; images need public facts, such as --height 28 --width 28 "
                "--classes 10"
            )
        return [value or 0 for value in sizes.values()]

    def refuse_for_tables(self) -> None:
        """Refuse options that only images take."""
        for option in self.given:
            raise UsageError(f"{option} is for images in an .npz file; leave it out")


@dataclass(frozen=True)
class ImageRequest(ImageSizeRequest):
    """Public facts about images, and where training is kept so that it can be resumed.

    Attributes:
        checkpoint: the file from which an interrupted run is resumed.
    """

    checkpoint: Path | None = None

    @property
    def shape(self) -> Shape:
        """The public facts that networks are built for, all of which are needed."""
        from understudy.gan.convolutions import Shape

        if self.channels not in (None, 1):
            raise UsageError("networks learn only grey images; use moments for colour")
        sizes = {"height": self.height, "width": self.width, "classes": self.classes}
        return Shape(*self._required(sizes))


_MOMENTS = "moments"


def build(request: LearningRequest) -> ImageGAN | MomentMethod:
    """The method asked for; a request that cannot work is refused before anything is read."""
    epsilon = _checked_epsilon(request)
    if request.fit.method in (AUTOMATIC, _MOMENTS):
        return _moments(request, epsilon)
    return _network(request, epsilon)


def _moments(request: LearningRequest, epsilon: str) -> MomentMethod:
    from understudy.facts.unit import Neighbours
    from understudy.gan.moments import MomentMethod

    asked = request.fit
    checkpoint = [] if request.images.checkpoint is None else ["--checkpoint"]
    for option in (*asked.training.given, *checkpoint):
        raise UsageError(f"{option} is for dpgan and noise-gan; moments does not train, leave it")
    method = MomentMethod(
        size=request.images.size,
        epsilon=epsilon,
        delta=asked.delta,
        neighbours=Neighbours(asked.neighbours or MomentMethod.default_neighbours),
    )
    method.check()
    return method


def _network(request: LearningRequest, epsilon: str) -> ImageGAN:
    from understudy.gan.pictures import IMAGE_SETTINGS, ImageGAN

    asked, checkpoint = request.fit, request.images.checkpoint
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
    asked = request.fit
    if request.schema is not None:
        raise UsageError("images have no schema; leave it out, and give height, width and classes")
    _check_method(asked.method, asked.neighbours)
    if asked.epsilon is None:
        raise UsageError("epsilon is not given; say how much privacy loss is allowed, as -e 10")
    for option in asked.network.given:
        raise UsageError(f"images have labels in y and no columns; leave out {option}")
    for option in (*asked.people.given, *request.reading.given):
        raise UsageError(f"{option} is for tables; each image is protected by itself; leave it out")
    return asked.epsilon


def _check_method(name: str, neighbours: str | None) -> None:
    from understudy.gan.pictures import METHODS

    if name in (AUTOMATIC, _MOMENTS):
        if neighbours not in (None, "add-remove", "replace"):
            raise UsageError(f"neighbours is {neighbours!r}; use add-remove or replace")
        return
    if name not in METHODS:
        known = " or ".join([_MOMENTS, *METHODS])
        raise UsageError(f"method {name!r} does not make images; use {known}")
    if neighbours not in (None, str(METHODS[name])):
        raise UsageError(f"{name} of images has no bound under {neighbours}; leave it out")


def synthesize_images(
    request: LearningRequest,
    output: Path,
    *,
    seed: int | None,
    signer: Signer | None,
    progress: JobProgress,
    owner: Owner | None,
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
    model = _fitted(method, request, progress, watch=watch, owner=owner)
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
    request: LearningRequest,
    output: Path,
    *,
    signer: Signer | None,
    progress: JobProgress,
    owner: Owner | None,
) -> JobResult:
    """Fit a model of private images and save it."""
    from understudy.models.archive import check_place
    from understudy.system.files.writing import check_apart

    method = build(request)
    check_apart(output, *request.inputs)
    check_place(output)
    check_unpaid(output, force=request.force)
    watch = Stopwatch()
    model = _fitted(method, request, progress, watch=watch, owner=owner)
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
    method: ImageGAN | MomentMethod,
    request: LearningRequest,
    progress: JobProgress,
    *,
    watch: Stopwatch,
    owner: Owner | None,
) -> Model:
    """Read and fit; what a method says of exact numbers is shown to an owner who looks on alone."""
    from understudy.gan.images import read_images
    from understudy.gan.pictures import ImageGAN
    from understudy.privacy.spending.fingerprints import Sighting

    data, payer = Path(request.data), request.payer
    trained = isinstance(method, ImageGAN)
    images = read_images(data, method.shape if isinstance(method, ImageGAN) else method.size)
    name = request.dataset
    payer.warn_of_copies(name, Sighting(data))
    # What `moments` says is exact; what a training says is about the training.
    told = None if owner is None else owner.told
    method.notice = progress.warning if trained else told
    with watch.timed("fit"), progress.bar("training" if trained else "moments") as update:
        if isinstance(method, ImageGAN):
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
