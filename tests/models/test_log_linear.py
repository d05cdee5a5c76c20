"""Log-linear models: the law by enumeration, rows that keep to it, and archives that lie."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.asking import ask
from support.distributions import (
    DOMAIN,
    FACTORS,
    SCHEMA,
    STATEMENT,
    enumerated,
    log_linear,
    model_with,
    network,
    table_of,
    with_factors,
)
from support.hostile import signed, zipped
from understudy.errors import CapacityError, ModelError, UsageError
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.models.archive import arrow_bytes
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows
from understudy.models.inference.elimination import ImpossibleEvidence
from understudy.models.log_linear import LogLinear
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import sample_codes
from understudy.models.weighted.raking import Aim
from understudy.system.arrays import Floats

EVERY = DOMAIN.attributes
EVIDENCE = {"sex": np.array([0.25, 1.0]), "age": np.array([1.0, 0.0, 0.0, 0.5])}


def _fits(evidence: dict[str, Floats]) -> Floats:
    """How well every row fits, an axis for each attribute."""
    found = np.ones(DOMAIN.shape(EVERY))
    for place, name in enumerate(EVERY):
        known = evidence.get(name, np.ones(DOMAIN[name]))
        found = found * known.reshape([-1 if i == place else 1 for i in range(len(EVERY))])
    return found


def _wide(attributes: int = 30, size: int = 8) -> LogLinear:
    """A law whose factors tie all attributes to each other: too dense for exact answers."""
    names = [f"a{i}" for i in range(attributes)]
    domain, random = Domain(dict.fromkeys(names, size)), np.random.default_rng(3)
    alone = [Conditional.from_weights(Family(n), random.random(size) + 0.2) for n in names]
    aims = tuple(
        Aim((one, other), np.zeros((size, size)), 1.0, 1.0, random.normal(0, 0.02, (size, size)))
        for i, one in enumerate(names)
        for other in names[i + 1 :]
    )
    return LogLinear(BayesNet(domain, tuple(alone)), aims, 1000.0, calibrated=False)


# --- the law --------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("sex",), ("well", "age"), ("age", "sex", "well"), ()])
def test_projections_are_those_of_enumeration(names: tuple[str, ...]) -> None:
    """In whatever order of attributes."""
    law = log_linear()
    assert law.is_exact
    assert table_of(law, names).ravel() == pytest.approx(law.project(names).ravel())


def test_posteriors_are_those_of_enumeration() -> None:
    """Evidence may leave several codes, in part."""
    law = log_linear()
    joint = enumerated(law) * _fits(EVIDENCE)
    expected = joint.sum(axis=(EVERY.index("age"), EVERY.index("sex"))) / joint.sum()
    chances, evidence = law.posterior(("well",), EVIDENCE)
    assert expected == pytest.approx(chances)
    assert joint.sum() == pytest.approx(evidence)


def test_a_conditioned_law_is_that_of_the_rows_that_fit() -> None:
    """Conditioned twice as well, and its own answers by rows agree."""
    law, joint = log_linear(), enumerated(log_linear()) * _fits(EVIDENCE)
    given, chance = law.conditioned(EVIDENCE)
    assert joint.sum() == pytest.approx(chance)
    assert (joint / joint.sum()).ravel() == pytest.approx(given.project(EVERY).ravel())
    well = {"well": np.array([1.0, 0.0])}
    rows = given.weighted(well, 100_000, np.random.default_rng(1))
    assert given.posterior((), well)[1] == pytest.approx(rows.chance, rel=0.02)


def test_weighted_rows_estimate_the_law() -> None:
    """Their mean weight is the chance of the evidence, and their shares are those of the law."""
    law, joint = log_linear(), enumerated(log_linear()) * _fits(EVIDENCE)
    rows = law.weighted(EVIDENCE, 200_000, np.random.default_rng(1))
    assert joint.sum() == pytest.approx(rows.chance, rel=0.02)
    shares = np.bincount(rows.codes["age"], rows.weights, 4) / rows.weights.sum()
    other = tuple(i for i, name in enumerate(EVERY) if name != "age")
    assert joint.sum(axis=other) / joint.sum() == pytest.approx(shares, abs=0.01)


def test_the_most_probable_row_is_that_of_enumeration() -> None:
    """With and without evidence."""
    law = log_linear()
    for evidence in ({}, EVIDENCE):
        joint = enumerated(law) * _fits(evidence)
        row, chance = law.most_probable(evidence)
        assert joint.max() == pytest.approx(chance)
        assert joint.argmax() == np.ravel_multi_index([row[a] for a in EVERY], joint.shape)


def test_impossible_evidence_is_refused() -> None:
    """Exactly, and by rows."""
    nothing = {"sex": np.zeros(2)}
    with pytest.raises(ImpossibleEvidence):
        log_linear().posterior(("age",), nothing)
    with pytest.raises(UsageError, match=r"loosen|probability 0"):
        _wide().posterior(("a0",), {"a1": np.zeros(8)})


COARSE = Schema.parse(
    {
        "columns": {
            "colour": {
                "kind": "categorical",
                "values": ["red", "pink", "blue", "green"],
                "taxonomy": {"warm": ["red", "pink"], "cold": ["blue", "green"]},
                "missing": [],
            },
            "sold": {"kind": "boolean"},
        }
    }
)


def test_factors_of_coarser_copies_are_tied_to_their_attribute() -> None:
    """Though no family of the network knows the copy."""
    domain, random = Domain.of(COARSE), np.random.default_rng(2)
    [copy, *_] = domain.coarser
    base = BayesNet(
        domain,
        tuple(Conditional.from_weights(Family(n), random.random(domain[n]) + 0.1) for n in domain),
    )
    law = with_factors(base, {(copy, "sold"): random.normal(size=domain.shape((copy, "sold")))})
    every = domain.attributes
    assert enumerated(law).ravel() == pytest.approx(law.project(every).ravel())
    given, chance = law.conditioned({"sold": np.eye(domain["sold"])[0]})
    assert enumerated(law)[:, 0].sum() == pytest.approx(chance)
    drawn = given.draw(50, np.random.default_rng(1))
    assert {0} == set(drawn["sold"].tolist())


# --- rows -----------------------------------------------------------------------------------------


def _pairs(codes: CodedRows, domain: Domain) -> int:
    """How many pairs of rows are equal."""
    numbers = np.ravel_multi_index(
        [codes[a].astype(np.int64) for a in domain], domain.shape(domain.attributes)
    )
    counts = np.unique(numbers, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _far_from_its_network() -> LogLinear:
    """A chain of factors over independent columns: a row of the network is worth a fifth."""
    names, random = [f"a{i}" for i in range(10)], np.random.default_rng(1)
    domain = Domain(dict.fromkeys(names, 3))
    base = BayesNet(
        domain, tuple(Conditional.from_weights(Family(n), random.random(3) + 0.1) for n in names)
    )
    chain = itertools.pairwise(names)
    return with_factors(base, {pair: random.normal(0, 0.6, (3, 3)) for pair in chain})


@pytest.mark.parametrize("sampler", [None, sample_codes])
@pytest.mark.parametrize("rows", [500, 5_000])
def test_rows_repeat_no_more_often_than_the_law_says(rows: int, sampler: Any) -> None:
    """Ten times n rows among them: a heavy row of a pool is not given again and again."""
    law = _far_from_its_network()
    pool = law.pool(20_000, np.random.default_rng(1))
    assert pool.effective / len(pool) < 0.3
    chances = enumerated(law).ravel()
    expected = rows * (rows - 1) / 2 * float((chances**2).sum())
    found = _pairs(law.draw(rows, np.random.default_rng(4), sampler=sampler), law.domain)
    assert found < expected + 5 * np.sqrt(expected) * (1 + rows * chances.max())


def test_tables_of_rows_are_nearer_than_those_of_independent_rows() -> None:
    """In all pairs of attributes, by far."""
    law, rows = _far_from_its_network(), 3_000
    chances, distances = enumerated(law), []
    cells = np.random.default_rng(2).choice(chances.size, rows, p=chances.ravel())
    independent = dict(zip(law.domain, np.unravel_index(cells, chances.shape), strict=True))
    for codes in (law.draw(rows, np.random.default_rng(2)), independent):
        tables = [
            np.abs(np.bincount(3 * codes[a].astype(int) + codes[b], minlength=9) / rows - p).sum()
            for a, b in itertools.pairwise(law.domain.attributes)
            for p in [law.project((a, b)).ravel()]
        ]
        distances.append(float(np.mean(tables)))
    assert distances[0] < distances[1] / 2


def test_rows_that_fit_a_rare_condition() -> None:
    """One row in ten thousand fits, and all that are drawn do."""
    law = _far_from_its_network()
    evidence = {f"a{i}": np.eye(3)[int(law.project((f"a{i}",)).argmin())] for i in range(6)}
    assert law.posterior((), evidence)[1] < 1e-3
    drawn = law.way(evidence, None, sampler=sample_codes).take(300, np.random.default_rng(1))
    assert all({int(fits.argmax())} == {*drawn[name].tolist()} for name, fits in evidence.items())


def test_the_note_says_what_rows_of_the_network_are_worth() -> None:
    """Listings show it."""
    assert "100 rows of the network are worth 50" in log_linear().rows_note


def test_more_rows_than_memory_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any is drawn."""
    monkeypatch.setattr("understudy.models.log_linear.available_bytes", lambda: 10**6)
    with pytest.raises(CapacityError, match="ask for fewer rows"):
        model_with("log-linear").sample(10**5)


