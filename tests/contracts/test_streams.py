"""The exam that every estimator over a stream sits: its law, its loss, its state and its shards.

Whatever is registered in `ESTIMATORS` sits it, in memory and in a file.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

from support.statistics import NEVER, fit_of_choices
from understudy import stream
from understudy.errors import BudgetExceeded, DataError, UsageError
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.stream import DensityEstimator, Design, Edges, Hashed, Keys, Range, Sketch, response
from understudy.stream.reading import key_lines
from understudy.stream.response import ESTIMATORS, WHOLE, Response, response_of
from understudy.stream.shards import merged
from understudy.stream.state import State
from understudy.stream.universe import Universe

ONE = Fraction(1)
USERS = 20_000
# Answers are as good as normal for so many users: 7 standard errors are exceeded once in 10¹¹ runs.
FAR = 7.0
# Rounding of logarithms.
SLACK = 1e-9

Opened = Callable[..., DensityEstimator]

estimators = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture(params=["memory", "file"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """An estimator whose state is in memory, or in a file."""
    place = {"path": tmp_path / "users.state"} if request.param == "file" else {}
    held: list[DensityEstimator] = []

    def started(name: str, **terms: Any) -> DensityEstimator:
        given = {"epsilon": 1, "ledger": None, "estimator": name, **place, **terms}
        held.append(DensityEstimator(USERS, **given))
        return held[-1]

    yield started
    for estimator in held:
        estimator.close()


# --- who sits it -----------------------------------------------------------------------------


def _classes() -> set[type]:
    """Every public class of the room."""
    modules = pkgutil.iter_modules(stream.__path__, f"{stream.__name__}.")
    found = [inspect.getmembers(importlib.import_module(m.name), inspect.isclass) for m in modules]
    return {kind for members in found for name, kind in members if name[0] != "_"}


def _having(*parts: str) -> set[type]:
    """Those of them that have all these parts, protocols left out."""
    concrete = {kind for kind in _classes() if not getattr(kind, "_is_protocol", False)}
    return {kind for kind in concrete if all(hasattr(kind, part) for part in parts)}


def test_every_estimator_and_universe_sits_the_exam() -> None:
    """Whatever takes in users and answers, and whatever gives users their places."""
    assert {DensityEstimator} == _having("update", "delete", "answer", "state")
    assert {Range, Keys, Hashed, Sketch, Edges} == _having("places", "collides")


def test_every_response_is_registered() -> None:
    """A law that is made from ε alone is an estimator; one of papers asks for a centre as well."""
    functions = inspect.getmembers(response, inspect.isfunction)
    makers = [
        f for n, f in functions if n[0] != "_" and get_type_hints(f).get("return") is Response
    ]
    from_epsilon = {f for f in makers if "epsilon" == next(iter(get_type_hints(f)))}
    assert {response.centred_bernoulli} == from_epsilon - {*ESTIMATORS.values()}


# --- the laws --------------------------------------------------------------------------------


@estimators
@pytest.mark.parametrize("epsilon", ["1/10", "1", "3/2"])
def test_no_level_gives_away_more_than_epsilon(name: str, epsilon: str) -> None:
    """Both laws are whole, no level is without a chance, and no ratio exceeds e^ε."""
    found = response_of(name, Fraction(epsilon))
    for law in (found.initial, found.updated):
        assert WHOLE == sum(law)
        assert min(law) > 0
    ratios = [u / i for i, u in zip(found.initial, found.updated, strict=True)]
    loss = max(abs(math.log(ratio)) for ratio in ratios)
    assert float(Fraction(epsilon)) / 2 < loss <= float(Fraction(epsilon)) + SLACK
    assert found.loss == pytest.approx(loss)


@estimators
def test_laws_that_give_away_more_cannot_be_made(name: str) -> None:
    """The same two laws are refused at an ε one per cent below what they take."""
    found = response_of(name, ONE)
    less = Fraction(found.loss) * Fraction(99, 100)
    with pytest.raises(UsageError, match="times likelier"):
        Response(name, less, found.initial, found.updated)


@estimators
def test_state_and_answer_give_away_two_epsilon_at_most(name: str) -> None:
    """The intruder sees a level, the user visits again, and the answer is given: every pair."""
    design = Design.of(1, epsilon=1, estimator=name)
    initial, updated = (np.array(law) / WHOLE for law in _laws(design.response))
    levels, noise = np.arange(initial.size), design.sizing.noise
    answers = np.arange(-2, initial.size + 2)
    told = np.exp(-np.abs(answers[:, None] - levels[None, :]) / float(noise.scale))
    # Rows: answers; columns: levels seen. Absent, the level seen is the one behind the answer.
    absent = told * initial
    again = (told @ updated)[:, None] * updated[None, :]
    once = told * updated
    losses = [np.abs(np.log(present / absent)).max() for present in (again, once)]
    assert max(losses) <= 2 + SLACK
    assert 1 < max(losses)


def _laws(found: Response) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return found.initial, found.updated


@estimators
def test_entries_follow_their_laws(name: str, opened: Opened) -> None:
    """Entries of users who visited, did not visit, or went away have the laws of each.

    5,000 entries make the chi-square of the other law noncentral by 1,667 at least, where 500 would
    reject it at 10⁻⁹: it passes less often than once in a million runs.
    """
    visits = opened(name)
    visits.update(np.arange(0, USERS, 2))
    visits.update(np.arange(1, USERS, 4))
    visits.delete(np.arange(1, USERS, 4))
    initial, updated = (np.array(law) / WHOLE for law in _laws(visits.design.response))
    levels = _levels(visits)
    for part, own, other in (
        (levels[0::2], updated, initial),
        (levels[3::4], initial, updated),
        (levels[1::4], initial, updated),
    ):
        assert fit_of_choices(part, own) > NEVER
        assert fit_of_choices(part, other) < NEVER


def _levels(visits: DensityEstimator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """What an intruder reads off the state, user by user."""
    seen = visits.state
    if visits.design.response.levels == 2:
        seen = np.unpackbits(seen, count=USERS, bitorder="little")
    return seen[:USERS].astype(np.int64)


@estimators
def test_answers_are_as_good_as_they_say(name: str, opened: Opened) -> None:
    """Answers are within their standard errors, and users who visit twice count once."""
    visits = opened(name, answers=2)
    visits.update(np.arange(USERS // 2))
    visits.update(np.arange(USERS // 4))
    first = visits.answer()
    assert FAR > abs(first.density - 0.5) / first.standard_error
    visits.delete(np.arange(USERS // 2))
    second = visits.answer()
    assert FAR > abs(second.density) / second.standard_error
    assert 0.3 > first.standard_error
    with pytest.raises(BudgetExceeded):
        visits.answer()


@estimators
def test_everything_is_paid_for(name: str, opened: Opened) -> None:
    """The state costs ε, all answers together another, and a further answer finds nothing left."""
    grant = Grant(Budget.pure(2))
    visits = opened(name, answers=4, grant=grant)
    assert ONE == grant.remaining.amount
    for left in (3, 2, 1, 0):
        answer = visits.answer()
        assert (ONE / 4, left) == (answer.epsilon_answer, answer.left)
        assert Fraction(left, 4) == grant.remaining.amount


# --- the state -------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where a state is kept."""
    return tmp_path / "users.state"


