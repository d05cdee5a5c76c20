"""TUC-1 section 4.5: how far answers about a stream are off, beside what theory says."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from understudy.models.pictures.charts import Line, Panel
from understudy.stream.response import ESTIMATORS
from understudy_studies.cells import Cell, CellValues, Results, Setting, Size, settings
from understudy_studies.printed_streams import CORRECTED, PRINTED, Experiment, MadeUpStream
from understudy_studies.study import JudgedClaim, Reproduction, Study, StudyTable
from understudy_studies.tables import DataFolder

ALPHA = 0.05
_STREAMS = ("uniform", "zipf")


class PanPrivateError(Study):
    """Mean squared errors beside exact variances, chances of an error beside their bounds."""

    title = "Errors of pan-private densities, measured beside theory"
    source = "TUC-1 section 4.5, figures 4.8 to 4.11"
    claim = (
        "Measured and theoretical mean squared errors coincide. All proposed estimators are better "
        "than Dwork's, and those of bits clearly better than those of real numbers. Uniform and "
        "zipfian streams hardly differ. The bounds on the probability of error are not tight."
    )
    words = (
        f"Streams of 10⁵ events over 10⁵ users as in the thesis; an error is an answer off by "
        f"{ALPHA:g} or more (the thesis does not print its α). Every run draws a fresh sample and "
        "state, and adds both noises to the same entries: as printed, which does not keep the "
        "promise (see the study of the state), and corrected. Theory is the exact variance, "
        "where the thesis has −d²/m for −d/m, and the bound with the best shares. Laplace and "
        "Gaussian entries are kept to a public interval, in 256 levels."
    )
    reduced = "300 runs of each setting, of which the paper's chances of an error have 1,000"

    def settings(self, size: Size) -> list[Setting]:
        """Streams, samples and ε."""
        return settings(
            stream=_STREAMS,
            users=[size.pick(smoke=2_000, quick=20_000, full=100_000)],
            share=size.pick(smoke=("0.1",), quick=("0.1",), full=("0.01", "0.1", "1")),
            epsilon=size.pick(
                smoke=("0.5",),
                quick=("0.1", "0.25", "0.5"),
                full=("0.1", "0.2", "0.25", "0.3", "0.4", "0.5"),
            ),
            runs=[size.pick(smoke=30, quick=100, full=300)],
        )

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Errors of every estimator with either noise."""
        stream = MadeUpStream.of(str(setting["stream"]), users=int(setting["users"]))
        epsilon, sample = Fraction(str(setting["epsilon"])), _sample(setting)
        found: dict[str, Any] = {"density": stream.density}
        for place, name in enumerate(ESTIMATORS):
            generator = np.random.default_rng([int(setting["seed"]), place])
            experiment = Experiment(stream, name, epsilon, sample)
            found[name] = _errors(experiment, int(setting["runs"]), generator)
        return found

    def sentence(self, results: Results) -> str:
        """Whether theory holds, and what of the ranking does."""
        off = [_off(cell, name, noise) for cell in results for name, noise in _each()]
        broken = sum(_breaks(cell, name, noise) for cell in results for name, noise in _each())
        gains = {n: [_gain(cell, n) for cell in results] for n in (PRINTED, CORRECTED)}
        worse = {n: [c for c in results if not _bits_win(c, n)] for n in (PRINTED, CORRECTED)}
        return (
            f"Over {len(off):,} settings, measured mean squared errors are {np.mean(off):.2f} "
            f"standard errors from the exact variances on average and {max(off):.1f} at most. "
            f"By these variances Dwork's error is {_between(gains[PRINTED])} times that of optimal "
            f"bits with the noise as printed and {_between(gains[CORRECTED])} times with the "
            "corrected noise. "
            f"Bits beat entries of 256 levels in {_all_but(worse[PRINTED], results)} with the "
            f"printed noise and in {_all_but(worse[CORRECTED], results)} with the corrected one. "
            f"{_streams(results)} {_bounds(results, broken)}"
        )

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return theory, the ranking of estimators, the two streams, and the bounds."""
        off = [_off(cell, name, noise) for cell in results for name, noise in _each()]
        ratios = _stream_ratios(results)
        worse = [cell for cell in results if not _bits_win(cell, PRINTED)]
        broken = sum(_breaks(cell, name, noise) for cell in results for name, noise in _each())
        return [
            JudgedClaim.judged(
                "Measured and theoretical mean squared errors coincide",
                f"Over {len(off):,} settings they are {np.mean(off):.2f} standard errors apart on "
                f"average and {max(off):.1f} at most",
                bool(np.mean(off) < 1.5 and max(off) < 5),
                otherwise="they are further apart than chance allows",
            ),
            _against_dwork(results),
            JudgedClaim.judged(
                "Estimators of bits are better than those of real numbers",
                f"By the exact variances, bits beat entries of 256 levels in "
                f"{_all_but(worse, results)} with the noise as printed",
                not worse,
                otherwise="not in every setting",
            ),
            JudgedClaim.judged(
                "Uniform and zipfian streams hardly differ",
                f"By the exact variances, errors are in a ratio of {min(ratios):.2f} to "
                f"{max(ratios):.2f}",
                min(ratios) > 0.9 and max(ratios) < 1.1,
                otherwise="they differ by a tenth or more",
            ),
            JudgedClaim.judged(
                "The bounds on the probability of error hold and are not tight",
                _bounds(results, broken),
                not broken,
                otherwise="some are broken",
            ),
        ]

    def summary(self, results: Results) -> StudyTable:
        """A line for each setting and estimator."""
        told = (f"{what}, {noise} noise" for what, noise in _TOLD)
        columns = ("stream", "sample", "ε", "estimator", *told)
        lines = [
            (
                cell.setting["stream"],
                f"{_sample(cell.setting):,}",
                cell.setting["epsilon"],
                name,
                *(cell.numbers[name][noise][what] for what, noise in _TOLD),
            )
            for cell in results
            for name in ESTIMATORS
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """Errors of all samples over theory, and misses of the largest over their bounds."""
        shares = results.values("share")
        found = [
            _error_panel(results.where(stream=stream, share=share), noise)
            for stream in results.values("stream")
            for share in shares
            for noise in (CORRECTED, PRINTED)
        ]
        found += [
            _miss_panel(results.where(stream=stream, share=shares[-1]), noise)
            for stream in results.values("stream")
            for noise in (CORRECTED, PRINTED)
        ]
        return found


_TOLD = [
    (what, noise)
    for pair in (("error", "theory"), ("misses", "bound"))
    for noise in (CORRECTED, PRINTED)
    for what in pair
]


def _sample(setting: Setting) -> int:
    return round(int(setting["users"]) * float(setting["share"]))


def _errors(experiment: Experiment, runs: int, generator: np.random.Generator) -> CellValues:
    """With either noise: the mean square of errors, the chance of a large one, and theory."""
    stream, sample = experiment.stream, experiment.sample
    found = {}
    for noise, estimates in experiment.estimates(runs, generator).items():
        errors, sizing = np.abs(estimates - stream.density), experiment.sizings[noise]
        found[noise] = {
            "error": float((errors**2).mean()),
            "theory": sizing.variance(sample, stream.density, stream.users),
            "misses": float((errors >= ALPHA).mean()),
            "bound": sizing.miss_chance(ALPHA, sample, whole=sample == stream.users),
        }
    return found


def _each() -> list[tuple[str, str]]:
    return [(name, noise) for name in ESTIMATORS for noise in (CORRECTED, PRINTED)]


def _off(cell: Cell, name: str, noise: str) -> float:
    """Standard errors between the mean square and its expectation, taking errors as normal."""
    found, runs = cell.numbers[name][noise], int(cell.setting["runs"])
    return float(abs(found["error"] / found["theory"] - 1) / (2 / runs) ** 0.5)


def _breaks(cell: Cell, name: str, noise: str) -> bool:
    """Whether more runs miss than the bound lets, by more than chance."""
    found, runs = cell.numbers[name][noise], int(cell.setting["runs"])
    scatter = (found["bound"] * (1 - min(found["bound"], 1)) / runs) ** 0.5
    return bool(found["misses"] > found["bound"] + 4 * scatter + 2 / runs)


def _gain(cell: Cell, noise: str) -> float:
    """Dwork's error over that of optimal bits, by theory."""
    return float(
        cell.numbers["dwork"][noise]["theory"] / cell.numbers["bernoulli"][noise]["theory"]
    )