RULED = Schema.parse(
    {
        "columns": dict(SCHEMA.document()["columns"]),
        "constraints": ["if sex = male then well = true"],
    }
)


def test_constraints_are_kept_and_change_the_chance_of_evidence() -> None:
    """No row is against them; the chance of evidence is the share of rows that fit."""
    model = Model(RULED, log_linear(), 100, STATEMENT)
    rows = model.sample(2_000, seed=1).to_pylist()
    assert [] == [row for row in rows if row["sex"] == "male" and not row["well"]]
    share = sum(row["sex"] == "male" for row in rows) / len(rows)
    found = model.law.weighted({"sex": np.array([0.0, 1.0])}, 50_000, np.random.default_rng(1))
    assert share == pytest.approx(found.chance, abs=0.05)
    assert not model.law.is_exact


# --- answers --------------------------------------------------------------------------------------


def test_a_small_law_answers_exactly() -> None:
    """Without errors."""
    answer = ask(model_with("log-linear"), "P(well | sex = male)")
    assert answer.exact
    assert 0.0 == answer.errors.max()


def test_a_dense_law_answers_by_weighted_rows() -> None:
    """With standard errors in `ask`, and estimates in `project`, near to each other."""
    law = _wide(24)
    assert not law.is_exact
    columns = {a: {"kind": "integer", "min": 0, "max": 7} for a in law.domain}
    schema = Schema.parse({"columns": columns})
    assert schema.attributes == law.domain.sizes
    answer = ask(Model(schema, law, 100, STATEMENT), "P(a0 | a1 < 4)", samples=20_000, seed=1)
    below = {"a1": np.array([1.0] * 4 + [0.0] * 4)}
    expected = law.posterior(("a0",), below)[0]
    assert 0 < answer.errors.max() < 0.05
    assert (np.abs(answer.chances - expected) < 7 * answer.errors + 1e-3).all()
    with pytest.raises(CapacityError, match="most probable"):
        law.most_probable({})


