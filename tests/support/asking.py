"""Questions about probabilities, whose answers tests look into."""

from __future__ import annotations

from typing import Any

from understudy.models.model import Model
from understudy.models.query import Answer
from understudy.models.query import ask as ask_anything


def ask(model: Model, question: str, **options: Any) -> Answer:
    """The answer to a question about probabilities."""
    found = ask_anything(model, question, **options)
    assert isinstance(found, Answer)
    return found
