"""Secrets beside ledgers, commitments to their entries, and what seals cover."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from support.earlier_images import write_earlier
from support.torches import need_torch
from understudy.errors import DataError, LedgerError, ModelError
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import Independent
from understudy.models.archive import bound_content
from understudy.models.model import Model
from understudy.privacy.accounting.composition import CURVE, PLD, PURE, ZCDP, Bound, tightest
from understudy.privacy.accounting.events import (
    Charge,
    Event,
    ExponentialEvent,
    FineGaussianEvent,
    GaussianEvent,
    LaplaceEvent,
)
from understudy.privacy.accounting.gaussian_curve import curve_rho
from understudy.privacy.budget import Budget
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.statements.binding import FILE, MODEL, Secret, bound, canonical, same, seal
from understudy.privacy.statements.claim import Claim, Outcome
from understudy.privacy.statements.scope import CURATOR, HOLDERS, NOBODY
from understudy.privacy.statements.statement import Statement
from understudy.privacy.statements.verification import verified

SCHEMA = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
ROWS = {"smoker": [True, False] * 50}


def test_a_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """Many at once find the same one, and nobody else may read it."""
    ledger = tmp_path / "ledger.jsonl"
    with ThreadPoolExecutor(8) as several:
        found = list(several.map(Secret.beside, [ledger] * 16))
    assert 1 == len({secret.key for secret in found})
    assert 0o600 == stat.S_IMODE(Secret.place(ledger).stat().st_mode)
    assert found[0] == Secret.found(ledger)
    assert "key" not in repr(found[0])


def test_a_damaged_secret_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    """A run whose entry could not be committed to does not begin."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    Secret.place(ledger.path).write_bytes(b"short\n")
    with pytest.raises(LedgerError, match="damaged"):
        Independent(SCHEMA, epsilon=1).fit(ROWS, ledger=ledger, dataset="d")
    assert {} == ledger.accounts()


def test_commitments_are_of_one_ledger_and_one_entry(tmp_path: Path) -> None:
    """The same head looks different under another secret; keys for seals are other numbers."""
    first, second = (Secret.beside(tmp_path / name) for name in ("a", "b"))
    heads = ["0123456789abcdef", "f" * 64]
    numbers = {s.commitment(head) for s in (first, second) for head in heads}
    numbers |= {s.seal_key(head).hex() for s in (first, second) for head in heads}
    assert 8 == len(numbers)
    assert {64} == set(map(len, numbers))


def test_a_statement_commits_to_the_entry_that_closed_its_run(tmp_path: Path) -> None:
    """The ledger's head of that grant, and no other run's."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    fits = [
        Independent(SCHEMA, epsilon=1).fit(ROWS, ledger=ledger, dataset="d").model_.statement
        for _ in range(2)
    ]
    secret = Secret.beside(ledger.path)
    committed = [fit.record.commitment for fit in fits if fit.record]
    assert committed == [secret.commitment(head) for head in ledger.heads().values()]


def test_open_grants_have_no_head(tmp_path: Path) -> None:
    """Only a closed run can be committed to."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with ledger.grant("d", Budget.pure(1)) as grant:
        assert ledger.head_of(grant.identity) is None
    assert ledger.head_of(grant.identity)