def test_pictures_show_the_network_that_rows_are_drawn_from() -> None:
    """In notebooks too; BIF would leave out the factors, and is refused."""
    model = model_with("log-linear")
    assert "<svg" in model._repr_html_()
    with pytest.raises(UsageError, match="network times correction factors"):
        list(model.bif_lines())


# --- archives -------------------------------------------------------------------------------------

Document = dict[str, Any]


def _read(folder: Path, members: dict[str, bytes]) -> Model:
    manifest = {"format": "understudy-model", "version": 3, "kind": "log-linear", "rows": 300}
    held = {**model_with("log-linear").members(), "manifest.json": json.dumps(manifest).encode()}
    (folder / "m.zip").write_bytes(zipped(signed(held | members)))
    return Model.load(folder / "m.zip")


def _set(name: str, value: Any) -> Callable[[Document], Any]:
    return lambda document: document.update({name: value})


def _set_table(name: str, value: Any) -> Callable[[Document], Any]:
    return lambda document: document["tables"][1].update({name: value})


CHANGES: dict[str, Callable[[Document], Any]] = {
    "the total is negative": _set("total", -1),
    "the total is not a number": _set("total", float("nan")),
    "the total is beyond all tables": _set("total", 1e300),
    "the scale is infinite": _set("scale", float("inf")),
    "the scale has no exponential": _set("scale", 1e308),
    "a row is worth more than one": _set("effective", 1.5),
    "the total is missing": lambda document: document.pop("total"),
    "the variance is negative": _set_table("variance", -1.0),
    "the variance is not a number": _set_table("variance", float("nan")),
    "the variance has no square": _set_table("variance", 1e300),
    "the spread is none": _set_table("spread", None),
    "the spread is zero": _set_table("spread", 0),
    "the spread is infinite": _set_table("spread", float("inf")),
    "an attribute is unknown": _set_table("attributes", ["age", "fortune"]),
    "an attribute occurs twice": _set_table("attributes", ["age", "age"]),
    "a table has no attributes": _set_table("attributes", []),
    "attributes are turned": _set_table("attributes", ["well"]),
    "a table occurs twice": _set_table("attributes", ["sex"]),
    "there are fewer tables": lambda document: document["tables"].pop(),
    "tables are a number": _set("tables", 7),
    "a table is a text": lambda document: document["tables"].append("age"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_factors_that_cannot_be_are_refused(change: str, tmp_path: Path) -> None:
    """With right checksums."""
    document = json.loads(log_linear().members()["factors.json"])
    CHANGES[change](document)
    with pytest.raises(ModelError, match="damaged"):
        _read(tmp_path, {"factors.json": json.dumps(document).encode()})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e308, -700.0, None])
