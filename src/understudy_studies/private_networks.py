"""AAU section 4.2.1: how near private networks come to the greedy one, beside exact values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from understudy.facts.domain import Attributes
from understudy.methods.structure.greedy import greedy_network
from understudy.methods.structure.scores import mutual_information
from understudy.models.network import Family
from understudy.models.pictures.charts import Line, Panel
from understudy.models.pictures.heat import HeatMap
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.selection import PermuteAndFlip
from understudy.rows.counting import Marginal, ScoreKernel, Scores
from understudy.rows.engines.memory import MemorySource
from understudy.system.arrays import Probabilities
from understudy_studies.cells import (
    Cell,
    CellValues,
    Results,
    Setting,
    Size,
    Spread,
    settings,
)
from understudy_studies.copula import DEGREE, FREE, NAMES, correlated, curator_of
from understudy_studies.study import JudgedClaim, Study, StudyTable
from understudy_studies.tables import DataFolder

ROWS = 1000
EPSILONS = ("0.05", "0.5", "5", "50")
SCORE = mutual_information(ROWS, binary=True)
# A chance from which on an outcome is the usual one.
_LIKELY = 0.5
# The grid on which the Curator compares scores.
_GRID = 2**16

SearchPath = tuple[Family, ...]


class PrivateNetworks(Study):
    """Shares of the greedy edges and information lost, over runs and in closed form."""

    title = "Networks by private choices beside the greedy one"
    source = "AAU section 4.2.1, figures 4.1 and 4.2"
    claim = (
        "At ε = 50 the private network is the greedy one; at 5 it has deteriorated a bit, and at "
        "0.5 and 0.05 it changes further, its parent sets smaller."
    )
    words = (
        "One table of 1,000 rows and five two-valued columns of AAU's copula; mutual information, "
        "degree 3, all of ε for the network. Where the paper shows one network for each ε, here "
        "are many, with the share of the greedy network's edges that they have, the information "
        "they lose and the number of their parents. Exact values are beside the runs: a choice "
        "has a closed form, and the search is a small tree of choices. Choices are by "
        "permute-and-flip, which is never worse than the paper's exponential mechanism. Networks "
        "are drawn as matrices: a line for each child, and in each square the exact chance that "
        "the column is its parent; the greedy network has ones."
    )
    # 2: the chance of every edge is measured too.
    law = 2

    def settings(self, size: Size) -> list[Setting]:
        """Return a setting for each ε."""
        return settings(epsilon=EPSILONS, runs=[size.pick(smoke=20, quick=300, full=5_000)])

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Means over the runs, and what they should be."""
        epsilon = str(setting["epsilon"])
        runs = [_found(epsilon, [int(setting["seed"]), run]) for run in range(int(setting["runs"]))]
        exact = {name: expected(gain, Fraction(epsilon)) for name, gain in _gains().items()}
        exact["greedy network"] = chance_of_greedy(Fraction(epsilon))
        seen = {name: [sum(map(gain, path)) for path in runs] for name, gain in _gains().items()}
        seen["greedy network"] = [float(path == greedy()) for path in runs]
        return {"edges": edge_chances(Fraction(epsilon))} | {
            name: {"mean": (spread := Spread.of(values)).mean, "exact": exact[name]}
            | {"deviation": spread.deviation, "error": spread.deviation / len(values) ** 0.5}
            for name, values in seen.items()
        }

    def sentence(self, results: Results) -> str:
        """The shares of edges from the largest ε to the least, and whether runs are as exact."""
        cells = sorted(results, key=_epsilon, reverse=True)
        shares = [cell.numbers["greedy edges"]["mean"] for cell in cells]
        falls = shares == sorted(shares, reverse=True) and shares[0] > shares[-1]
        off = max(_off(number) for cell in results for _, number in _measures(cell))
        listed = ", ".join(
            f"{share:.0%} at ε = {cell.setting['epsilon']}"
            for share, cell in zip(shares, cells, strict=True)
        )
        first = cells[0].numbers["greedy network"]
        return (
            f"Of the greedy edges private networks have {listed}: they "
            f"{'deteriorate as in the paper' if falls else 'do not deteriorate as in the paper'}; "
            f"at ε = {cells[0].setting['epsilon']} {first['mean']:.0%} of the runs "
            f"find the whole greedy network (exactly {first['exact']:.1%}), and all "
            f"means are within {off:.1f} standard errors of the exact values."
        )

    def summary(self, results: Results) -> StudyTable:
        """A line for each ε and measure."""
        columns = ("ε", "measure", "mean of runs", "standard error", "exact")
        lines = [
            (cell.setting["epsilon"], name, number["mean"], number["error"], number["exact"])
            for cell in results
            for name, number in _measures(cell)
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel | HeatMap]:
        """Runs and exact values of edges and information; then the networks, as matrices."""
        ordered = sorted(results, key=_epsilon, reverse=True)
        chances = [(f"ε = {cell.setting['epsilon']}", cell.numbers["edges"]) for cell in ordered]
        return [
            _panel(results, "greedy edges", "share of the greedy edges", (0.0, 1.0)),
            _panel(results, "information lost", "bits lost to the greedy network", None),
            HeatMap("the greedy network", NAMES, _matrix(greedy())),
            *(HeatMap(f"chance of each edge, {name}", NAMES, matrix) for name, matrix in chances),
        ]

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return the claims on both ends, and on the size of parent sets."""
        cells = sorted(results, key=_epsilon, reverse=True)
        edges, parents = (
            [float(cell.numbers[name]["exact"]) for cell in cells]
            for name in ("greedy edges", "parents")
        )
        whole = float(cells[0].numbers["greedy network"]["exact"])
        over = ", ".join(str(cell.setting["epsilon"]) for cell in cells)
        return [
            JudgedClaim.judged(
                f"At ε = {cells[0].setting['epsilon']} the private network is the greedy one",
                f"{edges[0]:.0%} of the greedy edges, the whole of it in {whole:.0%} of all runs",
                whole > _LIKELY,
                otherwise="one network was drawn there; most have an edge that differs",
            ),
            JudgedClaim.judged(
                "Networks deteriorate as ε falls",
                f"share of the greedy edges at ε = {over}: {_listed(edges)}",
                edges == sorted(edges, reverse=True),
                otherwise="the share does not fall at every step",
            ),
            JudgedClaim.judged(
                "Parent sets become smaller as ε falls",
                f"parents in all at ε = {over}: {_listed(parents)}",
                parents == sorted(parents, reverse=True),
                otherwise="they do not at every step",
            ),
        ]


def _panel(results: Results, name: str, up: str, between: tuple[float, float] | None) -> Panel:
    over = [_epsilon(cell) for cell in results]
    mean, error, exact = (results.numbers(name, part) for part in ("mean", "error", "exact"))
    low = [m - 2 * e for m, e in zip(mean, error, strict=True)]
    high = [m + 2 * e for m, e in zip(mean, error, strict=True)]
    lines = [
        Line(
            name="runs, two standard errors about the mean",
            across=over,
            up=mean,
            low=low,
            high=high,
        ),
        Line("exact", over, exact),
    ]
    return Panel(name, "ε", up, lines, log_across=True, between=between)


def _measures(cell: Cell) -> list[tuple[str, dict[str, float]]]:
    """The numbers that runs and exact values have in common."""
    return [(name, number) for name, number in cell.numbers.items() if name != "edges"]


def _listed(values: Sequence[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)


def _matrix(path: SearchPath) -> list[list[float]]:
    """A line for each child, 1 where the column is its parent."""
    parents = {family.child: family.parents for family in path}
    return [[float(parent in parents[child]) for parent in NAMES] for child in NAMES]


def _epsilon(cell: Cell) -> float:
    return float(cell.setting["epsilon"])


def _off(number: Mapping[str, float]) -> float:
    """Standard errors between runs and exact value; a mean without any scatter has none."""
    return abs(number["mean"] - number["exact"]) / number["error"] if number["error"] else 0.0


class _RememberingSource:
    """Scores each table once for all runs: the rows never change."""

    def __init__(self, source: MemorySource) -> None:
        self.domain, self.rows_read = source.domain, source.rows_read
        self.rows_per_person = source.rows_per_person
        self._source = source
        self._known: dict[Attributes, float] = {}

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Counts as they are."""
        return self._source.count(sets)

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Scores, remembered."""
        for attributes in sets:
            if attributes not in self._known:
                self._known[attributes] = float(self._source.score([attributes], kernel)[0])
        return np.array([self._known[attributes] for attributes in sets])


@cache
def source() -> _RememberingSource:
    """Return the one table of all runs."""
    return _RememberingSource(MemorySource(correlated(ROWS, np.random.default_rng(421))))


def information(family: Family) -> float:
    """I(child; parents) in bits, exact."""
    return float(source().score([family.attributes], SCORE.kernel)[0])


def _gains() -> dict[str, Callable[[Family], float]]:
    """The terms to add up over a network's families, each as a share or loss of the whole."""
    edges = {(parent, f.child) for f in greedy() for parent in f.parents}
    most = sum(map(information, greedy())) / (len(NAMES) - 1)
    return {
        "greedy edges": lambda f: sum((p, f.child) in edges for p in f.parents) / len(edges),
        "information lost": lambda f: most - information(f) if f.child != NAMES[0] else 0.0,
        "parents": lambda f: float(len(f.parents)),
    }


