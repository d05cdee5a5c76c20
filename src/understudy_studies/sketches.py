"""TUC-1 chapter 5: sketches for tables, entropies and distinct users, and averaged networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.models.pictures.charts import Line, Panel
from understudy.system.arrays import Floats
from understudy_studies.averaged_trees import ONE, SEVERAL, bits_beyond_entropy
from understudy_studies.cells import CellValues, Results, Setting, Size, Spread
from understudy_studies.corrected_information import FOUND, OWN, information_errors
from understudy_studies.sketched_density import STATES
from understudy_studies.sketched_tables import (
    WAYS_OUT,
    TableRelease,
    cell_error,
    entropy_error,
)
from understudy_studies.streamed_networks import (
    COUNTERS,
    WAYS,
    bits_beyond_by_stream,
    columns_beyond,
)
from understudy_studies.study import JudgedClaim, Reproduction, Study, StudyTable
from understudy_studies.tables import DataFolder

TABLES, USERS, NETWORKS, INFORMATION = "tables", "users", "networks", "information"
STREAMS = "streams"
_PLAIN, _SAMPLED, _SKETCH = "whole tables", "bits of sampled users", "Flajolet and Martin"
_AGREED, _FOURIER = "whole tables, made to agree", "Fourier coefficients"
_HALF = "count sketch of half the size"
_HASHED = "bits of hashed users"
_HOLDERS = 3
_LEFT_OPEN = "the paper leaves it to further work, and this is the answer on these rows"


class Sketches(Study):
    """Errors of tables, entropies and distinct counts, by whole tables and bits or by sketches."""

    title = "Sketches in place of whole tables and of bits of users, and averaged networks"
    source = "TUC-1 chapter 5, the future work it names"
    claim = (
        "Sketches could take the place of whole tables among holders, the entropy of a union could "
        "be estimated from sketches, and distinct sampling or the sketch of Flajolet and Martin "
        "could take the place of sampling users of a stream; early work on the last failed. "
        "Networks could be averaged, and learned from distributed streams."
    )
    words = (
        "Tables: three holders share 30,000 rows of dependent two-valued attributes and release "
        "all tables of k + 1 of them at ε under replaced rows, with Laplace noise: as they are, "
        "as they are and then made to agree by least squares, by Fourier coefficients, or in one "
        "count sketch of three lines with half as many counters. Errors are of a cell, in rows, "
        "and of a table's entropy, in bits. Users: a state of b bits, each randomised at ε, "
        "estimates how many of a million users were seen: bits of sampled users, bits of places "
        "that users are hashed to, and the sketch of Flajolet and Martin with 24 bits in a bucket. "
        "Distinct sampling keeps names of users who were seen and has no finite ε against "
        "whoever sees the state; its private form is the sampled bits. Networks: one holder "
        "of 40,000 rows of tuc1-bits' seven attributes releases all tables of two; the best tree "
        "of them is compared with the mean of that one and 20 others, found after further noise "
        "of the same law. Errors are bits for a row beyond the entropy, and there is no cost. "
        "Information: three holders of the same rows release the same tables; section 3.4.2 knows "
        "by how much their noise biases an entropy, but for the shares of cells, which are "
        "private, so that even shares or the noisy ones stand for them. Errors are bits of the "
        "information of two attributes; beside them is what the best tree of such scores misses. "
        "Streams: three streams of the same rows, each of which an intruder may see once while it "
        "is counted, and the best tree of their sums. Where each user brings one row, counters "
        "hold noise from the start, for half of ε, and get as much again when they are read; "
        "where users may come again, every user has a bit for each cell, of whose ε each of 21 "
        "tables has its part. Tables of kept rows are those of holders without streams."
    )
    reduced = "the paper has no experiment on it; 40 runs for each setting"
    across = 2

    def settings(self, size: Size) -> list[Setting]:
        """Tables by attributes, degree and ε; users by bits and how many were seen; networks."""
        runs = size.pick(smoke=3, quick=10, full=40)
        shapes = size.pick(smoke=[(5, 2)], quick=[(7, 2)], full=[(7, 2), (7, 3), (16, 2), (16, 3)])
        epsilons = size.pick(smoke=["1"], quick=["0.1", "1"], full=["0.1", "0.3", "1", "3"])
        plan: list[dict[str, Any]] = [
            {"kind": TABLES, "attributes": d, "ways": w, "epsilon": e, "runs": runs}
            for d, w in shapes
            for e in epsilons
        ]
        seen = size.pick(
            smoke=[1_000], quick=[1_000, 100_000], full=[100, 1_000, 10_000, 100_000, 500_000]
        )
        plan += [
            {"kind": USERS, "bits": bits, "seen": s, "epsilon": "1", "runs": runs}
            for bits in size.pick(smoke=[2**12], quick=[2**14], full=[2**14, 2**17])
            for s in seen
        ]
        budgets = size.pick(smoke=["1"], quick=["0.1", "1"], full=["0.03", "0.1", "0.3", "1", "3"])
        plan += [
            {"kind": kind, "epsilon": e, "runs": runs}
            for kind in (NETWORKS, INFORMATION, STREAMS)
            for e in budgets
        ]
        return [{**each, "seed": seed} for seed, each in enumerate(plan)]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """The mean errors of every way out, over runs."""
        del shelf
        runs = (
            np.random.default_rng([int(setting["seed"]), r]) for r in range(int(setting["runs"]))
        )
        each = [_errors(setting, generator) for generator in runs]
        means = {
            name: {
                what: float(np.mean([run[name][what] for run in each])) for what in each[0][name]
            }
            for name in each[0]
        }
        if setting["kind"] == NETWORKS:
            gains = Spread.of([run[ONE]["error"] - run[SEVERAL]["error"] for run in each])
            means[SEVERAL] |= {"gain": gains.mean, "gain_error": gains.error}
        if setting["kind"] == INFORMATION:
            gains = Spread.of([run[FOUND]["missed"] - run[OWN]["missed"] for run in each])
            means[OWN] |= {"gain": gains.mean, "gain_error": gains.error}
        return means

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return what sketches do to each of the three, and what averaging does."""
        return [
            *_of_tables(results.where(kind=TABLES)),
            *_of_users(results.where(kind=USERS)),
            *_of_networks(results.where(kind=NETWORKS)),
            *_of_information(results.where(kind=INFORMATION)),
            *_of_streams(results.where(kind=STREAMS)),
        ]

    def sentence(self, results: Results) -> str:
        """Say by how much each way changes the errors."""
        return " ".join(f"{found.claim}: {found.measured}." for found in self.findings(results))

    def summary(self, results: Results) -> StudyTable:
        """Return a line for each setting and way."""
        columns = ("of", "setting", "ε", "way", "error", "error of an entropy, bits")
        lines = [
            (
                cell.setting["kind"],
                _shape(cell.setting),
                cell.setting["epsilon"],
                name,
                errors["error"],
                errors.get("entropy", ""),
            )
            for cell in results
            for name, errors in cell.numbers.items()
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """Errors of cells over ε for each shape, and of users over how many were seen."""
        tables, users = results.where(kind=TABLES), results.where(kind=USERS)
        own_tables = {
            "seven attributes, trees": results.where(kind=NETWORKS),
            "seven attributes, information": results.where(kind=INFORMATION),
            "seven attributes, streams": results.where(kind=STREAMS),
        }
        return [
            *(
                _panel(tables.where(attributes=d, ways=w), "epsilon", f"{d} attributes, {w}-way")
                for d in tables.values("attributes")
                for w in tables.where(attributes=d).values("ways")
            ),
            *(_panel(users.where(bits=b), "seen", f"{b:,} bits") for b in users.values("bits")),
            *(_panel(own, "epsilon", title) for title, own in own_tables.items() if own.cells),
        ]


def _errors(setting: Setting, generator: np.random.Generator) -> dict[str, dict[str, float]]:
    if setting["kind"] == USERS:
        users, seen, bits = 1_000_000, int(setting["seen"]), int(setting["bits"])
        epsilon = float(setting["epsilon"])
        return {
            name: {"error": abs(state(users, seen, bits, epsilon, generator) - seen) / seen}
            for name, state in STATES.items()
        }
    if setting["kind"] == NETWORKS:
        beyond = bits_beyond_entropy(float(setting["epsilon"]), generator)
        return {name: {"error": bits} for name, bits in beyond.items()}
    if setting["kind"] == STREAMS:
        streamed = bits_beyond_by_stream(float(setting["epsilon"]), generator)
        return {name: {"error": bits} for name, bits in streamed.items()}
    if setting["kind"] == INFORMATION:
        return information_errors(float(setting["epsilon"]), generator)
    asked = TableRelease(
        _rows(int(setting["attributes"]), generator),
        int(setting["ways"]),
        float(setting["epsilon"]),
        _HOLDERS,
    )
    exact = asked.exact
    found = {name: way(asked, generator) for name, way in WAYS_OUT.items()}
    return {
        name: {"error": cell_error(each, exact), "entropy": entropy_error(each, exact)}
        for name, each in found.items()
    }


def _rows(attributes: int, generator: np.random.Generator, *, rows: int = 30_000) -> Floats:
    """Two-valued attributes, each a copy of the one before four times out of five."""
    codes = np.empty((rows, attributes))
    codes[:, 0] = generator.random(rows) < 0.4
    for place in range(1, attributes):
        flips = generator.random(rows) < 0.2
        codes[:, place] = np.where(flips, 1 - codes[:, place - 1], codes[:, place - 1])
    return codes


def _ratios(results: Results, name: str, base: str, what: str = "error") -> str:
    """The least and the largest ratio of two errors over all settings."""
    found = [cell.numbers[name][what] / cell.numbers[base][what] for cell in results]
    return f"{min(found):.2f} to {max(found):.2f}"


def _of_tables(results: Results) -> list[JudgedClaim]:
    if not results.cells:
        return []

    def largest(name: str, base: str, what: str) -> float:
        return max(float(c.numbers[name][what] / c.numbers[base][what]) for c in results)

    shown = {
        what: "; ".join(
            f"{n} {_ratios(results, n, _PLAIN, what)}" for n in (_AGREED, _FOURIER, _HALF)
        )
        for what in ("error", "entropy")
    }
    sketch = (
        "a row moves every line of the sketch, so that noise grows with lines, and cells collide"
    )
    return [
        JudgedClaim(
            "It is open whether one release of coefficients beats whole tables made to agree",
            f"error of a cell over that of whole tables: {shown['error']}; of coefficients over "
            f"that of tables made to agree {_ratios(results, _FOURIER, _AGREED)}",
            Reproduction.NOT_COMPARABLE,
            _LEFT_OPEN,
        ),
        JudgedClaim.judged(
            "A sketch can take the place of whole tables",
            f"count sketch over whole tables {_ratios(results, _HALF, _PLAIN)}",
            largest(_HALF, _PLAIN, "error") <= 1,
            otherwise=sketch,
        ),
        JudgedClaim.judged(
            "The entropy of a union can be estimated from sketches",
            f"error of an entropy over that of whole tables: {shown['entropy']}",
            largest(_HALF, _PLAIN, "entropy") <= 1,
            otherwise=sketch,
        ),
    ]


def _of_users(results: Results) -> list[JudgedClaim]:
    found = []
    for bits in results.values("bits"):
        cells = results.where(bits=bits)
        shown = "; ".join(
            f"{n} " + ", ".join(f"{c.numbers[n]['error']:.2f}" for c in cells) for n in STATES
        )
        won = [
            f"{c.setting['seen']:,}"
            for c in cells
            if c.numbers[_SKETCH]["error"]
            < min(c.numbers[_SAMPLED]["error"], c.numbers[_HASHED]["error"])
        ]
        said = f"nearer with {', '.join(won)} users seen" if won else "never nearer"
        seen = ", ".join(f"{c.setting['seen']:,}" for c in cells)
        found.append(
            JudgedClaim(
                f"With {bits:,} bits it is open whether the sketch of Flajolet and Martin is "
                "nearer than bits",
                f"{said}; relative errors with {seen} of a million users seen: {shown}",
                Reproduction.NOT_COMPARABLE,
                _LEFT_OPEN,
            )
        )
    return found


def _of_networks(results: Results) -> list[JudgedClaim]:
    if not results.cells:
        return []
    gains = {c.setting["epsilon"]: c.numbers[SEVERAL] for c in results}
    listed = ", ".join(
        f"{g['gain']:.3f} ± {g['gain_error']:.3f} at ε = {e}" for e, g in gains.items()
    )
    better = all(g["gain"] > 2 * g["gain_error"] for g in gains.values())
    return [
        JudgedClaim.judged(
            "Averaging several networks improves on a single one",
            f"bits for a row that the {SEVERAL} saves against the best one: {listed}",
            better,
            otherwise="not at every ε by more than two standard errors",
        )
    ]


def _of_information(results: Results) -> list[JudgedClaim]:
    """Whether subtracting the bias of noise helps a score, and the tree that is found by it."""
    if not results.cells:
        return []
    gains = {c.setting["epsilon"]: c.numbers[OWN] for c in results}
    listed = ", ".join(
        f"{g['gain']:+.4f} ± {g['gain_error']:.4f} at ε = {e}" for e, g in gains.items()
    )
    better = [str(e) for e, g in gains.items() if g["gain"] > 2 * g["gain_error"] > 0]
    said = f"better at ε = {', '.join(better)}" if better else "better at no ε"
    return [
        JudgedClaim(
            "It is open whether the theory's bias improves what statistics find",
            f"error of an information less its bias over that as it is found "
            f"{_ratios(results, OWN, FOUND)}; bits of information that the best tree gains: "
            f"{listed}, {said}",
            Reproduction.NOT_COMPARABLE,
            _LEFT_OPEN,
        )
    ]


def _of_streams(results: Results) -> list[JudgedClaim]:
    """From which ε on a tree of streams needs fewer bits than columns without a network."""
    if not results.cells:
        return []
    alone = columns_beyond()
    shown = "; ".join(
        f"{name} " + ", ".join(f"{c.numbers[name]['error']:.2f}" for c in results) for name in WAYS
    )
    budgets = ", ".join(str(c.setting["epsilon"]) for c in results)
    won = [str(c.setting["epsilon"]) for c in results if c.numbers[COUNTERS]["error"] < alone]
    return [
        JudgedClaim.judged(
            "Networks can be learned from distributed streams",
            f"bits for a row beyond the entropy at ε = {budgets}: {shown}; independent columns "
            f"{alone:.2f} without noise, which {COUNTERS} beat at "
            f"{'ε = ' + ', '.join(won) if won else 'no ε'}",
            bool(won),
            otherwise="noise leaves less than independent columns have",
        )
    ]


def _shape(setting: Mapping[str, Any]) -> str:
    if setting["kind"] == TABLES:
        return f"{setting['attributes']} attributes, {setting['ways']}-way"
    if setting["kind"] in (NETWORKS, INFORMATION, STREAMS):
        return "seven attributes"
    return f"{setting['bits']:,} bits, {setting['seen']:,} seen"


def _panel(results: Results, over: str, title: str) -> Panel:
    across = [float(v) for v in results.values(over)]
    names = [*results.cells[0].numbers]
    lines = [Line(n, across, [float(c.numbers[n]["error"]) for c in results]) for n in names]
    up = {
        TABLES: "error of a cell, rows",
        USERS: "relative error",
        NETWORKS: "bits beyond",
        INFORMATION: "error, bits",
        STREAMS: "bits beyond",
    }[str(results.cells[0].setting["kind"])]
    label = "ε" if over == "epsilon" else "users seen"
    return Panel(title, label, up, lines, log_across=True, log_up=True)


STUDY = Sketches()
