"""Persons with several rows: at most k of them are kept, chosen by that person's rows only."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.databases import duckdb_file, fill_postgres
from support.replay import audit
from understudy.cli.main import run
from understudy.errors import DataError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.methods import Independent, Nist, PrivBayes, Random, Synthesizer
from understudy.privacy.replay import LeakFound
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import CountSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.sources import Access, open_source
from understudy.rows.table import Table

SCHEMA = Schema.parse(
    {
        "columns": {
            "who": {"kind": "id"},
            "a": {"kind": "integer", "min": 0, "max": 4},
            "b": {"kind": "categorical", "values": ["x", "y", "z"]},
        }
    }
)
Row = tuple[str | None, int, str]
rows_of_few = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "r", "", None]), st.integers(0, 4), st.sampled_from("xyzw")
    ),
    max_size=25,
)


def _rows(rows: list[Row]) -> pa.Table:
    who, a, b = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "who": pa.array(who, pa.string()),
            "a": pa.array(a, pa.int64()),
            "b": pa.array(b, pa.string()),
        }
    )


def _kept(rows: list[Row], most: int) -> Counter[tuple[int, int]]:
    table = Table.of(Codec(SCHEMA, Persons("who", most)).encode(_rows(rows)))
    assert most == table.rows_per_person
    assert len(rows) == table.rows_read
    return Counter(zip(table.codes["a"].tolist(), table.codes["b"].tolist(), strict=True))


@given(rows=rows_of_few, most=st.integers(1, 4))
def test_a_persons_rows_stay_by_themselves(rows: list[Row], most: int) -> None:
    """The table is the sum over persons of what each leaves; no other person has a say."""
    alone = {
        who: _kept([row for row in rows if row[0] == who], most) for who in {r[0] for r in rows}
    }
    assert sum(alone.values(), Counter()) == _kept(rows, most)
    assert all(kept.total() <= (most if who else 0) for who, kept in alone.items())


@given(rows=rows_of_few, most=st.integers(1, 4))
def test_as_many_stay_as_may(rows: list[Row], most: int) -> None:
    """Rows that the schema drops do not count, nor do those without a name."""
    each = Counter(who for who, _, b in rows if b != "w" and who)
    assert sum(min(count, most) for count in each.values()) == _kept(rows, most).total()


@given(rows=rows_of_few, most=st.integers(1, 4), seed=st.integers(0, 99))
def test_the_order_of_rows_has_no_say(rows: list[Row], most: int, seed: int) -> None:
    """The same rows leave the same table."""
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert _kept(rows, most) == _kept(shuffled, most)


def test_a_name_listed_twice_is_one_person() -> None:
    """A dictionary may hold a name more than once, and every chunk its own dictionary."""
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1, None]), pa.array(["p", "p"]))
    other = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["p", None]))
    names = pa.chunked_array([twice, other])
    gone = Persons("who", 1).left_out(names, {"a": np.zeros(7, np.uint8)})
    assert 1 == (~gone).sum()


def test_no_kind_of_row_is_preferred() -> None:
    """Of nine equal rows one stays in nine of ten persons, and the one unlike them in one."""
    draw = np.random.default_rng(1)
    people = 3000
    common, other = draw.integers(0, 200, (2, 2, people))
    codes = {
        name: np.concatenate([np.repeat(c, 9), o]).astype(np.uint8)
        for name, c, o in zip("ab", common, other, strict=True)
    }
    who = np.concatenate([np.repeat(np.arange(people), 9), np.arange(people)])
    gone = Persons("who", 1).left_out(pa.chunked_array([who]), codes)
    assert people == (~gone).sum()
    # The standard deviation of the share is 0.0055.
    assert 0.07 < (~gone[9 * people :]).mean() < 0.13


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_databases_keep_the_same_rows(engine: str, request: pytest.FixtureRequest) -> None:
    """Those of persons without a name are in none of them."""
    draw = random.Random(5)
    rows: list[Row] = [
        (
            draw.choice(["p", "q", "", None, *map(str, range(30))]),
            draw.randint(0, 4),
            draw.choice("xyzw"),
        )
        for _ in range(400)
    ]
    for most in (1, 2, 5, 100):
        persons = Persons("who", most)
        if engine == "duckdb":
            data = ibis.duckdb.connect().create_table("people", _rows(rows))
        else:
            data = fill_postgres(request.getfixturevalue("postgres_server"), _rows(rows))
        memory = MemorySource(Table.of(Codec(SCHEMA, persons).encode(_rows(rows))))
        with open_source(data, SCHEMA, Access(table="people", persons=persons)) as source:
            assert most == source.rows_per_person
            [ours], [theirs] = (s.count([("a", "b")]) for s in (source, memory))
            assert np.array_equal(theirs.counts, ours.counts)


def _source(rows: list[Row], most: int) -> MemorySource:
    return MemorySource(Table.of(Codec(SCHEMA, Persons("who", most)).encode(_rows(rows))))


def _crowd(count: int) -> list[Row]:
    draw = random.Random(3)
    return [
        (str(draw.randint(0, count // 3)), draw.randint(0, 3), draw.choice("xy"))
        for _ in range(count)
    ]


METHODS: dict[str, Callable[[int], Synthesizer]] = {
    "independent": lambda most: Independent(
        SCHEMA, epsilon=1, person_id="who", rows_per_person=most
    ),
    "nist": lambda most: Nist(SCHEMA, epsilon=1, delta=1e-6, person_id="who", rows_per_person=most),
    "privbayes": lambda most: PrivBayes(SCHEMA, epsilon=1, person_id="who", rows_per_person=most),
    "random": lambda most: Random(SCHEMA, epsilon=1, person_id="who", rows_per_person=most),
}


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("name", METHODS)
def test_whole_persons_are_hidden(name: str, most: int) -> None:
    """A person with the most rows, all in one cell that nobody else is in, comes or goes."""
    method = METHODS[name](most)
    for crowd in (_crowd(0), _crowd(60)):
        alike: list[Row] = [("new", 4, "z")] * (most + 2)
        apart: list[Row] = [("new", i % 5, "xyz"[i % 3]) for i in range(most + 2)]
        for person in (alike, apart):
            audit(method, _source(crowd, most), _source([*crowd, *person], most))
            audit(method, _source([*crowd, *person], most), _source(crowd, most))


@pytest.mark.parametrize("name", METHODS)
def test_persons_without_a_name_are_hidden(name: str) -> None:
    """Someone whose rows have no name comes or goes beside others like them, and moves nothing."""
    method = METHODS[name](2)
    crowd = [*_crowd(60), *((None, i % 4, "xy"[i % 2]) for i in range(9)), (" ", 1, "z")]
    nameless: list[Row] = [("", 4, "z"), (None, 4, "z"), ("\t", 4, "z"), (None, 0, "x")]
    audit(method, _source(crowd, 2), _source([*nameless, *crowd], 2))
    both: list[Row] = [*nameless, ("new", 4, "z"), (" new", 4, "z"), ("new ", 4, "z")]
    audit(method, _source([*both, *crowd], 2), _source(crowd, 2))


@pytest.mark.parametrize("name", METHODS)
def test_two_persons_are_too_many(name: str) -> None:
    """The check can fail."""
    crowd = _crowd(60)
    two: list[Row] = [(who, 4, "z") for who in ("new", "newer") for _ in range(3)]
    with pytest.raises(LeakFound, match="sensitivity"):
        audit(METHODS[name](3), _source(crowd, 3), _source([*crowd, *two], 3))


def test_the_statement_speaks_of_persons() -> None:
    """Of one row each, too: a row that comes may take the place of another."""
    model = METHODS["independent"](1).fit(_rows(_crowd(60)), ledger=None).model_
    document = model.statement.document()
    assert ("person with at most 1 row", 1) == (document["unit"], document["rows_per_person"])
    assert "any one person with at most 1 row added or removed" in model.statement.sentence
    assert model.statement == type(model.statement).parse(document)


def test_noise_grows_with_the_rows_of_a_person() -> None:
    """Tables by c, scores by 2c."""
    one, five = (
        METHODS["nist"](most).fit(_rows(_crowd(60)), ledger=None).model_ for most in (1, 5)
    )
    ratios = {
        charge.question: other.event.sensitivity_squared / charge.event.sensitivity_squared  # type: ignore[union-attr]
        for charge, other in zip(one.statement.charges, five.statement.charges, strict=False)
        if charge.question == other.question and charge.question.startswith("counts of a")
    }
    assert {25} == set(ratios.values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"person_id": "who"}, "both a column"),
        ({"rows_per_person": 3}, "both a column"),
        ({"person_id": "who", "rows_per_person": 0}, "at least 1"),
        ({"person_id": "who", "rows_per_person": 2, "neighbours": "replace"}, "add-remove"),
        ({"person_id": "a", "rows_per_person": 2}, "learned as well"),
        ({"person_id": "who", "rows_per_person": 1.5}, "a whole number"),
        ({"person_id": "who", "rows_per_person": True}, "a whole number"),
        ({"person_id": "who", "rows_per_person": "2"}, "a whole number"),
    ],
)
def test_impossible_persons_are_refused(
    arguments: dict[str, object], words: str, tmp_path: Path
) -> None:
    """Before anything is paid."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    method = Independent(SCHEMA, epsilon=1, **arguments)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=words):
        method.fit(_rows(_crowd(9)), ledger=ledger, dataset="table")
    assert {} == ledger.accounts()


