"""How well models learn from a stand-in, tested on real rows."""