def test_a_seal_covers_every_word_of_a_statement() -> None:
    """Any other value, digest or missing key has another seal; order and spaces do not matter."""
    document = bound({"epsilon": 1.0, "unit": "row"}, kind=FILE, found="0" * 64, seal_key=b"k")
    assert document["binding"]["seal"] == seal(b"k", dict(reversed(document.items())))
    others = [
        {**document, "epsilon": 2.0},
        {key: value for key, value in document.items() if key != "unit"},
        {**document, "binding": {**document["binding"], "sha256": "1" * 64}},
    ]
    seals = {seal(b"k", other) for other in [document, *others]}
    assert 4 == len(seals)
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("method", "unit", "private", "trust", "named"),
    [
        ("nist", Unit(Neighbours.ADD_REMOVE), True, CURATOR, "owns several rows"),
        ("nist", Unit(Neighbours.REPLACE), True, CURATOR, "the number of rows"),
        ("nist", Unit(Neighbours.ADD_REMOVE, 3), True, CURATOR, "under several names"),
        ("federated votes", Unit(Neighbours.ADD_REMOVE), True, HOLDERS, "with several holders"),
        ("nist", Unit(Neighbours.ADD_REMOVE), False, NOBODY, "facts about groups"),
    ],
)
def test_trust_and_limits_follow_from_method_and_unit(
    method: str, unit: Unit, private: bool, trust: str, named: str
) -> None:
    """Every statement says whom it asks to be trusted, and what is not protected."""
    statement = Statement(method, Bound(PURE, Budget.pure(1).amount, 0), unit, (), private=private)  # type: ignore[arg-type]
    document = statement.document()
    assert trust == document["trust"]
    assert any(named in phrase for phrase in document["not_protected"])
    hidden = unit.neighbours is Neighbours.ADD_REMOVE
    assert hidden != any("number of rows" in phrase for phrase in document["not_protected"])
    assert statement == Statement.parse(document | {"assurance": "unheard of"})


def test_a_model_of_images_is_bound_to_its_statement(tmp_path: Path) -> None:
    """Weights under another model's statement are refused; unbound ones of 0.1.0 are read."""
    need_torch()
    from understudy.gan.archive import read_arrays, write_arrays
    from understudy.gan.backend import random_from
    from understudy.gan.convolutions import ImageMaker, Shape
    from understudy.gan.earlier import FORM
    from understudy.gan.image_model import ImageGenerator, as_arrays

    maker = ImageMaker(Shape(8, 8, 2), filters=(4, 4, 4))
    unit, amount = Unit(Neighbours.ADD_REMOVE), Budget.pure(1).amount
    statement = Statement("dpgan", Bound(PURE, amount, amount * 0), unit, ())
    weights = as_arrays(maker.initial(random_from(1)))
    path = tmp_path / "m.npz"
    write_earlier(path, ImageGenerator.of(maker, weights, (0.5, 0.5)), 10, statement)
    written, found = bound_content(path)
    assert found == written["binding"]["sha256"]
    assert statement == Model.load(path).statement
    arrays, document = read_arrays(path, form=FORM)
    name = next(iter(arrays))
    write_arrays(path, arrays | {name: (arrays[name] + 1).astype(np.float32)}, document)
    with pytest.raises(ModelError, match="belongs to another model"):
        Model.load(path)
    del document["statement"]["binding"]
    write_arrays(path, arrays, document)
    assert statement == Model.load(path).statement


def _claim(events: list[Event], epsilon: Fraction, delta: Fraction, accounting: str) -> Claim:
    """The claim of a statement of this version that promises so much for these answers."""
    charges = tuple(Charge(f"q{i}", event) for i, event in enumerate(events))
    promise = Bound(accounting, epsilon, delta)
    statement = Statement("nist", promise, Unit(Neighbours.ADD_REMOVE), charges)
    document = bound(statement.document(), kind=MODEL, found="0" * 64)
    return Claim.of(document, MODEL, "0" * 64, path=Path("m.zip"))


@pytest.mark.slow
def test_sums_of_unlike_denominators_stay_short() -> None:
    """Thousands of answers of hundreds of digits come to a number of few digits."""
    scales = [Fraction(10**304 + 3 * i, 10**300 + 7 * i) for i in range(4000)]
    claim = _claim(
        [LaplaceEvent(s, Fraction(1)) for s in scales], Fraction(1, 2), Fraction(0), PURE
    )
    [cost] = claim.costs
    assert cost is not None
    assert cost.denominator.bit_length() < 300
    assert abs(cost - Fraction(4, 10)) < Fraction(1, 10**6)
    assert Outcome.HOLDS is verified(claim)[0].outcome
    short = _claim(
        [LaplaceEvent(s, Fraction(1)) for s in scales], Fraction(1, 3), Fraction(0), PURE
    )
    assert Outcome.FAILS is verified(short)[0].outcome


