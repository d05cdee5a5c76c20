"""Models of images as earlier versions wrote them: one .npz archive with a JSON document.

They are read and verified, and no longer written.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy.errors import ModelError, UsageError
from understudy.gan.archive import Arrays, read_arrays
from understudy.gan.image_model import (
    ImageGenerator,
    announced_chances,
    announced_maker,
    image_model,
)
from understudy.models.archive import check_bound
from understudy.models.model import Model
from understudy.privacy.statements.binding import canonical, digest
from understudy.privacy.statements.statement import Statement

FORM = "understudy image model"
STATEMENT = "statement"


class EarlierImages:
    """Reads the archives of models of images that earlier versions wrote."""

    @staticmethod
    def load(path: Path) -> Model:
        """Read a model; a damaged one is refused."""
        arrays, document = read_arrays(path, form=FORM)
        try:
            images = ImageGenerator.of(
                announced_maker(document), arrays, announced_chances(document)
            )
            statement = Statement.parse(document[STATEMENT])
            model = image_model(images, int(document["rows"]), statement)
            check_bound(document[STATEMENT], content(arrays, document), path)
        except (LookupError, TypeError, ValueError, ArithmeticError, UsageError):
            raise ModelError(f"{path}: the model is damaged; fit it again") from None
        return model

    @staticmethod
    def bound_content(path: Path) -> tuple[dict[str, Any], str]:
        """Return the statement in a model on disk, and the digest of all else, as found."""
        arrays, document = read_arrays(path, form=FORM)
        written = document.get(STATEMENT)
        if not isinstance(written, dict):
            raise ModelError(f"{path}: holds no statement; it is damaged or something else")
        return written, content(arrays, document)


def content(arrays: Arrays, document: Mapping[str, Any]) -> str:
    """Return the digest of all of a model but its statement."""
    members = {
        name: {
            "type": array.dtype.str,
            "shape": list(array.shape),
            "sha256": digest(array.tobytes()),
        }
        for name, array in arrays.items()
    }
    rest = {name: value for name, value in document.items() if name != STATEMENT}
    return digest(canonical({**rest, "members": members}))
