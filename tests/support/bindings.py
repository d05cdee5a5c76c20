"""What a verifier is given of a model on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from understudy.models.archive import bound_content
from understudy.privacy.statements.binding import MODEL


def in_model(path: Path) -> tuple[dict[str, Any], str, str]:
    """The statement in a model, that it speaks of one, and the digest of all else in it."""
    written, found = bound_content(path)
    return written, MODEL, found
