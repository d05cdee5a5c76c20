"""Where a stand-in fails: the cells, groups and rows that means hide."""
