"""Dealt rows follow the model one by one, and stray from it less than drawn ones together."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.distributions import with_factors
from support.statistics import NEVER, fit_of_choices
from support.tiers import slow_then_full
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import Sampler, deal_codes, sample_codes, without_replacement
from understudy.models.sampling.forward import configurations
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.statements.statement import Statement

STATEMENT = Statement(
    "test", Bound(PURE, Fraction(1), Fraction(0)), Unit(Neighbours.ADD_REMOVE), ()
)


def _model(*conditionals: Conditional) -> Model:
    """A model over just as many categorical columns as there are conditionals."""
    columns = {
        c.family.child: {
            "kind": "categorical",
            "values": [str(code) for code in range(c.probabilities.shape[-1])],
        }
        for c in conditionals
    }
    schema = Schema.parse({"columns": columns})
    return Model(schema, BayesNet.of(schema, conditionals), 100, STATEMENT)


def _diamond() -> Model:
    """a → b, a → c, (b, c) → d, with some zeros."""
    generator = np.random.default_rng(2)
    return _model(
        Conditional(Family("a"), np.array([0.35, 0.65])),
        Conditional(Family("b", ("a",)), np.array([[0.0, 0.6, 0.4], [0.5, 0.5, 0.0]])),
        Conditional(Family("c", ("a",)), np.array([[0.2, 0.8], [0.7, 0.3]])),
        Conditional(Family("d", ("b", "c")), generator.dirichlet(np.ones(2), (3, 2))),
    )


def _joint(model: Model) -> npt.NDArray[np.float64]:
    a, b, c, d = (conditional.probabilities for conditional in model.conditionals)
    return np.asarray(np.einsum("a,ab,ac,bcd->abcd", a, b, c, d).ravel())


def _cells(codes: dict[str, Codes], domain: Domain) -> npt.NDArray[np.int64]:
    """The number of every row's cell in the table of all attributes."""
    return np.ravel_multi_index(
        [codes[name].astype(np.int64) for name in domain], domain.shape(domain.attributes)
    )


SAMPLED = [(sampler, rows) for sampler in (deal_codes, sample_codes) for rows in (2, 1, 7)]


@pytest.mark.parametrize(("sampler", "rows"), slow_then_full(SAMPLED[:1], SAMPLED[1:4], SAMPLED))
def test_a_row_by_itself_follows_the_model(sampler: Sampler, rows: int) -> None:
    """One row of each of 20,000 small tables, whichever its place, has the joint distribution.

    Rows of one table depend on each other, so that only one of each is looked at.
    """
    model, generator = _diamond(), np.random.default_rng(rows)
    one = [
        _cells(sampler(model, rows, generator), model.domain)[place % rows]
        for place in range(20_000)
    ]
    assert fit_of_choices(np.array(one), _joint(model)) > NEVER
    wrong = np.full(_joint(model).size, 1 / _joint(model).size)
    assert fit_of_choices(np.array(one), wrong) < NEVER


@pytest.mark.parametrize("rows", [1, 10, 997, 20_000])
def test_counts_are_within_one_of_what_is_expected(rows: int) -> None:
    """Of every code, given every configuration of parents: their count times its chance."""
    model = _diamond()
    codes = deal_codes(model, rows, np.random.default_rng(rows))
    for conditional in model.conditionals:
        table = conditional.lines(model.domain)
        given_rows = configurations(conditional.family.parents, codes, model.domain, rows)
        cells = given_rows * table.shape[1] + codes[conditional.family.child]
        counts = np.bincount(cells, minlength=table.size).reshape(table.shape)
        expected = counts.sum(axis=1, keepdims=True) * table
        assert np.abs(counts - expected).max() < 1 + 1e-6


