"""Images among holders: sums added up, replayed from raw images, and refused at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.federated import ONE, RUN, Recording, Tampering, asked
from support.moment_images import SIZE, stripes, strokes
from support.shared import shared_file
from support.torches import need_torch
from understudy.errors import HolderError, UsageError
from understudy.facts.unit import Neighbours, Unit
from understudy.federated import Collaboration, Holder, LocalChannel, Policy
from understudy.federated.analyst.analyst import Analyst, learn_together
from understudy.federated.analyst.asking import propose
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.messages import (
    Closed,
    MeasureSums,
    MeasureTables,
    Message,
    Propose,
    Refused,
    Sums,
)
from understudy.federated.protocols.summing import HolderSums
from understudy.federated.simulation import AgreeToAll
from understudy.federated.sums import SumProtocol
from understudy.gan import moments, waves
from understudy.gan.convolutions import ImageMaker, Shape
from understudy.gan.image_size import ImageSize
from understudy.gan.image_start import centred_question
from understudy.gan.images import ImageSource, LabelledImages, label_schema, labelled_images
from understudy.gan.layer_features import FeatureGaps
from understudy.gan.lessons import GeneratorLessons, Teaching
from understudy.gan.moment_asking import received, sent
from understudy.gan.moment_model import ImageMoments
from understudy.gan.moment_release import (
    CentreQuestion,
    Clusters,
    ImageSum,
    MomentQuestion,
    PooledQuestion,
)
from understudy.gan.moment_teacher import MomentTeacher
from understudy.gan.student import Student
from understudy.gan.waves import ImageVectors, Waves
from understudy.jobs.image_federation import ImageSums
from understudy.privacy.accounting.events import Charge
from understudy.privacy.curator import Instruments
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.privacy.spending.ledger import Ledger
from understudy.testing import SeededNoise
from understudy_studies.digits import load_mnist

RELATIONS = (Neighbours.ADD_REMOVE, Neighbours.REPLACE)
NAMES = ("north", "south", "west")


def _plan(relation: Neighbours = Neighbours.REPLACE, **changes: Any) -> Collaboration:
    usual: dict[str, Any] = {
        "epsilon": 50,
        "delta": "1e-5",
        "neighbours": relation,
        "deadline": 600.0,
    }
    size = changes.pop("size", SIZE)
    sums: SumProtocol = ImageSums(size, relation)
    schema, given = label_schema(size.classes), {"sums": sums} | usual | changes
    return Collaboration(schema, "moments", **given)


def _holder(
    images: LabelledImages,
    relation: Neighbours = Neighbours.REPLACE,
    *,
    name: str = "north",
    size: ImageSize = SIZE,
    folder: Path | None = None,
    instruments: Instruments | None = None,
) -> Holder:
    """A holder of images that agrees to everything."""
    return Holder(
        ImageSource.of(images, size),
        label_schema(size.classes),
        Unit(relation, of_images=True),
        ledger=None if folder is None else Ledger(folder / f"{name}.jsonl"),
        dataset="images",
        limit=None,
        policy=AgreeToAll(),
        store=None if folder is None else folder / name,
        name=name,
        instruments=instruments,
        sums=ImageSums(size, relation),
    )


def _all(parts: Sequence[LabelledImages]) -> LabelledImages:
    pixels = np.concatenate([part.pixels for part in parts])
    return LabelledImages(pixels, np.concatenate([part.labels for part in parts]))


PARTS = [stripes(200, seed=seed) for seed in range(3)]


def _channel(
    relation: Neighbours = Neighbours.REPLACE, folder: Path | None = None, seed: int | None = None
) -> LocalChannel:
    noise = [None if seed is None else Instruments(noise=SeededNoise(seed + i)) for i in range(3)]
    return LocalChannel(
        {
            name: _holder(part, relation, name=name, folder=folder, instruments=instruments)
            for name, part, instruments in zip(NAMES, PARTS, noise, strict=True)
        }
    )


@pytest.mark.parametrize("relation", RELATIONS)
def test_holders_learn_the_lines_of_all_images(relation: Neighbours) -> None:
    """Each class has its bright line; the statement is for an image at any holder."""
    analyst = Analyst(_channel(relation, seed=5), _plan(relation))
    model = analyst.learn()
    made = labelled_images([model.sample(90, seed=1)])
    for label in range(3):
        mean = made.pixels[made.labels == label].mean(axis=0)
        assert label == mean.mean(axis=1).argmax()
    assert [] == analyst.report.findings
    assert abs(model.rows - 600) < 60
    assert "image" == model.statement.document()["unit"]
    assert 50 == model.statement.bound.epsilon


@pytest.mark.slow
def test_a_generator_is_taught_by_what_holders_released() -> None:
    """Lessons from the holders' sums alone: each class of its images has its bright line."""
    torch = need_torch()
    channel = _channel(seed=5)
    law = learn_together(channel, _plan()).distribution
    assert isinstance(law, ImageMoments)
    maker = ImageMaker(Shape(SIZE.height, SIZE.width, SIZE.classes), 7, (8, 6, 4))
    question = centred_question(law)
    lessons = GeneratorLessons(
        generator=maker,
        teacher=MomentTeacher(law, 7),
        features=question.features,
        gaps=FeatureGaps(np.zeros(question.shape), question.length),
        teaching=Teaching(steps=300),
    )
    labels = torch.arange(90) % SIZE.classes
    latents = torch.randn(90, 7, generator=torch.Generator().manual_seed(5))
    made = maker.make(lessons.play().averaged, latents, labels, None).detach().numpy()
    for label in range(SIZE.classes):
        mean = made[labels.numpy() == label].mean(axis=(0, 1))
        assert label == mean.mean(axis=1).argmax()


