"""BIF holds a network whole: names come back, and other tools read the same probabilities."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.networks import model_of, random_network
from support.promised import need
from support.tiers import examples
from understudy.errors import UsageError
from understudy.methods.structure.given import read_network
from understudy.models.bif import NotBif, parents_of
from understudy.models.bif.names import words_for, written
from understudy.models.inference.labels import labels_of
from understudy.models.model import Model
from understudy.models.network import Family, Network
from understudy.models.records import ReleasedRecords

NAMES = (
    *("age", "Age", "marital status", "marital_status", "größe", "2nd job", "table2", "a;b}c"),
    *('say "hi"', "variable", "a,b|c", "// no comment", "/* none */", "a\nb", "x = y", "漢字", "_"),
)
VALUES = ("a", "A", "a b", "a_b", "1", "1.5", "-1", "table1", "missing", "ü", ";}", '"', "=", "//")


def _model(seed: int = 0) -> Model:
    """A model whose names and labels are as unlike words as can be."""
    columns: dict[str, dict[str, Any]] = {n: {"kind": "boolean", "missing": []} for n in NAMES}
    columns |= {
        "age": {"kind": "categorical", "values": VALUES, "missing": ["?"]},
        "größe": {"kind": "float", "min": 0.5, "max": 2.5, "bins": 3},
        "Age": {"kind": "date", "min": "2020-01-01", "max": "2020-01-03"},
    }
    return model_of(random_network(NAMES, 2, seed), columns, seed=seed)


def _text(model: Model) -> str:
    return "".join(model.bif_lines())


def _tables(text: str) -> list[list[list[float]]]:
    """The numbers of every probability block, row by row."""
    blocks = re.findall(r"^probability .*?\n\}$", text, re.DOTALL | re.MULTILINE)
    rows = [re.findall(r"^  (?:table|\([^)]*\)) (.*);$", block, re.MULTILINE) for block in blocks]
    return [[[float(n) for n in row.split(", ")] for row in block] for block in rows]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.one_of(st.sampled_from(NAMES), st.text()), unique=True, max_size=12))
def test_every_name_becomes_a_word_of_its_own(names: list[str]) -> None:
    """All differ, even when case is ignored, and words stay what they are."""
    words = words_for(names)
    assert len(names) == len({word.lower() for word in words})
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", word) for word in words)
    assert not any(re.search("table|default", word, re.IGNORECASE) for word in words)
    assert ["age", "sex"] == words_for(["age", "sex"])


@example("\\")
@example('\\"\\\\"')
@given(st.one_of(st.text(), st.lists(st.one_of(st.text(), st.none(), st.integers()))))
def test_originals_are_written_without_any_sign_of_bif(value: object) -> None:
    """And read back as they were."""
    text = written(value)
    assert value == json.loads(text)
    assert not set("{}()|;=/\n") & set(text)
    assert text.isascii()


@pytest.mark.parametrize("seed", range(5))
def test_structures_come_back(seed: int, tmp_path: Path) -> None:
    """Exported and given again, a network is the same, whatever its names hold."""
    model, path = _model(seed), tmp_path / "network.bif"
    path.write_text(_text(model), encoding="utf-8")
    assert set(model.network) == set(read_network(path))


def test_probabilities_are_written_in_full() -> None:
    """To the last digit, in the order of the tables."""
    model = _model()
    for conditional, rows in zip(model.conditionals, _tables(_text(model)), strict=True):
        table = conditional.probabilities
        assert table.reshape(-1, table.shape[-1]).tolist() == rows


def test_labels_stand_beside_their_words() -> None:
    """Those that are not words; missing cells are null."""
    model, found = _model(), {}
    for block in re.findall(r"^variable .*?\n\}$", _text(model), re.DOTALL | re.MULTILINE):
        properties = dict(re.findall(r"^  property (\w+) = (.*) ;$", block, re.MULTILINE))
        name = json.loads(properties.get("original", json.dumps(block.split()[1])))
        found[name] = json.loads(properties["labels"])
    assert {n: labels_of(c) for n, c in model.schema.learned.items()} == found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_pgmpy_reads_the_same_network(seed: int) -> None:
    """Variables, states, edges and every probability."""
    pgmpy = need("pgmpy.readwrite")
    model = _model(seed)
    read = pgmpy.BIFReader(string=_text(model)).get_model()
    order = [c.family.child for c in model.conditionals]
    words = dict(zip(order, words_for(order), strict=True))
    assert read.check_model()
    assert {(words[p], words[c]) for p, c in model.network.edges} == set(read.edges())
    for conditional in model.conditionals:
        axes = [words[attribute] for attribute in conditional.family.attributes]
        cpd = read.get_cpds(axes[-1])
        values = cpd.values.transpose([cpd.variables.index(word) for word in axes])
        assert sorted(axes) == sorted(cpd.variables)
        np.testing.assert_allclose(conditional.probabilities, values, atol=1e-12)
        labels = labels_of(model.schema.learned[conditional.family.child])
        spelled = ["missing" if label is None else str(label) for label in labels]
        assert words_for(spelled) == cpd.state_names[axes[-1]]


FOREIGN = """
// A comment
network "Dog-Problem" { /* another { */ property author = "somebody; else" ; }
variable  "light-on" { type discrete [2] { "true" "false" } ; property position = (218, 195) ; }
variable family { type discrete[ 2 ] { true, false }; }
variable marital status { type discrete[ 2 ] { yes, no }; }
probability ( "light-on" family ) { (true) 0.6, 0.4; (false) 0.05 0.95; }
probability(family|marital status) { default 0.1, 0.9; }
probability ( marital status ) { table 0.5, 0.5; }
"""


def test_files_of_other_tools_are_read() -> None:
    """Comments, quotes, names of two words, and parents without a bar."""
    expected = {"light-on": ["family"], "family": ["marital status"], "marital status": []}
    assert expected == parents_of(FOREIGN)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("variable a { } variable a { }", "declares variable 'a' twice"),
        ("variable a { } probability ( a ) { } probability ( a ) { }", "two tables of 'a'"),
        ("variable a { } probability ( a | b ) { }", "no variable 'b'; declare it"),
        ("variable a { } probability ( b ) { }", "no variable 'b'; declare it"),
        ("variable a { }", "variable 'a' has no probability block"),
        ("variable a { property original = 3 ; } probability(a){}", "'a': property original is no"),
        (
            'variable a {property original = "b" ;} variable b {}probability(a){} probability(b){}',
            "names attribute 'b' twice",
        ),
    ],
)
def test_contradictions_are_refused_by_name(text: str, says: str) -> None:
    """Repeated, unknown and forgotten variables."""
    with pytest.raises(UsageError, match=says):
        parents_of(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no variable"),
        ("network a { }", "has no variable"),
        ("\n\nvarible a { }", "line 3: network, variable or probability is expected"),
        ("variable a {", "ends where } is expected"),
        ("variable a ; { }", "line 1: { is expected"),
        ("variable a { } probability ( ) { }", "names no variable"),
        ('variable "a { }', 'line 1: " has no end'),
        ("variable a { } /* b", r"line 1: /\* has no end"),
    ],
)
def test_what_is_no_bif_is_told_by_its_line(text: str, says: str) -> None:
    """What was expected there."""
    with pytest.raises(NotBif, match=says):
        parents_of(text)


def test_models_of_rows_have_no_network() -> None:
    """They are refused with a way out."""
    model = model_of(Network((Family("a"),)))
    held = replace(
        model, rows=1, distribution=ReleasedRecords(model.domain, {"a": np.array([1], np.uint8)})
    )
    with pytest.raises(UsageError, match="holds released rows"):
        held.bif_lines()
