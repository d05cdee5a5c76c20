"""Engines that count private rows where they are."""
