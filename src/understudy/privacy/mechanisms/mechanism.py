"""The protocol of a mechanism: it computes its event from the fields that set its noise.

Most take integers. Scores that are not integers are first put on a public grid by the Curator, so
that floating point never decides what noise is added to.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from typing_extensions import TypeVar

from understudy.errors import UsageError
from understudy.privacy.accounting.events import Event
from understudy.privacy.noise.system import Noise
from understudy.system.arrays import Integers

_Exact = TypeVar("_Exact", contravariant=True, default=Integers)
_Released = TypeVar("_Released", covariant=True, default=Integers)

# Laplace noise of this scale passes 2⁶² with a chance of exp(−2²²).
_LARGEST_SCALE = 2**40


class Mechanism(Protocol[_Exact, _Released]):
    """A mechanism turns an exact answer into a release, by default integers into integers."""

    @property
    def event(self) -> Event:
        """The event that one use is accounted as."""

    def release(self, exact: _Exact, noise: Noise) -> _Released:
        """Return the answer that may leave."""

    def covers(self, difference: _Exact) -> bool:
        """Whether exact answers may differ by this much between neighbours."""


def positive(amount: Fraction) -> Fraction:
    """Return the amount, which must be above zero to buy any noise."""
    if amount <= 0:
        raise UsageError("a mechanism needs a budget above zero; raise epsilon")
    return amount


def drawable(scale: Fraction) -> Fraction:
    """Return the scale, unless its noise could overflow 64 bits."""
    if scale > _LARGEST_SCALE:
        raise UsageError(
            f"noise of scale {float(scale):.3g} would drown any table; raise epsilon or delta"
        )
    return scale