@pytest.mark.full
def test_three_holders_teach_nearly_as_well_as_one() -> None:
    """A student of made digits finds 91.6 % of real ones' classes, and 92.0 % of one holder's."""
    need_torch()
    found = load_mnist(shared_file("data", "mnist.npz"))
    size, relation = ImageSize(28, 28, classes=10), Neighbours.ADD_REMOVE
    accuracy = {}
    for count in (1, 3):
        holders = {}
        for i in range(count):
            part = LabelledImages(found.train.pixels[i::count], found.train.labels[i::count])
            noise = Instruments(noise=SeededNoise(40 + i))
            holders[f"h{i}"] = _holder(part, relation, name=f"h{i}", size=size, instruments=noise)
        plan = _plan(relation, size=size, epsilon=1, deadline=1e9)
        model = learn_together(LocalChannel(holders), plan)
        made = labelled_images([model.sample(20_000, seed=1)])
        accuracy[count] = Student.taught(made, found.shape, epochs=2).accuracy(found.test)
    assert accuracy == pytest.approx({1: 0.920, 3: 0.916}, abs=0.005)


def test_sums_are_those_of_all_images() -> None:
    """The analyst's sum is that of the union, but for the noise of three holders."""
    plan = _plan(epsilon=10**6)
    conversation = Conversation(_channel(), plan, None)
    sums = HolderSums(conversation, propose(conversation))
    question = PooledQuestion(SIZE.classes, ImageVectors.of_all(Waves(SIZE)))
    found, deviation = sums.ask(*sent(question), Fraction(1))
    union = _all(PARTS)
    exact = question.summed(union.pixels, union.labels)
    assert np.abs(found - exact).max() < 7 * deviation
    assert (600, 3) == (sums.public_rows, sums.parts)
    one = question.sensitivity(Neighbours.REPLACE).mechanism(plan.spendable).variance
    assert deviation == pytest.approx((3 * one) ** 0.5)


def test_ledgers_equal_the_statement(tmp_path: Path) -> None:
    """Every holder's ledger has the charges that the joint statement names."""
    model = learn_together(_channel(folder=tmp_path), _plan(epsilon=2))
    said = [charge.question for charge in model.statement.charges]
    for name in NAMES:
        account = Ledger(tmp_path / f"{name}.jsonl").account("images")
        assert 2 == account.spent.epsilon
        held = [question for question in said if question.startswith(f"{name}: ")]
        assert [f"{name}: pooled of images", f"{name}: moments of images"] == held


# --- replay -----------------------------------------------------------------------------------


def _neighbours(images: LabelledImages, relation: Neighbours) -> list[LabelledImages]:
    if relation is Neighbours.ADD_REMOVE:
        more = np.concatenate([images.pixels, 255 - images.pixels[:1]])
        return [
            LabelledImages(images.pixels[1:], images.labels[1:]),
            LabelledImages(more, np.append(images.labels, 2)),
        ]
    found = []
    for value, label in ((0, 0), (255, 2)):
        pixels, labels = images.pixels.copy(), images.labels.copy()
        pixels[0], labels[0] = value, label
        found.append(LabelledImages(pixels, labels))
    return found


