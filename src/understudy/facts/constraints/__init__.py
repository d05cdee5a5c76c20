"""Constraints: values that cannot occur together in a row, declared by people and kept exactly.

A constraint is read (`grammar`), understood as sets of codes (`meaning`, `constraint`), and all of
them together say which partly drawn rows can still be completed (`completion`).
"""

from __future__ import annotations

from understudy.facts.constraints.completion import (
    Completions,
    Nogoods,
    check_satisfiable,
)
from understudy.facts.constraints.constraint import Constraint, read_constraint

__all__ = ["Completions", "Constraint", "Nogoods", "check_satisfiable", "read_constraint"]
