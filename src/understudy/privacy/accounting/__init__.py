"""Accounting: events that describe noise, what they cost, and whom the sums protect."""
