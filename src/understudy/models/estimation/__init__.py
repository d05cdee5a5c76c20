"""Estimates from released tables: what they say together, and conditionals. All of it is free."""
