"""The summary that may leave, because it was paid for."""
