"""Claims on protected networks: they are of the paper's tables, and follow the numbers."""

from __future__ import annotations

import pytest

from understudy_studies.cells import Cell, Results
from understudy_studies.protection_claims import ORIGINAL, protection_claims
from understudy_studies.study import Reproduction
from understudy_studies.two_sensitive import GCAP, ORDINARY, PROTECTED


def _cells(attack: float, utility: float) -> Results:
    """The cells of one table with these protected rows; the zero rule names 61 %."""
    found = {ORIGINAL: (0.70, 0.50), ORDINARY: (0.65, 0.50), PROTECTED: (attack, utility)}
    return Results(
        tuple(
            Cell(
                {"table": "cmc", "network": network, "epsilon": "off"},
                {
                    "attack": {GCAP: [named]},
                    "attack_mean": [named],
                    "utility_mean": [useful],
                    "zero_rule": 0.61,
                },
                1.0,
                version="0",
            )
            for network, (named, useful) in found.items()
        )
    )


def test_a_table_that_the_paper_does_not_have_makes_no_claim() -> None:
    """The small table of smoke runs is not compared with anything."""
    assert [] == protection_claims(_cells(0.6, 0.5), "small")


@pytest.mark.parametrize(
    ("attack", "utility", "verdicts"),
    [
        (0.62, 0.49, [Reproduction.REPRODUCED, Reproduction.REPRODUCED]),
        (0.64, 0.49, [Reproduction.CONTRADICTED, Reproduction.REPRODUCED]),
        (0.62, 0.48, [Reproduction.REPRODUCED, Reproduction.CONTRADICTED]),
    ],
)
def test_verdicts_follow_the_numbers(
    attack: float, utility: float, verdicts: list[Reproduction]
) -> None:
    """Attackers may be 2 points above the zero rule, and classifiers may lose 1.5."""
    assert verdicts == [
        claim.verdict for claim in protection_claims(_cells(attack, utility), "cmc")
    ]
