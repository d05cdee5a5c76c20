"""Kinds of columns: how cells are read, what is decided, and replay from neighbouring raw files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any, cast

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.codec.persons import Persons
from understudy.facts.column import BooleanColumn
from understudy.facts.file_format import TextDialect
from understudy.facts.formats import DraftColumn
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.discover import (
    KindDiscovery,
    LearnedKinds,
    Skeleton,
    infer_kinds,
    infer_schema,
)
from understudy.methods.discover.cell_kinds import (
    CODE,
    COUNTED,
    DECIMALS,
    KINDS,
    MARKS,
    ROUND,
    kinds_of,
    narrowest,
)
from understudy.methods.discover.learned_kind import LearnedKind, NoisyDistinct
from understudy.methods.discover.notations import NOTATIONS, notation_of
from understudy.privacy.curator import Instruments
from understudy.privacy.mechanisms.additive import DiscreteGaussian
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import KeySource
from understudy.rows.sources import Access, open_keyed

HEADER = ("who", "age", "weight", "day", "smoker", "town")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(("1", "integer"), ("-17", "integer"), ("0", "integer"), ("1.5", "float")),
        *(("1e3", "float"), (".5", "float"), ("5.", "float"), ("1e999", "text")),
        *(("yes", "boolean"), ("FALSE", "boolean"), ("t", "boolean"), ("ja", "boolean")),
        *(("2021-03-01", "date"), ("2021-13-01", "text"), ("01.03.2021", "text")),
        *(("2021-03-01T10:00:00", "datetime"), ("2021-03-01 10:00", "datetime")),
        *(("00501", "text"), ("007", "text"), ("0.5", "float"), ("1_000", "text"), ("-", "text")),
        *(("nan", "text"), ("inf", "text"), ("12,5", "text"), ("-$257.36", "text")),
        *(("9" * 30, "float"), ("٣", "text")),
    ],
)
def test_a_cell_has_one_narrowest_kind(text: str, kind: str) -> None:
    """Codes with leading zeros stay texts, and nothing is read that a column could not read."""
    assert kind == narrowest(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("1,5", "float"), ("1.234,50", "float"), ("1.234", "integer"), ("1.5", "text"), ("a", "text")],
)
def test_numbers_are_read_in_the_declared_dialect(text: str, kind: str) -> None:
    """Where the decimal mark is a comma, a number with a dot for it is not read as one."""
    dialect = TextDialect(decimal=",", thousands=".")
    assert kind == narrowest(dialect.plain_number(text))


NOISE = DiscreteGaussian(Fraction(100), Fraction(1))


def _decided(counts: Mapping[str, int], name: str = "x", different: int = 5) -> LearnedKind:
    noisy = np.array([counts.get(kind, -3) for kind in COUNTED], np.int64)
    return LearnedKind.of(name, noisy, NoisyDistinct(different, NOISE), NOISE)


@pytest.mark.parametrize(
    ("counts", "kind"),
    [
        ({"integer": 5000}, "integer"),
        ({"integer": 5000, "float": 200}, "float"),
        ({"integer": 5000, "float": 15}, "integer"),
        ({"date": 5000, "datetime": 300}, "datetime"),
        ({"date": 5000}, "date"),
        ({"boolean": 4000}, "boolean"),
        ({"boolean": 4000, "integer": 900}, "categorical"),
        ({"integer": 5000, "text": 90}, "integer"),
        ({"integer": 5000, "text": 900}, "categorical"),
        ({"text": 5000}, "categorical"),
        ({"integer": 2000, CODE: 1000}, "categorical"),
        ({"integer": 2000, CODE: 80}, "categorical"),
        ({"integer": 5000, CODE: 90}, "integer"),
        ({"float": 2000, CODE: 1000}, "categorical"),
        ({CODE: 3000}, "categorical"),
        ({}, "categorical"),
    ],
)
def test_the_kind_reads_what_stands_out(counts: dict[str, int], kind: str) -> None:
    """The narrowest kind that reads all cells that show, a few unreadable ones apart."""
    found = _decided(counts)
    assert (kind, False, bool(counts)) == (found.kind, found.missing, found.clear)


@pytest.mark.parametrize(
    ("counts", "doubtful"),
    [
        ({"integer": 5000}, False),
        ({"integer": 5000, CODE: 20}, False),
        ({"integer": 5000, CODE: 90}, True),
        ({"integer": 200}, True),
        ({"float": 200}, False),
        ({"integer": 200, CODE: 100}, False),
    ],
)
def test_numbers_that_may_be_codes_are_asked_about(counts: dict[str, int], doubtful: bool) -> None:
    """Where noise could hide a tenth of the cells, or a few have leading zeros."""
    found = _decided(counts)
    assert doubtful == found.doubtful
    assert doubtful == found.draft("x").remark.startswith("code or number?")


def test_codes_that_all_differ_are_ids() -> None:
    """As other texts are; some that repeat are categories."""
    assert "id" == _decided({CODE: 4000}, different=3900).kind
    assert "categorical" == _decided({CODE: 400, "integer": 3600}, different=900).kind


def test_noise_alone_makes_codes_of_numbers_in_one_of_a_thousand_columns() -> None:
    """The height at which codes are seen is that of their noise."""
    law = NormalDist(0, 10)
    kinds = (_decided({"integer": 50, CODE: n}).kind for n in range(100))
    height = next(n for n, kind in enumerate(kinds) if kind == "categorical")
    assert 1 - law.cdf(height) <= 1 / 1000 <= 1 - law.cdf(height - 3)


def test_missing_cells_and_names_of_rows_are_seen() -> None:
    """Texts that nearly all differ are ids; numbers are so by their name alone."""
    assert _decided({"integer": 4000, "missing": 500}).missing
    assert "id" == _decided({"text": 4000}, different=3900).kind
    assert "categorical" == _decided({"text": 4000}, different=900).kind
    assert "integer" == _decided({"integer": 4000}, different=3900).kind
    assert "id" == _decided({"integer": 4000}, "encounter_id", 3900).kind
    assert "integer" == _decided({"integer": 4000}, "encounter_id", 30).kind


@pytest.mark.parametrize(
    ("counts", "labels"),
    [
        ({"ja": 3000, "nein": 900}, ("ja", "nein")),
        ({"Ja": 3000, "ja": 200, "NEIN": 900, "boolean": 100}, ("Ja", "NEIN")),
        ({"yes": 3000}, None),
        ({"boolean": 3000}, None),
        ({"oui": 2000, "no": 30, "non": 900}, ("oui", "non")),
        ({"ja": 3000, "nein": 900, "text": 2000}, None),
        ({"integer": 3000, "ja": 20, "nein": 20}, None),
    ],
)
def test_labels_are_the_words_that_stand_out(
    counts: dict[str, int], labels: tuple[str, str] | None
) -> None:
    """The most frequent word for true and for false; without both of them there are none."""
    assert labels == _decided(counts).labels


@pytest.mark.parametrize(
    ("counts", "steps"),
    [
        ({"1 decimals": 3000}, {"decimals": 1}),
        ({"1 decimals": 3000, "2 decimals": 400, "integer": 90}, {"decimals": 2}),
        ({"1 decimals": 3000, "3 decimals": 20}, {"decimals": 1}),
        ({ROUND: 3000}, {"step": 1.0}),
        ({ROUND: 3000, "integer": 400}, {"step": 1.0}),
        ({ROUND: 3000, "1 decimals": 900}, {"decimals": 1}),
        ({"1 decimals": 3000, "float": 900}, {}),
        ({"float": 3000}, {}),
        ({"1 decimals": 3000, "text": 900}, {}),
    ],
)
def test_decimals_are_the_most_that_stand_out(
    counts: dict[str, int], steps: dict[str, int | float]
) -> None:
    """Cells with an exponent or more decimals than are counted leave the number open."""
    found = _decided(counts)
    assert steps == found.steps
    assert steps.items() <= found.draft("x").keys.items()
    assert ("float" if "text" not in counts else "categorical") == found.kind


@pytest.mark.parametrize(
    ("counts", "kind", "missing"),
    [
        ({"integer": 3000, "?": 200}, "integer", ["?"]),
        ({"integer": 3000, "?": 200, "None": 90, "missing": 80}, "integer", ["?", "None"]),
        ({"integer": 3000, "--": 20}, "integer", None),
        ({"text": 3000, "?": 200, "None": 300}, "categorical", ["?"]),
        ({"text": 3000, "None": 300}, "categorical", None),
    ],
)
def test_usual_markers_are_declared_as_missing(
    counts: dict[str, int], kind: str, missing: list[str] | None
) -> None:
    """A column of numbers with question marks stays one; None may be a word among words."""
    column = _decided(counts).draft("x")
    assert (kind, missing) == (column.kind, column.keys.get("missing"))


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        *(("18.04.2021", "%d.%m.%Y"), ("31.13.2021", None), ("1-2-2020", "%d-%m-%Y")),
        *(("13/02/2021", "%d/%m/%Y"), ("02/13/2021", "%m/%d/%Y"), ("13/13/2021", None)),
        *(("01/02/2021", "day or month first"), ("30/02/2021", None), ("1.2.99", None)),
        *(("$5", "$#, 0 decimals"), ("-$1,234.50", "$# in thousands, 2 decimals")),
        *(("61.1%", "#%, 1 decimals"), ("5 €", "# €, 0 decimals")),
        *(("61.123%", "#%, more decimals"), ("1,234%", "#% in thousands, 0 decimals")),
        *(("$", None), ("$x", None), ("5 kg", None), ("$1,23", "$#, 2 decimals, decimal comma")),
        *(("12,5", "#, 1 decimals, decimal comma"), ("1,234", None), ("1,2,3", None)),
        *(("-1.102,89", "# in thousands, 2 decimals, decimal comma"), ("12,5x", None)),
        *(("2,43 EUR", "# EUR, 2 decimals, decimal comma"), ("EUR 5", "EUR #, 0 decimals")),
        *(
            ("12,34567 %", "# %, more decimals, decimal comma"),
            ("$1,234", "$# in thousands, 0 decimals"),
        ),
        *(
            ("13/02/2021 10:30", "%d/%m/%Y %H:%M"),
            ("1/2/2021 10:30:59", "day or month first %H:%M:%S"),
        ),
        *(("18.04.2021 24:00", None), ("18.04.2021 07:05:01", "%d.%m.%Y %H:%M:%S")),
    ],
)
def test_a_cell_has_one_notation_at_most(text: str, notation: str | None) -> None:
    """By its own text; a slash leaves day and month open unless one is above 12."""
    assert notation == notation_of(text, TextDialect())


@pytest.mark.parametrize(
    ("counts", "kind", "keys"),
    [
        ({"%d.%m.%Y": 3000}, "date", {"format": "%d.%m.%Y"}),
        ({"%m/%d/%Y": 2000, "day or month first": 900}, "date", {"format": "%m/%d/%Y"}),
        ({"day or month first": 900}, "categorical", {}),
        ({"%m/%d/%Y": 2000, "%d/%m/%Y": 900}, "categorical", {}),
        ({"%d.%m.%Y": 2000, "day or month first": 900}, "categorical", {}),
        (
            {"$#, 2 decimals": 900, "$# in thousands, 2 decimals": 800},
            "float",
            {"unit": "$#", "decimals": 2, "thousands": ","},
        ),
        (
            {"#%, 1 decimals": 900, "missing": 200},
            "float",
            {"percent": True, "decimals": 1, "missing": []},
        ),
        ({"#%, 1 decimals": 900, "#%, 0 decimals": 90}, "float", {"percent": True, "decimals": 1}),
        ({"#%, 0 decimals": 900, "#%, 1 decimals": 9}, "float", {"percent": True, "decimals": 0}),
        ({"#%, 1 decimals": 900, "#%, more decimals": 90}, "float", {"percent": True}),
        ({"# %, 0 decimals": 900}, "float", {"unit": "# %", "decimals": 0}),
        ({"# €, 2 decimals": 900, "text": 300}, "categorical", {}),
        (
            {f"#{g}, 2 decimals, decimal comma": 900 for g in ("", " in thousands")},
            "float",
            {"decimals": 2, "decimal": ",", "thousands": "."},
        ),
        (
            {"#, 1 decimals, decimal comma": 900, "integer": 300},
            "float",
            {"decimals": 1, "decimal": ","},
        ),
        ({"#, 1 decimals, decimal comma": 900, "float": 300}, "categorical", {}),
        # Marks between thousands change no kind, and are seen in fewer cells than a kind is.
        (
            {"#, 2 decimals, decimal comma": 900, "# in thousands, 2 decimals, decimal comma": 40},
            "float",
            {"decimals": 2, "decimal": ",", "thousands": "."},
        ),
        # A kind that noise may well show does not contradict a notation that it cannot.
        (
            {"#, 1 decimals, decimal comma": 900, "text": 45},
            "float",
            {"decimals": 1, "decimal": ","},
        ),
        (
            {"# €, 2 decimals, decimal comma": 900, "# €, 0 decimals": 300},
            "float",
            {"unit": "# €", "decimals": 2, "decimal": ","},
        ),
        ({"# €, 2 decimals, decimal comma": 900, "# €, 1 decimals": 300}, "categorical", {}),
        ({"%d.%m.%Y %H:%M": 3000}, "datetime", {"format": "%d.%m.%Y %H:%M"}),
        ({"%d.%m.%Y %H:%M": 3000, "%d.%m.%Y": 900}, "categorical", {}),
        ({"# €, 2 decimals": 900, "integer": 300}, "categorical", {}),
        ({"# €, 2 decimals": 900, "$#, 2 decimals": 300}, "categorical", {}),
    ],
)
def test_a_notation_is_learned_where_it_reads_all(
    counts: dict[str, int], kind: str, keys: dict[str, Any]
) -> None:
    """Notations that contradict each other, or occur with other cells, are texts."""
    column = _decided(counts).draft("x")
    assert (kind, keys) == (column.kind, column.keys)


def test_a_word_that_is_rare_is_not_released() -> None:
    """Noise above a word of which no cell is makes it a label in at most 1 of 200 columns."""
    others = {*KINDS, *NOTATIONS, *MARKS, CODE, ROUND, *DECIMALS}
    words, law = len(set(COUNTED) - others), NormalDist(0, 10)
    height = next(n for n in range(100) if _decided({"ja": n, "nein": 900}).labels)
    assert words * (1 - law.cdf(height)) <= 1 / 200 <= words * (1 - law.cdf(height - 1))


def _line(number: int) -> tuple[str, ...]:
    day = f"2021-0{1 + number % 9}-1{number % 10}"
    return (
        *(f"P{number // 4}", str(20 + number % 50), f"{60 + number % 9}.5", day),
        *(("yes", "no")[number % 2], "ABC"[number % 3]),
    )


LINES = [_line(number) for number in range(200)]
# One cell changes its kind, and so may all of a row; a row may be empty, or hold what nobody has.
STRANGE: list[tuple[str, ...]] = [
    ("P0", "x", "60.5", "2021-01-10", "yes", "A"),
    ("P0", "", "", "", "", ""),
    ("P0", "1.5", "heavy", "soon", "0", "Atlantis"),
    ("P0", "00501", "1", "2021-01-10T10:00:00", "2021-01-10", "7"),
    ("P0", "no", "ja", "NEIN", "vRaI", "Yes"),
    ("P0", "4.0", "60.1234567", "1e-3", "0.0", "12.25"),
    ("P0", "?", "--", "None", "?", "none"),
    ("P0", "$3.50", "12 €", "31.12.1999", "7%", "01/02/2021"),
]


def _file(path: Path, lines: Sequence[Sequence[str]]) -> Path:
    path.write_text("\n".join(",".join(cells) for cells in (HEADER, *lines)) + "\n")
    return path


def _neighbours(unit: Unit) -> Iterator[list[tuple[str, ...]]]:
    for strange in STRANGE:
        if unit.neighbours is Neighbours.REPLACE:
            yield [strange, *LINES[1:]]
        elif unit.rows_per_person is None:
            yield [*LINES, strange]
        else:
            yield [*LINES, *[("new", *strange[1:])] * unit.rows_per_person]
    if unit.neighbours is Neighbours.ADD_REMOVE:
        yield LINES[4:] if unit.rows_per_person else LINES[1:]


def _discovery(unit: Unit, epsilon: str = "2", delta: str = "1e-4") -> KindDiscovery:
    person = "who" if unit.rows_per_person else None
    return KindDiscovery(HEADER, epsilon, delta, unit=unit, person_id=person)


def _run(discovery: KindDiscovery, path: Path, tape: Recorder | Replay) -> LearnedKinds:
    persons = Persons.given(discovery.person_id, discovery.unit.rows_per_person)

    @contextmanager
    def opening(schema: Schema, columns: Sequence[str]) -> Iterator[KeySource]:
        with open_keyed(path, schema, columns, Access(persons=persons)) as source:
            yield cast("KeySource", tape.guard(source))

    taped = replace(discovery, instruments=Instruments(tape=tape))
    return taped.run(opening, dataset="table", ledger=None)


def _audit(discovery: KindDiscovery, here: Path, there: Path) -> None:
    tape = Recorder()
    first = _run(discovery, here, tape)
    tape.check_paid(first.statement.charges)
    again = Replay(tape.exchanges)
    second = _run(discovery, there, again)
    again.check_finished()
    assert first == second


UNITS = [Unit(Neighbours.ADD_REMOVE), Unit(Neighbours.REPLACE), Unit(Neighbours.ADD_REMOVE, 3)]


@pytest.mark.parametrize("delta", ["0", "1e-4"])
@pytest.mark.parametrize("unit", UNITS, ids=lambda u: f"{u.neighbours} {u.rows_per_person}")
def test_neighbouring_files_are_asked_the_same(unit: Unit, delta: str, tmp_path: Path) -> None:
    """Raw files one unit apart: the same questions, answers within sensitivity, one skeleton."""
    here = _file(tmp_path / "here.csv", LINES)
    for number, lines in enumerate(_neighbours(unit)):
        _audit(_discovery(unit, delta=delta), here, _file(tmp_path / f"{number}.csv", lines))


def test_two_rows_are_too_many(tmp_path: Path) -> None:
    """The check can fail: files two rows apart are told apart."""
    here = _file(tmp_path / "here.csv", LINES)
    there = _file(tmp_path / "there.csv", [*LINES, STRANGE[0], STRANGE[0]])
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _audit(_discovery(UNITS[0]), here, there)


def test_a_cell_counted_under_every_kind_it_could_be_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The narrowest kind alone counts: "1" is an integer, a real and a text, and counts once."""
    from understudy.methods.discover import kinds

    def nested(source: Any, column: str, dialect: TextDialect) -> Any:
        counts = kinds_of(source, column, dialect)
        counts[3] += counts[2]
        return counts

    monkeypatch.setattr(kinds, "kinds_of", nested)
    here, there = _file(tmp_path / "a.csv", LINES), _file(tmp_path / "b.csv", LINES[1:])
    with pytest.raises(LeakFound, match="kinds of cells of age: answers differ by more"):
        _audit(_discovery(UNITS[0]), here, there)


