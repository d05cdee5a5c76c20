"""Numbers, days and moments are read and written as a column declares."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import SchemaError
from understudy.facts.codec import Codec
from understudy.facts.column.moment_notation import MomentNotation
from understudy.facts.column.notation import NumberNotation
from understudy.facts.schema import Schema
from understudy.models.row_writing import write_rows
from understudy.rows.sources import open_source

DOLLARS = NumberNotation.of_unit("$", thousands=",", decimals=2)
ACCOUNTS = NumberNotation.of_unit("# €", decimal=",", thousands=".", accounting=True, decimals=2)
PERCENT = NumberNotation.of_unit("# %", decimal=",", decimals=1)


@pytest.mark.parametrize(
    ("notation", "text", "plain"),
    [
        (DOLLARS, "-$257.36", "-257.36"),
        (DOLLARS, "$-257.36", "-257.36"),
        (DOLLARS, "$1,257.36", "1257.36"),
        (DOLLARS, " 12 ", "12"),
        (DOLLARS, "\N{MINUS SIGN}$3", "-3"),
        (ACCOUNTS, "(1.257,36 €)", "-1257.36"),
        (ACCOUNTS, "(3) ", "-3"),
        (PERCENT, "12,5 %", "12.5"),
        (PERCENT, "12,5%", "12.5"),
    ],
)
def test_cells_are_read_in_their_notation(notation: NumberNotation, text: str, plain: str) -> None:
    """Currency, percent, thousands, decimal commas and brackets for minus."""
    assert plain == notation.plain(text)


@pytest.mark.parametrize("text", ["--3", "(-3)", "1,25,7", "1.2.3", "-$-3", "€ 3"])
def test_cells_in_another_notation_are_unreadable(text: str) -> None:
    """What the notation does not say is not guessed."""
    with pytest.raises(ValueError):  # noqa: PT011 - the caller needs no message
        float(NumberNotation.of_unit("$", thousands=",", accounting=True).plain(text))


def test_numbers_are_written_back_in_the_same_way() -> None:
    """The sign of minus comes before the unit, or the number is in brackets."""
    assert "-$257.36" == DOLLARS.written(-257.36)
    assert "$1,257.30" == DOLLARS.written(1257.3)
    assert "(1.257,36 €)" == ACCOUNTS.written(-1257.36)
    assert "12,5 %" == PERCENT.written(12.5)
    assert "00501" == NumberNotation.of_unit(None, digits=5).written(501)
    assert "70 kg" == NumberNotation.of_unit("kg").written(70)


@given(st.floats(-1e300, 1e300), st.sampled_from([DOLLARS, ACCOUNTS, PERCENT]))
def test_every_number_survives(value: float, notation: NumberNotation) -> None:
    """A number that is written and read again is the same double."""
    assert value == float(notation.plain(notation.written(value)))


def test_days_and_moments_are_read_in_their_format() -> None:
    """The format is the only way in which texts are read."""
    assert "2021-04-18" == MomentNotation("%d.%m.%Y", days=True).plain("18.04.2021")
    read = MomentNotation("%d/%m/%Y %H:%M", days=False).plain("18/04/2021 07:30")
    assert "2021-04-18T07:30:00" == read
    with pytest.raises(ValueError, match="does not match"):
        MomentNotation("%d.%m.%Y", days=True).plain("2021-04-18")


DAY = {"kind": "date", "min": "1960-01-01", "max": "2024-12-31"}
MOMENT = {"kind": "datetime", "min": "2020-01-01T00:00:00", "max": "2024-12-31T00:00:00"}
NUMBER = {"kind": "float", "min": 0.0, "max": 1.0}
WHOLE = {"kind": "integer", "min": 0, "max": 300}


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ({**DAY, "format": "%m.%Y"}, "does not say year and day"),
        ({**DAY, "format": "%d.%m.%y"}, "%y means 1969 to 2068"),
        ({**DAY, "format": "%d.%m.%Y %H"}, "with hours"),
        ({**DAY, "format": "%x"}, "use the parts"),
        ({**MOMENT, "format": "%d.%m.%Y %H:%M"}, "add step = 60"),
        ({**MOMENT, "zone": "Mars/Base"}, "not known"),
        ({**MOMENT, "zone": "Europe/Berlin", "format": "%d.%m.%Y %H:%M:%S"}, "add %z"),
        ({**NUMBER, "unit": "$", "percent": True}, "both unit and percent"),
        ({**NUMBER, "unit": "-"}, "unit is '-'"),
        ({**NUMBER, "decimal": ",", "thousands": ","}, "the same sign"),
        ({**NUMBER, "decimal": ";"}, "decimal is . or ,"),
        ({**NUMBER, "dtype": "int8"}, "a column of kind float cannot have"),
        ({**NUMBER, "dtype": "decimal"}, "needs decimals"),
        ({**WHOLE, "dtype": "uint8"}, "use a wider type"),
        ({**WHOLE, "max": 2**40, "dtype": "float32"}, "a type of whole numbers"),
        ({**NUMBER, "max": 1e300, "dtype": "float32"}, "use float64"),
        (
            {**NUMBER, "missing": [1e300], "dtype": "decimal", "decimals": 2},
            "use float64",
        ),
        ({**DAY, "max": "2300-01-01", "dtype": "datetime64[ns]"}, "use datetime64[us]"),
        ({"kind": "categorical", "values": [2**60], "dtype": "float64"}, "does not hold"),
        ({"kind": "categorical", "values": [0.1], "dtype": "float32"}, "cannot have"),
        ({"kind": "id", "dtype": "int8"}, "cannot have"),
        ({**WHOLE, "digits": 5, "thousands": ","}, "both digits and thousands"),
        ({**WHOLE, "missing_as": "mean"}, "no cell counts as missing"),
        ({"kind": "boolean", "labels": ["no", "yes"]}, "a word for the opposite"),
        ({"kind": "boolean", "labels": ["x", "X"]}, "two different words"),
        ({"kind": "boolean", "labels": ["x", "y"], "missing": ["X"]}, "opposite|a label"),
        ({"kind": "boolean", "missing": [], "missing_as": "mean"}, "needs numbers"),
        (
            {"kind": "categorical", "values": ["a"], "missing": [], "missing_as": "median"},
            "needs an order",
        ),
        ({"kind": "categorical", "values": ["a"], "dtype": "int8"}, "does not hold"),
        ({"kind": "categorical", "values": [300], "dtype": "int8"}, "does not hold"),
        ({"kind": "id", "prefix": "P", "dtype": "int32"}, "the prefix makes texts"),
    ],
)
def test_forms_that_contradict_are_refused(column: dict[str, Any], problem: str) -> None:
    """Each contradiction is found by reading the schema, before any row is read."""
    with pytest.raises(SchemaError) as caught:
        Schema.parse({"columns": {"x": column, "y": {"kind": "boolean"}}})
    assert any(part in str(caught.value) for part in problem.split("|"))


@pytest.mark.parametrize("own", [{}, {"decimal": ",", "thousands": "."}])
def test_units_and_signs_have_the_marks_of_the_file(own: dict[str, str], tmp_path: Path) -> None:
    """A column with a unit is read and written in the file's marks, whoever declares them."""
    cost = {"kind": "float", "min": 0.0, "max": 9999.0, "decimals": 2, "unit": "# €", **own}
    form = {"separator": ";", "decimal": ",", "thousands": "."}
    schema = Schema.parse({"format": form, "columns": {"cost": cost, "sex": {"kind": "boolean"}}})
    path = tmp_path / "real.csv"
    path.write_text("cost;sex\n2.885,49 €;true\n12,50 €;false\n")
    with open_source(path, schema) as source:
        assert (2, 2) == (source.rows_read, int(source.count([("cost",)])[0].counts.sum()))
    codec = Codec(schema)
    codes = {"cost": np.full(4, codec.domain["cost"] - 1), "sex": np.zeros(4, np.int64)}
    made = codec.decode(codes, generator=np.random.default_rng(0))
    write_rows([made], tmp_path / "made.csv", codec)
    lines = (tmp_path / "made.csv").read_text().splitlines()[1:]
    assert all(re.fullmatch(r"\d\.\d{3},\d\d €;false", line) for line in lines)
    assert Schema.from_json(schema.to_json()).columns == schema.columns
