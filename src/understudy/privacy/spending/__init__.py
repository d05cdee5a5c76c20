"""Spending: grants of single runs, and the ledger that adds runs up and keeps limits."""
