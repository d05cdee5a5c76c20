"""k-anonymity and l-diversity: against a twin that looks at rows one by one, and beside attacks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.evaluation.disclosure.anonymity import anonymity
from understudy.evaluation.disclosure.disclosure import disclosure_risk
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.rows.table import Table

DOMAIN = Domain({"age": 3, "sex": 2, "ill": 4})
KEY = ("age", "sex")


def _table(rows: list[tuple[int, int, int]]) -> Table:
    columns = np.array(rows, np.uint8).reshape(-1, 3)
    return Table(DOMAIN, {name: columns[:, i] for i, name in enumerate(DOMAIN)}, len(rows))


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=30
    )
)
def test_classes_are_those_of_a_twin(rows: list[tuple[int, int, int]]) -> None:
    """The smallest class, the fewest values in one, and who is alone."""
    found = anonymity(_table(rows), sensitive="ill", key=KEY)
    classes: dict[tuple[int, int], list[int]] = {}
    for age, sex, ill in rows:
        classes.setdefault((age, sex), []).append(ill)
    values = list(classes.values())
    assert (len(values), min(map(len, values))) == (found.classes, found.k)
    assert min(len(set(ill)) for ill in values) == found.l
    assert sum(len(ill) == 1 for ill in values) / len(rows) == found.alone
    least = min(
        -sum(ill.count(v) / len(ill) * math.log(ill.count(v) / len(ill)) for v in set(ill))
        for ill in values
    )
    assert math.exp(least) == pytest.approx(found.effective_l)
    assert 1 <= (found.effective_l or 0) <= (found.l or 0) + 1e-9


def test_no_rows_have_no_classes() -> None:
    """Nothing is claimed of an empty table."""
    found = anonymity(_table([]), sensitive="ill", key=KEY)
    assert (0, None, None, None, None) == (
        found.classes,
        found.k,
        found.l,
        found.effective_l,
        found.alone,
    )


def test_anonymity_is_beside_the_attacks() -> None:
    """Every table has it for every key: the original, and a stand-in with other classes."""
    yes_or_no = {"kind": "categorical", "values": ["yes", "no"]}
    schema = Schema.parse({"columns": {"ill": yes_or_no, "smoker": yes_or_no}})
    real = {"ill": ["yes", "no", "no"], "smoker": ["yes", "no", "no"]}
    other = {"ill": ["yes", "no"], "smoker": ["yes", "yes"]}
    found = disclosure_risk(
        real, {"other": other}, schema, sensitive="ill", keys=["smoker"], classifiers="none"
    )
    shown = [table["anonymity"][0] for table in found.document()["tables"]]
    assert [(1, 1), (2, 2)] == [(each["k"], each["l"]) for each in shown]
    assert [1 / 3, 0.0] == pytest.approx([each["alone"] for each in shown])
