"""How the populations that plans are rehearsed on were chosen, each table in turn left out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.plan import CLAIMED, MEASURED, WAYS
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard
from benchmarks.utility import EPSILONS, METHODS, measure
from understudy.methods.planning.populations import Character
from understudy.methods.planning.rehearsal import grant_of, rehearse
from understudy.methods.planning.scene import Scene, Thinning, workloads

CHOSEN_ON = (*CLAIMED, "heart")
EVENNESS = (0.1, 0.3, 1.0, 3.0)
LOOSENESS = (2.0, 6.0, 20.0, 60.0, 200.0)

Logs = npt.NDArray[np.float64]
Place = tuple[int, int]


def run(board: Scoreboard) -> None:
    """Which ladder each choice comes to, and the error of every centre that was tried."""
    if not SHARED.exists():
        board.leave_out("the choice of populations", "the tables are not there")
        return
    names = board.size.pick(CHOSEN_ON, ("cmc", "heart"))
    logs = {name: _log_ratios(name, board.size.pick(2, 1)) for name in names}
    centres = board.size.pick(list(itertools.product((1, 2), (1, 2, 3))), [(1, 1), (2, 2)])
    for name in names:
        others = [logs[other] for other in names if other != name]
        best = min(centres, key=lambda centre: _error(others, centre))
        ratios = np.exp(_on_ladder(logs[name], best)).round(2).tolist()
        board.details.append({"left out": name, "centre": _named(best), "ratios": ratios})
    for centre in centres:
        evenness, looseness = _named(centre)
        what = f"root mean square log ratio, evenness {evenness:g}, looseness {looseness:g}"
        board.add(what, _error(list(logs.values()), centre), "")


def _named(centre: Place) -> tuple[float, float]:
    return EVENNESS[centre[0]], LOOSENESS[centre[1]]


def _error(logs: Sequence[Mapping[Place, Logs]], centre: Place) -> float:
    ratios = np.array([_on_ladder(each, centre) for each in logs])
    return float(np.sqrt((ratios**2).mean()))


def _on_ladder(logs: Mapping[Place, Logs], centre: Place) -> Logs:
    """The mean of three populations, one step apart on both scales: (ε, way)."""
    steps = [logs[centre[0] + step, centre[1] + step] for step in (-1, 0, 1)]
    return np.asarray(np.mean(steps, axis=0))


def _log_ratios(name: str, draws: int) -> dict[Place, Logs]:
    """For every population of the grid: log of expected over measured, (ε, way), with nist."""
    schema, table = MEASURED[name]()
    synthesizers = [METHODS["nist"](schema, epsilon) for epsilon in EPSILONS]
    measured = [measure(schema, table, "nist", epsilon, 3) for epsilon in EPSILONS]
    actual = np.log([[found[way] for way in WAYS] for found in measured])
    scene = Scene(synthesizers[0], Thinning(table.rows, 1), workloads(table.domain))
    budgets = [grant_of(synthesizer).spendable for synthesizer in synthesizers]
    found = {}
    for place in itertools.product(range(len(EVENNESS)), range(len(LOOSENESS))):
        character = Character("on trial", *_named(place))
        expected = [
            [
                rehearse(scene.synthesizer, source, b, yardsticks, seed=seed).distances
                for b in budgets
            ]
            for seed in range(draws)
            for source, yardsticks in [scene.imagined(character, seed)]
        ]
        found[place] = np.log(np.array(expected, float)).mean(axis=0) - actual
    return found
