"""Columns that are made up for each row and never learned."""

from __future__ import annotations

from typing import Literal

from understudy.facts.column.base import ColumnBase


class IdColumn(ColumnBase):
    """A column that names rows: generated afresh, never learned."""

    kind: Literal["id"] = "id"
    prefix: str = ""
