"""DDI-Codebook: the variables of a study as archives describe them, in XML.

Source: DDI-Codebook 2.5. Categories, valid ranges and the format of a variable are read; statistics
of the rows, which archives often add, are not. Documents that declare entities are refused, so that
nothing is expanded or fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from understudy.errors import SchemaError
from understudy.facts.column import Scalar
from understudy.facts.formats.draft import Draft, DraftColumn, drafted, unreviewed
from understudy.facts.formats.values import bound

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAME = "a DDI codebook"

_LONGEST = 1 << 26


def matches(text: str) -> bool:
    """Whether a text is XML with the root of a codebook."""
    return "<codeBook" in text[:4096] or ":codeBook" in text[:4096]


def draft(text: str) -> Draft:
    """The variables of a codebook; what it does not say stays to be filled in."""
    root = _parsed(text)
    bodies = [(variable.get("name", ""), {"": variable}) for variable in _all(root, "var")]
    return drafted(bodies, lambda _, body: _column(body[""]))


def _parsed(text: str) -> Element:
    """The root of a document without declarations of its own."""
    from xml.etree import ElementTree

    if len(text) > _LONGEST or "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise SchemaError(["the file declares entities or is too large; export it without them"])
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):
        raise SchemaError(["the file is not well-formed XML; export it again"]) from None


def _all(element: Element, name: str) -> list[Element]:
    """All parts of a name, whatever namespace they are in."""
    return [part for part in element.iter() if str(part.tag).rpartition("}")[2] == name]


def _text(element: Element, name: str) -> str:
    found = [part for part in element if str(part.tag).rpartition("}")[2] == name]
    return " ".join("".join(found[0].itertext()).split()) if found else ""


def _column(variable: Element) -> DraftColumn:
    label = _text(variable, "labl")
    note = {"note": label} if label else {}
    categories = [part for part in _all(variable, "catgry") if part.get("missing") != "Y"]
    markers = [_text(p, "catValu") for p in _all(variable, "catgry") if p.get("missing") == "Y"]
    missing = {"missing": [marker for marker in markers if marker]}
    codes = [code for code in (_text(part, "catValu") for part in categories) if code]
    if codes and variable.get("intrvl") != "contin":
        values = unreviewed({"values": [_scalar(code) for code in dict.fromkeys(codes)]})
        return DraftColumn("categorical", {**values, **missing, **note})
    kind = _kind(variable)
    if not kind:
        return DraftColumn("", note, "of no declared type: choose a kind, or omit the column")
    return DraftColumn(kind, {**_bounds(variable, kind), **missing, **note})


def _kind(variable: Element) -> str:
    formats = _all(variable, "varFormat")
    if formats and formats[0].get("category") in ("date", "time"):
        return "date"
    if formats and formats[0].get("type") == "character":
        return "categorical"
    if not formats and variable.get("intrvl") is None:
        return ""
    return "integer" if variable.get("dcml", "0") == "0" else "float"


def _bounds(variable: Element, kind: str) -> dict[str, Any]:
    """The valid range that the study declares; one that was observed is a statistic."""
    ranges = [r for part in _all(variable, "valrng") for r in _all(part, "range")]
    if kind == "categorical" or not ranges:
        return {}
    found = {"min": ranges[0].get("min"), "max": ranges[0].get("max")}
    return unreviewed({key: bound(kind, v) for key, v in found.items() if v is not None})


def _scalar(code: str) -> Scalar:
    return int(code) if code.isascii() and code.isdigit() and str(int(code)) == code else code
