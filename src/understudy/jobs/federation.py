"""Read addresses, neighbour relations and public keys, for both sides of a federation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.facts.unit import Neighbours

_PUBLIC = ".pub"
_MOST_PORT = 65_535


def host_and_port(text: str, *, option: str) -> tuple[str, int]:
    """Split an address such as example.org:9300 or [::1]:9300 into its host and port.

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
    """The neighbour relation that a name stands for; a name that is unknown is refused."""
    from understudy.facts.unit import Neighbours

    return Neighbours.parse(name)


def address_of(text: str) -> str:
    """Check the address of a SuperLink; https:// before it is allowed."""
    plain = text.removeprefix("https://").rstrip("/")
    host_and_port(plain, option="--superlink")
    return plain


def public_keys(places: Iterable[Path]) -> dict[str, Path]:
    """Find public keys in files and folders, by holder: NAME.pub is the key of NAME."""
    found: dict[str, Path] = {}
    for place in places:
        files = sorted(place.glob(f"*{_PUBLIC}")) if place.is_dir() else [place]
        if not files:
            raise UsageError(f"{place}: contains no *{_PUBLIC}; put the holders' public keys there")
        for file in files:
            name = file.name.removesuffix(_PUBLIC)
            if name in found:
                raise UsageError(
                    f"{file}: {name!r} has a key already; give each holder its own name"
                )
            found[name] = file
    return found
