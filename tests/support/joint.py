"""The whole joint distribution of a small model, by multiplication."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy.facts.codes import Codes
from understudy.models.inference import Evidence
from understudy.models.model import Model


def joint_of(model: Model) -> npt.NDArray[np.float64]:
    """The chance of every cell, flat, attributes in the domain's order."""
    order = model.domain.attributes
    joint = np.ones(model.domain.shape(order))
    for conditional in model.conditionals:
        axes = [order.index(a) for a in conditional.family.attributes]
        shape = [n if i in axes else 1 for i, n in enumerate(joint.shape)]
        sorted_axes = conditional.whole(model.domain).transpose(np.argsort(axes))
        joint = joint * sorted_axes.reshape(shape)
    return joint.ravel()


def cells_of(model: Model, codes: Mapping[str, Codes]) -> npt.NDArray[np.int64]:
    """The cell of every row, numbered as in `joint_of`."""
    order = model.domain.attributes
    return np.ravel_multi_index(
        [codes[a].astype(np.int64) for a in order], model.domain.shape(order)
    ).astype(np.int64)


def joint_given(model: Model, evidence: Evidence) -> npt.NDArray[np.float64]:
    """The joint law of rows that fit the evidence, as probabilities."""
    order = model.domain.attributes
    joint = joint_of(model).reshape(model.domain.shape(order))
    for i, attribute in enumerate(order):
        fits = evidence.get(attribute, np.ones(model.domain[attribute]))
        joint = joint * fits.reshape([-1 if j == i else 1 for j in range(joint.ndim)])
    return np.asarray((joint / joint.sum()).ravel())
