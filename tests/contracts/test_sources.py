"""The contract of every engine: the same counts, cell by cell, as counting by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.engines import Engine, raw_rows
from support.tiers import slow_but
from understudy.errors import CapacityError, UsageError
from understudy.facts.capacity import available_bytes
from understudy.facts.codec import Codec
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Attributes, Domain
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.rows.counting import Counts, Marginal
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

# Every engine, and the fixture that opens it.
ENGINES = {
    "memory": "in_memory",
    "blocks": "in_blocks",
    "duckdb": "in_duckdb",
    "postgres": "in_postgres",
    "sqlite": "in_sqlite",
    "mariadb": "in_mariadb",
    "spark": "in_spark",
    "spark connect": "in_spark_connect",
    "cluster": "on_cluster",
}
# A cluster, MariaDB and Spark take seconds to start and end.
SLOW = ("cluster", "mariadb", "spark", "spark connect")
QUICK = tuple(fixture for name, fixture in ENGINES.items() if name not in SLOW)
# Single values, two, those around whole fours of bitmaps, and some beyond 8 bits.
SIZES = (1, 2, 2, 3, 4, 5, 6, 9, 13, 17, 40, 300)


@pytest.fixture(scope="module", params=slow_but(QUICK, ENGINES.values()), ids=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    """The engine that sits the exam."""
    opened: Engine = request.getfixturevalue(request.param)
    return opened


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Small tables of one to four attributes, some beyond 8 bits, with any number of rows."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 7, 40, 300]), min_size=1, max_size=4))
    domain = Domain({f"a{i}": size for i, size in enumerate(sizes)})
    rows = draw(st.integers(0, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    return _table(domain, rows, seed)


def _table(domain: Domain, rows: int, seed: int) -> Table:
    generator = np.random.default_rng(seed)
    codes: dict[str, Codes] = {
        name: generator.integers(0, size, rows, dtype=code_type(size))
        for name, size in domain.sizes.items()
    }
    return Table(domain, codes, rows)


def _with_dropped(table: Table, places: list[int]) -> Table:
    """The table as if rows in these places had been read and dropped."""
    dropped = np.isin(np.arange(table.rows + len(places)), places)
    return replace(table, rows_read=dropped.size, dropped=dropped)


def _by_hand(table: Table, attributes: Attributes) -> Counts:
    counts = np.zeros(table.domain.shape(attributes), np.int64)
    rows = zip(*(table.codes[a].tolist() for a in attributes), strict=True)
    seen = Counter(rows) if attributes else Counter({(): table.rows})
    for cell, times in seen.items():
        counts[cell] = times
    return counts


def _subsets(domain: Domain) -> list[Attributes]:
    names = domain.attributes
    return [s for k in range(len(names) + 1) for s in itertools.permutations(names, k)]


def test_counts_equal_counting_by_hand(engine: Engine) -> None:
    """Every set of attributes in every order, the empty one too."""

    @settings(max_examples=min(engine.examples, settings().max_examples))
    @given(table=tables())
    def check(table: Table) -> None:
        sets = [s for s in _subsets(table.domain) if table.domain.cells(s) <= 10**6]
        for attributes, marginal in zip(sets, engine.open(table).count(sets), strict=True):
            assert attributes == marginal.attributes
            assert np.array_equal(_by_hand(table, attributes), marginal.counts)

    check()


def test_rows_that_were_dropped_count_as_read(engine: Engine) -> None:
    """They are in no table, and in the number of rows read."""
    whole = _table(Domain({"a": 3}), 10, 0)
    source = engine.open(_with_dropped(whole, [0, 5, 6, 13]))
    assert 14 == source.rows_read
    assert [10, 10] == [marginal.counts.sum() for marginal in source.count([(), ("a",)])]


@given(table=tables(), dropped=st.sets(st.integers(0, 2)))
def test_raw_rows_are_encoded_as_the_table(table: Table, dropped: set[int]) -> None:
    """Engines that encode by themselves meet the same exam."""
    assume(all(place < table.rows + len(dropped) for place in dropped))
    table = _with_dropped(table, list(dropped))
    schema, rows = raw_rows(table)
    encoded = Table.of(Codec(schema).encode(rows))
    assert (table, table.rows_read) == (encoded, encoded.rows_read)
    assert table.kept.tolist() == encoded.kept.tolist()


@pytest.mark.parametrize("size", [2, 64, 65, 100, 128, 129])
def test_a_single_value_beside_many_is_counted(engine: Engine, size: int) -> None:
    """Few cells do not mean that both attributes are small."""
    table = _table(Domain({"one": 1, "many": size}), 500, size)
    source = engine.open(table)
    for pair in [("one", "many"), ("many", "one")]:
        [marginal] = source.count([pair])
        assert np.array_equal(_by_hand(table, pair), marginal.counts)


def test_many_families_of_the_same_parents_are_counted_each(engine: Engine) -> None:
    """Tables of three and four attributes that share all but the last, asked in any order."""
    table = _table(Domain({f"a{i}": 3 + i for i in range(6)}), 700, 5)
    names = table.domain.attributes
    sets = [s for k in (3, 4) for s in itertools.permutations(names, k)][::7]
    for attributes, marginal in zip(sets, engine.open(table).count(sets), strict=True):
        assert attributes == marginal.attributes
        assert np.array_equal(_by_hand(table, attributes), marginal.counts)


@pytest.mark.parametrize("rows", slow_but(range(1000), [0, 1, 63, 64, 65, 16_384, 16_385, 40_000]))
def test_all_pairs_of_many_attributes_are_counted(engine: Engine, rows: int) -> None:
    """Small and large pairs, in either order, around the size of a block of bitmaps."""
    engine.check_size(rows)
    table = _table(Domain({f"a{i}": size for i, size in enumerate(SIZES)}), rows, rows)
    sets = list(itertools.permutations(table.domain.attributes, 2))
    for attributes, marginal in zip(sets, engine.open(table).count(sets), strict=True):
        assert np.array_equal(_by_hand(table, attributes), marginal.counts)


@pytest.mark.parametrize("rows", [0, 1, 20_000])
def test_coarser_copies_are_counted_like_attributes(engine: Engine, rows: int) -> None:
    """Codes grouped by hand and counted, alone and beside others, in any order."""
    engine.check_size(rows)
    plain = _table(Domain({"large": 600, "other": 70, "small": 3}), rows, rows)
    schema, _ = raw_rows(plain)
    table = Table(Domain.of(schema), plain.codes, plain.rows_read)
    assert ("large", "large / 75", "large / 10") == table.domain.levels("large")
    by_hand = {"large / 75": 8, "large / 10": 64, "other / 9": 8}
    codes = {name: plain.codes[name.split()[0]] // size for name, size in by_hand.items()}
    grouped = Table(
        Domain({"large / 75": 75, "large / 10": 10, "other / 9": 9, "small": 3}),
        codes | {"small": plain.codes["small"]},
        plain.rows_read,
    )
    sets = [s for k in (1, 2, 3) for s in itertools.permutations(grouped.domain.attributes, k)]
    sets = [s for s in sets if not {"large / 75", "large / 10"} <= set(s)]
    source = engine.open(table)
    for attributes, marginal in zip(sets, source.count(sets), strict=True):
        assert attributes == marginal.attributes
        assert np.array_equal(_by_hand(grouped, attributes), marginal.counts)
    scores = source.score(sets, lambda marginal: float(marginal.counts.max(initial=0)))
    assert [float(_by_hand(grouped, s).max()) for s in sets] == scores.tolist()


@pytest.mark.parametrize(
    "rows", slow_but(range(5000), [4095, 4096, 4097, 65_535, 65_536, 65_537, 140_000])
)
def test_blocks_of_rows_lose_nothing(engine: Engine, rows: int) -> None:
    """Tables around and beyond the size of a block count every row once."""
    engine.check_size(rows)
    table = _table(Domain({"a": 9, "b": 300, "c": 2}), rows, rows)
    source = engine.open(table)
    for attributes in [("a",), ("b", "a"), ("c", "b", "a"), ()]:
        [marginal] = source.count([attributes])
        assert np.array_equal(_by_hand(table, attributes), marginal.counts)


def test_scores_are_the_kernel_on_the_counts(engine: Engine) -> None:
    """Scoring a set is counting it and applying the kernel."""

    def spread(marginal: Marginal) -> float:
        return float(marginal.counts.std())

    @settings(max_examples=min(engine.examples, settings().max_examples))
    @given(table=tables())
    def check(table: Table) -> None:
        source = engine.open(table)
        sets = [(name,) for name in table.domain]
        expected = [spread(marginal) for marginal in source.count(sets)]
        assert expected == source.score(sets, spread).tolist()

    check()


def test_unknown_attributes_are_refused_by_name(engine: Engine) -> None:
    """The message lists what is known."""
    with pytest.raises(UsageError, match="'z' is unknown; known are a, b"):
        engine.open(_table(Domain({"a": 2, "b": 2}), 3, 0)).count([("z",)])


def test_tables_beyond_memory_are_refused(engine: Engine) -> None:
    """Refused before anything is allocated."""
    table = _table(Domain({f"a{i}": 60_000 for i in range(4)}), 3, 0)
    with pytest.raises(CapacityError, match="GiB"):
        engine.open(table).count([table.domain.attributes])


def test_available_memory_is_known() -> None:
    """Some, and not more than any machine has."""
    assert 2**20 < available_bytes() < 2**50


@given(table=tables(), variance=st.floats(0.1, 100))
def test_projections_commute_with_counting(table: Table, variance: float) -> None:
    """Summing a released table down equals releasing the smaller one, with summed variance."""
    names = table.domain.attributes
    assume(table.domain.cells(names) <= 10**6)
    [joint] = MemorySource(table).count([names])
    noisy = NoisyMarginal(names, joint.counts, variance)
    for attributes in _subsets(table.domain):
        small = noisy.project(attributes)
        assert np.array_equal(_by_hand(table, attributes), small.counts)
        assert small.variance == pytest.approx(variance * joint.counts.size / small.counts.size)
    assert noisy.total == table.rows
