"""Disclosure: what a stand-in reveals to attackers who know parts of rows."""