def _candidates(placed: Sequence[str]) -> list[Family]:
    return [
        Family(child, parents)
        for child in NAMES
        if child not in placed
        for size in range(DEGREE + 1)
        for parents in itertools.combinations(placed, size)
    ]


def _steps(candidates: Sequence[Family]) -> npt.NDArray[np.int64]:
    """Scores on the grid that choices are made on."""
    exact = source().score([f.attributes for f in candidates], SCORE.kernel)
    return np.rint(exact / float(SCORE.sensitivity / _GRID)).astype(np.int64)


def _chances(candidates: Sequence[Family], epsilon: Fraction) -> Probabilities:
    """The closed form of one choice at its part of ε."""
    share = epsilon / (len(NAMES) - 1)
    flip = PermuteAndFlip.costing(share, sensitivity=Fraction(_GRID + 2))
    return flip.probabilities(_steps(candidates))


@cache
def greedy() -> SearchPath:
    """The network of the highest score at every step."""
    path: SearchPath = (Family(NAMES[0]),)
    while len(path) < len(NAMES):
        candidates = _candidates([family.child for family in path])
        path = (*path, candidates[int(_steps(candidates).argmax())])
    return path


def chance_of_greedy(epsilon: Fraction) -> float:
    """The exact chance that private choices go the greedy way from end to end."""
    chance = 1.0
    for length in range(1, len(NAMES)):
        path = greedy()
        candidates = _candidates([family.child for family in path[:length]])
        chance *= float(_chances(candidates, epsilon)[candidates.index(path[length])])
    return chance