def _bits_win(cell: Cell, noise: str) -> bool:
    """Whether both proposed kinds of bits have less error than both kinds of many levels."""
    errors = {name: cell.numbers[name][noise]["theory"] for name in ESTIMATORS}
    bits = max(errors["bernoulli"], errors["quantised"])
    return bool(bits < min(errors["laplace"], errors["gaussian"]))


def _against_dwork(results: Results) -> JudgedClaim:
    """Whether every other estimator has less error than Dwork's, with either noise, by theory."""
    worse = {
        noise: [cell for cell in results if _dwork_beats(cell, noise)]
        for noise in (PRINTED, CORRECTED)
    }
    gains = [_gain(cell, PRINTED) for cell in results]
    shown = (
        f"By the exact variances, Dwork's error is {_between(gains)} times that of optimal bits; "
        f"all others are better in "
        f"{_all_but(worse[PRINTED], results)} with the printed noise, and in "
        f"{_all_but(worse[CORRECTED], results)} with the corrected one"
    )
    claim = "All proposed estimators are better than Dwork's"
    if worse[CORRECTED] and not worse[PRINTED]:
        reason = "entries of many levels need more noise than was printed"
        return JudgedClaim(claim, shown, Reproduction.PARTLY, reason)
    return JudgedClaim.judged(claim, shown, not worse[PRINTED], otherwise="not in every setting")


