"""`moments`: images by the noisy means and covariances of their classes, released in rounds.

A first round measures how many images each class has, and where all of them lie. Figures before a
plain ground are then set upright by their own slant, which is kept. Where the noise allows it, a
few steps of private k-means find centres within each class. The last round, which has most of the
budget, releases the moments around every centre. PyTorch is not needed.

Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from understudy.errors import CapacityError, UsageError
from understudy.facts.capacity import available_bytes, bytes_of_tables
from understudy.facts.unit import Neighbours, Unit
from understudy.gan.image_size import ImageSize
from understudy.gan.images import ImageSource, LabelledImages, check_extent, label_schema
from understudy.gan.moment_asking import IN_WAVES, MOST_CENTRES, CuratorSums, SumAsker
from understudy.gan.moment_model import LEVELS, ImageMoments
from understudy.gan.moment_release import (
    TONES,
    CentreQuestion,
    Clusters,
    MomentQuestion,
    NoisyMoments,
    PooledQuestion,
    tone_of,
)
from understudy.gan.moment_shrinkage import gaussians
from understudy.gan.slants import ground_of
from understudy.gan.waves import UNIT, ImageVectors, Waves
from understudy.models.model import Model
from understudy.privacy.budget import Amount, Budget, Measure
from understudy.privacy.curator import Instruments
from understudy.privacy.run import PaidRun
from understudy.privacy.spending.pricing import GaussianRounds
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.system.arrays import Floats

POOLED, CENTRES, MOMENTS = "moments of all images", "centres of classes", "moments of classes"

# Shares of the budget, of the first round and of k-means, in hundredths. These and the numbers
# below were chosen on held-out training images of MNIST.
_POOLED, _CENTRES = 4, 10
_STEPS = 3
QUESTIONS = 2 + _STEPS
"""How many sums a run asks for, at most."""

# A centre needs as many images for each unit of the noise that all of the budget leaves.
_IMAGES_FOR_NOISE = 1000
# Gaussians are drawn this much wider than they were measured: vectors were cut to norm 1, which
# narrows them, and draws that reach further teach more of real images.
_WIDER = 1.5
# The noise of a class mean, as a share of the largest norm, above which images show little.
_FAINT = 0.5
# The vectors of all images are held this many times at once.
_COPIES = 3


@dataclass(kw_only=True)
class MomentMethod:
    """Learns Gaussians of the waves of images, each image being a unit of privacy.

    Args:
        size: public height, width, channels and classes.
        epsilon: the privacy loss allowed.
        delta: the chance allowed for a larger loss; above 0.
        neighbours: add-remove or replace.
        notice: called with a warning where so few images promise little; for the owner alone.

    Example:
        >>> from understudy.testing import SeededNoise
        >>> pixels = np.zeros((90, 4, 4), np.uint8)
        >>> images = LabelledImages(pixels, np.zeros(90, np.int64))
        >>> noise = Instruments(noise=SeededNoise(0))
        >>> method = MomentMethod(size=ImageSize(4, 4), epsilon=9, delta=1e-5, instruments=noise)
        >>> method.fit(images, ledger=None).sample(2, seed=0).num_rows
        2
    """

    method: ClassVar[str] = "moments"
    default_neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE

    size: ImageSize
    epsilon: Amount | Budget
    delta: Amount = 0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    notice: Callable[[str], None] | None = None
    instruments: Instruments = field(default_factory=Instruments)

    @property
    def budget(self) -> Budget:
        """The whole budget of a fit."""
        if isinstance(self.epsilon, Budget):
            return self.epsilon
        return Budget.approximate(self.epsilon, self.delta)

    def check(self) -> None:
        """Refuse parameters that cannot work, before anything is read."""
        if self.budget.measure not in (Measure.APPROXIMATE, Measure.UNLIMITED):
            raise UsageError("moments needs a delta above 0; give one, as 1e-5")
        if self.budget.measure is Measure.APPROXIMATE and self.budget.amount == 0:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")

    def fit(
        self,
        images: LabelledImages,
        *,
        ledger: LedgerChoice = DEFAULT,
        dataset: str | None = None,
    ) -> Model:
        """Learn a model of private images.

        Args:
            images: pixels and labels.
            ledger: where the spending is kept: the user's own ledger unless given. None keeps no
                record, and the statement says so.
            dataset: the name the ledger knows the images by.

        Privacy: everything is paid for before it is drawn; the model is released.
        """
        self.check()
        check_extent(images.pixels, images.labels, self.size)
        self.check_room(images.rows)
        books = self._run.books(ledger, dataset)
        self._warn(images.rows)
        source = ImageSource.of(images, self.size)
        with self._run.granted(books) as run:
            law, rows = self.learn(CuratorSums(run.curator_over(source), self.neighbours))
        return Model(label_schema(self.size.classes), law, rows, run.statement())

    def learn(self, asked: SumAsker) -> tuple[ImageMoments, int]:
        """The law of the images, and how many there are, from noisy sums alone."""
        first = self._pooled(asked)
        centres = self.centres_for(asked.budget, first.rows / asked.parts**0.5)
        clusters = self._clustered(asked, first, centres)
        moments = self._moments(asked, first, clusters, of_centres=centres > 1)
        rows = asked.public_rows
        return self._law(first, moments), max(round(first.rows), 0) if rows is None else rows

    def _pooled(self, asked: SumAsker) -> PooledMoments:
        question = PooledQuestion(self.size.classes, ImageVectors.of_all(Waves(self.size)))
        noisy, deviation = asked.ask(question, _share(asked.budget, _POOLED), name=POOLED)
        return PooledMoments.of(noisy / UNIT**2, deviation / UNIT**2, question)

    def centres_for(self, budget: Budget, rows: float) -> int:
        """How many centres each class can bear, by the budget and the noisy number of images."""
        if budget.measure is Measure.UNLIMITED:
            return MOST_CENTRES
        noise = (2 * float(budget.amount)) ** -0.5
        found = rows / self.size.classes / noise / _IMAGES_FOR_NOISE
        return int(np.clip(found, 1, MOST_CENTRES))

    def _clustered(self, asked: SumAsker, first: PooledMoments, centres: int) -> Clusters:
        """Centres within every class: one, or some by private k-means."""
        waves = min(IN_WAVES, first.vectors.waves.count)
        clusters = Clusters(np.zeros((self.size.classes, 1, waves), np.int64))
        if centres == 1:
            return clusters
        share = _share(asked.budget, _CENTRES, parts=_STEPS)
        for step in range(_STEPS):
            question = CentreQuestion(self.size.classes, first.vectors, clusters)
            name = f"{CENTRES}, step {step + 1} of {_STEPS}"
            clusters = question.means(*asked.ask(question, share, name=name))
            if step == 0:
                clusters = _spread(clusters, first.deviations[:waves], centres)
        return clusters

    def _moments(
        self, asked: SumAsker, first: PooledMoments, clusters: Clusters, *, of_centres: bool
    ) -> NoisyMoments:
        share = 100 - _POOLED - (_CENTRES if of_centres else 0)
        question = MomentQuestion(self.size.classes, first.vectors, clusters)
        noisy, deviation = asked.ask(question, _share(asked.budget, share), name=MOMENTS)
        return NoisyMoments.of(noisy, deviation, width=first.vectors.width)

    def _law(self, first: PooledMoments, moments: NoisyMoments) -> ImageMoments:
        found = gaussians(moments, wider=_WIDER)
        plain = np.linspace(0, 255, LEVELS)
        arrays = {
            "centre": first.vectors.centre,
            "length": np.array([first.vectors.length]),
            "weights": found.weights,
            "means": found.means,
            "roots": found.roots,
            "drawn": plain,
            "shown": plain,
        }
        ground = first.vectors.ground
        law = ImageMoments.of(self.size, arrays, ground=ground)
        return ImageMoments.of(self.size, arrays | tone_curve(law, first.tones), ground=ground)

    def check_room(self, rows: int) -> None:
        """Refuse vectors and sums that would not fit into memory, before anything is spent.

        Privacy: the message leaves out what is needed, because that depends on how many there are.
        """
        width = Waves(self.size).count + 1
        sums = self.size.classes * MOST_CENTRES * (1 + width + width * (width + 1) // 2)
        needed, room = bytes_of_tables(sums) + _COPIES * 8 * width * rows, available_bytes()
        if needed > room:
            raise CapacityError(
                f"sums for {self.size.classes:,} classes and the vectors of all images do not fit "
                f"into the {room / 2**30:,.1f} GiB that are free; use fewer classes, fewer or "
                "smaller images, or a machine with more memory"
            )

    def _warn(self, rows: int) -> None:
        """Tell the owner's terminal before anything is spent; nothing else follows from it."""
        if self.notice is None or self.budget.measure is Measure.UNLIMITED or rows == 0:
            return
        noise = self.noise_of_means(rows)
        if noise > _FAINT:
            needed = int(np.ceil(rows * noise / _FAINT))
            self.notice(
                f"{rows:,} images in {self.size.classes} classes are few for this epsilon: the "
                f"noise of a class mean is {noise:.1g} of its largest norm, so that images will "
                f"show little; give about {needed:,} images, fewer classes, or a larger epsilon"
            )

    def noise_of_means(self, rows: int) -> float:
        """Forecast the noise of a class mean, as a share of the largest norm of a vector."""
        vectors = ImageVectors.of_all(Waves(self.size))
        one = Clusters(np.zeros((self.size.classes, 1, 1), np.int64))
        question = MomentQuestion(self.size.classes, vectors, one)
        rho = float(GaussianRounds().counted(self.budget).amount)
        squared = question.sensitivity(self.neighbours).squared
        cell = (squared / (2 * rho)) ** 0.5 / question.of_sum
        return float(cell * vectors.waves.count**0.5 * self.size.classes / rows)

    @property
    def _run(self) -> PaidRun:
        """Return the budget of a fit, its unit, and how it draws noise."""
        return PaidRun(
            method=self.method,
            budget=self.budget,
            unit=Unit(self.neighbours, of_images=True),
            pricing=GaussianRounds(),
            instruments=self.instruments,
        )