@pytest.mark.parametrize("column", ["counts", "logarithms"])
def test_numbers_that_cannot_be_are_refused(
    column: str, number: float | None, tmp_path: Path
) -> None:
    """A count may be below zero; everything else here has no finite exponential or square."""
    held = pa.ipc.open_file(pa.py_buffer(log_linear().members()["factors.arrow"])).read_all()
    columns = {name: held[name].to_pylist() for name in held.column_names}
    columns[column][1][0] = number
    kind = pa.large_list(pa.float64())
    data = arrow_bytes(pa.table({n: pa.array(rows, kind) for n, rows in columns.items()}))
    if (column, number) == ("counts", -700.0):
        assert (
            -700.0
            == _read(tmp_path, {"factors.arrow": data})
            .distribution.numbers()["counts of age × well"]
            .min()
        )
        return
    with pytest.raises(ModelError, match="damaged"):
        _read(tmp_path, {"factors.arrow": data})


def test_another_number_of_factors_is_named(tmp_path: Path) -> None:
    """The member, and what is wrong with it."""
    kind = pa.large_list(pa.float64())
    rows = pa.array([[1.0, 2.0]] * len(FACTORS), kind)
    data = arrow_bytes(pa.table({"counts": rows, "logarithms": rows}))
    with pytest.raises(ModelError, match=r"factors\.arrow holds another number of factors"):
        _read(tmp_path, {"factors.arrow": data})


def test_factors_beyond_memory_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the number of cells that the list announces."""
    model_with("log-linear").save(tmp_path / "m.zip")
    monkeypatch.setattr("understudy.models.archive.available_bytes", lambda: 3 * 2**20)
    with pytest.raises(CapacityError, match="numbers"):
        Model.load(tmp_path / "m.zip")


def test_a_law_without_tables_is_its_network() -> None:
    """Rows are those of the network."""
    law = LogLinear(network(), (), 10.0)
    assert network().project(("age",)) == pytest.approx(law.project(("age",)))
    assert (20,) == law.draw(20, np.random.default_rng(1))["age"].shape


def test_nothing_that_is_not_of_the_domain_is_built() -> None:
    """Shapes and names are compared in memory as well."""
    law = log_linear()
    wrong = replace(law.aims[0], counts=np.zeros(7))
    with pytest.raises(UsageError, match="do not fit the attributes"):
        replace(law, aims=(wrong,))
    with pytest.raises(UsageError, match="two factors"):
        replace(law, aims=(law.aims[0], law.aims[0]))


@pytest.mark.parametrize("seed", range(12))
def test_extreme_numbers_give_rows_or_a_refusal(seed: int) -> None:
    """The largest and smallest numbers that an archive may have, in any combination."""
    random, law = np.random.default_rng(seed), log_linear()
    aims = [
        replace(
            aim,
            counts=random.choice([0.0, -(2.0**63), 2.0**63, 1e-300], aim.counts.shape),
            logarithms=random.choice([599.0, -599.0, 0.0], aim.counts.shape),
            variance=float(random.choice([0.0, 1e-300, 2.0**126])),
            spread=float(random.choice([1e-300, 1.0, 1e300])),
        )
        for aim in law.aims
    ]
    extreme = replace(law, aims=tuple(aims), total=float(random.choice([0.0, 1e-300, 2.0**63])))
    female = {"sex": np.array([1.0, 0.0])}
    questions: list[Callable[[], object]] = [
        lambda: extreme.draw(20, random),
        lambda: extreme.draw(20, random, sampler=sample_codes),
        lambda: extreme.given(female).draw(5, random),
        lambda: extreme.way(female, None, sampler=sample_codes).take(5, random),
        lambda: extreme.project(("sex",)),
    ]
    refused = []
    for question in questions:
        try:
            question()
        except UsageError as refusal:
            refused.append(str(refusal))
    assert all("fit the model again" in said or "loosen" in said for said in refused)
