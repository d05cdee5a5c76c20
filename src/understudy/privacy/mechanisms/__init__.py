"""Mechanisms: how an exact answer becomes one that may leave, and what that costs."""
