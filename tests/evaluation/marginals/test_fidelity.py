"""Measures of fidelity: closed forms, and the sets they are taken over."""

from __future__ import annotations

import importlib.util
import itertools
import json
import math
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from support.shared import shared_file
from understudy.evaluation.marginals.fidelity import cross_entropy, total_variation
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.facts.workload import workload
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import sample_codes
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.statements.statement import Statement
from understudy.rows.table import Table

DOMAIN = Domain({"a": 2, "b": 3})
WIDE = Domain({f"a{i}": 2 for i in range(15)})
STATEMENT = Statement(
    "test", Bound(PURE, Fraction(1), Fraction(0)), Unit(Neighbours.ADD_REMOVE), ()
)


def _table(rows: list[tuple[int, int]]) -> Table:
    codes = {name: np.array([row[i] for row in rows], np.uint8) for i, name in enumerate(DOMAIN)}
    return Table(DOMAIN, codes, len(rows))


def _model(rows: int) -> Model:
    """a → b, with a value that never comes."""
    columns = {
        "a": {"kind": "categorical", "values": ["0", "1"]},
        "b": {"kind": "categorical", "values": ["0", "1", "2"]},
    }
    tables = (
        Conditional(Family("a"), np.array([0.25, 0.75])),
        Conditional(Family("b", ("a",)), np.array([[0.5, 0.5, 0.0], [0.125, 0.125, 0.75]])),
    )
    schema = Schema.parse({"columns": columns})
    return Model(schema, BayesNet.of(schema, tables), rows, STATEMENT)


def test_total_variation_by_hand() -> None:
    """Half the summed difference of shares, whatever the numbers of rows."""
    real = _table([(0, 0), (0, 1), (1, 0), (1, 0)])
    synthetic = _table([(0, 0), (1, 2)])
    # a: (½, ½) both. b: (¾, ¼, 0) and (½, 0, ½). Both: ¼, ¼, ½ against ½ on the first and ½ alone.
    expected = [0.0, 0.5, 0.75]
    sets = [("a",), ("b",), ("b", "a")]
    assert expected == total_variation(real, synthetic, sets).tolist()
    assert [0.0] * 3 == total_variation(real, real, sets).tolist()


def test_tables_with_nothing_in_common_are_one_apart() -> None:
    """The largest distance is 1, and an empty table has it from any with rows."""
    real, other, empty = _table([(0, 0)]), _table([(1, 1)]), _table([])
    assert [1.0, 1.0] == total_variation(real, other, [("a",), ("a", "b")]).tolist()
    assert [1.0, 1.0] == total_variation(real, empty, [("a",), ("a", "b")]).tolist()
    assert [1.0] == total_variation(empty, real, [("b",)]).tolist()
    assert [0.0] == total_variation(empty, empty, [("b",)]).tolist()


def test_the_true_model_needs_the_entropy() -> None:
    """On its own rows, up to sampling error and the smoothing of a thousand million rows."""
    model = _model(10**9)
    a, b = (conditional.probabilities for conditional in model.conditionals)
    joint = (a[:, None] * b).ravel()
    bits = -np.log2(joint, where=joint > 0, out=np.zeros(6))
    entropy = float((joint * bits).sum())
    codes = sample_codes(model, 100_000, np.random.default_rng(2))
    error = float(np.sqrt((joint * (bits - entropy) ** 2).sum() / 100_000))
    held_out = Table(model.domain, codes, 100_000)
    assert entropy == pytest.approx(cross_entropy(model, held_out), abs=6 * error)
    flat = Conditional(Family("b", ("a",)), np.full((2, 3), 1 / 3))
    changed = BayesNet(model.domain, (model.conditionals[0], flat))
    wrong = Model(model.schema, changed, 10**9, STATEMENT)
    assert cross_entropy(wrong, held_out) > entropy + 20 * error


