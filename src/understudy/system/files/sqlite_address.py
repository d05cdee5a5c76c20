"""The addresses of SQLite files, which mean the same for rows and for ledgers."""

from __future__ import annotations

from pathlib import Path

SQLITE = "sqlite:///"
_SHORT = "sqlite://"


def sqlite_path(address: str) -> Path:
    """The file of an address: in the current folder, unless a fourth slash makes it absolute.

    Example:
        >>> [sqlite_path(a).as_posix() for a in ("sqlite:///x.db", "sqlite://x.db", "sqlite:////x.db")]
        ['x.db', 'x.db', '/x.db']
    """
    return Path(address.removeprefix(SQLITE if address.startswith(SQLITE) else _SHORT))


def slash_hint(path: Path) -> str:
    """Say that a slash is missing where a path without one is not there, and with one would be."""
    if path.is_absolute() or path.parent.exists() or not path.parent.name:
        return ""
    absolute = Path("/", path)
    if not absolute.parent.is_dir():
        return ""
    return f"; {SQLITE}{path} is a file in this folder, and the absolute path is {SQLITE}{absolute}"
