"""A stand-in for a private table: synthetic rows under differential privacy.

Names are imported when first used, so that `import understudy` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.discover import infer_schema
    from understudy.errors import UnderstudyError
    from understudy.model import Model
    from understudy.privacy.budget import Budget
    from understudy.privacy.ledger import Ledger
    from understudy.sample import sample_blocks, sample_rows
    from understudy.schema import Schema
    from understudy.sources import Access, open_source
    from understudy.synthesizers import Histogram, Independent, Nist, PrivBayes, Random

__version__ = "0.2.0.dev0"

__all__ = [
    "Access",
    "Budget",
    "Histogram",
    "Independent",
    "Ledger",
    "Model",
    "Nist",
    "PrivBayes",
    "Random",
    "Schema",
    "UnderstudyError",
    "infer_schema",
    "open_source",
    "sample_blocks",
    "sample_rows",
]

_HOMES = {
    "Access": "understudy.sources",
    "Budget": "understudy.privacy.budget",
    "Histogram": "understudy.synthesizers",
    "Independent": "understudy.synthesizers",
    "Ledger": "understudy.privacy.ledger",
    "Model": "understudy.model",
    "Nist": "understudy.synthesizers",
    "PrivBayes": "understudy.synthesizers",
    "Random": "understudy.synthesizers",
    "Schema": "understudy.schema",
    "UnderstudyError": "understudy.errors",
    "infer_schema": "understudy.discover",
    "open_source": "understudy.sources",
    "sample_blocks": "understudy.sample",
    "sample_rows": "understudy.sample",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'understudy' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
