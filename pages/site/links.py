"""Links between pages, moved to where pages are on the site."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

_CODE = r"^ *(?P<fence>```+).*?^ *(?P=fence)$|(?P<ticks>`+)[^`].*?(?P=ticks)(?!`)"
_LINK = r"(?P<label>!?\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^)\s]+)\)"
_EITHER = re.compile(f"{_CODE}|{_LINK}", re.MULTILINE | re.DOTALL)


def targets(text: str) -> Iterator[str]:
    """Yield the target of every link and picture outside of code."""
    for found in _EITHER.finditer(text):
        # A label may hold code, so a link is found where code is not found before it.
        if found["target"]:
            yield found["target"]


def is_external(target: str) -> bool:
    """Whether a link leaves the repository."""
    return re.match(r"[a-z]+:", target) is not None


def moved_links(text: str, *, page: str, places: Mapping[str, str]) -> str:
    """Rewrite the links of a page for the site.

    `page` is the page's path in the repository, and `places` has the path on the site of every
    file that is there. A link to any other file of the repository becomes the file's path.
    """
    return _EITHER.sub(_mover(page, places), text)


def _mover(page: str, places: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    def moved(found: re.Match[str]) -> str:
        target = found["target"]
        if target is None or is_external(target) or target.startswith("#"):
            return found[0]
        path, mark, anchor = target.partition("#")
        named = _joined(page, path)
        if named not in places:
            return _named(found["label"], named)
        here = str(PurePosixPath(places[page]).parent)
        return f"{found['label']}({os.path.relpath(places[named], here)}{mark}{anchor})"

    return moved


def _joined(page: str, path: str) -> str:
    """Return the path in the repository that a relative link of a page means."""
    return os.path.normpath(str(PurePosixPath(page).parent / path))


def _named(label: str, path: str) -> str:
    words = label[1:-1]
    return f"`{path}`" if words.strip("`") in (path, "") else f"{words} (`{path}`)"
