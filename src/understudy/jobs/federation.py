"""What the two sides of federated learning share at the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.privacy.unit import Neighbours

_PUBLIC = ".pub"
_MOST_PORT = 65_535


def host_and_port(text: str, *, option: str) -> tuple[str, int]:
    """The two halves of an address such as example.org:9300 or [::1]:9300.

    Example:
        >>> host_and_port("[::1]:9300", option="--listen")
        ('::1', 9300)
    """
    host, _, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not bare or not port.isascii() or not port.isdecimal() or int(port) > _MOST_PORT:
        raise UsageError(f"{option} is {text!r}; write HOST:PORT, such as analyst.example.org:9300")
    if ":" in bare and bare == host:
        raise UsageError(f"{option} is {text!r}; write IPv6 in brackets, such as [::1]:9300")
    return bare, int(port)


def neighbours_named(name: str) -> Neighbours:
    """The relation of a name."""
    from understudy.privacy.unit import Neighbours

    try:
        return Neighbours(name)
    except ValueError:
        raise UsageError(f"neighbours is {name!r}; use {' or '.join(Neighbours)}") from None


def address_of(text: str) -> str:
    """A SuperLink's address, checked; https:// before it is allowed."""
    plain = text.removeprefix("https://").rstrip("/")
    host_and_port(plain, option="--superlink")
    return plain


def public_keys(places: Iterable[Path]) -> dict[str, Path]:
    """The public keys in files and folders, by the names of holders: NAME.pub is NAME's."""
    found: dict[str, Path] = {}
    for place in places:
        files = sorted(place.glob(f"*{_PUBLIC}")) if place.is_dir() else [place]
        if not files:
            raise UsageError(f"{place}: holds no *{_PUBLIC}; put the holders' public keys there")
        for file in files:
            name = file.name.removesuffix(_PUBLIC)
            if name in found:
                raise UsageError(f"{file}: {name!r} has a key already; give each its own name")
            found[name] = file
    return found
