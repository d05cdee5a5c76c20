"""Disclosure risk as a whole: tables side by side, what is refused, and what is said beside it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from support.promised import need
from support.sheets import coded, listed
from understudy.errors import DataError, UsageError
from understudy.evaluation import Disclosure, disclosure_risk
from understudy.evaluation.disclosure import disclosure as room
from understudy.evaluation.disclosure.attack import Attempt, Victims
from understudy.rows.table import Table

SCHEMA = listed(t=3, a=5, b=5, c=5)
KEYS = ["a", "b", "c"]


def _rows(count: int, seed: int, *, protected: bool = False) -> Table:
    """t follows a, unless it is protected; values of t are uneven."""
    generator = np.random.default_rng(seed)
    a, b, c = generator.integers(0, 5, (3, count))
    t = np.array([0, 0, 0, 1, 2])[generator.permutation(a) if protected else a]
    return coded(SCHEMA, {n: v.tolist() for n, v in zip("tabc", (t, a, b, c), strict=True)})


TABLES = {"ordinary": _rows(400, 2), "protected": _rows(400, 3, protected=True)}


def _found(**more: Any) -> Disclosure:
    given: dict[str, Any] = {"sensitive": "t", "keys": KEYS, "classifiers": "none"} | more
    return disclosure_risk(_rows(500, 1), given.pop("stand_ins", TABLES), SCHEMA, **given)


def test_tables_stand_side_by_side() -> None:
    """The original reveals all, an ordinary stand-in nearly, a protected one what a guess does."""
    found = _found(keys=["a"])
    original, ordinary, protected = found.exposures
    assert ["original", "ordinary", "protected"] == [e.name for e in found.exposures]
    assert (1.0, 1.0) == (original.attributions[0].gcap, ordinary.attributions[0].gcap)
    [hidden] = protected.attributions
    assert hidden.guess == pytest.approx(hidden.gcap, abs=0.03)
    assert found.baseline == pytest.approx(protected.attacks[0].accuracy, abs=0.01)
    assert 0.6 == pytest.approx(found.baseline, abs=0.05)
    assert "0" == found.most_frequent


def test_every_key_has_its_numbers() -> None:
    """Three keys of length two, and the mean of the vote is over them."""
    found = _found(length=2)
    for exposure in found.exposures:
        assert [("a", "b"), ("a", "c"), ("b", "c")] == [a.key for a in exposure.attributions]
        votes = [a.vote for a in exposure.attributions]
        assert votes == [attempt.accuracy for attempt in exposure.attacks[0].attempts]
        assert np.mean([v for v in votes if v is not None]) == pytest.approx(
            exposure.attacks[0].accuracy
        )


def test_documents_hold_everything_and_are_json() -> None:
    """All parts by their names, and every metric with its goal."""
    document = json.loads(json.dumps(_found(holdout=_rows(100, 9)).document(), allow_nan=False))
    parts = (
        "private sensitive quasi_identifiers length keys victims baseline tables averaged_over "
        "membership singling_out linkage metrics seed notes"
    )
    assert set(parts.split()) == document.keys()
    assert {"accuracy", "gcap", "cap", "auc"} == document["metrics"].keys()
    assert document["baseline"]["accuracy"] == document["metrics"]["accuracy"]["perfect"]
    assert {"less is better"} == {metric["goal"] for metric in document["metrics"].values()}
    assert {"ordinary", "protected"} == document["membership"].keys()
    assert 1 == len(document["tables"][0]["strangers"])


def test_nothing_is_shown_by_accident() -> None:
    """A printed result shows no number."""
    assert "Disclosure(private; see document())" == repr(_found())


def test_strangers_show_what_is_due_to_being_there() -> None:
    """Rare keys: the original knows its own rows, and of others no more than a guess."""
    schema = listed(t=2, a=200, b=200)
    generator = np.random.default_rng(1)

    def rows(count: int) -> Table:
        t, a, b = generator.integers(0, [[2], [200], [200]], (3, count))
        return coded(schema, {"t": t.tolist(), "a": a.tolist(), "b": b.tolist()})

    [original] = disclosure_risk(
        rows(2_000), {}, schema, sensitive="t", keys=["a", "b"], holdout=rows(2_000),
        classifiers="none",
    ).exposures  # fmt: skip
    assert (original.attributions[0].gcap or 0) > 0.95
    assert 0.5 == pytest.approx(original.strangers[0].gcap, abs=0.05)


def test_without_held_out_rows_membership_is_a_reason() -> None:
    """And there are no strangers."""
    found = _found()
    for membership in found.memberships.values():
        assert membership.auc is None
        assert "no held-out rows were given" in str(membership.reason)
    assert all(() == exposure.strangers for exposure in found.exposures)


def test_held_out_rows_that_are_no_such_thing_are_warned_of() -> None:
    """The very rows of the fit make every attack look harmless."""
    schema = listed(t=3, **{f"k{i}": 9 for i in range(6)})
    generator = np.random.default_rng(1)
    codes = {n: generator.integers(0, s, 300).tolist() for n, s in schema.attributes.items()}
    real = coded(schema, codes)
    found = disclosure_risk(
        real, {"other": real}, schema, sensitive="t", keys=["k0"], holdout=real, classifiers="none"
    )
    assert any("membership looks safer than it is" in note for note in found.notes)


def test_averages_are_over_the_same_attacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner that failed on one table is left out of the average of all, and said so."""

    def attempt(victims: Victims, learner: Any, table: Any, key: Any, *, settings: Any) -> Attempt:
        if learner.name == "svm" and table.rows == 401:
            return Attempt(None, reason="ended after 1 seconds")
        return Attempt({"svm": 0.9, "naive-bayes": 0.5}[learner.name])

    monkeypatch.setattr(Victims, "attempt", attempt)
    monkeypatch.setattr(room, "require", lambda *_, **__: None)
    tables = {"ordinary": _rows(401, 2)}
    found = _found(stand_ins=tables, classifiers=["svm", "naive-bayes"])
    assert ("gcap", "naive-bayes") == found.averaged_over
    original, ordinary = found.document()["tables"]
    vote = found.exposures[0].attacks[0].accuracy
    assert (vote or 0) / 2 + 0.25 == pytest.approx(original["average"])
    assert "ended after 1 seconds" == ordinary["attacks"][1]["reason"]
    assert ("gcap", 3) == (original["strongest"], len(original["attacks"]))


