"""Colours of pictures, as rules that reach nothing outside of one."""

from __future__ import annotations

from dataclasses import dataclass

THEMES = ("auto", "light", "dark")
SCOPE = "understudy-network"


@dataclass(frozen=True)
class _Colours:
    page: str
    box: str
    border: str
    text: str
    faint: str
    line: str
    protected: str
    protected_border: str
    target: str
    target_border: str


_LIGHT = _Colours(
    page="#ffffff",
    box="#f4f6f9",
    border="#a9b4c2",
    text="#1d2733",
    faint="#5c6875",
    line="#2f5f8f",
    protected="#fdf0e3",
    protected_border="#c4670b",
    target="#e6f3ec",
    target_border="#1f7a4d",
)
_DARK = _Colours(
    page="#14181d",
    box="#222932",
    border="#55616f",
    text="#e7ecf2",
    faint="#9aa7b5",
    line="#7fb2e5",
    protected="#3a2a18",
    protected_border="#f0a04b",
    target="#17352a",
    target_border="#4fc38a",
)


def style(theme: str) -> str:
    """Rules that reach nothing outside; plain colours, which every renderer understands."""
    scope = f".{SCOPE}.{theme}"
    if theme != "auto":
        return _rules(scope, _DARK if theme == "dark" else _LIGHT)
    dark = _rules(scope, _DARK)
    return f"{_rules(scope, _LIGHT)}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _rules(scope: str, colours: _Colours) -> str:
    rules = {
        ".page": f"fill: {colours.page}",
        ".edge path": f"fill: none; stroke: {colours.line}",
        ".edge .arrow": f"fill: {colours.line}; stroke: none",
        ".box": f"fill: {colours.box}; stroke: {colours.border}",
        ".protected .box": (
            f"fill: {colours.protected}; stroke: {colours.protected_border}; "
            "stroke-width: 1.6; stroke-dasharray: 5 3"
        ),
        ".target .box": (
            f"fill: {colours.target}; stroke: {colours.target_border}; stroke-width: 1.6"
        ),
        ".ring": f"fill: none; stroke: {colours.target_border}",
        "text": f"fill: {colours.text}; text-anchor: middle",
        ".caption, .note": f"fill: {colours.faint}; text-anchor: start",
    }
    return "".join(
        f"{', '.join(f'{scope} {part.strip()}' for part in names.split(','))} {{ {rule} }}\n"
        for names, rule in rules.items()
    )
