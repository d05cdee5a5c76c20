"""The machine below: compiled loops, optional packages, files, texts. Nothing here knows data."""