def test_a_word_counted_as_a_boolean_too_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word has its own place in the vector, and counts in no other."""
    from understudy.methods.discover import kinds

    def twice(source: Any, column: str, dialect: TextDialect) -> Any:
        counts = kinds_of(source, column, dialect)
        counts[1] += counts[len(KINDS) : COUNTED.index(NOTATIONS[0])].sum()
        return counts

    monkeypatch.setattr(kinds, "kinds_of", twice)
    here, there = _file(tmp_path / "a.csv", LINES), _file(tmp_path / "b.csv", LINES[1:])
    with pytest.raises(LeakFound, match="kinds of cells of smoker: answers differ by more"):
        _audit(_discovery(UNITS[0]), here, there)


def test_a_number_counted_by_all_its_decimals_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60.5 has one decimal, and counts neither as a real besides nor under two decimals."""
    from understudy.methods.discover import kinds

    def nested(source: Any, column: str, dialect: TextDialect) -> Any:
        counts = kinds_of(source, column, dialect)
        counts[3] += counts[-len(DECIMALS) :].sum()
        return counts

    monkeypatch.setattr(kinds, "kinds_of", nested)
    here, there = _file(tmp_path / "a.csv", LINES), _file(tmp_path / "b.csv", LINES[1:])
    with pytest.raises(LeakFound, match="kinds of cells of weight: answers differ by more"):
        _audit(_discovery(UNITS[0]), here, there)


