"""One exam for every kind of distribution: whoever uses one need not know which it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.distributions import DOMAIN, KINDS, ROWS, SCHEMAS, model_with
from support.torches import need_torch
from understudy.errors import UsageError
from understudy.facts.codes import code_type
from understudy.models import kinds
from understudy.models.archive import bound_content
from understudy.models.distribution import Distribution
from understudy.models.kinds import kind_named
from understudy.models.model import Model
from understudy.models.sampling import sample_blocks, sample_codes
from understudy.privacy.statements.binding import BINDING

DATA = Path(__file__).parent.parent / "data"
FORMER = {
    "network": "model-format-2-network.zip",
    "records": "model-format-2-records.zip",
    "generator": "model-format-2-generator.zip",
    "images": "model-of-images-format-1.npz",
}
OF_IMAGES = ("images", "image-moments")
# Kinds that have rows and nothing else.
WITHOUT_PROBABILITIES = ("records", "generator", "images", "image-moments")
WITH_PROBABILITIES = tuple(kind for kind in KINDS if kind not in WITHOUT_PROBABILITIES)
MALE = {"sex": np.array([0.0, 1.0])}
# What rows of each kind are asked to fit, and the values that they then have.
WHERE = dict.fromkeys(KINDS, ("sex = male, age < 20", {"sex": "male"})) | {
    kind: ("y = 1", {"y": 1}) for kind in OF_IMAGES
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Every kind, one after the other."""
    return str(request.param)


@pytest.fixture
def law(kind: str) -> Distribution:
    """A distribution of each kind."""
    return KINDS[kind]()


@pytest.fixture
def model(kind: str) -> Model:
    """A model of each kind; images are made by PyTorch."""
    if kind == "images":
        need_torch()
    return model_with(kind)


def test_every_registered_kind_sits_the_exam() -> None:
    """A kind that archives may name is examined here."""
    assert set(kinds.KINDS) == set(KINDS)


def test_a_kind_is_registered_under_its_own_name(law: Distribution) -> None:
    """The name in archives leads back to the class."""
    assert type(law) is kind_named(law.kind)


def test_an_unknown_kind_is_refused() -> None:
    """The known ones are named."""
    with pytest.raises(UsageError, match="kind 'oracle' is unknown; known are network"):
        kind_named("oracle")


@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_draws_lie_in_the_domain(law: Distribution, rows: int) -> None:
    """Every attribute has as many codes as asked for, in order, declared, in the least type."""
    drawn = law.draw(rows, np.random.default_rng(1))
    assert list(law.domain) == list(drawn)
    for attribute, codes in drawn.items():
        assert (rows,) == codes.shape
        assert code_type(law.domain[attribute]) == codes.dtype
        assert (codes < law.domain[attribute]).all()


def test_draws_repeat_by_their_generator(law: Distribution) -> None:
    """Equal seeds give equal rows."""
    one, other = (law.draw(50, np.random.default_rng(8)) for _ in range(2))
    assert all(np.array_equal(one[attribute], other[attribute]) for attribute in law.domain)


def test_blocks_have_the_sizes_asked_for(law: Distribution) -> None:
    """Rows come in blocks, an empty one among them."""
    blocks = law.blocks([7, 0, 5], np.random.default_rng(2))
    first = law.domain.names[0]
    assert [7, 0, 5] == [codes[first].size for codes in blocks]


@pytest.mark.parametrize("kind", WITH_PROBABILITIES, indirect=True)
def test_projections_agree_with_draws(law: Distribution) -> None:
    """Shares of independent rows lie within seven standard errors of what `project` says."""
    rows = 200_000
    drawn = law.draw(rows, np.random.default_rng(1), sampler=sample_codes)
    for names in [("sex",), ("well", "age"), ("age", "sex", "well")]:
        expected = law.project(names)
        cells = np.ravel_multi_index([drawn[name] for name in names], expected.shape)
        found = np.bincount(cells, minlength=expected.size) / rows
        errors = np.sqrt(expected.ravel() * (1 - expected.ravel()) / rows)
        assert DOMAIN.shape(names) == expected.shape
        assert (np.abs(found - expected.ravel()) < 7 * errors + 1e-4).all()


@pytest.mark.parametrize("kind", WITH_PROBABILITIES, indirect=True)
def test_a_conditioned_law_is_the_projection_given_evidence(law: Distribution) -> None:
    """`given` is a distribution of the same kind; its rows all fit, its shares are exact."""
    fitting = law.given(MALE)
    joint = law.project(("sex", "age"))
    assert law.kind == fitting.kind
    assert {1} == set(fitting.draw(100, np.random.default_rng(1))["sex"].tolist())
    assert (joint[1] / joint[1].sum()).tolist() == pytest.approx(fitting.project(("age",)).tolist())


