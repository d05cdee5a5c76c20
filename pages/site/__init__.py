"""The documentation site: the pages of the repository, and a reference made from the code."""
