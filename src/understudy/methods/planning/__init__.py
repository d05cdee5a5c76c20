"""Plans: what a budget can support, before anything is read or spent.

A plan knows the schema, a declared number of rows and the budget. It rehearses the method itself
on made-up tables of that shape, and says what was asked, how noisy the answers are, and how far
the synthetic rows were from the made-up ones. How good such a forecast is: docs/guides/planning.md.

Privacy: nothing here takes data. What comes out depends on public facts alone.
"""

from understudy.methods.planning.band import Band
from understudy.methods.planning.forecast import (
    EPSILONS,
    MOST_COLUMNS,
    MOST_ROWS,
    plan_fit,
)
from understudy.methods.planning.need import Need
from understudy.methods.planning.plan import Families, Outlook, Plan, Resources

__all__ = [
    "EPSILONS",
    "MOST_COLUMNS",
    "MOST_ROWS",
    "Band",
    "Families",
    "Need",
    "Outlook",
    "Plan",
    "Resources",
    "plan_fit",
]