@dataclass(frozen=True, eq=False)
class PooledMoments:
    """Answers of the first round: how many images, where they lie, and which tones they have.

    Attributes:
        rows: how many images there are, with noise.
        vectors: around the mean of all images, in parts of their usual distance from it.
        deviations: of each wave of these vectors, in their whole units.
        tones: the share of pixels of each tone.
    """

    rows: float
    vectors: ImageVectors
    deviations: Floats
    tones: Floats

    @classmethod
    def of(cls, noisy: Floats, deviation: float, question: PooledQuestion) -> PooledMoments:
        """Read the answer, cells in units of one image."""
        wide, waves = question.vectors, question.vectors.waves
        places = np.cumsum([question.classes, waves.count, waves.count])
        counts, sums, squares, tones = np.split(noisy, places)
        rows = float(max(counts.sum(), 1.0))
        mean = sums / rows
        variances = np.maximum(squares / rows - mean**2 + (deviation / rows) ** 2, 0.0)
        usual = float(np.sqrt(np.clip(variances.sum(), 1e-4, 1.0)))
        centre = wide.coefficients(np.clip(mean, -1, 1))
        shares = _shares(tones)
        vectors = ImageVectors(waves, centre, usual * wide.length, ground=ground_of(shares))
        return cls(
            rows=rows,
            vectors=vectors,
            deviations=np.sqrt(variances) / usual * UNIT,
            tones=shares,
        )


