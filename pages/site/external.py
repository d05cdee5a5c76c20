"""The links that leave the site, which an offline build cannot follow."""

from __future__ import annotations

from collections.abc import Mapping

from pages.site.links import is_external, targets


def external_links(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """Return every link that leaves the site, with the pages that have it."""
    found: dict[str, list[str]] = {}
    for page, text in sorted(sources.items()):
        for target in sorted({each for each in targets(text) if is_external(each)}):
            found.setdefault(target, []).append(page)
    return dict(sorted(found.items()))


def external_list(sources: Mapping[str, str]) -> str:
    """Return the list as text: a link in a line, then its pages."""
    lines = [f"{link}  {', '.join(pages)}" for link, pages in external_links(sources).items()]
    return "\n".join(lines) + "\n"
