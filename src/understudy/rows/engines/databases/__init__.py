"""Engines that count rows inside of databases; one dialect describes each kind of database."""
