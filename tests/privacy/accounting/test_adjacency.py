"""What a promise about some neighbours implies about others, against a search of small worlds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import mpmath
import pytest

from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.adjacency import Adjacency, UnitKind, group_privacy

# Two persons, two values; a table is how often each of the four rows is there.
Table = tuple[int, ...]
ROWS = list(product("ab", (0, 1)))

ROW = Adjacency()
REPLACED = Adjacency(neighbours=Neighbours.REPLACE)
PERSON = Adjacency(UnitKind.PERSON, person_id="name")


def _with(table: Table, place: int, change: int) -> Table:
    return tuple(count + (change if i == place else 0) for i, count in enumerate(table))


def _added(table: Table) -> Iterator[Table]:
    for place in range(len(ROWS)):
        yield _with(table, place, 1)
        yield _with(table, place, -1)


def _replaced(table: Table) -> Iterator[Table]:
    for gone, come in product(range(len(ROWS)), repeat=2):
        yield _with(_with(table, gone, -1), come, 1)


def _persons(most: int) -> Callable[[Table], Iterator[Table]]:
    """A person without rows comes with any, or one goes with all."""

    def of(table: Table) -> Iterator[Table]:
        for name in "ab":
            places = [i for i, row in enumerate(ROWS) if row[0] == name]
            without = tuple(0 if i in places else n for i, n in enumerate(table))
            if without != table:
                yield without
                continue
            for counts in product(range(most + 1), repeat=len(places)):
                own = dict(zip(places, counts, strict=True))
                yield tuple(own.get(i, n) for i, n in enumerate(table))

    return of


def _world(most: int) -> dict[Adjacency, Callable[[Table], Iterator[Table]]]:
    return {ROW: _added, REPLACED: _replaced, PERSON: _persons(most)}


def _farthest(here: Adjacency, there: Adjacency, most: int) -> int | None:
    """The most steps of one relation between neighbours of another, over all tables."""
    tables = set(product(range(most + 1), repeat=len(ROWS)))
    world = _world(most)
    needed = 0
    for table in tables:
        reached, border, steps = {table: 0}, {table}, 0
        while border:
            steps += 1
            border = {n for t in border for n in world[here](t) if n in tables} - reached.keys()
            reached |= dict.fromkeys(border, steps)
        for neighbour in world[there](table):
            if neighbour in tables:
                if neighbour not in reached:
                    return None
                needed = max(needed, reached[neighbour])
    return needed


@pytest.mark.parametrize(
    ("here", "there"), [(ROW, ROW), (ROW, REPLACED), (PERSON, ROW), (PERSON, REPLACED)], ids=str
)
def test_steps_are_those_that_a_search_finds(here: Adjacency, there: Adjacency) -> None:
    """The number claimed is the farthest that neighbours of one kind are apart in steps."""
    assert here.steps(there) == _farthest(here, there, 2)


def test_replacing_rows_never_adds_one() -> None:
    """Nothing follows from replace for added rows, nor for persons."""
    assert None is _farthest(REPLACED, ROW, 1) is REPLACED.steps(ROW) is REPLACED.steps(PERSON)


def test_persons_are_as_far_apart_as_they_have_rows() -> None:
    """No fixed number of steps by rows covers a person: it grows with the rows they may have."""
    assert [2, 4] == [_farthest(ROW, PERSON, most) for most in (1, 2)]
    assert ROW.steps(PERSON) is None


@pytest.mark.parametrize("kind", [UnitKind.ROW, UnitKind.IMAGE])
def test_a_replaced_unit_is_one_removed_and_one_added(kind: UnitKind) -> None:
    """Two steps within one kind, whatever the kind; none the other way."""
    added, replaced = Adjacency(kind), Adjacency(kind, Neighbours.REPLACE)
    assert 2 == added.steps(replaced)
    assert replaced.steps(added) is None


def test_units_of_another_kind_imply_nothing() -> None:
    """Images, users of streams, and persons told apart by another column."""
    image, user = Adjacency(UnitKind.IMAGE), Adjacency(UnitKind.USER)
    other = Adjacency(UnitKind.PERSON, person_id="household")
    for here, there in [(image, ROW), (ROW, image), (user, ROW), (PERSON, other), (other, user)]:
        assert here.steps(there) is None


def test_how_many_rows_of_a_person_are_kept_has_no_part() -> None:
    """Whoever is added or removed comes with all rows, of which a run keeps some."""
    few, many = (Unit(Neighbours.ADD_REMOVE, most) for most in (1, 5))
    assert Adjacency.of(few, "name") == Adjacency.of(many, "name") == PERSON
    assert "persons of column 'name' added or removed" == str(PERSON)


def test_entries_of_the_first_version_are_understood() -> None:
    """Labels in words: a row, a person with up to k rows, a user of a stream."""
    assert ROW == Adjacency.written("row", "add-remove", None)
    assert (
        UnitKind.PERSON is Adjacency.written("person with at most 3 rows", "add-remove", None).kind
    )
    assert UnitKind.USER is Adjacency.written("user, all events", "add-remove", None).kind


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_group_privacy_is_never_understated(steps: int) -> None:
    """The exact sum of powers, in 60 digits, is not above what is claimed, and hardly below."""
    for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(7, 2), Fraction(40)):
        got, delta = group_privacy(epsilon, Fraction(1, 10**30), steps=steps)
        with mpmath.workdps(60):
            one = mpmath.mpf(epsilon.numerator) / epsilon.denominator
            exact = sum(mpmath.exp(i * one) for i in range(steps)) / mpmath.mpf(10) ** 30
            claimed = mpmath.mpf(delta.numerator) / delta.denominator
            assert exact <= claimed <= min(exact * (1 + mpmath.mpf(10) ** -11), 1) or claimed == 1
        assert steps * epsilon == got


def test_absurd_losses_do_not_take_all_memory() -> None:
    """An epsilon of 10³⁰⁰ leaves a delta of one, at once."""
    assert (2 * Fraction(10**300), Fraction(1)) == group_privacy(
        Fraction(10**300), Fraction(1, 10**9), steps=2
    )
