"""Models of images in the form that earlier versions wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from understudy.gan.archive import write_arrays
from understudy.gan.earlier import FORM, STATEMENT, content
from understudy.gan.image_model import ImageGenerator
from understudy.models.archive import bound_statement
from understudy.privacy.statements.statement import Statement


def earlier_document(images: ImageGenerator, rows: int, statement: Statement) -> dict[str, Any]:
    """The document of such a model, its statement bound to all else."""
    document = {"format": FORM, "version": 1, **images.document(), "rows": rows}
    found = content(images.weights, document)
    return document | {STATEMENT: bound_statement(statement, found, None)}


def write_earlier(path: Path, images: ImageGenerator, rows: int, statement: Statement) -> None:
    """Write such a model."""
    write_arrays(path, images.weights, earlier_document(images, rows, statement))
