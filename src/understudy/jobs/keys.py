"""Keys and certificates by which holders and analysts recognise each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def make_holder_key(path: Path) -> Path:
    """Write a holder's private key, and return the file of its public key."""
    from understudy.federated.wire import keys

    return keys.make_holder_key(path)


def make_analyst_certificate(folder: Path, hosts: Sequence[str]) -> Path:
    """Write an analyst's certificate and key, and return the file of roots for the holders."""
    from understudy.federated.wire import keys

    return keys.make_certificate(folder, list(hosts))
