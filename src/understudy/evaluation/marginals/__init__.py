"""How near the tables of counts of two tables are."""
