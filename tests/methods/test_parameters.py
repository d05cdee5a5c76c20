"""Parameters of synthesizers are kept as given, in the way of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.methods import BUILDERS
from support.neighbours import SCHEMA, random_rows, source_of
from support.promised import need
from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.methods import Independent, Nist, PrivBayes, Random, Synthesizer, registry
from understudy.methods.auditing import audit
from understudy.methods.planning import plan_fit
from understudy.methods.structure import given
from understudy.models.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.spending.ledger import Ledger

CHAIN = '{"size": ["colour"]}'
OTHER = '{"colour": ["size"]}'


@pytest.mark.parametrize("builder", BUILDERS)
def test_clones_have_the_same_parameters(builder: str) -> None:
    """Scikit-learn makes an unfitted twin of every method in every setting."""
    sklearn = need("sklearn.base")
    method = BUILDERS[builder](SCHEMA)
    twin = sklearn.clone(method)
    assert type(method) is type(twin)
    assert repr(method) == repr(twin)
    assert not hasattr(twin, "model_")


@pytest.mark.parametrize("builder", BUILDERS)
def test_parameters_build_the_same_method(builder: str) -> None:
    """The class takes what `get_params` returns, the very same values."""
    method = BUILDERS[builder](SCHEMA)
    params = method.get_params()
    twin = type(method)(**params)
    assert all(params[name] is value for name, value in twin.get_params().items())


def test_a_clone_pays_for_its_own_fit(tmp_path: Path) -> None:
    """A search over parameters is not free: every fit is in the ledger."""
    sklearn = need("sklearn.base")
    ledger, source = Ledger(tmp_path / "ledger.jsonl"), source_of(random_rows(50))
    method = Independent(SCHEMA, epsilon="0.5")
    for epsilon in ("0.25", "0.5"):
        twin = sklearn.clone(method).set_params(epsilon=epsilon)
        twin.fit(source, ledger=ledger, dataset="rows")
    assert Budget.pure("0.75").amount == ledger.account("rows").spent.epsilon


def test_a_fitted_method_says_what_it_was_given() -> None:
    """The parameters stay as they were, before a fit and after it."""
    method = Nist(SCHEMA, epsilon="1/2", delta=1e-6, degree=1)
    before = method.get_params()
    method.fit(source_of(random_rows(50)), ledger=None)
    assert before == method.get_params()
    assert "Nist(4 columns, epsilon='1/2', delta=1e-06, degree=1)" == repr(method)


def test_parameters_can_be_replaced() -> None:
    """The method itself comes back, and checks its parameters when it is used."""
    method = Random(SCHEMA, epsilon=1)
    assert method is method.set_params(epsilon=2, rows=5)
    assert (2, 5) == (method.epsilon, method.rows)
    with pytest.raises(UsageError, match="no parameter 'depth'; it has schema, epsilon, delta"):
        method.set_params(depth=3)


def test_only_the_schema_has_a_place() -> None:
    """All other parameters are given by name."""
    build: Callable[..., Independent] = Independent
    with pytest.raises(TypeError, match="positional"):
        build(SCHEMA, 1)


def test_a_file_of_a_network_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was checked is what is learned, in as many checks, fits and copies as there are."""
    read: list[Path] = []
    text_of = given._text_of

    def counted(path: Path, where: str) -> str:
        read.append(path)
        return text_of(path, where)

    monkeypatch.setattr(given, "_text_of", counted)
    path = tmp_path / "network.json"
    path.write_text(CHAIN, encoding="utf-8")
    method = PrivBayes(SCHEMA, epsilon=1, structure=path)
    method.check()
    path.write_text(OTHER, encoding="utf-8")
    for fitted in (method, method.with_instruments(method._instruments)):
        network = fitted.fit(source_of(random_rows(50)), ledger=None).model_.network
        assert [("colour",)] == [family.parents for family in network if family.parents]
    assert [path] == read


def test_another_structure_is_looked_up_again(tmp_path: Path) -> None:
    """A method whose structure is replaced forgets the file that it has read."""
    path = tmp_path / "network.json"
    path.write_text(CHAIN, encoding="utf-8")
    method = PrivBayes(SCHEMA, epsilon=1, structure=path)
    method.check()
    method.set_params(structure=Network.from_parents({"size": [], "colour": ["size"]}))
    network = method.fit(source_of(random_rows(50)), ledger=None).model_.network
    assert [("size",)] == [family.parents for family in network if family.parents]


@pytest.mark.parametrize("rows", [-3, 2.5, "a", True])
@pytest.mark.parametrize("method", ["nist", "privbayes", "random", "histogram"])
def test_a_number_of_rows_that_cannot_be_is_refused_before_spending(
    method: str, rows: object, tmp_path: Path
) -> None:
    """A declared number of rows is whole and not negative; nothing is spent on another."""
    schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
    kind, ledger = registry.method(method), Ledger(tmp_path / "ledger.jsonl")
    asked: dict[str, Any] = {"delta": "1e-6"} if method == "nist" else {}
    asked |= {"rows": rows}
    with pytest.raises(UsageError, match="rows is"):
        kind(schema, epsilon=1, **asked).fit(
            {"smoker": ["yes", "no"]}, ledger=ledger, dataset="table"
        )
    assert {} == ledger.accounts()


@pytest.mark.parametrize("method", [Nist, PrivBayes, Independent, Random])
def test_a_path_is_not_a_schema(method: Callable[..., Synthesizer], tmp_path: Path) -> None:
    """The refusal names the way from a file to a schema, and nothing is spent."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    asked = method("patients.toml", epsilon=1)
    with pytest.raises(UsageError, match=r"of type str; give a Schema, such as Schema\.load\(path"):
        asked.fit(source_of(random_rows(9)), ledger=ledger, dataset="table")
    assert {} == ledger.accounts()
    assert "patients.toml" in repr(asked)


@pytest.mark.parametrize("asked", [lambda name: plan_fit(name, 100), audit])
def test_the_name_of_a_method_is_not_a_synthesizer(asked: Callable[[Any], object]) -> None:
    """Plans and audits say what to pass instead."""
    with pytest.raises(UsageError, match="'nist' is not a synthesizer; build one first, such as"):
        asked("nist")


def test_a_score_that_nobody_knows_is_unknown() -> None:
    """The refusal lists the scores there are for the neighbours, and speaks of no sensitivity."""
    with pytest.raises(UsageError, match="score 'foo' is unknown; use R or MI or F"):
        PrivBayes(SCHEMA, epsilon=1, neighbours="replace", score="foo").check()
    with pytest.raises(UsageError, match="score 'foo' is unknown; use TVD"):
        PrivBayes(SCHEMA, epsilon=1, neighbours="add-remove", score="foo").check()
