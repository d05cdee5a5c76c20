"""The privacy core: units, budgets, events, accounting, ledger, mechanisms and the one door."""