def _audit(relation: Neighbours, images: LabelledImages) -> list[str]:
    """Replay a holder's side on neighbours: every byte is the same; the kinds of questions."""
    tape = Recorder()
    holders = {
        "north": _holder(images, relation, instruments=Instruments(tape=tape)),
        "south": _holder(stripes(30, seed=3), relation, name="south"),
    }
    channel = Recording(LocalChannel(holders))
    learn_together(channel, _plan(relation, epsilon=3))
    exchanges = channel.exchanges["north"]
    closed = Message.decoded(exchanges[-1][1]).body
    assert isinstance(closed, Closed)
    tape.check_paid([Charge.parse(dict(charge)) for charge in closed.charges])
    for other in _neighbours(images, relation):
        again = Replay(tape.exchanges)
        holder = _holder(other, relation, instruments=Instruments(tape=again))
        for request, reply in exchanges:
            if holder.handle(request) != reply:
                raise LeakFound("another reply left the holder of the neighbouring images")
        again.check_finished()
    return [Message.decoded(request).body.kind for request, _ in exchanges]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("centres", [1, 2])
def test_a_holder_of_neighbouring_images_says_the_same(
    relation: Neighbours, centres: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same questions charged, answers within the sensitivity, every reply the same to the byte."""
    monkeypatch.setattr(moments.MomentMethod, "centres_for", lambda *_: centres)
    monkeypatch.setattr(moments, "ground_of", lambda _: 0)
    kinds = _audit(relation, strokes(60))
    assert (2 if centres == 1 else 5) == kinds.count("measure sums")


def test_a_missing_cut_at_a_holder_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: vectors keep their length."""
    monkeypatch.setattr(waves, "cut", lambda vectors: 3 * vectors)
    with pytest.raises(LeakFound):
        _audit(Neighbours.ADD_REMOVE, stripes(60))


# --- questions that travel ----------------------------------------------------------------------


def _questions() -> list[ImageSum]:
    waves_of = Waves(SIZE)
    vectors = ImageVectors(waves_of, np.full(waves_of.count, 3.0), waves_of.largest / 4, ground=255)
    clusters = Clusters(np.arange(3 * 2 * 5).reshape(3, 2, 5))
    return [
        PooledQuestion(3, ImageVectors.of_all(waves_of)),
        CentreQuestion(3, vectors, clusters),
        MomentQuestion(3, vectors, clusters),
    ]


@pytest.mark.parametrize("place", range(3))
def test_questions_arrive_as_they_were_sent(place: int) -> None:
    """The question that a holder reads has the same answer, shape and sensitivity."""
    question, images = _questions()[place], strokes(20)
    step, arrays = sent(question)
    message = Message(RUN, ONE, MeasureSums(share="1", step=step), arrays).encoded()
    body = Message.decoded(message)
    again = received(step, body.arrays, SIZE)
    assert type(question) is type(again)
    assert question.sensitivity(Neighbours.REPLACE) == again.sensitivity(Neighbours.REPLACE)
    found = again.summed(images.pixels, images.labels)
    assert again.shape == found.shape
    assert np.array_equal(question.summed(images.pixels, images.labels), found)


def _altered(place: int, value: Any) -> tuple[Any, ...]:
    _, arrays = sent(_questions()[2])
    return tuple(value if i == place else array for i, array in enumerate(arrays))


_STRANGE = {
    "nothing": ("moments", ()),
    "another step": ("means", ()),
    "arrays that nobody asked for": ("pooled", (np.zeros(3),)),
    "a short centre": ("moments", _altered(0, np.zeros(4))),
    "a far centre": ("moments", _altered(0, np.full(30, 1e300))),
    "no length": ("moments", _altered(1, np.zeros(1))),
    "a negative length": ("moments", _altered(1, np.array([-1.0]))),
    "a grey ground": ("moments", _altered(2, np.array([7]))),
    "many centres": ("centres", _altered(3, np.zeros((3, 9, 5), np.int64))),
    "centres in many waves": ("centres", _altered(3, np.zeros((3, 1, 31), np.int64))),
    "a far cluster": ("centres", _altered(3, np.full((3, 1, 5), 2**40))),
    "the least of all integers": ("centres", _altered(3, np.full((3, 1, 5), -(2**63)))),
    "a centre of integers": ("moments", _altered(0, np.full(30, -(2**63)))),
    "clusters of other classes": ("centres", _altered(3, np.zeros((4, 1, 5), np.int64))),
    "no clusters": ("centres", _altered(3, np.zeros((3, 0, 5), np.int64))),
}


@pytest.mark.parametrize("what", _STRANGE)
def test_strange_questions_cost_nothing(what: str, tmp_path: Path) -> None:
    """An analyst who asks for something else is refused, and the ledger has no charge."""
    step, arrays = _STRANGE[what]
    with _holder(stripes(20), folder=tmp_path) as holder:
        agreed = asked(holder, Propose(terms=_plan().terms()), request="0" * 32)
        assert "accepted" == agreed.body.kind
        reply = asked(holder, MeasureSums(share="1/2", step=step), *arrays).body
        assert isinstance(reply, Refused)
        assert "request" == reply.because
    ledger = (tmp_path / "north.jsonl").read_text()
    assert '"charge"' not in ledger


def test_images_are_not_asked_for_tables() -> None:
    """A holder of images hands in sums alone; one of rows has none."""
    holder = _holder(stripes(20))
    asked(holder, Propose(terms=_plan().terms()), request="0" * 32)
    question = MeasureTables(share="1", tables=(("y",),), weights=(1,))
    reply = asked(holder, question).body
    assert isinstance(reply, Refused)
    assert "only sums" in reply.reason
    rows = Holder(
        ImageSource.of(stripes(20), SIZE),
        label_schema(3),
        Unit(Neighbours.REPLACE),
        ledger=None,
        dataset="rows",
        limit=None,
        policy=AgreeToAll(),
        store=None,
        name="rows",
    )
    refused = asked(rows, Propose(terms=_plan().terms())).body
    assert isinstance(refused, Refused)
    assert "agree on the protocol moments" in refused.reason


@pytest.mark.parametrize(
    "size", [ImageSize(5, 6, classes=3), ImageSize(6, 5, classes=3, channels=3)]
)
def test_other_sizes_are_refused_before_anything_is_spent(size: ImageSize) -> None:
    """Holder and analyst must declare the same images."""
    refused = asked(_holder(stripes(20)), Propose(terms=_plan(size=size).terms())).body
    assert isinstance(refused, Refused)
    assert "agree on" in refused.reason


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"delta": 0}, "delta above 0"),
        ({"sums": None}, "declare height and width"),
        ({"degree": 2}, "leave degree"),
        ({"rows_per_person": 2, "neighbours": "add-remove"}, "no persons"),
    ],
)
def test_plans_that_cannot_work(changes: dict[str, Any], told: str) -> None:
    """Nobody is asked."""
    with pytest.raises(UsageError, match=told):
        _plan(**changes)


