"""Conditionals from released tables: shares of the budget, consistency, parameters."""
