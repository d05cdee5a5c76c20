"""Samplers by name: how rows are drawn from the tables of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.models.sampling.forward import sample_codes
from understudy.models.sampling.inconsistent import sampler_of_released
from understudy.models.sampling.without_replacement import deal_codes

if TYPE_CHECKING:
    from understudy.models.model import Model
    from understudy.models.sampling.ways import Sampler

SAMPLERS = ("without-replacement", "with-replacement", "inconsistent")
"""NIST sections 3.3, 2.3 and 3.3.1."""


def named_sampler(model: Model, name: str) -> Sampler:
    """The sampler of a name; refused where the model's rows are not drawn from tables."""
    if name not in SAMPLERS:
        raise UsageError(f"sampler {name!r} is unknown; use one of {', '.join(SAMPLERS)}")
    model.distribution.check_sampler()
    match name:
        case "without-replacement":
            return deal_codes
        case "with-replacement":
            return sample_codes
        case _:
            return sampler_of_released(model)