def test_siblings_are_independent_given_their_parent() -> None:
    """Each attribute is dealt in an order of its own; dealt in one order they would move as one."""
    half = np.array([[0.5, 0.5]])
    model = _model(
        Conditional(Family("parent"), np.array([1.0])),
        Conditional(Family("first", ("parent",)), half),
        Conditional(Family("second", ("parent",)), half),
    )
    codes = deal_codes(model, 2000, np.random.default_rng(3))
    assert fit_of_choices(_cells(codes, model.domain), np.full(4, 1 / 4)) > NEVER
    as_one = {**codes, "second": codes["first"]}
    assert fit_of_choices(_cells(as_one, model.domain), np.full(4, 1 / 4)) < NEVER


@given(
    st.lists(st.sampled_from([0.0, 0.0, 1e-12, 0.1, 1.0]), min_size=1, max_size=8).filter(any),
    st.integers(0, 60),
    st.integers(0, 2**32 - 1),
)
def test_what_has_no_chance_is_never_dealt(weights: list[float], rows: int, seed: int) -> None:
    """Wherever the zeros are, every row gets a code with a chance."""
    shares = np.array(weights) / sum(weights)
    model = _model(Conditional(Family("a"), shares))
    codes = deal_codes(model, rows, np.random.default_rng(seed))["a"]
    assert rows == codes.size
    assert {code for code, share in enumerate(shares) if share > 0} >= set(codes.tolist())


def test_dealt_tables_stray_less_than_drawn_ones() -> None:
    """Over 200 tables, no cell's count spreads wider than half of what independent rows do.

    But for what the rounding of small configurations adds, which is below one row.
    """
    model = _model(
        Conditional(Family("a"), np.array([0.35, 0.65])),
        Conditional(Family("b", ("a",)), np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]])),
    )

    def spread(sampler: Sampler) -> npt.NDArray[np.float64]:
        generator = np.random.default_rng(6)
        tables = [
            np.bincount(_cells(sampler(model, 1000, generator), model.domain), minlength=6)
            for _ in range(200)
        ]
        return np.asarray(np.std(tables, axis=0))

    dealt, drawn = spread(deal_codes), spread(sample_codes)
    assert (dealt < 1).all()
    assert (dealt < drawn / 2).all()


def test_no_rows_are_dealt_as_no_rows() -> None:
    """Empty columns, one for each attribute."""
    codes = deal_codes(_diamond(), 0, np.random.default_rng(1))
    assert dict.fromkeys("abcd", 0) == {name: column.size for name, column in codes.items()}


@pytest.mark.parametrize("rows", [0, 1, 300, 9_900])
def test_few_rows_are_dealt_as_a_compiled_loop_deals_them(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Whichever of the two runs, codes are the same to the last one."""
    # Also for lines that no row has, and for codes without a chance.
    draw = np.random.default_rng(rows)
    table = draw.dirichlet(np.ones(9), 11)
    table[3, 4:] = 0
    given_lines = draw.integers(0, 11, rows).astype(np.uint32)
    found = []
    for started in (False, True):
        monkeypatch.setattr(without_replacement, "has_started", lambda s=started: s)
        codes = np.zeros(rows, np.uint8)
        without_replacement.deal(table, given_lines, codes, np.random.default_rng(7))
        found.append(codes.tolist())
    assert found[0] == found[1]


def _reweighted() -> Model:
    """The same network with a factor for a table of a and d."""
    model = _diamond()
    network = model.law
    assert isinstance(network, BayesNet)
    law = with_factors(network, {("a", "d"): np.array([[0.5, -0.5], [0.0, 0.1]])})
    return Model(model.schema, law, model.rows, STATEMENT)


@pytest.mark.slow
@pytest.mark.parametrize("made", [_diamond, _reweighted])
def test_sampling_few_rows_starts_no_compiler(tmp_path: Path, made: Callable[[], Model]) -> None:
    """Half of the time of a short `sample` was the start of numba."""
    made().save(tmp_path / "m.zip")
    asked = ["sample", str(tmp_path / "m.zip"), "-o", str(tmp_path / "out.csv")]
    code = f"import sys; from understudy.cli.main import run; run({asked!r}); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (tmp_path / "out.csv").exists()
    assert "numba" not in loaded.stdout.split()
