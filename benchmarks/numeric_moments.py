"""Tables of numbers by noisy means and covariances, beside `adaptive`: why `moments` is of images.

What is tried is a Gaussian copula: a third of the budget measures the bins of every column, and the
rest one sum for each class, of normal scores and their products, cut to norm 1. Rows are drawn from
a Gaussian for each class and get the measured columns back. It is a trial with noise from floating
point, and not a method to use.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.real_tables import CREDIT_CARD, credit_card, part
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.methods import AdaptiveMarginals
from understudy.privacy.budget import Budget
from understudy.privacy.spending.pricing import GaussianRounds
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.arrays import Floats, Integers
from understudy_studies.tables import integer_schema

EPSILONS, DELTA = ("1", "10"), "1e-5"
_PAIRS, _BINS, _MOST = 2, 16, 20_000
# The share of the bins of columns, and how far beyond their usual norm scores are cut off.
_OF_BINS, _BEYOND = 1 / 3, 1.25


@dataclass(frozen=True)
class NumericTable:
    """A table of numbers in bins, the column of its classes, and how often it is tried."""

    schema: Schema
    table: Table
    target: str
    runs: int


def run(board: Scoreboard) -> None:
    """Both ways on every table and ε."""
    for name, load in board.size.pick(_LOADERS, {"breast cancer": breast_cancer}).items():
        if load is credit and not CREDIT_CARD.exists():
            board.leave_out(f"distances on {name}", "the table is not there")
            continue
        held = load()
        for epsilon in board.size.pick(EPSILONS, ("10",)):
            for way, make in _WAYS.items():
                _measure(board, name, held, (way, epsilon), make)


def _measure(
    board: Scoreboard, name: str, held: NumericTable, about: tuple[str, str], make: Make
) -> None:
    (way, epsilon), table = about, held.table
    distances, seconds = [], []
    for seed in range(board.size.pick(held.runs, 1)):
        started = time.process_time()
        made = make(held, epsilon, seed)
        seconds.append(time.process_time() - started)
        found = total_variation(table, made, workload(table.domain, _PAIRS))
        distances.append(float(found.mean()))
    size = {"table": name, "rows": table.rows, "columns": len(table.domain)}
    board.details.append(
        {**size, "way": way, "epsilon": epsilon, "distances": distances, "seconds": max(seconds)}
    )
    what = f"mean distance of pairs, {name}, {way}, ε = {epsilon}"
    board.add(what, float(np.mean(distances)), "")


def by_adaptive(held: NumericTable, epsilon: str, seed: int) -> Table:
    """Rows of the default method, whose noise is drawn afresh."""
    method = AdaptiveMarginals(held.schema, epsilon=epsilon, delta=DELTA)
    model = method.fit(MemorySource(held.table), ledger=None).model_
    count = max(model.rows, 1)
    return Table(held.table.domain, model.law.draw(count, np.random.default_rng(seed)), count)


def by_copula(held: NumericTable, epsilon: str, seed: int) -> Table:
    """Rows of Gaussians of normal scores, one for each class, with the measured columns."""
    generator = np.random.default_rng(seed)
    budget = GaussianRounds().counted(Budget.approximate(epsilon, DELTA))
    rho = float(budget.amount)
    numbers = [name for name in held.table.domain if name != held.target]
    bins = _noisy_bins(held.table, _OF_BINS * rho, generator)
    classes = held.table.codes[held.target].astype(np.int64)
    scores = np.column_stack([_scores(bins[n])[held.table.codes[n]] for n in numbers])
    length = _BEYOND * len(numbers) ** 0.5
    shorter = scores / np.maximum(np.linalg.norm(scores, axis=1) / length, 1)[:, None] / length
    sigma = (3 / (2 * (1 - _OF_BINS) * rho)) ** 0.5  # count, sum and products have norm √3
    rows = max(round(float(bins[held.target].sum())), 1)
    chances = bins[held.target] / bins[held.target].sum()
    labels = generator.choice(len(chances), rows, p=chances)
    drawn = np.zeros((rows, len(numbers)))
    for label in range(len(chances)):
        places = np.flatnonzero(labels == label)
        law = _gaussian(shorter[classes == label], sigma, generator)
        drawn[places] = generator.multivariate_normal(*law, len(places), method="eigh")
    codes: dict[str, Codes] = {held.target: labels.astype(code_type(len(chances)))}
    for column, name in enumerate(numbers):
        codes[name] = _ranked(drawn[:, column], bins[name])
    return Table(held.table.domain, {name: codes[name] for name in held.table.domain}, rows)


Make = Callable[[NumericTable, str, int], Table]
_WAYS: dict[str, Make] = {"adaptive": by_adaptive, "Gaussian copula": by_copula}


def _noisy_bins(table: Table, rho: float, generator: np.random.Generator) -> dict[str, Floats]:
    """Counts of every column, which one row moves by 1 in each."""
    sigma = (len(table.domain) / (2 * rho)) ** 0.5
    found = {}
    for name, size in table.domain.sizes.items():
        counts = np.bincount(table.codes[name], minlength=size)
        found[name] = np.maximum(counts + generator.normal(0, sigma, size), 1e-9)
    return found


def _scores(counts: Floats) -> Floats:
    """The normal score of the middle of each bin."""
    from scipy.special import ndtri

    shares = counts / counts.sum()
    return np.asarray(ndtri((np.cumsum(shares) - shares / 2).clip(1e-6, 1 - 1e-6)))


def _gaussian(
    vectors: Floats, sigma: float, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """The mean and covariance of one class, from its noisy count, sum and products."""
    width = vectors.shape[1]
    count = max(len(vectors) + generator.normal(0, sigma), 1.0)
    mean = (vectors.sum(axis=0) + generator.normal(0, sigma, width)) / count
    # Products off the diagonal are in the sum once, times √2.
    noise = np.triu(generator.normal(0, sigma, (width, width)))
    noise = np.diag(np.diag(noise)) + (np.triu(noise, 1) + np.triu(noise, 1).T) / 2**0.5
    covariance = (vectors.T @ vectors + noise) / count - np.outer(mean, mean)
    values, directions = np.linalg.eigh(covariance)
    floor = sigma * width**0.5 / count / 4
    return mean, (directions * np.maximum(values, floor)) @ directions.T


def _ranked(values: Floats, counts: Floats) -> Codes:
    """Codes in the order of some numbers, as often as the counts say."""
    ranks: Integers = values.argsort().argsort()
    edges = np.cumsum(counts / counts.sum())
    found = np.searchsorted(edges, (ranks + 0.5) / len(values)).clip(0, len(counts) - 1)
    return found.astype(code_type(len(counts)))


def credit() -> NumericTable:
    """The first rows of the credit card table, its components in bins."""
    table = credit_card()
    table = part(table, rows=_MOST, columns=len(table.domain))
    return NumericTable(integer_schema(dict(table.domain.sizes)), table, "Class", runs=1)


def breast_cancer() -> NumericTable:
    """scikit-learn's measurements of cells: thirty numbers in bins, and two classes."""
    datasets: Any = importlib.import_module("sklearn.datasets")
    found = datasets.load_breast_cancer()
    columns: dict[str, Codes] = {}
    for name, values in zip(found.feature_names, found.data.T, strict=True):
        edges = np.linspace(values.min(), values.max(), _BINS + 1)[1:-1]
        columns[str(name).replace(" ", "_")] = np.digitize(values, edges).astype(code_type(_BINS))
    sizes = dict.fromkeys(columns, _BINS) | {"benign": 2}
    columns["benign"] = found.target.astype(code_type(2))
    schema = integer_schema(sizes)
    return NumericTable(
        schema, Table(Domain.of(schema), columns, len(found.target)), "benign", runs=3
    )


_LOADERS = {"breast cancer": breast_cancer, "credit card": credit}
