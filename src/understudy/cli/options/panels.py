"""The panels of `--help`, in their order: what is used daily comes first."""

from __future__ import annotations

DATA = "Data"
PRIVACY = "Privacy"
OUTPUT = "Output"
METHOD = "Method"
NETWORK = "Network"
LEARNING = "How a network is learned"
FORMAT = "Format of the file"
PLACES = "Where rows are"
HOLDERS = "Holders and analyst"
TRAINING = "Training and images"

ORDER = (DATA, PRIVACY, OUTPUT, METHOD, NETWORK, LEARNING, FORMAT, PLACES, HOLDERS, TRAINING)
