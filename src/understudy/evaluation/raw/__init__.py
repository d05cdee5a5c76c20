"""Columns as they are in the files, before the schema codes them: what codes cannot show."""
