"""Refitted models: of the same structure, spread as the noise says, and kept by caches."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.distributions import SCHEMA, model_with
from understudy.errors import ModelError, UsageError
from understudy.jobs.refit_cache import cached_refits, check_own
from understudy.methods import AdaptiveMarginals, Nist
from understudy.models.estimation.consistency import Estimate
from understudy.models.intervals.refits import REFITS, NoSpread
from understudy.models.model import Model
from understudy.models.questions.noise import table_posterior
from understudy.models.sampling import sample_codes
from understudy.testing import seeded

ROWS = {
    "age": [3, 17, 33, 12] * 100,
    "sex": ["male", "female", "male", "male"] * 100,
    "well": [True, False, True, False] * 100,
}


@pytest.fixture(scope="module", params=[Nist, AdaptiveMarginals])
def model(request: pytest.FixtureRequest) -> Model:
    """A small model by a method that keeps its tables."""
    method = seeded(request.param(SCHEMA, epsilon=2, delta=1e-6), 3)
    found = method.fit(ROWS, ledger=None).model_
    assert isinstance(found, Model)
    return found


@pytest.mark.slow
def test_answers_of_refitted_models_spread_as_their_tables_do(model: Model) -> None:
    """For one attribute, by about the noise of its share."""
    shares, chances = model.refits.posteriors(("sex",), {})
    assert (REFITS, 2) == shares.shape
    assert np.ones(REFITS) == pytest.approx(chances, abs=1e-4)
    ends = model.ask("P(sex)").interval.ends
    assert ends is not None
    wide = float((ends[1] - ends[0])[0])
    assert 0.5 < 3.92 * float(shares[:, 0].std()) / wide < 1.5


def test_tables_without_noise_leave_no_spread(model: Model) -> None:
    """Every refitted model is the same one."""
    exact = [replace(table, variance=0.0) for table in model.tables]
    posterior = table_posterior(replace(model, tables=tuple(exact)))
    drawn = [posterior.draw(np.random.default_rng(seed)) for seed in range(3)]
    found = model.distribution.refits(drawn).posteriors(("age", "well"), {})[0]
    assert 0.0 == pytest.approx(float(found.std(axis=0).max()), abs=1e-6)


@pytest.mark.slow
def test_a_cache_keeps_what_was_computed(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time nothing is refitted; a file of another model, or damaged, is made again."""
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "cache"))
    first = cached_refits(model).posteriors(("age", "well"), {})[0]
    [path] = (tmp_path / "cache").iterdir()
    assert model.digest in path.name
    again = replace(model)
    kept = cached_refits(again).posteriors(("age", "well"), {})[0]
    assert "refits" not in vars(again)
    assert first == pytest.approx(kept, abs=1e-5)
    other = replace(model, rows=model.rows + 1)
    path.rename(path.with_name(path.name.replace(model.digest, other.digest)))
    cached_refits(other)
    assert "refits" in vars(other)
    for each in (tmp_path / "cache").iterdir():
        each.write_bytes(b"damaged")
    assert "refits" not in vars(again)
    cached_refits(again)
    assert "refits" in vars(again)


def test_replicates_differ_and_are_repeatable(model: Model) -> None:
    """Each is another law of the same structure; the seed decides which."""
    one, other = model.replicates(2, seed=1)
    assert model.network == one.network
    assert not np.array_equal(one.project(("age",)), other.project(("age",)))
    again = model.replicates(2, seed=1)[0]
    rows = [m.sample(50, seed=1, sampler=sample_codes) for m in (one, again)]
    assert rows[0].equals(rows[1])
    assert () == one.tables


def test_models_without_tables_cannot_be_refitted() -> None:
    """Released rows, generators, and models of older versions say so."""
    for kind in ("records", "generator"):
        with pytest.raises(UsageError, match="not made from released tables"):
            model_with(kind).distribution.refitted(())
    older = replace(model_with("network"), tables=())
    with pytest.raises(UsageError, match="keeps no released tables"):
        older.replicates(3)
    assert "keeps no released tables" in older.ask("P(sex)").interval.reason
    with pytest.raises(UsageError, match="2 or more"):
        older.replicates(1)


def test_tables_that_do_not_hold_the_families_are_refused() -> None:
    """A network of three attributes is not fitted to a table of one."""
    table = Estimate(("sex",), np.array([3.0, 4.0]), 1.0)
    with pytest.raises(UsageError, match="do not hold all families"):
        model_with("network").distribution.refitted([table])
    answer = model_with("network").ask("P(age, sex)")
    assert "do not hold all families" in answer.interval.reason


@pytest.mark.slow
def test_rare_conditions_show_no_spread(model: Model) -> None:
    """Too few weighted rows are not an answer."""
    if model.distribution.kind == "log-linear":
        nothing = {"sex": np.array([1e-12, 0.0])}
        never = {"age": np.zeros(4)}
        assert model.refits.posteriors(("age",), nothing)[0].shape == (REFITS, 4)
        with pytest.raises(NoSpread, match="too few rows"):
            model.refits.posteriors(("sex",), never)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_a_cache_without_an_end_is_not_read(
    model: Model, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever lies where the cache should be costs time at most."""
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path))
    cached_refits(model)
    [path] = tmp_path.iterdir()
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert (REFITS,) == cached_refits(model).posteriors(("age",), {})[1].shape


@pytest.mark.slow
def test_a_cache_that_others_may_write_to_is_not_read(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write there could make intervals too narrow; nobody else reads what is kept."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(folder))
    cached_refits(model)
    [path] = folder.iterdir()
    assert (0o700, 0o600) == (folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777)
    for place, mode in ((path, 0o602), (folder, 0o720)):
        before = place.stat().st_mode & 0o777
        place.chmod(mode)
        with pytest.raises(ModelError, match="other users may write"):
            check_own(path)
        again = replace(model)
        cached_refits(again)
        assert "refits" in vars(again)
        place.chmod(before)
        path.chmod(0o600)


def test_numbers_that_are_not_chances_are_refused(model: Model) -> None:
    """Negative ones, ones that do not add up, and those of another shape."""
    drawn = [table_posterior(model).draw(np.random.default_rng(1))] * REFITS
    numbers = model.distribution.refits(drawn).numbers()
    model.distribution.kept_refits(numbers)
    name = next(name for name in numbers if not name.startswith("codes"))
    for changed in (2 * numbers[name], -numbers[name], numbers[name][1:]):
        with pytest.raises(ValueError, match=r"chances do not add up|another shape|not those"):
            model.distribution.kept_refits({**numbers, name: changed})
