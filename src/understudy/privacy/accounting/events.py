"""Spending described as frozen data: what was drawn, from the fields that set its noise.

An event says nothing about the data. `accounting` interprets it; the ledger and the statement
write it down.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar

from understudy.errors import UsageError
from understudy.privacy.budget import exactly
from understudy.system.amounts import at_most

# Fields that say what an answer costs, and not how its noise is made.
_AMOUNTS = ("epsilon", "delta")
# Fields that noise is divided by, and fields that are probabilities.
_ABOVE_ZERO = ("scale", "sigma_squared", "finer")
_AT_MOST_ONE = ("rate", "delta")

FINENESS = 2**20
"""How many squared steps of a fine grid the squared sensitivity has at least, per moved cell."""


class _Checked:
    """An event whose numbers can be those of a mechanism: none of them makes a cost negative."""

    mechanism: ClassVar[str]

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, Fraction):
                _check_field(self.mechanism, name, value)


def _check_field(mechanism: str, name: str, value: Fraction) -> None:
    if name in _ABOVE_ZERO and value <= 0:
        raise UsageError(f"mechanism {mechanism!r}: {name} is {value}; it must be above 0")
    if value < 0:
        raise UsageError(f"mechanism {mechanism!r}: {name} is {value}; it must not be below 0")
    if name in _AT_MOST_ONE and value > 1:
        raise UsageError(f"mechanism {mechanism!r}: {name} is {value}; it must be at most 1")


@dataclass(frozen=True)
class LaplaceEvent(_Checked):
    """Discrete Laplace noise of a scale on an integer vector of an L1 sensitivity."""

    mechanism: ClassVar[str] = "discrete laplace"
    scale: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class GaussianEvent(_Checked):
    """Discrete Gaussian noise of a parameter σ² on an integer vector of an L2 sensitivity."""

    mechanism: ClassVar[str] = "discrete gaussian"
    sigma_squared: Fraction
    sensitivity_squared: Fraction


@dataclass(frozen=True)
class FineGaussianEvent(_Checked):
    """Discrete Gaussian noise of σ² on a grid that is fine against the sensitivity.

    The amounts are in the units of the answer, of which each has `finer` steps. `moved` is the
    largest number of cells in which answers of neighbours differ. On a coarser grid the Gaussian
    curve would not be proved, and there is no such event.
    """

    mechanism: ClassVar[str] = "fine gaussian"
    sigma_squared: Fraction
    sensitivity_squared: Fraction
    moved: Fraction
    finer: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.finer.denominator != 1:
            raise UsageError(
                f"mechanism {self.mechanism!r}: finer is {self.finer}; it must be a whole number"
            )
        if self.finer**2 * self.sensitivity_squared < FINENESS * self.moved:
            raise UsageError(
                f"mechanism {self.mechanism!r}: {self.finer} steps to a unit are too few for "
                f"{self.moved} cells that move; make the grid finer"
            )


@dataclass(frozen=True)
class SampledGaussianEvent(_Checked):
    """Discrete Gaussian noise of σ² on a sum of integer vectors, each there by the chance `rate`.

    The sensitivity is that of the whole sum, and `cells` is the length of the vectors.
    """

    mechanism: ClassVar[str] = "sampled gaussian"
    sigma_squared: Fraction
    sensitivity_squared: Fraction
    rate: Fraction
    cells: Fraction


@dataclass(frozen=True)
class PermuteAndFlipEvent(_Checked):
    """A choice by permute-and-flip among integer scores of an L∞ sensitivity."""

    mechanism: ClassVar[str] = "permute and flip"
    scale: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class ExponentialEvent(_Checked):
    """A choice by the exponential mechanism among integer scores of an L∞ sensitivity."""

    mechanism: ClassVar[str] = "exponential"
    scale: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class SmoothedHistogramEvent(_Checked):
    """Rows drawn from a histogram smoothed so far that they cost no more than ε together."""

    mechanism: ClassVar[str] = "smoothed histogram"
    epsilon: Fraction
    smoothing: Fraction


@dataclass(frozen=True)
class KeyReleaseEvent(_Checked):
    """Keys whose counts, with discrete Laplace noise, reach a threshold; δ is proved for it."""

    mechanism: ClassVar[str] = "key release"
    scale: Fraction
    sensitivity: Fraction
    threshold: Fraction
    delta: Fraction


@dataclass(frozen=True)
class GaussianKeyReleaseEvent(_Checked):
    """Keys whose counts, with discrete Gaussian noise, reach a threshold; δ is proved for it."""

    mechanism: ClassVar[str] = "gaussian key release"
    sigma_squared: Fraction
    sensitivity_squared: Fraction
    threshold: Fraction
    delta: Fraction


@dataclass(frozen=True)
class ApproximateEvent(_Checked):
    """Any mechanism proved to be (ε, δ)-differentially private, by name."""

    mechanism: str  # type: ignore[misc]
    epsilon: Fraction
    delta: Fraction = Fraction(0)


@dataclass(frozen=True)
class ExactEvent:
    """An exact answer: no privacy, for studies only."""

    mechanism: ClassVar[str] = "none"


Event = (
    LaplaceEvent
    | GaussianEvent
    | FineGaussianEvent
    | SampledGaussianEvent
    | PermuteAndFlipEvent
    | ExponentialEvent
    | SmoothedHistogramEvent
    | KeyReleaseEvent
    | GaussianKeyReleaseEvent
    | ApproximateEvent
    | ExactEvent
)


@dataclass(frozen=True)
class Charge:
    """One entry of a statement or ledger: what was asked, and the event that answered it."""

    question: str
    event: Event

    def document(self) -> dict[str, Any]:
        """The charge for JSON: numbers as numbers, exact fractions beside them as texts."""
        fields: dict[str, Any] = {"question": self.question, "mechanism": self.event.mechanism}
        for name, value in asdict(self.event).items():
            if isinstance(value, Fraction):
                number = at_most(value) if name in _AMOUNTS else float(value)
                fields |= {name: number, f"{name}_exact": str(value)}
        return fields

    @classmethod
    def parse(cls, document: dict[str, Any]) -> Charge:
        """The charge that was written down."""
        suffix = "_exact"
        fields = {
            k.removesuffix(suffix): exactly(v) for k, v in document.items() if k.endswith(suffix)
        }
        name = document["mechanism"]
        kind = _BY_NAME.get(name)
        event = kind(**fields) if kind else ApproximateEvent(name, **fields)
        return cls(document["question"], event)


_BY_NAME: dict[str, type[Any]] = {
    kind.mechanism: kind
    for kind in (
        *(LaplaceEvent, GaussianEvent, PermuteAndFlipEvent, ExponentialEvent),
        *(
            FineGaussianEvent,
            SampledGaussianEvent,
            SmoothedHistogramEvent,
            KeyReleaseEvent,
            GaussianKeyReleaseEvent,
            ExactEvent,
        ),
    )
}