def _dwork_beats(cell: Cell, noise: str) -> bool:
    errors = {name: cell.numbers[name][noise]["theory"] for name in ESTIMATORS}
    return bool(errors["dwork"] < max(errors.values()))


def _between(numbers: Sequence[float]) -> str:
    return f"{min(numbers):.1f} to {max(numbers):.1f}"


def _all_but(worse: Sequence[Cell], results: Results) -> str:
    total = len(results.cells)
    return "all settings" if not worse else f"{total - len(worse)} of {total} settings"


def _streams(results: Results) -> str:
    """How much the errors of the two streams differ, by theory."""
    ratios = _stream_ratios(results)
    return (
        "By the exact variances, errors of the two streams are in a ratio of "
        f"{min(ratios):.2f} to {max(ratios):.2f}."
    )


def _stream_ratios(results: Results) -> list[float]:
    """The errors of the first stream over those of the second, by theory."""
    ratios: list[float] = []
    for cell in results.where(stream=_STREAMS[0]):
        same = {name: cell.setting[name] for name in ("share", "epsilon")}
        other = results.where(stream=_STREAMS[1], **same).cells[0]
        ratios += [
            cell.numbers[name][noise]["theory"] / other.numbers[name][noise]["theory"]
            for name, noise in _each()
        ]
    return ratios


def _bounds(results: Results, broken: int) -> str:
    """Whether bounds hold, and how loose they are where they say anything."""
    said = [
        (cell.numbers[name][noise]["bound"], cell.numbers[name][noise]["misses"])
        for cell in results
        for name, noise in _each()
        if cell.numbers[name][noise]["bound"] < 1
    ]
    if not said:
        return "No bound on a chance is below 1 here."
    held = "Every bound holds within chance" if not broken else f"{broken} bounds are broken"
    loose = [bound / misses for bound, misses in said if misses > 0]
    if not loose:
        return f"{held}; where one is below 1, no run missed at all: it is not tight."
    return (
        f"{held}; where one is below 1 and some runs miss, it is {float(np.median(loose)):.0f} "
        "times as high as the share that misses, in the middle of all settings."
    )


def _error_panel(results: Results, noise: str) -> Panel:
    lines = []
    for name in ESTIMATORS:
        over, means = _over(results), results.numbers(name, noise, "error")
        lines.append(Line(name, over, means))
        lines.append(Line(f"{name}, theory", over, results.numbers(name, noise, "theory")))
    title = f"{_where(results)}, {noise} noise"
    return Panel(title, "ε of the state", "mean squared error", lines, log_up=True)


def _miss_panel(results: Results, noise: str) -> Panel:
    lines = []
    for name in ("dwork", "bernoulli", "quantised"):
        over = _over(results)
        lines.append(Line(name, over, results.numbers(name, noise, "misses")))
        lines.append(Line(f"{name}, bound", over, results.numbers(name, noise, "bound")))
    title = f"{_where(results)}, {noise} noise"
    up = f"chance to be off by {ALPHA:g} or more"
    return Panel(title, "ε of the state", up, lines, between=(0.0, 1.0))


def _over(results: Results) -> list[float]:
    return [float(cell.setting["epsilon"]) for cell in results]


def _where(results: Results) -> str:
    setting = results.cells[0].setting
    return f"{setting['stream']}, sample {_sample(setting):,}"


STUDY = PanPrivateError()
