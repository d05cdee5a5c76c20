"""A holder without rows, as a process: it sends back what it is sent."""

from __future__ import annotations

import sys
from pathlib import Path

from understudy.federated.wire.node import Link, Node

if __name__ == "__main__":
    address, key, roots = sys.argv[1:]
    Node(Link(address, Path(key), Path(roots)), lambda body: body).serve()