def _left(name: str, path: Path) -> bytes:
    """A state of a file that some users and one answer went into, as an intruder sees it."""
    terms: dict[str, Any] = {"epsilon": 1, "answers": 2, "path": path, "ledger": None}
    with DensityEstimator(USERS, estimator=name, **terms) as visits:
        visits.update(np.arange(0, USERS, 3))
        visits.answer()
        return visits.state.tobytes()


@estimators
def test_a_state_comes_back_as_it_was_left(name: str, kept: Path) -> None:
    """Entries, terms, and the answers that are left."""
    seen = _left(name, kept)
    with DensityEstimator.resume(kept, ledger=None) as visits:
        assert (seen, name, 1) == (visits.state.tobytes(), visits.design.estimator, 1)
        answer = visits.answer()
        assert FAR > abs(answer.density - 1 / 3) / answer.standard_error
        with pytest.raises(BudgetExceeded):
            visits.answer()


@estimators
@pytest.mark.parametrize("place", ["head", "terms", "check", "first entry", "last entry"])
def test_a_damaged_state_is_refused(name: str, place: str, kept: Path) -> None:
    """A byte of the terms, of their check or of the entries: nothing is answered from it."""
    seen = _left(name, kept)
    whole = bytearray(kept.read_bytes())
    check = whole.index(b'"check"') + 12
    entries = whole.index(seen)
    last = entries + len(seen) - 1
    places = {"head": 0, "terms": 40, "check": check, "first entry": entries, "last entry": last}
    whole[places[place]] ^= 1
    kept.write_bytes(whole)
    with pytest.raises(DataError, match="damaged"):
        DensityEstimator.resume(kept, ledger=None)


