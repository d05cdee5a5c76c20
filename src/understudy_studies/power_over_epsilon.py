"""AAU section 4.2.3: the power of Pearson's test over ε, and why it rises where ε is tiny."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.models.pictures.charts import Panel
from understudy_studies.cells import CellValues, Results, Setting, Size, Spread, settings
from understudy_studies.copula import LEVEL, MENDED, PRINTED, means, power_of
from understudy_studies.power_over_mixture import panel
from understudy_studies.study import JudgedClaim, Study, StudyTable
from understudy_studies.tables import DataFolder

_BETAS = ("0.2", "0.5", "0.8")
_EPSILONS = tuple(f"{10 ** (exponent / 4):.4g}" for exponent in range(-8, 9))


class PowerOverEpsilon(Study):
    """Power over ε as it is, and with critical values that independent columns set."""

    title = "Power of Pearson's test over ε, and its rise at tiny ε"
    source = "AAU section 4.2.3, figures 4.7 to 4.9"
    claim = (
        "Power decreases with ε down to about 0.1 and then increases again, for every β, which the "
        "paper ascribes to cells that noise makes negative and that are set to 0."
    )
    words = (
        "The runs are those of the [study over β](aau-mixture.md), as printed and mended. The rise "
        "needs no dependence in the rows. At tiny ε the tables hold noise alone, and a network's "
        "conditionals are then random numbers, one for each configuration of the parents. "
        "Synthetic rows drawn from them do depend on one another; the test sees 1,000 rows, knows "
        "nothing of the noise, and rejects, just as often when the real columns are independent: "
        "the size of the test is far above 5 % where the power rises. A second cause adds to it. "
        "Where noise drowns a column's own counts, it comes out constant and cannot be tested; "
        "the paper's program drops the whole run then, so that at tiny ε its power is a share of "
        "few runs, those with much variation. Counted among all runs (the column *of all*), "
        "rejections fall. The charts on the right are the version without the rise: critical "
        "values are taken from independent columns put through the same method at the same ε (a "
        "Monte Carlo test), so that the size is at most 5 % by construction, and all runs count. "
        "An analyst can do the same, as the method and ε are public."
    )
    reduced = "17 values of ε for the paper's 1,000, 500 runs each as there"
    law = 2

    def settings(self, size: Size) -> list[Setting]:
        """A setting for each version, β and ε."""
        return settings(
            method=[PRINTED, MENDED],
            beta=size.pick(smoke=("0.5",), quick=_BETAS, full=_BETAS),
            epsilon=size.pick(smoke=("0.01", "1", "100"), quick=_EPSILONS[::4], full=_EPSILONS),
            runs=[size.pick(smoke=10, quick=60, full=500)],
            rows=[size.pick(smoke=200, quick=1000, full=1000)],
        )

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Power, size and calibrated power of every pair."""
        return power_of(setting)

    def sentence(self, results: Results) -> str:
        """For every version where power is least, what it rises to, and the size there."""
        return " ".join(_about(results.where(method=method)) for method in results.values("method"))

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Where power is least and whether it rises, beside the figures; and why it rises."""
        printed = results.where(method=PRINTED)
        tiny = printed.where(epsilon=_first(printed))
        power, size = (Spread.of(means(tiny, w)).mean for w in ("power", "size"))
        same = power - size <= _two_errors(tiny, power)
        return [
            JudgedClaim.judged(
                "Power falls with ε down to about 0.1 and then rises, for every β; least, by its "
                "figures, 0.825, 0.83 and 0.83 for β = 0.2, 0.5 and 0.8",
                _least(printed),
                _rises(printed),
                otherwise="it does not rise by more than chance",
            ),
            JudgedClaim.judged(
                "The rise comes of negative cells that are set to 0",
                f"At ε = {_first(printed)} power is {power:.2f}, and independent columns are "
                f"rejected in {size:.2f} of runs",
                not same,
                otherwise="noise is taken for dependence, whether or not there is any",
            ),
        ]

    def summary(self, results: Results) -> StudyTable:
        """A line for each β and ε."""
        columns = ("version", "β", "ε", "power", "size", "of all", "calibrated", "runs kept")
        lines = [
            (*(cell.setting[name] for name in ("method", "beta", "epsilon")), *row)
            for cell, *row in zip(
                results,
                *(means(results, what) for what in ("power", "size", "of_all", "calibrated")),
                results.numbers("kept", "dependent"),
                strict=True,
            )
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """For each version and β power as it is, and calibrated beside it."""
        return [
            panel(
                results.where(method=m, beta=b), "epsilon", what, f"{m}, β = {b}{title}", log=True
            )
            for m in results.values("method")
            for b in results.values("beta")
            for what, title in (("power", ""), ("calibrated", ", calibrated"))
        ]


def _least(results: Results) -> str:
    """Where mean power is least for each β, and what it is at the least ε."""
    parts = []
    for beta in results.values("beta"):
        power = means(results.where(beta=beta), "power")
        least = power.index(min(power))
        where = results.values("epsilon")[least]
        parts.append(f"β = {beta}: {power[least]:.3f} at ε = {where}, {power[0]:.3f} at the least")
    return "; ".join(parts)


def _rises(results: Results) -> bool:
    power = _over_betas(results, "power")
    return power[0] - min(power) > _two_errors(results.where(epsilon=_first(results)), power[0])


def _first(results: Results) -> str:
    return str(results.values("epsilon")[0])


def _about(results: Results) -> str:
    """One version, means over pairs and β."""
    power, size, calibrated = (_over_betas(results, w) for w in ("power", "size", "calibrated"))
    epsilons, least = results.values("epsilon"), power.index(min(power))
    tiniest = results.where(epsilon=epsilons[0])
    near = _two_errors(tiniest, power[0])
    kept = Spread.of(tiniest.numbers("kept", "dependent")).mean
    version = results.values("method")[0].capitalize()
    level = "the level of the test" if calibrated[0] <= LEVEL + near else "more than its level"
    end = f"calibrated, over all runs, it is {calibrated[0]:.2f} there, {level}."
    if power[0] - power[least] <= near:
        return (
            f"{version}, mean power does not rise again by more than chance: it is "
            f"{power[0]:.2f} at ε = {epsilons[0]}, where independent columns are rejected as "
            f"{size[0]:.2f}; {end}"
        )
    same = power[0] - size[0] <= near
    noise = "noise taken for dependence" if same else "not explained by noise alone"
    return (
        f"{version}, mean power is least ({power[least]:.2f}) at ε = {epsilons[least]} and rises "
        f"to {power[0]:.2f} at {epsilons[0]}, as in the paper, among the {kept:.0%} of runs "
        f"without a constant column; independent columns are rejected "
        f"{'as often' if same else 'less often'} there ({size[0]:.2f}), so that the rise is "
        f"{noise}; {end}"
    )


def _two_errors(results: Results, share: float) -> float:
    """Two standard errors of a share of the runs that were kept, pairs taken to go together."""
    runs = sum(cell.setting["runs"] * cell.numbers["kept"]["dependent"] for cell in results)
    unsure = max(share * (1 - share), 1 / max(runs, 1))
    return float(2 * (unsure / max(runs, 1)) ** 0.5)


def _over_betas(results: Results, what: str) -> list[float]:
    """The mean over pairs and β at each ε."""
    at = [means(results.where(epsilon=epsilon), what) for epsilon in results.values("epsilon")]
    return [sum(values) / len(values) for values in at]


STUDY = PowerOverEpsilon()
