"""Items made one ahead of their use, in a thread that never outlives them."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

from understudy.rows.engines.ahead import one_ahead


class _Items:
    """Numbers that remember which were made, in which thread, and whether they were closed."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.made: list[int] = []
        self.threads: set[str] = set()
        self.closed = False
        self._fail_at = fail_at

    def run(self) -> Generator[int]:
        try:
            for number in range(20):
                if number == self._fail_at:
                    raise ValueError(f"no {number}")
                self.made.append(number)
                self.threads.add(threading.current_thread().name)
                yield number
        finally:
            self.closed = True


def _living() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("ahead")]


def test_all_items_come_in_order_and_from_another_thread() -> None:
    """Nothing is lost or doubled, and the thread ends."""
    items = _Items()
    assert list(range(20)) == list(one_ahead(items.run()))
    assert threading.current_thread().name not in items.threads
    assert [] == _living()


def test_at_most_one_item_waits() -> None:
    """Whoever works slowly holds the item in hand and one more."""
    items = _Items()
    for number in one_ahead(items.run()):
        threading.Event().wait(0.002)
        assert len(items.made) <= number + 2


def test_a_failure_comes_where_its_item_would() -> None:
    """Items before it are not lost."""
    items = _Items(fail_at=3)
    seen: list[int] = []
    with pytest.raises(ValueError, match="no 3"):
        seen.extend(one_ahead(items.run()))
    assert [0, 1, 2] == seen
    assert [] == _living()


def test_stopping_early_ends_the_thread_and_closes_the_items() -> None:
    """A question that fails leaves neither a thread nor an open file behind."""
    items = _Items()
    made = items.run()
    ahead = one_ahead(made)
    assert 0 == next(ahead)
    ahead.close()
    assert items.closed
    assert [] == _living()
    assert len(items.made) <= 2


def test_nothing_is_made_before_it_is_asked_for() -> None:
    """An iterator that nobody starts has no thread."""
    items = _Items()
    one_ahead(items.run())
    assert [] == items.made
