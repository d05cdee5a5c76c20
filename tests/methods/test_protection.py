"""Protected attributes in fitted models: what is withheld, by exact inference, and said so."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pytest

from support.learners import QUICK
from understudy.errors import UsageError
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.methods import Nist, PrivBayes, Synthesizer
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.models.model import Model
from understudy.models.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.statements.statement import Statement
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 3},
            "sex": {"kind": "boolean"},
            "ill": {"kind": "integer", "min": 0, "max": 2},
            "income": {"kind": "integer", "min": 0, "max": 2},
            "job": {"kind": "integer", "min": 0, "max": 2},
        }
    }
)
DOMAIN = Domain.of(SCHEMA)
KEPT = {"the target": None, "two of them": ("age", "income"), "nothing": ()}
LEARNERS = ("greedy", "pairwise", "tree", "genetic")


def _source(rows: int = 3000) -> MemorySource:
    """Rows in which everything depends on age, illness most of all."""
    generator = np.random.default_rng(4)
    age = generator.integers(0, 4, rows)
    codes: dict[str, Codes] = {}
    for name, size in DOMAIN.sizes.items():
        fresh = generator.integers(0, size, rows)
        drawn = age if name == "age" else np.where(generator.random(rows) < 0.8, age % size, fresh)
        codes[name] = drawn.astype(np.uint8)
    return MemorySource(Table(DOMAIN, codes, rows))


def _fitted(
    structure: str, restrictions: Restrictions, epsilon: object = "1", delta: object = "1e-6"
) -> Model:
    kind: type[Synthesizer] = Nist if delta else PrivBayes
    arguments = {"structure": structure, "search": QUICK, "restrictions": restrictions}
    made = kind(SCHEMA, epsilon=epsilon, delta=delta, **arguments)  # type: ignore[arg-type]
    return made.fit(_source(), ledger=None).model_


def conditional_information(model: Model, name: str, given: tuple[str, ...]) -> float:
    """I(name; all others | given) in bits, from the exact joint distribution."""
    others = tuple(a for a in DOMAIN if a != name and a not in given)
    joint, _ = model.posterior((name, *others, *given), {})
    table = joint.reshape(DOMAIN[name], DOMAIN.cells(others), DOMAIN.cells(given))

    def entropy(chances: npt.NDArray[np.float64]) -> float:
        seen = chances[chances > 0]
        return float(-(seen * np.log2(seen)).sum())

    both = entropy(table.sum(axis=1)) + entropy(table.sum(axis=0))
    return both - entropy(table) - entropy(table.sum(axis=(0, 1)))


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("structure", LEARNERS)
@pytest.mark.parametrize("delta", ["0", "1e-6"], ids=["laplace", "gaussian"])
def test_a_protected_attribute_tells_nothing_more(structure: str, kept: str, delta: str) -> None:
    """Given what it may depend on, it is independent of everything else, whatever was learned."""
    protection = Protection("income", {"ill": KEPT[kept]})
    model = _fitted(
        structure, Restrictions(protection=protection), delta=0 if delta == "0" else delta
    )
    assert pytest.approx(0, abs=1e-9) == conditional_information(
        model, "ill", protection.kept["ill"]
    )


@pytest.mark.parametrize("structure", LEARNERS)
def test_several_protected_attributes(structure: str) -> None:
    """Each of them is kept apart from all others, and from the other protected ones."""
    wished = Restrictions(protection=Protection("income", {"ill": None, "sex": ("age",)}))
    model = _fitted(structure, wished)
    assert pytest.approx(0, abs=1e-9) == conditional_information(model, "ill", ("income",))
    assert pytest.approx(0, abs=1e-9) == conditional_information(model, "sex", ("age",))


def test_unprotected_it_would_tell() -> None:
    """The same rows without protection: the check can fail."""
    assert 0.1 < conditional_information(_fitted("genetic", NONE), "ill", ("income",))


def test_without_privacy_in_studies() -> None:
    """With the budget switched off the network is protected and marked as not private."""
    wished = Restrictions(protection=Protection("income", {"ill": None}))
    model = _fitted("genetic", wished, Budget.unlimited(), delta=1)
    assert pytest.approx(0, abs=1e-9) == conditional_information(model, "ill", ("income",))
    assert model.statement.sentence.startswith("NOT PRIVATE")
    assert "ill depends on income alone" in model.statement.sentence


def test_no_question_ties_it_to_others() -> None:
    """What is withheld was never asked: no released table has it beside anything but the target."""
    model = _fitted("genetic", Restrictions(protection=Protection("income", {"ill": None})))
    tables = [c.question for c in model.statement.charges if c.question.startswith("counts of")]
    asked = [set(table.removeprefix("counts of ").split(" × ")) for table in tables]
    assert {"ill", "income"} == set().union(*(table for table in asked if "ill" in table))


def test_the_statement_says_what_was_withheld() -> None:
    """In words and in JSON, and it is read back; the model knows the names."""
    protection = Protection("income", {"ill": None, "sex": ()}, ("age", "job"))
    model = _fitted("pairwise", Restrictions(protection=protection))
    written = json.loads(json.dumps(model.statement.document()))
    assert {
        "target": "income",
        "protected": {"ill": ["income"], "sex": []},
        "quasi_identifiers": ["age", "job"],
        "sentence": "Withheld: ill depends on income alone; sex depends on nothing, and nothing "
        "depends on ill or sex. That is a choice of what to learn, and no part of the promise.",
    } == written["protection"]
    assert written["protection"]["sentence"] in model.statement.sentence
    assert model.statement == Statement.parse(written)
    assert model.protection is not None
    assert ("income", {"ill", "sex"}) == (model.protection.target, set(model.protection.protected))


def test_statements_from_before_are_read() -> None:
    """One without the key, and one of a fit that protects nothing, have no protection."""
    model = _fitted("tree", NONE)
    document = model.statement.document()
    assert document.pop("protection") is None
    assert model.statement == Statement.parse(document)
    assert "Withheld" not in model.statement.sentence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"structure": "tree", "required": (("age", "job"), ("sex", "job"))}, "the degree is 1"),
        ({"degree": 0, "required": (("age", "job"),)}, "the degree is 0"),
        ({"required": (("agee", "job"),)}, "'agee' is unknown"),
        (
            {
                "structure": Network.from_parents({"age": [], "job": ["age"]}),
                "forbidden": (("age", "job"),),
            },
            "given network has the edge age:job",
        ),
    ],
)
def test_contradictions_are_refused_before_anything_is_read(
    arguments: dict[str, object], words: str
) -> None:
    """Checking alone finds them; no data is there."""
    edges = {key: arguments.pop(key) for key in ("required", "forbidden") if key in arguments}
    wished = Restrictions(**edges)  # type: ignore[arg-type]
    synthesizer = PrivBayes(SCHEMA, epsilon=1, restrictions=wished, **arguments)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=words):
        synthesizer.check()


def test_more_is_required_than_is_usual() -> None:
    """Without a degree of its own, a search makes room for all that is required."""
    required = tuple((parent, "job") for parent in DOMAIN if parent != "job")
    model = _fitted("genetic", Restrictions(required=required))
    [family] = [family for family in model.network if family.child == "job"]
    assert set(DOMAIN) - {"job"} == set(family.parents)


def test_required_tables_that_no_memory_holds_are_refused() -> None:
    """The table of a required family is known beforehand, and so is its size."""
    columns = {f"c{i}": {"kind": "integer", "min": 0, "max": 59, "bins": 60} for i in range(9)}
    wished = Restrictions(required=tuple((f"c{i}", "c0") for i in range(1, 9)))
    with pytest.raises(UsageError, match="cells"):
        PrivBayes(Schema.parse({"columns": columns}), epsilon=1, restrictions=wished).check()
