"""A network as a matrix of predictors."""

from __future__ import annotations

import csv
from pathlib import Path

from understudy.methods.structure.given import read_network
from understudy.models.network import Network
from understudy.models.predictors import predictor_matrix


def test_a_matrix_is_read_back(tmp_path: Path) -> None:
    """Names with commas and quotes are written so that the same parents are read."""
    parents = {"a,b": [], 'say "c"': ["a,b"], "d": ["a,b", 'say "c"']}
    network = Network.from_parents(parents)
    path = tmp_path / "matrix.csv"
    path.write_text(predictor_matrix(network), encoding="utf-8")
    assert ["", *network.order] == next(csv.reader(path.read_text().splitlines()))
    again = read_network(path)
    assert {f.child: set(f.parents) for f in network} == {f.child: set(f.parents) for f in again}