def test_bits_of_a_network_are_entropies_less_informations() -> None:
    """With its own rows' frequencies a network needs ΣH − ΣI(child; parents) bits for a row."""
    random = np.random.default_rng(4)
    first = random.integers(0, 2, 500)
    second = np.where(random.random(500) < 0.6, first, random.integers(0, 3, 500))
    joint = np.zeros((2, 3))
    np.add.at(joint, (first, second), 1 / 500)
    alone = [joint.sum(axis=1), joint.sum(axis=0)]
    entropies = [float(-(p * np.log2(p)).sum()) for p in (*alone, joint)]
    information = entropies[0] + entropies[1] - entropies[2]
    assert information > 0.1
    tables = (
        Conditional(Family("a"), alone[0]),
        Conditional(Family("b", ("a",)), joint / alone[0][:, None]),
    )
    schema = _model(1).schema
    model = Model(schema, BayesNet.of(schema, tables), 10**12, STATEMENT)
    rows = _table([*zip(first.tolist(), second.tolist(), strict=True)])
    expected = entropies[0] + entropies[1] - information
    assert expected == pytest.approx(cross_entropy(model, rows), abs=1e-6)


def test_impossible_rows_cost_finitely() -> None:
    """One is added to every value: (0, 2) costs −log₂ (1/4·9 + 1)/11 − log₂ 1/12 at nine rows."""
    expected = -math.log2((0.25 * 9 + 1) / 11) - math.log2(1 / 12)
    assert expected == pytest.approx(cross_entropy(_model(9), _table([(0, 2)])))


def test_a_model_of_no_rows_knows_nothing() -> None:
    """Smoothing alone is left: every value is as likely as the next."""
    assert math.log2(6) == pytest.approx(cross_entropy(_model(0), _table([(0, 2), (1, 1)])))


def test_no_held_out_rows_say_nothing() -> None:
    """There is no average of nothing."""
    assert math.isnan(cross_entropy(_model(9), _table([])))


def test_few_sets_are_all_taken() -> None:
    """All pairs of 15 attributes are 105, within 300."""
    assert list(itertools.combinations(WIDE.attributes, 2)) == workload(WIDE, 2)
    assert [("a",), ("b",)] == workload(DOMAIN, 1)
    assert [] == workload(DOMAIN, 3)


def test_the_choice_of_many_sets_never_changes() -> None:
    """300 of the 455 triples of 15 attributes, the same ones for ever."""
    sets = workload(WIDE, 3)
    assert 300 == len(set(sets))
    assert sets == sorted(sets, key=lambda s: [int(name[1:]) for name in s])
    pinned = [tuple(int(name[1:]) for name in sets[i]) for i in (0, 1, 2, 100, 200, 299)]
    assert [(0, 1, 3), (0, 1, 4), (0, 1, 5), (1, 8, 14), (4, 6, 7), (12, 13, 14)] == pinned


def _benchmark() -> ModuleType:
    """The shared benchmark's own metrics."""
    specification = importlib.util.spec_from_file_location(
        "shared_metrics", shared_file("benchmark", "metrics.py")
    )
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_sets_are_those_of_the_shared_benchmark() -> None:
    """The same 300 triples of Adult's attributes, and all its pairs."""
    metrics = _benchmark()
    document = json.loads(shared_file("benchmark", "adult.json").read_text(encoding="utf-8"))
    sizes = dict.fromkeys(document["columns"], 2)
    for ways, sets in metrics.workloads(sizes).items():
        assert sets == workload(Domain(sizes), ways)
    assert 15 == len(sizes)


def test_distances_are_those_of_the_shared_benchmark() -> None:
    """On random rows the mean distances agree to the last digits."""
    import pandas

    metrics, generator = _benchmark(), np.random.default_rng(1)
    real, synthetic = (
        Table(WIDE, {a: generator.integers(0, 2, rows).astype(np.uint8) for a in WIDE}, rows)
        for rows in (60, 40)
    )
    frames = [pandas.DataFrame(dict(table.codes)) for table in (real, synthetic)]
    theirs = metrics.marginals(*frames, dict(WIDE.sizes))
    for ways in (1, 2, 3):
        ours = total_variation(real, synthetic, workload(WIDE, ways)).mean()
        assert theirs[f"tvd{ways}"] == pytest.approx(ours)
