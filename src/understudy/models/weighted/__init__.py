"""Weighted pools of rows: brought near to tables, and made into rows without weights."""
