"""PrivBayes under pure ε: a greedy network by private choices, Laplace noise on its tables.

Source: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2017; AAU chapter 4. Where this differs: the
noise is added to joint counts, one-way tables are measured too, and all tables are made to agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from understudy.methods.abilities import Abilities
from understudy.methods.network import NetworkSynthesizer


@dataclass(kw_only=True, eq=False, repr=False)
class PrivBayes(NetworkSynthesizer):
    """A Bayesian network under pure ε.

    Under add-remove neighbours, the default, structure is chosen by total variation distance in
    rows, and the number of rows is paid for. Under replace-one neighbours, as in the paper, it is
    chosen by the score R, and the number of rows is public.

    Example:
        >>> from understudy.facts.schema import Schema
        >>> yes_or_no = {"kind": "boolean"}
        >>> schema = Schema.parse({"columns": {"smoker": yes_or_no, "coughs": yes_or_no}})
        >>> rows = {"smoker": [True, False] * 500, "coughs": [True, False] * 500}
        >>> PrivBayes(schema, epsilon=1).fit(rows, ledger=None).model_.network.degree
        1
    """

    method: ClassVar[str] = "privbayes"
    summary: ClassVar[str] = (
        "a Bayesian network under pure ε: families by private choices, Laplace noise on their "
        "tables"
    )
    abilities: ClassVar[Abilities] = replace(
        NetworkSynthesizer.abilities, approximate=False, other_budget="use nist"
    )
    # 2: tables are made consistent until no cell is negative.
    law: ClassVar[int] = 2
    default_structure: ClassVar[str] = "greedy"
