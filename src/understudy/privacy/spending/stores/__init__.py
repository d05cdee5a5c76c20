"""Where a ledger is kept: a file, an SQLite file, a PostgreSQL server, or memory."""
