"""REDCap data dictionaries: a CSV file with a line for each field of a form.

Choices are written as `1, Female | 2, Male`. Identifiers are marked `y`, and are generated. A
checkbox becomes a column for each choice, `field___1`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from understudy.errors import SchemaError
from understudy.facts.column import Scalar
from understudy.facts.formats.draft import Draft, DraftColumn, drafted, unreviewed
from understudy.facts.formats.values import bound

NAME = "a REDCap data dictionary"

_FIELD, _TYPE = "Variable / Field Name", "Field Type"
_LABEL, _CHOICES = "Field Label", "Choices, Calculations, OR Slider Labels"
_CHECK, _IDENTIFIER = "Text Validation Type OR Show Slider Number", "Identifier?"
_LOW, _HIGH = "Text Validation Min", "Text Validation Max"

_CHOSEN = ("radio", "dropdown")
_PASSED_OVER = ("descriptive", "file")


def matches(text: str) -> bool:
    """Whether the first line has the two columns that every dictionary has."""
    try:
        header = next(csv.reader(io.StringIO(text.removeprefix("\ufeff"))), [])
    except csv.Error:
        return False
    return _FIELD in header and _TYPE in header


def draft(text: str) -> Draft:
    """The fields of a dictionary; what it does not say stays to be filled in."""
    try:
        lines = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    except csv.Error:
        raise SchemaError(["the dictionary is not a CSV file; export it again"]) from None
    fields = [
        {key: (value or "").strip() for key, value in line.items() if isinstance(key, str)}
        for line in lines
    ]
    bodies = [pair for number, field in enumerate(fields) for pair in _columns(field, number)]
    return drafted(bodies, lambda _, body: _column(body))


def _columns(field: Mapping[str, str], number: int) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The columns of one field: the first field of a dictionary names the records."""
    name, kind = field.get(_FIELD, ""), field.get(_TYPE, "")
    if kind in _PASSED_OVER:
        return
    if kind == "checkbox":
        for code, _ in _choices(field.get(_CHOICES, "")):
            yield f"{name}___{code}", {**field, _TYPE: "truefalse"}
        return
    yield name, {**field, _IDENTIFIER: "y"} if number == 0 else field


def _choices(text: str) -> list[tuple[str, str]]:
    pairs = [choice.partition(",") for choice in text.split("|") if choice.strip()]
    return [(code.strip(), label.strip()) for code, _, label in pairs]


def _column(field: Mapping[str, str]) -> DraftColumn:
    note = {"note": field[_LABEL]} if field.get(_LABEL) else {}
    if field.get(_IDENTIFIER, "").lower() == "y":
        return DraftColumn("id", note, "an identifier by the dictionary: generated, never learned")
    kind, check = field.get(_TYPE, ""), field.get(_CHECK, "")
    if kind in ("yesno", "truefalse"):
        return DraftColumn("boolean", {"missing": [], **note})
    if kind in _CHOSEN:
        values = [_scalar(code) for code, _ in _choices(field.get(_CHOICES, ""))]
        given = unreviewed({"values": values}) if values else {}
        return DraftColumn("categorical", {**given, "missing": [], **note})
    if kind == "notes":
        return DraftColumn("", note, "free text: omit the column")
    return _text(field, "float" if kind in ("calc", "slider") else _kind(check), note)


def _kind(check: str) -> str:
    if check.startswith("datetime"):
        return "datetime"
    if check.startswith("date"):
        return "date"
    return {"integer": "integer", "number": "float"}.get(check.partition("_")[0], "")


def _text(field: Mapping[str, str], kind: str, note: Mapping[str, str]) -> DraftColumn:
    if not kind:
        return DraftColumn("", note, "of no declared type: choose a kind, or omit the column")
    given = {"min": field.get(_LOW, ""), "max": field.get(_HIGH, "")}
    found = {key: bound(kind, value) for key, value in given.items() if value}
    return DraftColumn(kind, {**unreviewed(found), "missing": [], **note})


def _scalar(code: str) -> Scalar:
    return int(code) if code.isascii() and code.isdigit() and str(int(code)) == code else code
