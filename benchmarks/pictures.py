"""A wide network scored and drawn: as a picture in memory, and by the command, start to end."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.measuring import understudy
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import integers
from understudy.facts.unit import Neighbours, Unit
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family, Network
from understudy.models.pictures import network_png, network_svg
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.statements.statement import Statement

_DEGREE, _VALUES, _ROUNDS = 3, 4, 3


def run(board: Scoreboard) -> None:
    """Wall seconds of a random network in which all but the first attributes have three parents."""
    attributes = board.size.pick(100, 20)
    model = random_model(attributes, _DEGREE)
    what = f"{attributes} attributes of {_DEGREE} parents"
    board.add(f"{what}, scored and drawn as SVG, wall", _least(network_svg, model), "s", 3)
    board.add(f"{what}, scored and drawn as PNG, wall", _least(network_png, model), "s")
    with tempfile.TemporaryDirectory() as name:
        kept, picture = Path(name) / "model.zip", Path(name) / "picture.svg"
        model.save(kept)
        taken = understudy("inspect", str(kept), "-o", str(picture)).wall_seconds
    board.add(f"inspect -o of {what}, start to file closed, wall", taken, "s")


def _least(draw: Callable[[Model], object], model: Model) -> float:
    taken = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        draw(model)
        taken.append(time.perf_counter() - started)
    return min(taken)


def random_network(attributes: int, degree: int, *, seed: int = 0) -> Network:
    """Give every attribute `degree` parents among those before it, as far as there are."""
    generator = np.random.default_rng(seed)
    names = [f"attribute {number}" for number in range(attributes)]
    families = []
    for number, name in enumerate(names):
        chosen = generator.permutation(number)[:degree].tolist()
        families.append(Family(name, tuple(names[place] for place in chosen)))
    return Network(tuple(families))


def random_model(attributes: int, degree: int, *, seed: int = 0) -> Model:
    """A model of such a network, its tables drawn at random."""
    network, generator = random_network(attributes, degree, seed=seed), np.random.default_rng(seed)
    conditionals = tuple(
        Conditional(
            family, generator.dirichlet(np.full(_VALUES, 0.3), [_VALUES] * len(family.parents))
        )
        for family in network
    )
    bound = Bound(PURE, Fraction(0), Fraction(0))
    statement = Statement("none", bound, Unit(Neighbours.ADD_REMOVE), ())
    schema = integers(dict.fromkeys(network.order, _VALUES))
    return Model(schema, BayesNet.of(schema, conditionals), 1000, statement)