def test_people_are_shown_the_sizes() -> None:
    """The terms name the images, and a policy decides by them as by any others."""
    terms = _plan(epsilon=2).terms()
    assert "images: 6 × 5 pixels, grey, 3 classes" in terms.lines()
    assert any("for any one image" in line for line in terms.lines())
    assert "may cost" in str(Policy(most_epsilon=Fraction(1)).refusal(terms))


# --- faults -------------------------------------------------------------------------------------


def test_a_lying_holder_is_cut_and_named() -> None:
    """A sum beyond what its images allow is cut to that and reported."""

    def lie(count: int, request: bytes, reply: bytes) -> bytes:
        message = Message.decoded(reply)
        if not isinstance(message.body, Sums):
            return reply
        arrays = (np.full_like(message.arrays[0], 2**60),)
        return Message(message.run, message.request, message.body, arrays).encoded()

    analyst = Analyst(Tampering(_channel(seed=1), "south", lie), _plan())
    analyst.learn()
    assert any("'south'" in finding and "cut" in finding for finding in analyst.report.findings)


def test_others_continue_without_a_silent_holder() -> None:
    """With `least` the run ends without it, and its images are not counted."""

    def silent(count: int, request: bytes, reply: bytes) -> bytes | None:
        return None if isinstance(Message.decoded(request).body, MeasureSums) else reply

    channel = Tampering(_channel(seed=1), "south", silent)
    analyst = Analyst(channel, _plan(least=2, attempts=1))
    assert 400 == analyst.learn().rows
    assert ["south"] == list(analyst.report.absent)
    with pytest.raises(HolderError, match="south did not answer"):
        Analyst(Tampering(_channel(seed=1), "south", silent), _plan(attempts=1)).learn()


def test_a_sum_of_another_shape_is_not_taken() -> None:
    """Who sends something else is named."""

    def shorter(count: int, request: bytes, reply: bytes) -> bytes:
        message = Message.decoded(reply)
        if not isinstance(message.body, Sums):
            return reply
        arrays = (message.arrays[0][:-1],)
        return Message(message.run, message.request, message.body, arrays).encoded()

    analyst = Analyst(Tampering(_channel(seed=1), "west", shorter), _plan(attempts=1))
    with pytest.raises(HolderError, match="not the sum that was asked for"):
        analyst.learn()
