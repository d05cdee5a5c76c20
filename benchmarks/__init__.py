"""Measurements of what is claimed: one file for each claim, run by `python -m benchmarks`."""
