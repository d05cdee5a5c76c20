"""TUC-1 sections 4.2 to 4.4: what a state and an answer reveal, and the samples they need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from understudy.models.pictures.charts import Line, Panel
from understudy.stream.response import ESTIMATORS
from understudy.stream.sizing import ALPHA, BETA
from understudy_studies.cells import CellValues, Results, Setting, Size, settings
from understudy_studies.printed_streams import joint_loss, laws, sizings
from understudy_studies.study import JudgedClaim, Reproduction, Study, StudyTable
from understudy_studies.tables import DataFolder

# The bits; the other two entries have 256 levels and are there for comparison.
_BITS = ("dwork", "bernoulli", "quantised")
# Where the thesis shows two laws.
_SHOWN, _AROUND = "0.1", 24


class PanPrivateState(Study):
    """Everything about the estimators that has a closed form."""

    title = "What a pan-private state and its answer reveal, and the sample they need"
    source = "TUC-1 sections 4.2 to 4.4, figures 4.1 to 4.7"
    claim = (
        "Dwork's bits take about half of the ε allotted to the state, the optimal ones all of it, "
        "quantised Laplace nearly all. The samples proposed are smaller than Roth's rule by more "
        "than an order of magnitude. State and answer together are 2ε-pan-private, with noise of "
        "scale 1/(εm) on the density."
    )
    words = (
        "Everything here is exact, nothing is drawn. An answer's noise as printed is Laplace noise "
        "of scale 1/(εm) on the density; corrected, it covers one entry of the sum, as it must: an "
        "absent user's entry is never drawn again, so that state and answer are not two separate "
        "views. The joint loss is the largest logarithm of the ratio of the chances of (entry "
        "seen, answer), with a user who visits before, after, or on both sides of the intrusion, "
        "and without. Samples are for α = β = 0.05. Laplace and Gaussian entries are cut to a "
        "public interval, in 256 levels; the printed bound for real numbers has no counterpart "
        "for them."
    )

    def settings(self, size: Size) -> list[Setting]:
        """Return a setting for each ε."""
        full = ("0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5")
        return settings(epsilon=size.pick(smoke=(_SHOWN, "0.25"), quick=full[1::2], full=full))

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Losses and sample sizes of every estimator."""
        epsilon = Fraction(str(setting["epsilon"]))
        found: dict[str, Any] = {"roth": roth_sample(float(epsilon))}
        for name, corrected, printed in sizings(epsilon):
            initial, updated = laws(corrected.response)
            found[name] = {
                "least ratio": float((updated / initial).min()),
                "largest ratio": float((updated / initial).max()),
                "spent": corrected.response.loss,
                "joint, corrected": joint_loss(corrected.response, float(corrected.noise.scale)),
                "joint, printed": joint_loss(printed.response, printed.scale),
            }
            if name in _BITS:
                found[name] |= {
                    "sample, corrected": corrected.sample_size(ALPHA, BETA),
                    "sample, printed": printed.sample_size(ALPHA, BETA),
                }
        return found

    def sentence(self, results: Results) -> str:
        """Shares of the state's ε, joint losses beside what is promised, samples beside Roth's."""
        shares = ", ".join(f"{name} {_shares(results, name)}" for name in _BITS)
        kept = all(_joint(cell, "corrected") <= 2 * _epsilon(cell) + 1e-9 for cell in results)
        broken = all(_joint(cell, "printed", min) > 2 * _epsilon(cell) for cell in results)
        at = results.cells[(len(results.cells) - 1) // 2]
        promised = 2 * _epsilon(at)
        least = min(cell.numbers["roth"] / _sample(cell, "dwork", "printed") for cell in results)
        fewer = [_sample(cell, "bernoulli", "corrected") for cell in results]
        more = [_sample(cell, "dwork", "corrected") for cell in results]
        return (
            f"Of the state's ε, {shares}. With the noise as printed every estimator "
            f"{'breaks' if broken else 'keeps'} the promise: at ε = {at.setting['epsilon']}, where "
            f"{promised:g} is promised, optimal bits lose "
            f"{at.numbers['bernoulli']['joint, printed']:.2f} and Dwork's "
            f"{at.numbers['dwork']['joint, printed']:.2f}; with the corrected noise all "
            f"{'keep' if kept else 'break'} it. Roth's rule asks for at least {least:.1f} times "
            "Dwork's printed sample; with the corrected noise optimal bits need at most "
            f"{max(few / many for few, many in zip(fewer, more, strict=True)):.0%} of Dwork's."
        )

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return what the state takes of its ε, the samples, and the joint promise."""
        return [*_taken(results), *_fewer(results), _promise(results)]

    def summary(self, results: Results) -> StudyTable:
        """A line for each ε and estimator."""
        named = ("spent", "joint, corrected", "joint, printed")
        samples = ("sample, corrected", "sample, printed")
        losses = ("state's loss", "joint loss, corrected noise", "joint loss, printed noise")
        columns = ("ε", "estimator", *losses, *samples, "Roth's")
        lines = [
            (
                cell.setting["epsilon"],
                name,
                *(cell.numbers[name][what] for what in named),
                *(_whole(cell.numbers[name].get(what)) for what in samples),
                _whole(cell.numbers["roth"]),
            )
            for cell in results
            for name in ESTIMATORS
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """Samples, ratios, what is spent, both views together, and two laws."""
        over = [_epsilon(cell) for cell in results]
        promised = Line("promised", over, [2 * epsilon for epsilon in over])
        return [
            _samples(results, over),
            _ratios(results, over),
            Panel(
                "what the state takes of its ε",
                "ε of the state",
                "ε that it takes",
                [*(_line(results, name, "spent") for name in ESTIMATORS), Line("all", over, over)],
            ),
            Panel(
                "state and answer, noise as printed",
                "ε of the state",
                "exact joint loss",
                [*(_line(results, name, "joint, printed") for name in ESTIMATORS), promised],
            ),
            Panel(
                "state and answer, corrected noise",
                "ε of the state",
                "exact joint loss",
                [*(_line(results, name, "joint, corrected") for name in ESTIMATORS), promised],
            ),
            _laws(),
        ]


def roth_sample(epsilon: float, alpha: float = ALPHA, beta: float = BETA) -> int:
    """128/(ε²α²)·ln(1/β)."""
    return math.ceil(128 / (epsilon * alpha) ** 2 * math.log(1 / beta))


def _epsilon(cell: Any) -> float:
    return float(cell.setting["epsilon"])


def _sample(cell: Any, estimator: str, noise: str) -> int:
    return int(cell.numbers[estimator][f"sample, {noise}"])


def _joint(cell: Any, noise: str, of: Any = max) -> float:
    return float(of(cell.numbers[name][f"joint, {noise}"] for name in ESTIMATORS))


def _shares(results: Results, name: str) -> str:
    """The least and largest share of ε that a state takes."""
    shares = [cell.numbers[name]["spent"] / _epsilon(cell) for cell in results]
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return f"takes {low}" if low == high else f"takes {low} to {high}"


def _taken(results: Results) -> list[JudgedClaim]:
    """The part of the state's ε that each kind of bits takes, beside the printed one."""
    printed = {
        "dwork": ("Dwork's bits take about half of the state's ε", 0.4, 0.6),
        "bernoulli": ("Optimal bits take all of the state's ε", 0.999, 1.001),
        "quantised": ("Quantised Laplace entries take nearly all of the state's ε", 0.9, 1.0),
    }
    found = []
    for name, (claim, low, high) in printed.items():
        shares = [cell.numbers[name]["spent"] / _epsilon(cell) for cell in results]
        shown = f"{min(shares):.0%} to {max(shares):.0%}"
        holds = low <= round(min(shares), 3) and round(max(shares), 3) <= high
        found.append(JudgedClaim.judged(claim, shown, holds, otherwise="they take another part"))
    return found


def _fewer(results: Results) -> list[JudgedClaim]:
    """How many times each printed sample is contained in Roth's."""
    found = []
    for name in _BITS:
        times = [cell.numbers["roth"] / _sample(cell, name, "printed") for cell in results]
        mended = [cell.numbers["roth"] / _sample(cell, name, "corrected") for cell in results]
        small = [str(c.setting["epsilon"]) for c, t in zip(results, times, strict=True) if t <= 10]
        claim = f"The sample of {name} is smaller than Roth's by more than an order of magnitude"
        shown = (
            f"{min(times):.1f} to {max(times):.1f} times smaller with the noise as printed, "
            f"{min(mended):.1f} to {max(mended):.1f} with the corrected noise"
        )
        verdict, reason = Reproduction.REPRODUCED, ""
        if small:
            verdict = Reproduction.PARTLY
            reason = f"not at ε = {', '.join(small)}"
        found.append(JudgedClaim(claim, shown, verdict, reason))
    return found


def _promise(results: Results) -> JudgedClaim:
    """Whether state and answer keep to 2ε with the noise as printed."""
    at = results.cells[(len(results.cells) - 1) // 2]
    lost = ", ".join(f"{name} {at.numbers[name]['joint, printed']:.2f}" for name in ESTIMATORS)
    return JudgedClaim.judged(
        "State and answer together are 2ε-pan-private, with noise of scale 1/(εm)",
        f"At ε = {at.setting['epsilon']}, where {2 * _epsilon(at):g} is promised, the joint loss "
        f"is: {lost}",
        all(_joint(cell, "printed") <= 2 * _epsilon(cell) + 1e-9 for cell in results),
        otherwise="the answer shows an absent user's entry again; noise that covers one entry of "
        "the sum keeps the promise",
    )


def _whole(number: int | None) -> str | None:
    return None if number is None else f"{number:,}"


def _line(results: Results, name: str, what: str, title: str = "") -> Line:
    over = [_epsilon(cell) for cell in results]
    return Line(title or name, over, results.numbers(name, what))


def _samples(results: Results, over: Sequence[float]) -> Panel:
    samples = {
        f"{name}, {noise} noise": results.numbers(name, f"sample, {noise}")
        for name in ("dwork", "bernoulli")
        for noise in ("printed", "corrected")
    }
    samples["Roth's rule"] = results.numbers("roth")
    lines = [Line(name, over, [n / 1000 for n in users]) for name, users in samples.items()]
    return Panel("sample for α = β = 0.05", "ε of the state", "thousand users", lines, log_up=True)


def _ratios(results: Results, over: Sequence[float]) -> Panel:
    lines = [
        _line(results, name, f"{side} ratio", f"{name}, {side}")
        for name in _BITS
        for side in ("largest", "least")
    ]
    lines.append(Line("e^ε", over, [math.exp(epsilon) for epsilon in over]))
    return Panel("ratio of an entry's chances", "ε of the state", "visited : absent", lines)


def _laws() -> Panel:
    """The two Laplace laws of the thesis's picture, in our levels."""
    initial, updated = laws(ESTIMATORS["laplace"](Fraction(_SHOWN)))
    middle = initial.size // 2
    levels = list(range(middle - _AROUND, middle + _AROUND))
    lines = [
        Line("absent", levels, [float(initial[level]) for level in levels]),
        Line("visited", levels, [float(updated[level]) for level in levels]),
    ]
    return Panel(f"Laplace entries at ε = {_SHOWN}", "level", "chance", lines)


STUDY = PanPrivateState()
