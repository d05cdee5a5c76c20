"""TUC-2 section 5.3: images by private adversarial networks, and what a student learns of them."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from understudy.facts.codes import code_type
from understudy.gan.backend import one_thread
from understudy.gan.grids import png, sheet
from understudy.gan.image_size import ImageSize
from understudy.gan.images import LABEL, LabelledImages, labelled_images
from understudy.gan.moments import MomentMethod
from understudy.gan.pictures import IMAGE_SETTINGS, ImageGAN
from understudy.gan.student import Student, variety, worth
from understudy.gan.training import QUESTION
from understudy.models.distribution import CodedRows
from understudy.models.model import Model
from understudy.models.pictures.charts import Panel
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.system.extras import require
from understudy.system.progress import ProgressCallback, unwatched
from understudy.testing import SeededNoise
from understudy_studies.cells import CellValues, Results, Setting, SettingValue, Size
from understudy_studies.digits import BARS, MNIST, Digits, digits
from understudy_studies.image_lines import (
    COLUMNS,
    GENERATORS,
    METHODS,
    MOMENTS,
    NONE,
    REAL,
    about_runs,
    accuracy_panel,
    line_of_real,
    line_of_runs,
    name_of_sheet,
    percent,
    runs_of,
)
from understudy_studies.study import JudgedClaim, Reproduction, Study, StudyTable
from understudy_studies.tables import DataFolder

_DELTA = "1e-5"
_OF_EACH_CLASS = 6


class PrivateImages(Study):
    """Accuracy of a student of generated images, beside that of a student of real ones."""

    title = "Images by private adversarial networks, and what a student learns of them"
    source = "TUC-2 section 5.3, its table of accuracies and figures 56 to 67"
    claim = (
        "A student of generated digits finds the class of 86.9 % of real ones at ε = 0.5, 95.7 % "
        "at 10 and 96.3 % at 20 by noise on the critic's loss, 84.8, 94.9 and 96.6 % by a layer of "
        "noise; 96.7 % without noise and 98.6 % taught by real digits."
    )
    words = (
        "The thesis's numbers had no accounting behind them: noise on the loss, or on features of "
        "a critic that was trained on raw images, bounds nothing that is learnt of a single image. "
        f"Here all methods keep to ε at δ = {_DELTA}, for images added or removed, learn from "
        "60,000 images and make 60,000.\n\n"
        "- `moments` trains nothing: it releases the noisy mean and covariance of each class and "
        "draws from Gaussians. Its runs differ in noise alone, and without noise there is one.\n"
        "- `noise-gan` releases the same moments and, for a tenth of the budget, the sum over each "
        "class of features behind two fixed convolutions; the noise is on sums, once. The "
        "thesis's generator is then taught by draws of the moments, in steps called *lessons*, "
        "and in the second half of them brought to the released features.\n"
        "- `dpgan` starts with a generator that was taught in the same way, from half of ε and δ. "
        "With the other half a critic is trained on the images, whose gradients are clipped, "
        "noised and accounted for, and the generator follows it.\n"
        "- Both have the thesis's networks, of 12,544, 128, 64 and 1, and of 64 and 128 filters.\n"
        "- An accuracy is that of the thesis's student, taught by generated images and the labels "
        "they were made for, on the 10,000 real test images.\n"
        "- *Relabelled* is the thesis's own protocol, in which a student of the real images names "
        "the generated ones: **labels not private, not covered by ε**.\n"
        "- *Diversity* is the distance to the nearest other image, as a share of that among real "
        "images. *Fewest* and *most* are how often a student of real images sees the rarest and "
        "the commonest class in a hundred. What is below a half, or leaves a class out, has "
        "*collapsed*.\n"
        "- *Steps* are those of the critic, each of which was paid for. *Seconds* are of one core: "
        "of training, and of drawing all images, which cells of before do not have.\n"
        "- *Accuracy* is the mean of a line's runs, beside the lowest and the highest of them. "
        "Networks have three runs at ε = 1, 10 and without noise and one elsewhere, which differ "
        "in noise and first weights.\n\n"
        "How settings were chosen, which no ε covers:\n\n"
        "- Those of `moments` on 10,000 of the training images, by fits on the other 50,000 that "
        "had noise; no test image had a part in that.\n"
        "- The rate of lessons and the weight of features by two trials of 400 lessons at ε = 1 on "
        "the same 50,000 and 10,000: 82.7 % with features, 81.8 % without them and at twice the "
        "rate, which came nearer to its lessons. After them latent numbers got one meaning for "
        "all labels.\n"
        "- The numbers of lessons and of critic steps by the time they take, and nothing else.\n\n"
        "What others report for MNIST at δ = 10⁻⁵, in per cent of a convolutional network that "
        "learns from generated images:\n\n"
        "- DP-CGAN 63, GS-WGAN 80, DP-MERF 82.1 and DP-Sinkhorn 83.2 at ε = 10; PEARL 78.2 at "
        "ε = 1 (as DPDM's table 1 has them).\n"
        "- DPGAN with many critic steps to one of the generator (Bie, Kamath and Zhang 2023) 95.0 "
        "at ε = 10, and 97.1 without privacy; hours of a GPU.\n"
        "- DPDM, a diffusion model, 95.3 at ε = 1 and 98.1 at ε = 10, on eight GPUs.\n"
        "- A classifier that is itself trained by DP-SGD, 88.2 at ε = 1 and 96.4 at ε = 10."
    )
    reduced = "networks are trained for minutes, by steps whose number is in each line"
    files = MNIST
    partial = True

    def check(self, size: Size, shelf: DataFolder) -> None:
        """Refuse a run without PyTorch."""
        super().check(size, shelf)
        if find_spec("torch") is None:
            require("torch", extra="gan")

    def made_by(self, setting: Setting) -> Sequence[str]:
        """Return the methods whose law the numbers of a setting depend on."""
        method = str(setting["method"])
        moments = [] if method == REAL else [f"{MOMENTS} of images"]
        return [*moments, f"{method} of images"] if method in METHODS else moments

    def settings(self, size: Size) -> list[Setting]:
        """The student of real images, networks, moments, and then the networks' further runs.

        Seeds are places in this list, so that a new setting belongs at its end.
        """
        cells = size.pick(smoke=_SMOKE, quick=_QUICK, full=_FULL)
        plan = [_by_network(size, method, epsilon) for method, epsilon in cells]
        plan += [
            {"method": MOMENTS, "epsilon": epsilon, **_by_moments(size), "run": run}
            for epsilon in size.pick(smoke=("10",), quick=("1", "10"), full=_FROM_MOMENTS)
            # Without noise every run of moments is the same.
            for run in range(size.pick(smoke=1, quick=1, full=1 if epsilon == NONE else _RUNS))
        ]
        plan += [
            {**_by_network(size, method, epsilon), "run": run}
            for run in range(1, size.pick(smoke=1, quick=1, full=_RUNS))
            for epsilon in _REPEATED
            for method in METHODS
        ]
        return [{**setting, "seed": seed} for seed, setting in enumerate(plan)]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Measure a student's accuracy, the variety of the images, and their cost."""
        return self.measure_watched(setting, shelf, unwatched)

    def measure_watched(
        self, setting: Setting, shelf: DataFolder, watch: ProgressCallback
    ) -> CellValues:
        """Measure a setting, and call the watch after every step of a network."""
        with one_thread():
            held = digits(str(setting["data"]), int(setting["images"]), shelf)
            passes = int(setting["passes"])
            teacher, accuracy = _teacher(str(setting["data"]), held.train.rows, passes, shelf)
            if setting["method"] == REAL:
                return {"accuracy": accuracy, "images": held.train.rows}
            started = time.process_time()
            model = _learned(held, setting, watch)
            seconds = time.process_time() - started
            made = labelled_images([model.sample(int(setting["made"]), seed=1)])
            drawing = time.process_time() - started - seconds
            if setting["method"] == MOMENTS:
                found = _of_moments(held, model=model, made=made, teacher=teacher, passes=passes)
                return found | {"seconds": round(seconds, 1), "drawing": round(drawing, 1)}
            taught = worth(made, held.test, teacher, epochs=passes)
            varied = variety(made, held.test, teacher)
            return {
                "accuracy": taught.accuracy,
                "relabelled": taught.relabelled,
                "histogram": list(varied.histogram),
                "diversity": varied.diversity,
                "collapsed": varied.collapsed,
                "images": held.train.rows,
                "steps": _steps(model),
                "seconds": round(seconds, 1),
                "drawing": round(drawing, 1),
                "sheet": _sheet(model),
            }

    def sentence(self, results: Results) -> str:
        """Compare the accuracies of students of real and of generated images."""
        real = results.where(method=REAL).numbers("accuracy")
        parts = [f"A student of real images finds {percent(real[0])} % of classes."] if real else []
        for method in GENERATORS:
            said = ", ".join(about_runs(runs) for runs in runs_of(results, method))
            parts += [f"Taught by {method}: {said}."] if said else []
        collapsed = sum(bool(cell.numbers.get("collapsed")) for cell in results)
        generators = sum(len(results.where(method=method).cells) for method in GENERATORS)
        parts.append(f"{collapsed} of {generators} generators collapsed.")
        return " ".join(parts)

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return the claim, which networks of other sizes cannot be compared with."""
        reason = "the thesis's own noise bounds nothing, and its networks were trained for longer"
        return [
            JudgedClaim(self.claim, self.sentence(results), Reproduction.NOT_COMPARABLE, reason)
        ]

    def summary(self, results: Results) -> StudyTable:
        """A line for each method and ε, with the size of everything in it."""
        lines = [line_of_real(cell) for cell in results.where(method=REAL)]
        for method in GENERATORS:
            lines += [line_of_runs(runs) for runs in runs_of(results, method)]
        return StudyTable(COLUMNS, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """Accuracy by own labels and relabelled, over ε."""
        return [
            accuracy_panel(results, name, key)
            for name, key in (
                ("labels of the generator", "accuracy"),
                ("relabelled: not covered by ε", "relabelled"),
            )
        ]

    def pictures(self, results: Results) -> Mapping[str, bytes]:
        """A sheet of samples for each generator, named by its figure in the thesis."""
        firsts = [runs[0] for method in GENERATORS for runs in runs_of(results, method)]
        return {name_of_sheet(cell): base64.b64decode(cell.numbers["sheet"]) for cell in firsts}


def _settings(**sizes: SettingValue) -> dict[str, SettingValue]:
    return sizes


_FULL = (
    ("dpgan", "10"),
    (REAL, NONE),
    *((method, epsilon) for epsilon in (NONE, "1") for method in METHODS),
    ("noise-gan", "10"),
    *((method, epsilon) for epsilon in ("0.5", "5", "20") for method in METHODS),
)
_QUICK = (("dpgan", "10"), (REAL, NONE), ("dpgan", NONE), ("noise-gan", "10"))
_SMOKE = ((REAL, NONE), ("dpgan", "10"), ("noise-gan", "10"))
_WHOLE = {"filters": "256 128 64", "critic_filters": "64 128"}
_QUARTER = {"filters": "64 32 16", "critic_filters": "16 32"}
_LARGE = _settings(data="mnist", images=60_000, made=60_000, passes=3)
_MEDIUM = _settings(data="mnist", images=60_000, made=5_000, passes=2)
_SMALL = _settings(data=BARS, images=300, made=100, passes=1)


def _by_network(size: Size, method: str, epsilon: str) -> dict[str, SettingValue]:
    return {"method": method, "epsilon": epsilon, **_training(size, method, epsilon)}


def _training(size: Size, method: str, epsilon: str) -> dict[str, SettingValue]:
    """How long a network is trained: steps, not seconds, so that slow machines do the same."""
    same = size.pick(smoke=_SMALL, quick=_MEDIUM, full=_LARGE)
    if method == REAL:
        return same
    tiny = {"filters": "8 6 4", "critic_filters": "4 6"}
    networks = size.pick(smoke=tiny, quick=_QUARTER, full=_WHOLE)
    lessons = {"lessons": size.pick(smoke=2, quick=100, full=_LESSONS)}
    full = _WITHOUT_NOISE if epsilon == NONE else _BY_GRADIENTS
    steps = size.pick(smoke=_BRIEFEST, quick=_BRIEF, full=full)
    return {**same, **networks, **lessons, **(steps if method == "dpgan" else {})}


_LESSONS = 600
# Passes over 60,000 images at 28 steps each.
_BY_GRADIENTS = _settings(batch=2048, epochs=2, rounds=10, generator_rate=1e-4)
_WITHOUT_NOISE = _settings(batch=128, epochs=2, rounds=1, critic_rate=1e-3, clip=100)
_GIVEN = ("lessons", "epochs", "batch", "rounds", "clip", "critic_rate", "generator_rate")
_BRIEF = _settings(batch=512, epochs=0.2)
_BRIEFEST = _settings(batch=50, epochs=1)


def _by_moments(size: Size) -> dict[str, SettingValue]:
    """As many images as the thesis made, and nothing else to set."""
    return size.pick(
        smoke=_settings(data=BARS, images=300, made=100, passes=1),
        quick=_settings(data="mnist", images=60_000, made=20_000, passes=2),
        full=_settings(data="mnist", images=60_000, made=60_000, passes=3),
    )


# The budgets of the project's targets first.
_FROM_MOMENTS = ("1", "10", "0.5", "5", "20", NONE)
_RUNS = 3
# Where networks are measured three times; elsewhere once.
_REPEATED = (NONE, "1", "10")


def _of_moments(
    held: Digits, *, model: Model, made: LabelledImages, teacher: Student, passes: int
) -> dict[str, Any]:
    """Measure images by moments; nobody relabels them."""
    student = Student.taught(made, held.shape, epochs=passes)
    varied = variety(made, held.test, teacher)
    return {
        "accuracy": student.accuracy(held.test),
        "histogram": list(varied.histogram),
        "diversity": varied.diversity,
        "collapsed": varied.collapsed,
        "images": held.train.rows,
        "sheet": _sheet(model),
    }


@cache
def _teacher(data: str, images: int, passes: int, shelf: DataFolder) -> tuple[Student, float]:
    """A student of real images, and its accuracy."""
    held = digits(data, images, shelf)
    student = Student.taught(held.train, held.shape, epochs=passes)
    return student, student.accuracy(held.test)


def _learned(held: Digits, setting: Setting, watch: ProgressCallback) -> Model:
    """A model of the images, by moments or by a network."""
    if setting["method"] != MOMENTS:
        return _fitted(held, setting, watch)
    epsilon, shape = str(setting["epsilon"]), held.shape
    return MomentMethod(
        size=ImageSize(shape.height, shape.width, shape.classes),
        epsilon=Budget.unlimited() if epsilon == NONE else epsilon,
        delta=_DELTA,
        instruments=Instruments(noise=SeededNoise(int(setting["seed"]))),
    ).fit(held.train, ledger=None)


def _fitted(held: Digits, setting: Setting, watch: ProgressCallback) -> Model:
    epsilon, seed = str(setting["epsilon"]), int(setting["seed"])
    first, second, third = (int(count) for count in str(setting["filters"]).split())
    lower, upper = (int(count) for count in str(setting["critic_filters"]).split())
    given = {name: setting[name] for name in _GIVEN if name in setting}
    settings = replace(IMAGE_SETTINGS, **given, seed=seed)  # type: ignore[arg-type]
    return ImageGAN(
        shape=held.shape,
        epsilon=Budget.unlimited() if epsilon == NONE else epsilon,
        delta=_DELTA,
        method=str(setting["method"]),
        settings=settings,
        filters=(first, second, third),
        critic_filters=(lower, upper),
        instruments=Instruments(noise=SeededNoise(seed)),
        progress=lambda done, total, epsilon: watch(done, total),
    ).fit(held.train, ledger=None)


def _steps(model: Model) -> int:
    """Steps of the critic, every one of which was paid for; a network without one has none."""
    return sum(charge.question == QUESTION for charge in model.statement.charges)


def _sheet(model: Model) -> str:
    """A line of samples for each class, as text."""
    classes = model.domain[LABEL]
    labels = np.repeat(np.arange(classes), _OF_EACH_CLASS)
    codes: CodedRows = {LABEL: labels.astype(code_type(classes))}
    drawn = model.decoder.decode(codes, generator=np.random.default_rng(2))
    made = labelled_images([drawn]).pixels
    return base64.b64encode(png(sheet(made, across=2 * _OF_EACH_CLASS))).decode()


STUDY = PrivateImages()
