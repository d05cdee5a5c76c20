"""Whole jobs of other tools: each file runs in that tool's own environment, never in ours."""
