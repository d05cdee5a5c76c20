"""A network that somebody wrote down: a JSON file of each attribute's parents."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from understudy.domain import Domain
from understudy.errors import UsageError
from understudy.network import Network


def read_network(path: str | Path) -> Network:
    """The network in a file such as {"income": ["age", "sex"], "age": []}."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text, object_pairs_hook=_without_repeats)
    except OSError as error:
        raise UsageError(f"network {path}: cannot be read: {error.strerror}; check it") from None
    except (ValueError, RecursionError):
        raise UsageError(f"network {path}: is no JSON; write each attribute's parents") from None
    if not isinstance(document, dict) or not all(_are_names(p) for p in document.values()):
        raise UsageError(f'network {path}: write {{"attribute": ["parent", ...], ...}}')
    named: dict[str, list[str]] = {
        parent: [] for parents in document.values() for parent in parents
    }
    return Network.from_parents({**named, **document})


def check_network(network: Network, domain: Domain) -> Network:
    """The network, when its attributes are the domain's; those it leaves out stand alone."""
    unknown = [name for name in network.order if name not in domain.sizes]
    if unknown:
        known = ", ".join(domain)
        raise UsageError(f"the network's attribute {unknown[0]!r} is unknown; known are {known}")
    alone = Network.without_edges([a for a in domain if a not in network.order])
    return Network((*network.families, *alone.families))


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object as it stands; Python's own reader would keep the last of two equal names."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise UsageError(f"the network names attribute {name!r} twice; keep one")
    return dict(pairs)


def _are_names(parents: object) -> bool:
    return isinstance(parents, list) and all(isinstance(name, str) for name in parents)
