"""Exact noise: integers and choices drawn from the randomness of the operating system."""