ASKED: dict[str, Callable[[Distribution], Any]] = {
    "project": lambda law: law.project(("sex",)),
    "posterior": lambda law: law.posterior(("sex",), {}),
    "given": lambda law: law.given(MALE),
    "most_probable": lambda law: law.most_probable({}),
    "weighted": lambda law: law.weighted(MALE, 5, np.random.default_rng(1)),
    "require_network": lambda law: law.require_network(),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("kind", WITHOUT_PROBABILITIES, indirect=True)
def test_a_kind_without_probabilities_refuses_by_name(law: Distribution, asked: str) -> None:
    """The refusal names the kind, says what it has instead, and gives a way out."""
    words = f"a model of kind '{law.kind}' .*no probabilities; use its rows, or a method that"
    with pytest.raises(UsageError, match=words):
        ASKED[asked](law)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("kind", WITH_PROBABILITIES, indirect=True)
def test_a_kind_with_probabilities_answers_all_of_it(law: Distribution, asked: str) -> None:
    """The same questions have answers; conditionals of their own only a network has."""
    if (law.kind, asked) == ("log-linear", "require_network"):
        with pytest.raises(UsageError, match="kind 'log-linear' is a network times correction"):
            law.require_network()
        return
    assert ASKED[asked](law) is not None


def test_rows_that_fit_conditions_are_drawn(model: Model, kind: str) -> None:
    """Each kind has its own way; every row fits, whichever it is."""
    where, expected = WHERE[kind]
    rows = model.sample(20, where=where, seed=3)
    assert 20 == rows.num_rows
    for column, value in expected.items():
        assert {value} == set(rows[column].to_pylist())
    assert kind in OF_IMAGES or max(rows["age"].to_pylist()) < 20


def test_a_way_that_a_kind_does_not_have_is_refused(model: Model) -> None:
    """In a sentence that says to leave it out."""
    with pytest.raises(UsageError, match="leave it out"):
        model.sample(5, where=WHERE[model.distribution.kind][0], how="by magic")


def test_rows_are_rows_of_the_schema(model: Model, kind: str) -> None:
    """As many as the model says, by default; pixels are beside their label."""
    beside = ["x"] if kind in OF_IMAGES else []
    assert [*beside, *SCHEMAS[kind].columns] == model.sample(3, seed=1).column_names
    assert ROWS == model.sample(seed=1).num_rows


@pytest.mark.parametrize("rows", [0, 7])
def test_rows_are_written_to_the_files_of_their_kind(
    model: Model, rows: int, tmp_path: Path
) -> None:
    """The decoder says which names fit, refuses others, and counts what it has written."""
    suffix = ".npz" if model.distribution.kind in OF_IMAGES else ".csv"
    decoder, path = model.decoder, tmp_path / f"rows{suffix}"
    assert path == decoder.check_output(path)
    assert rows == decoder.write(sample_blocks(model, rows, seed=1), path)
    assert path.stat().st_size > 0
    with pytest.raises(UsageError, match=r"\.odt"):
        decoder.check_output(tmp_path / "rows.odt")


def test_the_attributes_must_be_those_of_the_schema(law: Distribution) -> None:
    """A model whose rows its schema cannot decode is not built."""
    from understudy.facts.schema import Schema

    other = Schema.parse({"columns": {"age": {"kind": "boolean"}}})
    with pytest.raises(UsageError, match="attributes are not those of the schema"):
        Model(other, law, ROWS, model_with("network").statement)


@pytest.mark.parametrize("name", ["m.zip", "m"])
def test_a_model_survives_being_written(model: Model, tmp_path: Path, name: str) -> None:
    """The same members, numbers, tables and rows come back, from an archive or a folder."""
    model.save(tmp_path / name)
    loaded = Model.load(tmp_path / name)
    assert model.members() == loaded.members()
    assert type(model.distribution) is type(loaded.distribution)
    assert model.sample(9, seed=2).equals(loaded.sample(9, seed=2))


def test_numbers_are_all_that_members_hold(law: Distribution) -> None:
    """What an attacker is given is finite, and none of it is left out."""
    held = law.numbers()
    assert sum(array.size for array in held.values()) > 0
    assert all(np.isfinite(array).all() for array in held.values())


@pytest.mark.parametrize("kind", FORMER)
def test_models_of_earlier_formats_are_read(kind: str, tmp_path: Path) -> None:
    """The members show the kind; rows come, and the statement is still bound to it all."""
    if kind == "images":
        need_torch()
    model = Model.load(DATA / FORMER[kind])
    assert kind == model.distribution.kind
    assert () == model.tables
    assert 5 == model.sample(5, seed=1).num_rows
    statement, found = bound_content(DATA / FORMER[kind])
    assert statement[BINDING]["sha256"] == found
    model.save(tmp_path / "again.zip")
    assert model.members() == Model.load(tmp_path / "again.zip").members()


def test_the_binding_covers_kind_and_tables(model: Model, tmp_path: Path) -> None:
    """The digest in the statement is that of everything else, as it is found on disk."""
    model.save(tmp_path / "m.zip")
    statement, found = bound_content(tmp_path / "m.zip")
    assert statement[BINDING]["sha256"] == found
    bare = Model(model.schema, model.distribution, model.rows, model.statement)
    bare.save(tmp_path / "bare.zip")
    assert found != bound_content(tmp_path / "bare.zip")[1]
