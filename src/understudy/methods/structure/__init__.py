"""From released answers to a network and its conditionals."""