def _shares(tones: Floats) -> Floats:
    seen = np.maximum(tones, 0.0)
    return np.asarray(seen / seen.sum()) if seen.sum() > 0 else np.full(TONES, 1 / TONES)


def _spread(clusters: Clusters, deviations: Floats, centres: int) -> Clusters:
    """Some centres around the one of each class, at public random places half as far as images."""
    places = np.random.default_rng(5).standard_normal((centres, clusters.waves))
    around = clusters.centres + places * deviations / 2
    return Clusters(np.rint(around.clip(-UNIT, UNIT)).astype(np.int64))


def tone_curve(law: ImageMoments, tones: Floats) -> dict[str, Floats]:
    """The curve by which images that are drawn get the released tones: post-processing."""
    generator = np.random.default_rng(0)
    labels = law.draw(_FOR_CURVE, generator)["y"].astype(np.int64)
    chances = np.linspace(0, 1, LEVELS)
    drawn = np.maximum.accumulate(np.quantile(law.raw(labels, generator), chances))
    each = np.bincount(tone_of(np.arange(256)), minlength=TONES)
    levels = np.repeat(tones / each, each)  # evenly over the greys of a tone
    ends = np.cumsum(levels) - levels / 2
    return {"drawn": drawn, "shown": np.interp(chances, ends, np.arange(256))}


_FOR_CURVE = 1000


def _share(budget: Budget, hundredths: int, *, parts: int = 1) -> Budget:
    """A share of a budget, or one of some equal parts of it."""
    if budget.measure is Measure.UNLIMITED:
        return budget
    return budget.split([hundredths, 100 - hundredths])[0].split([1] * parts)[0]


__all__ = ["MomentMethod", "PooledMoments", "tone_curve"]