@pytest.mark.parametrize(
    ("sigma_squared", "count"), [(Fraction(10**6), 65), (Fraction(5000**2), 5)]
)
def test_loss_distributions_of_many_answers_are_not_recomputed(
    sigma_squared: Fraction, count: int
) -> None:
    """What fits by zCDP still holds, what is far off fails, and between them a note says so."""
    events: list[Event] = [GaussianEvent(sigma_squared + i, Fraction(1)) for i in range(count)]
    delta = Fraction(1, 10**6)
    enough = tightest(events, delta=delta, announced=False).epsilon
    assert enough is not None
    told = [
        verified(_claim(events, epsilon, delta, accounting))[0]
        for epsilon, accounting in (
            (enough, PLD),
            (enough * 9 / 10, PLD),
            (enough * 9 / 10, ZCDP),
        )
    ]
    holds, fails = Outcome.HOLDS, Outcome.FAILS
    assert [holds, holds, fails] == [check.outcome for check in told]
    assert "come to no more" in told[0].sentence
    assert "not recomputed" in told[1].sentence


DELTA = Fraction("1e-9")
RHO = curve_rho(Fraction(1), DELTA)


def _rounds(rho: Fraction, *, among: int = 4) -> list[Event]:
    """Gaussian rounds on fine grids that cost ρ in all."""
    one = Fraction(1)
    sigma_squared = among / (2 * rho)
    return [FineGaussianEvent(sigma_squared, one, one, Fraction(1024)) for _ in range(among)]


def test_a_claim_by_the_gaussian_curve_is_recomputed() -> None:
    """The whole ρ of the curve holds under its name; a hundredth more does not, and is refused."""
    holds = verified(_claim(_rounds(RHO), Fraction(1), DELTA, CURVE))[0]
    assert Outcome.HOLDS is holds.outcome
    assert "come to no more" in holds.sentence
    fails = verified(_claim(_rounds(RHO * 101 / 100), Fraction(1), DELTA, CURVE))[0]
    assert Outcome.FAILS is fails.outcome
    assert "its own answers come to" in fails.sentence


@pytest.mark.parametrize(
    "other",
    [
        GaussianEvent(Fraction(10**9), Fraction(1)),
        ExponentialEvent(Fraction(10**9), Fraction(1)),
    ],
    ids=lambda event: str(event.mechanism),
)
def test_the_gaussian_curve_is_for_fine_noise_alone(other: Event) -> None:
    """However little it cost, an answer that is outside the curve refutes a claim by it."""
    events = [*_rounds(RHO / 2), other]
    fails = verified(_claim(events, Fraction(1), DELTA, CURVE))[0]
    assert Outcome.FAILS is fails.outcome
    assert f"does not hold for mechanism {other.mechanism!r}" in fails.sentence
    # The same answers hold by zCDP, where they do cost so little.
    assert Outcome.HOLDS is verified(_claim(events, Fraction(1), DELTA, ZCDP))[0].outcome
    integers: list[Event] = [GaussianEvent(4 / (2 * RHO), Fraction(1))] * 4
    assert Outcome.FAILS is verified(_claim(integers, Fraction(1), DELTA, ZCDP))[0].outcome


def test_a_forged_grid_is_no_statement() -> None:
    """Answers on a grid that is too coarse for the curve are not read at all."""
    claim = _claim(_rounds(RHO), Fraction(1), DELTA, CURVE)
    written = dict(claim.written)
    written["events"] = [{**event, "finer_exact": "1"} for event in written["events"]]
    with pytest.raises(DataError, match="damaged"):
        Claim.of(written, MODEL, "0" * 64, path=Path("m.zip"))


def test_statements_of_too_many_answers_are_refused() -> None:
    """A line of a statement stands for any number of answers."""
    claim = _claim([LaplaceEvent(Fraction(1), Fraction(1))], Fraction(1), Fraction(0), PURE)
    written = dict(claim.written)
    written["events"] = [written["events"][0] | {"times": 2 * 10**6}]
    with pytest.raises(DataError, match="damaged"):
        Claim.of(written, MODEL, "0" * 64, path=Path("m.zip"))


@pytest.mark.parametrize("claimed", ["\ud800", "é", "", None, 7])
def test_a_digest_that_is_not_one_is_another(claimed: object) -> None:
    """JSON can hold halves of letters, which no file has as bytes."""
    assert not same(claimed, "0f")