@estimators
@pytest.mark.parametrize("size", [0, 100, 512, 1024, 2000])
def test_a_state_that_was_cut_is_refused(name: str, size: int, kept: Path) -> None:
    """Wherever the file ends before its entries do."""
    _left(name, kept)
    kept.write_bytes(kept.read_bytes()[:size])
    with pytest.raises(DataError, match=r"cut short|damaged"):
        DensityEstimator.resume(kept, ledger=None)


def _universe(kind: str, folder: Path) -> Universe:
    """One of 190 users or, in a sketch, 192 places; the pairs of 20 vertices are 190."""
    (folder / "names").write_text("".join(f"user {i}\n" for i in range(190)))
    keys = Keys(key_lines(folder / "names"))
    some = (Range(190, first=7), keys, Hashed(190), Sketch(8), Edges(20))
    [found] = [universe for universe in some if universe.kind == kind]
    return found


@pytest.mark.parametrize("kind", ["range", "keys", "hash", "sketch", "edges"])
def test_every_universe_gives_places_and_comes_back(kind: str, tmp_path: Path) -> None:
    """Each user has a place below the size, the same one after a resumption."""
    universe = _universe(kind, tmp_path)
    ids: Any = (
        universe.names if isinstance(universe, Keys) else np.arange(190) + 7 * (kind == "range")
    )
    path = tmp_path / "users.state"
    with DensityEstimator(universe, epsilon=8, path=path, ledger=None) as visits:
        before = visits.design.universe.places(ids)
    assert ((before >= 0) & (before < universe.size)).all()
    assert universe.collides or 190 == np.unique(before).size
    names = universe.names if isinstance(universe, Keys) else None
    with DensityEstimator.resume(path, names=names, ledger=None) as visits:
        assert before.tolist() == visits.design.universe.places(ids).tolist()


# --- shards ----------------------------------------------------------------------------------


def _shards(name: str, number: int, *, shared: bool) -> list[State]:
    design = Design.of(USERS, epsilon=1, estimator=name, shards=number if shared else 1)
    shards = [State.start(design) for _ in range(number)]
    for start, shard in enumerate(shards):
        ids = np.arange(0, USERS // 2, 1 if shared else number) + (0 if shared else start)
        DensityEstimator.over(shard, Grant(Budget.pure(1))).update(ids)
    return shards


@estimators
def test_disjoint_shards_add_up(name: str) -> None:
    """Three states at the whole ε, one answer, paid for once."""
    grant = Grant(Budget.pure(1))
    answer = merged(_shards(name, 3, shared=False), grant, disjoint=True)
    assert FAR > abs(answer.density - 0.5) / answer.standard_error
    assert 0 == grant.remaining.amount


OF_TWO_LEVELS = [name for name in ESTIMATORS if response_of(name, ONE).levels == 2]


@pytest.mark.parametrize("name", OF_TWO_LEVELS)
def test_shared_users_count_once(name: str) -> None:
    """Two states at half of ε each, which the same users visited."""
    answer = merged(_shards(name, 2, shared=True), Grant(Budget.pure(1)))
    assert FAR > abs(answer.density - 0.5) / answer.standard_error


@pytest.mark.parametrize("name", sorted(ESTIMATORS.keys() - {*OF_TWO_LEVELS}))
def test_shards_of_many_levels_are_refused(name: str) -> None:
    """Where users may be in several shards, entries of more levels cannot be merged."""
    with pytest.raises(UsageError, match="only for entries of two levels"):
        merged(_shards(name, 2, shared=True), Grant(Budget.pure(1)))


@estimators
def test_shards_of_other_terms_are_refused(name: str) -> None:
    """States of another estimator are not added to these."""
    other = "bernoulli" if name != "bernoulli" else "dwork"
    pair = [_shards(name, 1, shared=False)[0], _shards(other, 1, shared=False)[0]]
    with pytest.raises(UsageError, match="different terms"):
        merged(pair, Grant(Budget.pure(1)), disjoint=True)
