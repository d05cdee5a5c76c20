"""What a stand-in is worth. Everything computed here from real rows is private."""