def test_a_code_counted_as_a_text_too_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """00501 has its own place in the vector, and counts in no other."""
    from understudy.methods.discover import kinds

    def twice(source: Any, column: str, dialect: TextDialect) -> Any:
        counts = kinds_of(source, column, dialect)
        counts[KINDS.index("text")] += counts[COUNTED.index(CODE)]
        return counts

    monkeypatch.setattr(kinds, "kinds_of", twice)
    here, there = (
        _file(tmp_path / name, lines)
        for name, lines in (("a.csv", LINES), ("b.csv", [*LINES, STRANGE[3]]))
    )
    with pytest.raises(LeakFound, match="kinds of cells of age: answers differ by more"):
        _audit(_discovery(UNITS[0]), here, there)


def test_the_skeleton_goes_on_to_infer_and_adds_up(tmp_path: Path) -> None:
    """Its cost is in the skeleton, in the ledger, and in the schema that is learned from it."""
    ledger = Ledger(tmp_path / "l.jsonl")
    path = _file(tmp_path / "people.csv", [_line(number) for number in range(3000)])
    found = infer_kinds(path, HEADER, epsilon=400, delta="1e-6", ledger=ledger)
    kinds = [column.kind for column in found.draft.columns.values()]
    assert ["categorical", "integer", "float", "date", "boolean", "categorical"] == kinds
    assert ["yes", "no"] == found.draft.columns["smoker"].keys["labels"]
    skeleton = Skeleton.parse(found.draft.document())
    schema = infer_schema(path, skeleton, epsilon=5, delta="1e-6", ledger=ledger).schema
    assert schema.inference is not None
    assert ("yes", "no") == cast("BooleanColumn", schema.columns["smoker"]).labels
    whole = found.inference.delta + Fraction(1, 10**6)
    assert (Fraction(405), whole) == (schema.inference.epsilon, schema.inference.delta)
    spent = ledger.account("people").spent
    assert (Fraction(405), whole) == (spent.epsilon, spent.delta)


def test_what_is_declared_is_not_asked() -> None:
    """A column with a declared kind costs nothing; with nothing to ask nothing is spent."""
    rows = {"a": ["1"] * 500, "b": ["2"] * 500}
    known = {"a": DraftColumn("categorical", {"values": ["1"]})}
    found = infer_kinds(rows, ["a", "b"], epsilon=100, declared=known, ledger=None)
    assert 2 == len(found.statement.charges)
    assert (known["a"], "integer") == (found.draft.columns["a"], found.draft.columns["b"].kind)
    for epsilon, declared in (("0", {}), ("1", dict.fromkeys("ab", known["a"]))):
        with pytest.raises(UsageError):
            infer_kinds(rows, ["a", "b"], epsilon=epsilon, declared=declared, ledger=None)
