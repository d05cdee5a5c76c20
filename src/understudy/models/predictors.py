"""A network as synthpop's matrix of predictors, which `--structure` and `--predictors` read too."""

from __future__ import annotations

import csv
import io

from understudy.models.network import Network


def predictor_matrix(network: Network) -> str:
    """A line for each child, 1 where the column is one of its parents, else 0, as CSV.

    Example:
        >>> print(predictor_matrix(Network.from_parents({"age": [], "grade": ["age"]})), end="")
        ,age,grade
        age,0,0
        grade,1,0
    """
    text = io.StringIO()
    matrix = csv.writer(text, lineterminator="\n")
    matrix.writerow(["", *network.order])
    for family in network:
        marks = [int(name in family.parents) for name in network.order]
        matrix.writerow([family.child, *marks])
    return text.getvalue()