def test_rows_that_are_not_bounded_are_refused() -> None:
    """A promise for persons needs an engine that saw to it, and the same number."""
    sources: list[CountSource] = [MemorySource(Table.of(Codec(SCHEMA).encode(_rows(_crowd(9)))))]
    sources.append(_source(_crowd(9), 2))
    for source in sources:
        with pytest.raises(UsageError, match="not opened so"):
            METHODS["independent"](3).fit(source, ledger=None)
    with pytest.raises(UsageError, match="not opened so"):
        Independent(SCHEMA, epsilon=1).fit(_source(_crowd(9), 2), ledger=None)


def test_a_missing_column_of_persons_is_named() -> None:
    """The refusal speaks of the option that names it, and not of the schema."""
    words = "no column 'person', which was named to identify persons; correct --person-id"
    with pytest.raises(DataError, match=words):
        Independent(SCHEMA, epsilon=1, person_id="person", rows_per_person=2).fit(
            _rows(_crowd(9)), ledger=None
        )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_name_persons(suffix: str, tmp_path: Path) -> None:
    """By a column that the schema need not declare; blocks and clusters are refused."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    path = tmp_path / f"rows{suffix}"
    rows = _rows([row for row in _crowd(90) if row[0]]).rename_columns(["patient", "a", "b"])
    (pc.write_csv if suffix == ".csv" else pq.write_table)(rows, path)
    persons = Persons("patient", 2)
    with open_source(path, SCHEMA, Access(persons=persons)) as source:
        expected = Table.of(Codec(SCHEMA, persons).encode(rows))
        [ours], [theirs] = (s.count([("a", "b")]) for s in (source, MemorySource(expected)))
        assert np.array_equal(theirs.counts, ours.counts)
    with (
        pytest.raises(UsageError, match="all rows of a person together"),
        open_source(path, SCHEMA, Access(persons=persons, memory=10)),
    ):
        pass


def test_persons_on_the_command_line(tmp_path: Path) -> None:
    """`--person-id who --rows-per-person 2`, without a word on neighbours."""
    schema = tmp_path / "s.toml"
    schema.write_text(
        '[columns.who]\nkind = "id"\n[columns.a]\nkind = "integer"\nmin = 0\nmax = 4\n'
        '[columns.b]\nkind = "categorical"\nvalues = ["x", "y", "z"]\n'
    )
    address = duckdb_file(tmp_path / "clinic.duckdb", _rows(_crowd(90)), "visits")
    out = tmp_path / "out.csv"
    arguments = ["synth", address, "--table", "visits", "--schema", schema, "--epsilon", "1"]
    arguments += ["--person-id", "who", "--rows-per-person", "2", "-o", out]
    assert 0 == run([str(argument) for argument in arguments])
    assert '"person with at most 2 rows"' in Path(f"{out}.privacy.json").read_text()
