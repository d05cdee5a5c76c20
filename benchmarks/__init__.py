"""What is claimed, measured: one file for each claim, run by `python -m benchmarks`."""
