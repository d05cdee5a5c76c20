"""One line for values of many fields: what is usual is left out, what is long is cut."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from understudy.system.reprs import shown_fields


@dataclass
class _Held:
    """A value with a field of every kind of default."""

    name: str
    size: int = 1
    parts: tuple[int, ...] = field(default_factory=tuple)
    found: int = field(init=False, default=0)


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        (_Held("a"), "name='a'"),
        (_Held("a", 2, (3,)), "name='a', size=2, parts=(3,)"),
        (_Held("a", parts=tuple(range(100))), "name='a', parts=tuple(…)"),
        (_Held("a" * 100), "name=str(…)"),
    ],
)
def test_fields_are_shown_where_they_are_unusual_and_short(held: _Held, shown: str) -> None:
    """Defaults are left out, and long values show their type."""
    assert shown == shown_fields(held)


def test_a_field_may_be_left_out() -> None:
    """What is shown another way is named, and not repeated."""
    assert "size=2" == shown_fields(_Held("a", 2), without=("name",))
