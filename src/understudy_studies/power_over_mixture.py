"""AAU section 4.2.2: the power of Pearson's test over β, the share of ε spent on the network."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.models.pictures.charts import Line, Panel
from understudy_studies.cells import (
    CellValues,
    Results,
    Setting,
    Size,
    Spread,
    settings,
)
from understudy_studies.copula import (
    FREED,
    MENDED,
    METHODS,
    PAIRS,
    PRINTED,
    half_band,
    means,
    power_of,
)
from understudy_studies.study import JudgedClaim, Reproduction, Study, StudyTable
from understudy_studies.tables import DataFolder

EPSILONS = ("0.1", "1", "10", "100")
_FEW = ("0.1", "0.5", "0.9")
_BESIDE = tuple(name for name in METHODS if name not in (PRINTED, MENDED))
_BETAS = tuple(f"{n / 20:g}" for n in range(2, 19))
_U, _SMALL, _LARGE = "U-shaped", "lower for small β", "lower for large β"
_PAPER = {"0.1": _U, "1": _LARGE, "10": _SMALL, "100": _SMALL}
# Power of z1 and z5 at the first β, where it is least, and at the last, read off figures 4.3 to
# 4.6 of the author's own copy; the ones in between are not in a U.
FIGURE = {
    "0.1": (0.79, 0.73, 0.85),
    "1": (0.93, 0.82, 0.82),
    "10": (0.93, 0.93, 0.98),
    "100": (0.985, 0.985, 0.9987),
}


class PowerOverMixture(Study):
    """Power of four pairs over β, and how often independent columns are rejected."""

    title = "Power of Pearson's test over the share of ε spent on the network"
    source = "AAU section 4.2.2, figures 4.3 to 4.6"
    claim = (
        "Where ε is large (10, 100), power is low for β near 0: the network matters more. At ε = "
        "1 it decreases for β near 1: the tables matter more. At ε = 0.1 it is U-shaped in β. "
        "Overall it increases with ε."
    )
    words = (
        "Each run draws 1,000 rows of AAU's copula, has AAU's PrivBayes make as many, and tests "
        "the first column against each other one. The same is done with independent columns; the "
        "share rejected there is the size of the test, which should be 5 %. Where it is as high "
        "as the power, rejections say nothing about the rows: noise in the tables was taken for "
        "dependence. Runs in which a column came out constant are left out of both, as the "
        "paper's program does, whose test fails on them. The test has R's correction for "
        "continuity, as the paper's has. Shapes are judged for each pair of columns by the first, "
        "the middle and the last fifth of the β, where two differ if they are two standard errors "
        "apart. *As printed* is the paper's listing, which adds noise to conditional "
        "probabilities as if a row moved them by 2/n; it is not private. *As the text says* has "
        "the noise of the paper's text, which the listing never takes; it is not private either. "
        "*Mended* is the listing with noise on joint counts and nothing else changed, which is "
        "private: what it loses is the price of privacy. *Noise within range* draws counts that "
        "cannot leave the range from 0 to n, for which noise must be twice as wide. *Free order* "
        "is mended too, and has this package's search: columns in any order and empty parent "
        "sets; what it loses beyond *mended* is due to the search, which often leaves z1 and z2 "
        "without each other."
    )
    reduced = (
        "17 values of β for the paper's 100, 500 runs each as there; the versions beside the "
        "listing and its mended form have three"
    )
    law = 2

    def settings(self, size: Size) -> list[Setting]:
        """A setting for each version, ε and β; versions beside the two main ones have few β."""
        versions: dict[tuple[str, ...], tuple[str, ...]]
        versions = {(PRINTED, MENDED): _BETAS if size is Size.FULL else _FEW}
        versions |= {} if size is Size.SMOKE else {_BESIDE: _FEW}
        plan = [
            setting
            for methods, betas in versions.items()
            for setting in settings(
                method=methods,
                epsilon=size.pick(smoke=("1",), quick=EPSILONS, full=EPSILONS),
                beta=betas,
                runs=[size.pick(smoke=10, quick=60, full=500)],
                rows=[size.pick(smoke=200, quick=1000, full=1000)],
            )
        ]
        return [{**setting, "seed": seed} for seed, setting in enumerate(plan)]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Power, size and calibrated power of every pair."""
        return power_of(setting)

    def sentence(self, results: Results) -> str:
        """For every version the shape of power over β at each ε, beside the paper's."""
        return " ".join(_about(results.where(method=method)) for method in results.values("method"))

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """The shape at each ε, how power grows with ε, and the test on the original rows."""
        printed = results.where(method=PRINTED)
        epsilons = [e for e in printed.values("epsilon") if e in _PAPER]
        found = [_judged(printed.where(epsilon=e), str(e)) for e in epsilons]
        return [*found, *_growth(printed), *_original(results), *_price(results)]

    def summary(self, results: Results) -> StudyTable:
        """A line for each ε and β."""
        columns = (
            "version",
            "ε",
            "β",
            *(f"power {a}-{b}" for a, b in PAIRS),
            "mean size",
            "mean calibrated",
            "runs kept",
        )
        lines = [
            (
                *(cell.setting[name] for name in ("method", "epsilon", "beta")),
                *(cell.numbers[f"{a}-{b}"]["power"]["share"] for a, b in PAIRS),
                means(Results((cell,)), "size")[0],
                means(Results((cell,)), "calibrated")[0],
                cell.numbers["kept"]["dependent"],
            )
            for cell in results
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """A panel for each ε and version."""
        return [
            panel(results.where(epsilon=e, method=m), "beta", "power", f"ε = {e}, {m}")
            for e in results.values("epsilon")
            for m in results.values("method")
        ]


def _judged(results: Results, epsilon: str) -> JudgedClaim:
    """The shape at one ε, judged by the pair that varies most, z1 and z5."""
    shares = [share for share, _ in _fifths(results.numbers("z1-z5", "power", "share"))]
    parts = [f"{b} {_shown(results, pair)}" for pair in PAIRS for b in pair[1:]]
    figure = " → ".join(f"{value:g}" for value in FIGURE[epsilon])
    claim = (
        f"At ε = {epsilon} power is {_PAPER[epsilon]}; its figure for z1 and z5 has, from the "
        f"first β by the least to the last, {figure}"
    )
    measured, found = f"Power of z1 with {'; '.join(parts)}", _pair_shape(results, PAIRS[-1])
    if _PAPER[epsilon] == _U != found and shares[1] < min(shares[0], shares[2]):
        reason = "it is least in between, and one of its arms is within chance"
        return JudgedClaim(claim, measured, Reproduction.PARTLY, reason)
    other = f"z1 and z5 are {found}"
    return JudgedClaim.judged(claim, measured, _PAPER[epsilon] == found, otherwise=other)


def _growth(results: Results) -> list[JudgedClaim]:
    """Whether the mean over β and pairs grows with ε."""
    epsilons = sorted(results.values("epsilon"), key=float)
    found = [Spread.of(means(results.where(epsilon=e), "power")).mean for e in epsilons]
    if len(found) < 2:
        return []
    shown = ", ".join(f"{p:.3f} at {e}" for e, p in zip(epsilons, found, strict=True))
    return [
        JudgedClaim.judged(
            "Overall power increases with ε",
            f"Mean over β and pairs: {shown}",
            found == sorted(found),
            otherwise="it falls at one step",
        )
    ]


def _original(results: Results) -> list[JudgedClaim]:
    """Return the power on the real rows, where it was measured."""
    if any("original" not in cell.numbers["z1-z5"] for cell in results):
        return []
    found = min(Spread.of(results.numbers(f"{a}-{b}", "original", "share")).mean for a, b in PAIRS)
    return [
        JudgedClaim.judged(
            "On the original rows the test rejects nearly always",
            f"In at least {found:.2%} of runs, for each pair",
            found > 0.99,
            otherwise="it rejects less often",
        )
    ]


def _price(results: Results) -> list[JudgedClaim]:
    """The cost of privacy like for like at the middle β, beside what another search costs."""
    beta, methods = results.values("beta")[len(results.values("beta")) // 2], (MENDED, FREED)
    at = results.where(beta=beta)
    if not {PRINTED, *methods} <= set(at.values("method")) or "1" not in at.values("epsilon"):
        return []
    power = [means(at.where(method=m, epsilon="1"), "power")[0] for m in (PRINTED, *methods)]
    return [
        JudgedClaim(
            "The listing's noise is enough for privacy",
            f"At ε = 1, β = {beta} mean power is {power[0]:.3f} as printed; like for like with "
            f"noise on joint counts {power[1]:.3f}, with a free order of columns {power[2]:.3f}",
            Reproduction.CONTRADICTED,
            "a row moves a conditional of few rows by more than 2/n",
        )
    ]


def _about(results: Results) -> str:
    """One version: the shape of every pair's power over β at every ε."""
    parts = [_at(results.where(epsilon=epsilon)) for epsilon in results.values("epsilon")]
    return f"{results.values('method')[0].capitalize()}, power over β is {'; '.join(parts)}."


def _at(results: Results) -> str:
    """The shapes at one ε, and the size of the test where it is as high as the power."""
    shapes: dict[str, list[str]] = {}
    for pair in PAIRS:
        shapes.setdefault(_pair_shape(results, pair), []).append(pair[1])
    said = ", ".join(f"{how} for {' '.join(names)}" for how, names in shapes.items())
    said = f"at ε = {results.values('epsilon')[0]} {said} ({_shown(results, PAIRS[-1])} for z5"
    power, size = means(results, "power"), means(results, "size")
    top = power.index(max(power))
    if power[top] - size[top] < half_band(results.cells[top]):
        return f"{said}; independent columns are rejected as often, {size[top]:.2f})"
    return f"{said})"


def _pair_shape(results: Results, pair: tuple[str, str]) -> str:
    runs = [cell.setting.get("runs", 500) for cell in results]
    return shape(results.numbers(f"{pair[0]}-{pair[1]}", "power", "share"), int(runs[0]))


def _shown(results: Results, pair: tuple[str, str]) -> str:
    found = results.numbers(f"{pair[0]}-{pair[1]}", "power", "share")
    return " → ".join(f"{share:.3f}" for share, _ in _fifths(found))


def _fifths(shares: Sequence[float]) -> list[tuple[float, int]]:
    """The means of the first fifth, of the middle one and of the last, and of how many each."""
    part = max(len(shares) // 5, 1)
    middle = (len(shares) - part) // 2
    groups = (shares[:part], shares[middle : middle + part], shares[-part:])
    return [(sum(group) / len(group), len(group)) for group in groups]


def shape(shares: Sequence[float], runs: int) -> str:
    """How shares of some runs go, those less than two standard errors apart counting as equal.

    Example:
        >>> shape([0.9, 0.5, 0.8], 500), shape([0.2, 0.8, 0.9], 500), shape([0.9, 0.91, 0.9], 500)
        ('U-shaped', 'lower for small β', 'flat')
    """
    (first, count), (middle, _), (last, _) = _fifths(shares)

    def above(one: float, other: float) -> bool:
        unsure = sum(max(p * (1 - p), 1 / runs) for p in (one, other)) / (runs * count)
        return one - other > 2 * math.sqrt(unsure)

    if above(first, middle) and above(last, middle):
        return _U
    if above(middle, first) and above(middle, last):
        return "highest in between"
    if above(last, first):
        return _SMALL
    return _LARGE if above(first, last) else "flat"


def panel(results: Results, over: str, what: str, title: str, *, log: bool = False) -> Panel:
    """One of power or calibrated power for every pair, and the mean size, over a setting."""
    across = [float(value) for value in results.values(over)]
    lines = [
        Line(
            f"z1 and {b}",
            across,
            *(results.numbers(f"{a}-{b}", what, part) for part in ("share", "low", "high")),
        )
        for a, b in PAIRS
    ]
    lines.append(Line("independent columns, mean of four pairs", across, means(results, "size")))
    name = {"beta": "β", "epsilon": "ε"}[over]
    shown = lines if what == "power" else lines[:-1]
    return Panel(title, name, "share rejected", shown, log_across=log, between=(0.0, 1.0))


STUDY = PowerOverMixture()
