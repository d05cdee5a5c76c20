"""Events hold numbers that a mechanism can have; none makes a cost negative."""

from __future__ import annotations

from fractions import Fraction

import pytest

from understudy.errors import UsageError
from understudy.privacy.accounting.events import (
    ApproximateEvent,
    Charge,
    Event,
    ExactEvent,
    ExponentialEvent,
    FineGaussianEvent,
    GaussianEvent,
    GaussianKeyReleaseEvent,
    KeyReleaseEvent,
    LaplaceEvent,
    PermuteAndFlipEvent,
    SampledGaussianEvent,
    SmoothedHistogramEvent,
)

ONE, HALF = Fraction(1), Fraction(1, 2)
EVENTS: list[Event] = [
    LaplaceEvent(ONE, ONE),
    GaussianEvent(ONE, ONE),
    FineGaussianEvent(ONE, ONE, ONE, Fraction(1024)),
    SampledGaussianEvent(ONE, ONE, HALF, ONE),
    PermuteAndFlipEvent(ONE, ONE),
    ExponentialEvent(ONE, ONE),
    SmoothedHistogramEvent(ONE, HALF),
    KeyReleaseEvent(ONE, ONE, ONE, HALF),
    GaussianKeyReleaseEvent(ONE, ONE, ONE, HALF),
    ApproximateEvent("a mechanism of another", ONE, HALF),
    ExactEvent(),
]
FIELDS = [
    (event, name)
    for event in EVENTS
    for name, value in vars(event).items()
    if isinstance(value, Fraction)
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: str(event.mechanism))
def test_an_event_is_read_as_it_was_written(event: Event) -> None:
    """Through JSON and back an event stays what it is."""
    charge = Charge("counts of a", event)
    assert charge == Charge.parse(charge.document())


@pytest.mark.parametrize(("event", "name"), FIELDS)
def test_no_number_of_an_event_is_negative(event: Event, name: str) -> None:
    """A negative sensitivity or scale would pay budget back; it is refused, written or made."""
    fields = {**vars(event), name: Fraction(-1)}
    with pytest.raises(UsageError, match=f"{name} is -1; it must"):
        type(event)(**fields)
    document = Charge("counts of a", event).document() | {f"{name}_exact": "-1"}
    with pytest.raises((UsageError, ValueError)):
        Charge.parse(document)


@pytest.mark.parametrize("name", ["scale", "sigma_squared"])
def test_noise_has_a_width(name: str) -> None:
    """Noise of scale zero has no cost that could be computed."""
    kind = LaplaceEvent if name == "scale" else GaussianEvent
    with pytest.raises(UsageError, match=f"{name} is 0; it must be above 0"):
        kind(Fraction(0), ONE)


@pytest.mark.parametrize(
    ("squared", "moved", "finer"), [(1, 1, 1), (1, 1, 1023), (1, 2, 1024), (9, 10, 1024)]
)
def test_a_coarse_grid_has_no_fine_event(squared: int, moved: int, finer: int) -> None:
    """Integers, and grids too coarse for the cells that move, are refused, written or made."""
    with pytest.raises(UsageError, match="make the grid finer"):
        FineGaussianEvent(ONE, Fraction(squared), Fraction(moved), Fraction(finer))
    fine = Charge("counts of a", FineGaussianEvent(ONE, ONE, ONE, Fraction(1024)))
    forged = fine.document() | {
        "sensitivity_squared_exact": str(squared),
        "moved_exact": str(moved),
        "finer_exact": str(finer),
    }
    with pytest.raises(UsageError, match="make the grid finer"):
        Charge.parse(forged)


def test_a_grid_has_whole_steps() -> None:
    """Between whole multiples the noise of neighbours would not be the same."""
    with pytest.raises(UsageError, match="finer is 2049/2; it must be a whole number"):
        FineGaussianEvent(ONE, ONE, ONE, Fraction(2049, 2))


def test_chances_are_at_most_one() -> None:
    """A rate and a delta are probabilities."""
    with pytest.raises(UsageError, match="rate is 2; it must be at most 1"):
        SampledGaussianEvent(ONE, ONE, Fraction(2), ONE)
    with pytest.raises(UsageError, match="delta is 2; it must be at most 1"):
        ApproximateEvent("another", ONE, Fraction(2))
