"""From twelve messy files to stand-ins that code written for the real file accepts.

Each trouble makes its own file, declares it as an owner would, and has the reader that someone
wrote for the real file. The same reader takes the synthetic file: the same columns in the same
order, of the same types, with cells of the declared values and formats.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest

from support.commands import Desk
from support.sas import write_sas
from support.tiers import slow_but

Cells = Mapping[str, list[Any]]
Reader = Callable[[Path], pd.DataFrame]
_ROWS = 240


@dataclass(frozen=True)
class Trouble:
    """A messy file, how it is declared, and the code that reads it.

    Attributes:
        file: its name.
        write: makes it.
        schema: the declaration, as TOML.
        read: code for the real file.
        accepts: for each column, what its cells must be.
        options: the options that describe the file.
        output: the name of the stand-in.
        read_made: code for the stand-in, where the real file is of a format that is not written.
        withheld: columns of which no real cell may be in the stand-in, whatever the noise.
    """

    file: str
    write: Callable[[Path], None]
    schema: str
    read: Reader
    accepts: Mapping[str, Callable[[pd.Series[Any]], bool]]
    options: tuple[object, ...] = ()
    output: str = ""
    read_made: Reader | None = None
    withheld: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draw:
    """Cells of a made-up table, the same in every run."""

    seed: int = 12
    source: random.Random = field(default_factory=lambda: random.Random(12))

    def choices(self, *values: Any) -> list[Any]:
        """One of some values for each row."""
        return [self.source.choice(values) for _ in range(_ROWS)]

    def numbers(self, low: float, high: float, text: str) -> list[str]:
        """A number for each row, written as a format says."""
        return [text.format(self.source.uniform(low, high)) for _ in range(_ROWS)]

    def days(self, text: str) -> list[str]:
        """A day of 2019 to 2022 for each row."""
        parts = ((2019, 2022), (1, 12), (1, 28))
        drawn = ([self.source.randint(*part) for part in parts] for _ in range(_ROWS))
        return [text.format(year=y, month=m, day=d) for y, m, d in drawn]


DRAW = Draw()


def lines(cells: Cells, separator: str = ",") -> str:
    """The text of a table, of cells that need no quotes."""
    rows = [list(cells), *zip(*cells.values(), strict=True)]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def text(cells: Cells, separator: str = ",", encoding: str = "utf-8") -> Callable[[Path], None]:
    """Write a table as text."""

    def write(path: Path) -> None:
        path.write_bytes(lines(cells, separator).encode(encoding))

    return write


def among(*values: Any) -> Callable[[pd.Series[Any]], bool]:
    """Whether all cells are one of some values."""
    return lambda column: set(column.dropna()) <= set(values)


def spelled(pattern: str) -> Callable[[pd.Series[Any]], bool]:
    """Whether all cells are texts of a pattern."""
    return lambda column: all(re.fullmatch(pattern, str(cell)) for cell in column)


def within(low: Any, high: Any, decimals: int | None = None) -> Callable[[pd.Series[Any]], bool]:
    """Whether all cells are between two bounds, with at most a number of decimals."""

    def holds(column: pd.Series[Any]) -> bool:
        rounded = column if decimals is None else column.round(decimals)
        return bool(column.dropna().between(low, high).all()) and rounded.equals(column)

    return holds


# --- the troubles -----------------------------------------------------------------------------

_AGE = '[columns.age]\nkind = "integer"\nmin = 0\nmax = 110\n'
_SEX = '[columns.sex]\nkind = "categorical"\nvalues = ["female", "male"]\n'
PEOPLE: Cells = {
    "age": [int(cell) for cell in DRAW.numbers(0, 99, "{:.0f}")],
    "sex": DRAW.choices("female", "male"),
    "weight": [float(cell) for cell in DRAW.numbers(40, 110, "{:.1f}")],
    "smoker": DRAW.choices("yes", "no"),
    "born": DRAW.days("{day:02}.{month:02}.{year}"),
}
_WEIGHT = '[columns.weight]\nkind = "float"\nmin = 30.0\nmax = 150.0\ndecimals = 1\n'
_SMOKER = '[columns.smoker]\nkind = "boolean"\nlabels = ["yes", "no"]\n'
_BORN = '[columns.born]\nkind = "date"\nmin = 2019-01-01\nmax = 2022-12-31\nformat = "%d.%m.%Y"\n'
_PEOPLE = _AGE + _SEX + _WEIGHT + _SMOKER + _BORN
# In a workbook or a file of a statistics package a day is a day, unless texts are declared.
_TYPED = f'{_PEOPLE}dtype = "string"\n'
_PEOPLE_ACCEPTS = {
    "age": within(0, 110),
    "sex": among("female", "male"),
    "weight": within(30, 150, 1),
    "smoker": among("yes", "no"),
    "born": spelled(r"[0-3][0-9]\.[01][0-9]\.20(19|2[0-2])"),
}


def _office() -> Trouble:
    """Semicolons, decimal commas, dots between thousands, and the encoding of offices."""
    cells = {
        "größe": DRAW.numbers(1, 2, "{:.2f}"),
        "lohn": DRAW.numbers(1000, 9999, "{:.2f}"),
        "ort": DRAW.choices("Köln", "Zürich"),
    }
    cells["größe"] = [cell.replace(".", ",") for cell in cells["größe"]]
    cells["lohn"] = [f"{cell[0]}.{cell[1:4]},{cell[5:]}" for cell in cells["lohn"]]
    schema = (
        '[format]\nseparator = ";"\ndecimal = ","\nthousands = "."\nencoding = "cp1252"\n'
        '[columns."größe"]\nkind = "float"\nmin = 0.5\nmax = 2.5\ndecimals = 2\n'
        '[columns.lohn]\nkind = "float"\nmin = 0.0\nmax = 20000.0\ndecimals = 2\n'
        '[columns.ort]\nkind = "categorical"\nvalues = ["Köln", "Zürich"]\n'
    )

    def read(path: Path) -> pd.DataFrame:
        return pd.read_csv(path, sep=";", decimal=",", thousands=".", encoding="cp1252")

    accepts = {
        "größe": within(0.5, 2.5, 2),
        "lohn": within(0, 20000, 2),
        "ort": among("Köln", "Zürich"),
    }
    return Trouble("office.csv", text(cells, ";", "cp1252"), schema, read, accepts)


def _money() -> Trouble:
    """A currency before the number and a percent sign behind it."""
    amounts = DRAW.numbers(-900, 900, "{:.2f}")
    cells = {
        "betrag": [f"-${a[1:]}" if a.startswith("-") else f"${a}" for a in amounts],
        "quote": DRAW.numbers(0, 100, "{:.1f}%"),
    }
    schema = (
        '[columns.betrag]\nkind = "float"\nmin = -1000.0\nmax = 1000.0\ndecimals = 2\nunit = "$"\n'
        '[columns.quote]\nkind = "float"\nmin = 0.0\nmax = 100.0\ndecimals = 1\npercent = true\n'
    )

    def read(path: Path) -> pd.DataFrame:
        rows = pd.read_csv(path)
        assert spelled(r"-?\$[0-9]+\.[0-9]{2}")(rows["betrag"])
        rows["betrag"] = rows["betrag"].str.replace("$", "").astype(float)
        rows["quote"] = rows["quote"].str.removesuffix("%").astype(float)
        return rows

    accepts = {"betrag": within(-1000, 1000, 2), "quote": within(0, 100, 1)}
    return Trouble("money.csv", text(cells), schema, read, accepts)


def _thousands() -> Trouble:
    """Commas between thousands, in quotes."""
    cells = {"revenue": [f'"{float(n):,.0f}"' for n in DRAW.numbers(0, 9e6, "{:.0f}")]}
    cells["shops"] = DRAW.choices(1, 2, 3)
    schema = (
        '[columns.revenue]\nkind = "integer"\nmin = 0\nmax = 10000000\nthousands = ","\n'
        '[columns.shops]\nkind = "integer"\nmin = 0\nmax = 9\n'
    )
    accepts = {"revenue": within(0, 10**7), "shops": within(0, 9)}
    return Trouble(
        *("revenue.csv", text(cells), schema),
        lambda path: pd.read_csv(path, thousands=","),
        accepts,
    )


def _mark() -> Trouble:
    """A byte order mark before the header."""
    schema = '[format]\nencoding = "utf-8-sig"\n' + _PEOPLE

    def read(path: Path) -> pd.DataFrame:
        assert path.read_bytes().startswith(b"\xef\xbb\xbf")
        return pd.read_csv(path, encoding="utf-8-sig")

    written = text(PEOPLE, encoding="utf-8-sig")
    return Trouble("marked.csv", written, schema, read, _PEOPLE_ACCEPTS)


def _latin() -> Trouble:
    """Tabs and latin-1."""
    cells = {"rue": DRAW.choices("Orée", "Écoles"), "no": DRAW.choices(1, 2)}
    schema = (
        '[format]\nencoding = "latin-1"\n'
        '[columns.rue]\nkind = "categorical"\nvalues = ["Orée", "Écoles"]\n'
        '[columns.no]\nkind = "integer"\nmin = 0\nmax = 9\n'
    )
    accepts = {"rue": among("Orée", "Écoles"), "no": within(0, 9)}
    return Trouble(
        *("rues.tsv", text(cells, "\t", "latin-1"), schema),
        lambda path: pd.read_csv(path, sep="\t", encoding="latin-1"),
        accepts,
    )


def _labels() -> Trouble:
    """Booleans in German, and a marker for what nobody said."""
    cells = {"raucher": DRAW.choices("ja", "nein", "k.A."), "aktiv": DRAW.choices("X", "-")}
    schema = (
        '[columns.raucher]\nkind = "boolean"\nlabels = ["ja", "nein"]\nmissing = ["k.A."]\n'
        '[columns.aktiv]\nkind = "boolean"\nlabels = ["X", "-"]\n'
    )

    def read(path: Path) -> pd.DataFrame:
        rows = pd.read_csv(path)
        known: dict[str, Any] = {"ja": True, "nein": False, "k.A.": None}
        return pd.DataFrame(
            {
                "raucher": rows["raucher"].map(known.__getitem__).astype("boolean"),
                "aktiv": rows["aktiv"] == "X",
            }
        )

    accepts = {"raucher": among(True, False), "aktiv": among(True, False)}
    return Trouble("labels.csv", text(cells), schema, read, accepts)


def _missing() -> Trouble:
    """Missing cells as NA, null, - and nothing at all."""
    cells = {
        "steps": DRAW.choices("1200", "800", "NA"),
        "level": DRAW.choices("low", "high", "null", ""),
        "grade": DRAW.choices("1.5", "2.0", "-"),
    }
    schema = (
        '[columns.steps]\nkind = "integer"\nmin = 0\nmax = 2000\nmissing = ["NA"]\n'
        '[columns.level]\nkind = "categorical"\nvalues = ["low", "high"]\nmissing = ["null"]\n'
        '[columns.grade]\nkind = "float"\nmin = 1.0\nmax = 6.0\ndecimals = 1\nmissing = ["-"]\n'
    )

    def read(path: Path) -> pd.DataFrame:
        rows = pd.read_csv(path, na_values=["-"])
        assert rows.isna().any().all()
        return rows

    accepts = {
        "steps": within(0, 2000, 0),
        "level": among("low", "high"),
        "grade": within(1, 6, 1),
    }
    return Trouble("missing.csv", text(cells), schema, read, accepts)


def _dates() -> Trouble:
    """Days with dots, and moments to the minute."""
    minutes = [f" {m % 24:02}:{m % 60:02}" for m in range(_ROWS)]
    days = DRAW.days("{year}-{month:02}-{day:02}")
    cells = {
        "geboren": DRAW.days("{day:02}.{month:02}.{year}"),
        "seen": [day + minute for day, minute in zip(days, minutes, strict=True)],
    }
    schema = (
        '[columns.geboren]\nkind = "date"\nmin = 2019-01-01\nmax = 2022-12-31\n'
        'format = "%d.%m.%Y"\n'
        '[columns.seen]\nkind = "datetime"\nmin = 2019-01-01T00:00:00\nmax = 2022-12-31T23:59:00\n'
        'format = "%Y-%m-%d %H:%M"\nstep = 60\n'
    )

    def read(path: Path) -> pd.DataFrame:
        rows = pd.read_csv(path)
        assert spelled(r"[0-9]{2}\.[0-9]{2}\.[0-9]{4}")(rows["geboren"])
        rows["geboren"] = pd.to_datetime(rows["geboren"], format="%d.%m.%Y")
        rows["seen"] = pd.to_datetime(rows["seen"], format="%Y-%m-%d %H:%M")
        return rows

    span = within(pd.Timestamp("2019-01-01"), pd.Timestamp("2023-01-01"))
    return Trouble("dates.csv", text(cells), schema, read, {"geboren": span, "seen": span})


def _zeros() -> Trouble:
    """Codes that begin with zeros, listed and not."""
    cells = {
        "plz": DRAW.choices("00123", "01067", "80331"),
        "konto": [f"{int(n):08}" for n in DRAW.numbers(0, 10**8, "{:.0f}")],
    }
    schema = (
        '[columns.plz]\nkind = "categorical"\nvalues = ["00123", "01067", "80331"]\n'
        '[columns.konto]\nkind = "integer"\nmin = 0\nmax = 99999999\ndigits = 8\n'
    )
    accepts = {"plz": among("00123", "01067", "80331"), "konto": spelled("[0-9]{8}")}
    return Trouble(
        *("zeros.csv", text(cells), schema), lambda path: pd.read_csv(path, dtype=str), accepts
    )


def _ids() -> Trouble:
    """Ids in a pattern, names, and notes that nobody may learn."""
    cells = {
        "id": [f"Q-{n:06}" for n in range(_ROWS)],
        "age": PEOPLE["age"],
        "note": DRAW.choices("saw Dr. Smith", "wife called"),
    }
    schema = (
        '[columns.id]\nkind = "text"\npattern = "P-[0-9]{6}"\n'
        + _AGE
        + '[columns.note]\nkind = "text"\npattern = "note [a-z]{4}"\n'
    )
    accepts = {
        "id": spelled("[PQ]-[0-9]{6}"),
        "age": within(0, 110),
        "note": spelled("note [a-z]{4}|saw Dr. Smith|wife called"),
    }
    return Trouble(*("ids.csv", text(cells), schema, pd.read_csv, accepts), withheld=("id", "note"))


def _gz(path: Path) -> None:
    path.write_bytes(gzip.compress(lines(PEOPLE).encode()))


def _zst(path: Path) -> None:
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(lines(PEOPLE).encode())


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", lines(PEOPLE))


def _packed(suffix: str, write: Callable[[Path], None]) -> Trouble:
    """Compressed text; zip archives are read and not written."""
    if suffix == "zip":
        return Trouble(
            *("people.csv.zip", write, _PEOPLE, pd.read_csv, _PEOPLE_ACCEPTS), output="out.csv"
        )

    def read(path: Path) -> pd.DataFrame:
        with pa.input_stream(str(path), compression={"gz": "gzip", "zst": "zstd"}[suffix]) as rows:
            return pd.read_csv(rows)

    return Trouble(f"people.csv.{suffix}", write, _PEOPLE, read, _PEOPLE_ACCEPTS)


def _workbook() -> Trouble:
    """The second of two sheets, with a title above the header."""

    def write(path: Path) -> None:
        book = openpyxl.Workbook()
        book.active.append(["nothing", "here"])
        sheet = book.create_sheet("Daten")
        sheet.append(["Patients of the ward"])
        sheet.append([])
        for line in ([*PEOPLE], *zip(*PEOPLE.values(), strict=True)):
            sheet.append(list(line))
        book.save(path)

    def read(path: Path) -> pd.DataFrame:
        return pd.read_excel(path, sheet_name="Daten", header=2)

    schema = '[format]\nsheet = "Daten"\nheader_line = 3\n' + _TYPED
    return Trouble("ward.xlsx", write, schema, read, _PEOPLE_ACCEPTS)


def _json_lines() -> Trouble:
    """Objects on lines, of which some lack a key."""
    rows = [dict(zip(PEOPLE, cells, strict=True)) for cells in zip(*PEOPLE.values(), strict=True)]
    for row in rows[::7]:
        del row["sex"]

    def write(path: Path) -> None:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def read(path: Path) -> pd.DataFrame:
        made = pd.read_json(path, lines=True)[[*PEOPLE]]
        assert made["sex"].isna().any()
        return made

    schema = _PEOPLE.replace(_SEX, f"{_SEX}missing = []\n")
    return Trouble("people.jsonl", write, schema, read, _PEOPLE_ACCEPTS)


def _database() -> Trouble:
    """A table of SQLite; its stand-in is a file of text."""

    def write(path: Path) -> None:
        with closing(sqlite3.connect(path)) as people, people:
            people.execute("CREATE TABLE people (age INT, sex TEXT, weight REAL, smoker, born)")
            rows = zip(*PEOPLE.values(), strict=True)
            people.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)

    def read(path: Path) -> pd.DataFrame:
        with closing(sqlite3.connect(path)) as people:
            return pd.read_sql("SELECT * FROM people", people)

    return Trouble(
        *("clinic.db", write, _PEOPLE, read, _PEOPLE_ACCEPTS),
        options=("--table", "people"),
        output="out.csv",
        read_made=pd.read_csv,
    )


def _statistics(suffix: str) -> Trouble:
    """A file of SPSS or Stata, whose numbers are doubles."""
    write = pyreadstat.write_sav if suffix == "sav" else pyreadstat.write_dta
    frame = pl.DataFrame(dict(PEOPLE))

    def read(path: Path) -> pd.DataFrame:
        rows, _ = (pyreadstat.read_sav if suffix == "sav" else pyreadstat.read_dta)(str(path))
        assert isinstance(rows, pd.DataFrame)
        return rows

    return Trouble(
        *(f"survey.{suffix}", lambda path: write(frame, str(path)), _TYPED, read),
        _PEOPLE_ACCEPTS,
    )


def _sas() -> Trouble:
    """A file of SAS, which is read and not written."""

    def read(path: Path) -> pd.DataFrame:
        rows = pd.read_sas(path, encoding="utf-8")
        assert isinstance(rows, pd.DataFrame)
        return rows

    return Trouble(
        *("survey.sas7bdat", lambda path: write_sas(PEOPLE, path), _PEOPLE, read, _PEOPLE_ACCEPTS),
        output="out.csv",
        # All numbers of SAS are doubles.
        read_made=lambda path: pd.read_csv(path).astype({"age": float}),
    )


TROUBLES: dict[str, Trouble] = {
    "semicolons and decimal commas": _office(),
    "currency and percent": _money(),
    "thousands": _thousands(),
    "byte order mark": _mark(),
    "latin-1 and tabs": _latin(),
    "boolean labels": _labels(),
    "missing markers": _missing(),
    "dates": _dates(),
    "leading zeros": _zeros(),
    "ids and texts": _ids(),
    "gz": _packed("gz", _gz),
    "zst": _packed("zst", _zst),
    "zip": _packed("zip", _zip),
    "sheet": _workbook(),
    "JSON lines": _json_lines(),
    "SQLite": _database(),
    "SPSS": _statistics("sav"),
    "Stata": _statistics("dta"),
    "SAS": _sas(),
}


@pytest.mark.parametrize("name", slow_but(TROUBLES, TROUBLES))
def test_the_same_code_reads_the_stand_in(desk: Desk, name: str) -> None:
    """No row of the real file is lost, and its reader accepts the synthetic file."""
    trouble = TROUBLES[name]
    real, made = desk.folder / trouble.file, desk.folder / (trouble.output or f"a-{trouble.file}")
    trouble.write(real)
    desk.schema.write_text(trouble.schema)
    checked = desk.run("check", real, "--schema", desk.schema, *trouble.options)
    assert 0 == checked.code, checked.out + checked.err
    asked = ("synth", real, "--schema", desk.schema, "--method", "independent", "-e", 200)
    result = desk.run(*asked, "-o", made, *trouble.options)
    assert 0 == result.code, result.err
    _accepted(trouble, trouble.read(real), (trouble.read_made or trouble.read)(made))


# The same troubles for an owner who declares nothing: what code for the real file would trip over.
UNDECLARED: Cells = {
    "plz": ["00501", "10115", "80331"] * (_ROWS // 3),
    "age": PEOPLE["age"],
    "quote": DRAW.numbers(0, 100, "{:.1f}%"),
    "anteil": DRAW.numbers(0, 100, "{:.0f} %"),
    "preis": DRAW.numbers(10, 90, "{:.1f} €"),
}
_UNDECLARED_ACCEPTS = {
    "plz": among("00501", "10115", "80331"),
    "age": spelled("[0-9]{1,3}"),
    "quote": spelled(r"-?[0-9]+\.[0-9]%"),
    "anteil": spelled("-?[0-9]+ %"),
    "preis": spelled(r"[0-9]+\.[0-9] €"),
}


# A file of an office as its programs write it, of which nothing is declared but the encoding.
OFFICE: Cells = {
    "Fläche": [cell.replace(".", ",") for cell in DRAW.numbers(18, 160, "{:.1f}")],
    "Miete": [f"{cell[0]}.{cell[1:4]},{cell[5:]}" for cell in DRAW.numbers(1000, 9999, "{:.2f}")],
    "Preis": [cell.replace(".", ",") for cell in DRAW.numbers(1, 90, "{:.2f} EUR")],
    "Eingang": [f"{day} 07:{minute:02}" for minute, day in enumerate(PEOPLE["born"][:60])] * 4,
}
_OFFICE_ACCEPTS = {
    "Fläche": spelled("-?[0-9]+,[0-9]"),
    "Miete": spelled(r"-?([0-9]{1,3}\.)?[0-9]+,[0-9]{2}"),
    "Preis": spelled("-?[0-9]+,[0-9]{2} EUR"),
    "Eingang": spelled(r"[0-3][0-9]\.[01][0-9]\.20[0-9]{2} [0-2][0-9]:[0-5][0-9]"),
}


@pytest.mark.parametrize(
    ("cells", "accepts", "separator"),
    [(UNDECLARED, _UNDECLARED_ACCEPTS, ","), (OFFICE, _OFFICE_ACCEPTS, ";")],
    ids=["codes and units", "office"],
)
def test_without_a_schema_codes_and_notations_stay(
    desk: Desk, cells: Cells, accepts: Mapping[str, Callable[[Any], bool]], separator: str
) -> None:
    """Kinds, values and ranges are learned, and cells come back as they were written."""
    real, made = desk.folder / "undeclared.csv", desk.folder / "made.csv"
    text(cells, separator, "cp1252")(real)
    asked = ("synth", real, "--method", "independent", "-e", 200, "-d", "1e-6")
    result = desk.run(*asked, "--encoding", "cp1252", "-o", made)
    assert 0 == result.code, result.err
    rows = pd.read_csv(made, dtype=str, sep=separator, encoding="cp1252")
    found = {name: accepts[name](rows[name]) for name in cells}
    assert dict.fromkeys(cells, True) == found, rows.head()
    assert "code or number" not in result.err


def _accepted(trouble: Trouble, real: pd.DataFrame, made: pd.DataFrame) -> None:
    assert list(real.columns) == list(made.columns)
    assert real.dtypes.to_dict() == made.dtypes.to_dict()
    assert 0.5 * _ROWS < len(made) < 2 * _ROWS
    assert [] == [name for name in trouble.withheld if set(real[name]) & set(made[name])]
    for column, accepts in trouble.accepts.items():
        for rows in (real, made):
            assert accepts(rows[column]), f"{column}: {rows[column].head().tolist()}"


def test_a_stand_in_in_another_format_is_not_accepted() -> None:
    """The checks can fail: ISO dates, other values and finer decimals are found out."""
    assert not spelled(r"[0-9]{2}\.[0-9]{2}\.[0-9]{4}")(pd.Series(["18.04.2021", "2021-04-18"]))
    assert not among("ja", "nein")(pd.Series(["ja", "true"]))
    assert not within(0, 1, 1)(pd.Series([0.5, 0.25]))
    assert not within(0, 1)(pd.Series([0.5, 2]))
