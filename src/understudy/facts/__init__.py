"""Declared and public: the values that a table may hold. Nothing here was computed from rows."""
