"""Rows from tables that do not agree: the documented process, law and bound."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from support.statistics import NEVER, fit_of_choices
from understudy.errors import UsageError
from understudy.facts.codes import Codes
from understudy.models.conditional import Conditional
from understudy.models.network import Network
from understudy.models.sampling import step_back_codes

Counts = npt.NDArray[np.float64]
Law = dict[tuple[int, ...], float]

PAIR = Network.from_parents({"age": [], "grade": ["age"]})
# NIST tables 3a and 3b, with the rows that are printed.
NOISY = {
    "age": np.array([0.05, 0, 0.1]),
    "grade": np.array([[0.025, 0.025], [0, 0], [0, 0]]),
}
PATIENCE = 10


def law_of(network: Network, tables: dict[str, Counts]) -> Counts:
    """The chance of every cell by following the process itself, all its branches.

    Every empty line makes a count grow that never falls, so that no state comes twice.
    """
    order, families = network.order, network.families

    @cache
    def ends(codes: tuple[int, ...], empty: tuple[int, ...]) -> Law:
        place = len(codes)
        if place == len(order):
            return {codes: 1.0}
        family = families[place]
        table = tables[family.child]
        line = table[tuple(codes[order.index(parent)] for parent in family.parents)]
        if line.sum() == 0:
            back = 1 + empty[place] // PATIENCE
            if back <= place:
                more = tuple(n + (i == place) for i, n in enumerate(empty))
                return ends(codes[: place - back], more)
            line = table.reshape(-1, table.shape[-1]).sum(axis=0)
            line = line if line.sum() else np.ones(line.size)
        law: Law = {}
        for code in np.flatnonzero(line):
            for row, chance in ends((*codes, int(code)), empty).items():
                law[row] = law.get(row, 0) + chance * line[code] / line.sum()
        return law

    chances = np.zeros([tables[attribute].shape[-1] for attribute in order])
    for row, chance in ends((), (0,) * len(order)).items():
        chances[row] = chance
    return chances


def _cells(codes: dict[str, Codes], shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    return np.ravel_multi_index([c.astype(np.int64) for c in codes.values()], shape)


def test_the_printed_tables_follow_the_closed_form() -> None:
    """Age is drawn at most eleven times; the last age stays with chance (2/3)¹¹, then by sums."""
    codes = step_back_codes(PAIR, NOISY, 400_000, np.random.default_rng(1))
    stays = (2 / 3) ** 11
    chances = np.array([[1 - stays, 1 - stays], [0, 0], [stays, stays]]).ravel() / 2
    cells = _cells(codes, (3, 2))
    assert fit_of_choices(cells, chances) > NEVER
    assert 0 == (codes["age"] == 1).sum()
    once_more = (2 / 3) ** 12
    wrong = np.array([[1 - once_more, 1 - once_more], [0, 0], [once_more, once_more]]).ravel() / 2
    assert fit_of_choices(cells, wrong) < NEVER


def test_longer_steps_follow_the_closed_form() -> None:
    """An attribute whose line depends on one drawn two steps before waits for the second step."""
    network = Network.from_parents({"a": [], "b": [], "c": ["a"], "d": ["b", "c"]})
    tables = {
        "a": np.array([1.0, 9.0]),
        "b": np.array([2.0, 1.0, 1.0]),
        "c": np.array([[1.0, 3.0], [0.0, 0.0]]),
        "d": np.array([[[1, 1], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [2, 0]]], np.float64),
    }
    codes = step_back_codes(network, tables, 300_000, np.random.default_rng(2))
    chances = law_of(network, tables)
    cells = _cells(codes, chances.shape)
    assert fit_of_choices(cells, chances.ravel()) > NEVER
    lines = [Conditional.from_weights(family, tables[family.child]) for family in network]
    a, b, c, d = (line.probabilities for line in lines)
    forward = np.einsum("a,b,ac,bcd->abcd", a, b, c, d)
    assert fit_of_choices(cells, forward.ravel()) < NEVER


def test_tables_that_agree_give_what_forward_sampling_gives() -> None:
    """Nothing is empty, so nothing is drawn again."""
    joint = np.random.default_rng(3).random((3, 2, 4)) + 0.05
    network = Network.from_parents({"a": [], "b": ["a"], "c": ["b", "a"]})
    tables = {"a": joint.sum((1, 2)), "b": joint.sum(2), "c": joint.transpose(1, 0, 2)}
    codes = step_back_codes(network, tables, 100_000, np.random.default_rng(4))
    chances = (joint / joint.sum()).ravel()
    assert fit_of_choices(_cells(codes, joint.shape), chances) > NEVER
    assert fit_of_choices(_cells(codes, joint.shape), np.roll(chances, 1)) < NEVER


def test_hopeless_tables_end_all_the_same() -> None:
    """Where all is empty all codes are alike, and the bound holds for networks of any length."""
    names = [f"a{i}" for i in range(40)]
    network = Network.from_parents({n: names[max(0, i - 2) : i] for i, n in enumerate(names)})
    tables = {n: np.zeros([3] * (1 + min(i, 2))) for i, n in enumerate(names)}
    codes = step_back_codes(network, tables, 3_000, np.random.default_rng(5))
    for drawn in codes.values():
        assert fit_of_choices(drawn.astype(np.int64), np.full(3, 1 / 3)) > NEVER


def test_codes_without_a_count_never_come() -> None:
    """At either end of a line and between others."""
    network, table = Network.without_edges(["a"]), np.array([0, 1e-300, 0, 5, 0])
    codes = step_back_codes(network, {"a": table}, 10_000, np.random.default_rng(6))
    assert {3} == set(codes["a"].tolist())


def test_a_seed_repeats_rows() -> None:
    """The generator is all that rows depend on."""
    first, second = (
        step_back_codes(PAIR, NOISY, 100, np.random.default_rng(7))["grade"] for _ in range(2)
    )
    assert first.tolist() == second.tolist()
    assert {"age": 0, "grade": 0} == {
        name: codes.size
        for name, codes in step_back_codes(PAIR, NOISY, 0, np.random.default_rng(7)).items()
    }


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"age": NOISY["age"]}, "'grade' has no table"),
        (NOISY | {"age": np.array([1, -1, 1])}, "cells below 0"),
        (NOISY | {"age": np.array([1, np.nan, 1])}, "no numbers"),
        (NOISY | {"age": np.array([1, 1])}, "sizes differ"),
        (NOISY | {"grade": np.array([1, 1])}, "axes do not match"),
    ],
)
def test_tables_that_cannot_be_drawn_from(tables: dict[str, Counts], words: str) -> None:
    """Each is named, with the way out."""
    with pytest.raises(UsageError, match=words):
        step_back_codes(PAIR, tables, 1, np.random.default_rng(0))
    with pytest.raises(UsageError, match="none or more"):
        step_back_codes(PAIR, NOISY, -1, np.random.default_rng(0))