def expected(gain: Callable[[Family], float], epsilon: Fraction) -> float:
    """The exact mean of a sum over families, over all ways that the search can go.

    What matters of the past is which attributes are placed: only they can be parents.
    """

    @cache
    def ahead(placed: frozenset[str]) -> float:
        if len(placed) == len(NAMES):
            return 0.0
        candidates = _candidates([name for name in NAMES if name in placed])
        gains = [gain(f) + ahead(placed | {f.child}) for f in candidates]
        return float(_chances(candidates, epsilon) @ np.array(gains))

    return gain(Family(NAMES[0])) + ahead(frozenset(NAMES[:1]))


def edge_chances(epsilon: Fraction) -> list[list[float]]:
    """The exact chance of every edge: a line for each child, a column for each parent."""

    def chance(parent: str, child: str) -> float:
        return expected(lambda f: float(f.child == child and parent in f.parents), epsilon)

    return [[chance(parent, child) for parent in NAMES] for child in NAMES]


def _found(epsilon: str, seed: Sequence[int]) -> SearchPath:
    budget = Budget.pure(epsilon)
    noise = int(np.random.default_rng(seed).integers(2**62))
    curator = curator_of(source(), budget, noise)
    return greedy_network(curator, budget, score=SCORE, table_cost=FREE, degree=DEGREE).families


STUDY = PrivateNetworks()
