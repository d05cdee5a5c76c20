"""Analyses that people run on rows: regressions, tests of independence, aggregates of their own."""
