"""The protocol's messages between machines, over Flower.

Holders call out to the analyst's SuperLink and nobody calls them. What travels is bytes that the
protocol core made; no code that arrives is ever loaded: a holder does not even ask for a run's
bundle.
"""
