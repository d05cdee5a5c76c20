"""Statements: what is promised about a result, how well it is proven, how it is verified."""