def test_progress_comes_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are numbered from 0 without gaps, and their number is known from the start."""
    monkeypatch.setattr(Victims, "attempt", lambda *_, **__: Attempt(0.5))
    monkeypatch.setattr(room, "require", lambda *_, **__: None)
    told: list[tuple[int, int]] = []
    _found(
        classifiers="sba", length=2, progress=lambda done, total, what: told.append((done, total))
    )
    total = 3 * (1 + 5 * 3)
    assert [(step, total) for step in range(total)] == told


def test_what_was_asked_for_and_is_not_there_is_refused() -> None:
    """Columns, classifiers and names of stand-ins, before a row is read."""
    unreadable: dict[str, Any] = {"stand_ins": {"ordinary": {}}}
    for asked, words in (
        ({"sensitive": "z"}, "sensitive 'z' is not a column"),
        ({"keys": ["z"]}, "key 'z' is not a column"),
        ({"classifiers": "z"}, "classifier 'z' is unknown"),
        ({"stand_ins": {"original": {}}}, "a stand-in cannot be called 'original'"),
    ):
        with pytest.raises(UsageError, match=words):
            _found(**(unreadable | asked))
    with pytest.raises(DataError, match="the ordinary data"):
        _found(**unreadable)


def test_tables_without_rows_have_no_numbers() -> None:
    """Nothing is raised for what the rows hold."""
    none = _rows(0, 1)
    document = disclosure_risk(
        none, {"ordinary": none}, SCHEMA, sensitive="t", keys=KEYS, holdout=none, classifiers="none"
    ).document()
    assert {"accuracy": None, "value": None} == document["baseline"]
    assert [None, None] == [table["average"] for table in document["tables"]]
    assert "there are no real rows" == document["membership"]["ordinary"]["reason"]


@pytest.mark.slow
def test_classifiers_tell_protected_tables_from_ordinary_ones() -> None:
    """SBA's five: nearly everybody by the ordinary table, nobody beyond the baseline else."""
    need("sklearn")
    found = _found(classifiers="sba", keys=["a", "b"], seconds_per_model=600)
    assert 6 == len(found.averaged_over)
    averages = {table["name"]: table["average"] for table in found.document()["tables"]}
    assert averages["original"] > 0.9
    assert averages["ordinary"] > 0.9
    assert found.baseline == pytest.approx(averages["protected"], abs=0.12)
