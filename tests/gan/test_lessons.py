"""Lessons: draws of moments that a generator is taught by, and the course that a run keeps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from support.moment_images import moment_method, stripes
from support.torches import need_torch
from understudy.gan.convolutions import ImageMaker, Shape
from understudy.gan.image_course import course_facts, resumed_course
from understudy.gan.image_start import centred_question
from understudy.gan.layer_features import FeatureGaps
from understudy.gan.lessons import GeneratorLessons, Teaching
from understudy.gan.moment_model import ImageMoments
from understudy.gan.moment_teacher import MomentTeacher
from understudy.gan.tables import Census
from understudy.gan.training import NoiseSchedule
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.sampled import Schedule
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.list_pricing import RoundsThenList


def _law() -> ImageMoments:
    law = moment_method().fit(stripes(), ledger=None).distribution
    assert isinstance(law, ImageMoments)
    return law


def test_directions_make_the_law_again() -> None:
    """With as many latent numbers as a vector has, their squares are the covariance."""
    need_torch()
    law = _law()
    roots = law.arrays["roots"].astype(np.float64)
    found = MomentTeacher(law, roots.shape[1]).directions
    expected = roots @ roots.transpose(0, 2, 1)
    assert np.allclose(expected, found @ found.transpose(0, 2, 1), atol=1e-6 * expected.max())


def test_a_lesson_is_an_image_of_its_latent_numbers() -> None:
    """Zeros stand for the mean of a label; the same numbers lead to the same image."""
    torch = need_torch()
    law = _law()
    teacher, labels = MomentTeacher(law, 7), torch.arange(law.size.classes)
    lesson = teacher.lesson(torch.zeros(len(labels), 7), labels)
    size = law.size
    assert (len(labels), size.channels, size.height, size.width) == tuple(lesson.shape)
    assert -1 <= float(lesson.min()) <= float(lesson.max()) <= 1
    means = law.shown(law.arrays["means"].astype(np.float64)) / 127.5 - 1
    assert np.allclose(means, lesson.flatten(1).numpy(), atol=1e-4)
    again = teacher.lesson(torch.zeros(len(labels), 7), labels)
    assert again.tolist() == lesson.tolist()


@pytest.mark.slow
def test_a_generator_comes_nearer_to_its_lessons() -> None:
    """And it takes as many steps as were asked for."""
    torch = need_torch()
    law = _law()
    size = law.size
    maker = ImageMaker(Shape(size.height, size.width, size.classes), 7, (8, 6, 4))
    teacher, question = MomentTeacher(law, 7), centred_question(law)
    gaps = FeatureGaps(np.zeros(question.shape), question.length)
    latents = torch.randn(64, 7, generator=torch.Generator().manual_seed(5))
    labels = torch.arange(64) % size.classes
    expected, found = teacher.lesson(latents, labels), []
    for steps in (1, 120):
        lessons = GeneratorLessons(
            generator=maker,
            teacher=teacher,
            features=question.features,
            gaps=gaps,
            teaching=Teaching(steps=steps),
        )
        state = lessons.play()
        assert steps == state.step
        made = maker.make(state.averaged, latents, labels, None)
        found.append(float(((made - expected) ** 2).mean()))
    assert found[1] < 0.7 * found[0]


def test_a_course_comes_back_as_it_was_kept() -> None:
    """Census, schedule, noise, and a grant that has paid for rounds and steps."""
    budget, first = Budget.approximate(2, "1e-5"), Budget.approximate(1, "5e-6")
    course = NoiseSchedule.within(Schedule(3, Fraction(1, 2), 5), first)
    grant = Grant(budget, pricing=RoundsThenList(first))
    grant.commit([question.charge for question in course.questions])
    grant.charge([course.questions[0].charge])
    facts = course_facts(Census(9, (0.25, 0.75)), course, grant)
    again = Grant(budget, pricing=RoundsThenList(first))
    census, resumed = resumed_course(facts, again, 1)
    assert (Census(9, (0.25, 0.75)), course) == (census, resumed)
    assert (grant.bound(), grant.plan) == (again.bound(), again.plan)
