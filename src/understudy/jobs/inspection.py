"""Job of `inspect`: read a model, describe it, and draw or export its network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import UsageError
from understudy.jobs.output import summary, write_bytes

if TYPE_CHECKING:
    from understudy.models.model import Model
    from understudy.models.strengths import Strengths
    from understudy.privacy.mechanisms.released import ReleasedTable

SUFFIXES = (".svg", ".png", ".bif", ".csv")


@dataclass(frozen=True)
class AskedQuestion:
    """All charges for one question: the tables that they paid for, and their costs.

    Attributes:
        tables: of each charge; None where it paid for something else.
        events: the charges, as the statement has them.
    """

    tables: tuple[ReleasedTable | None, ...]
    events: tuple[dict[str, Any], ...]

    @property
    def question(self) -> str:
        """Return the question as the statement has it."""
        return str(self.events[0]["question"])

    @property
    def table(self) -> ReleasedTable | None:
        """Return the average of all tables; None where the answer is not a table."""
        from understudy.privacy.mechanisms.released import together

        tables = [table for table in self.tables if table]
        return together(tables) if tables else None

    @property
    def cost(self) -> dict[str, Any]:
        """The charges added up: all of them are of one kind."""
        first = self.events[0]
        kinds = {"epsilon", "rho"} & first.keys()
        return first | {kind: sum(event[kind] for event in self.events) for kind in kinds}


@dataclass(frozen=True)
class ModelInspection:
    """A model, and how strong the edges of its network are, where it has any."""

    model: Model
    strengths: Strengths

    @property
    def tables(self) -> list[ReleasedTable | None]:
        """For every charge the table that it paid for, if any."""
        from understudy.privacy.mechanisms.released import released_table

        model = self.model
        charges = (charge for charge, _ in model.statement.grouped)
        return [released_table(charge, model.domain, model.rows) for charge in charges]

    @property
    def answers(self) -> list[AskedQuestion]:
        """Every question with all that was paid for it; a table that was asked again is one."""
        events = self.model.statement.document()["events"]
        found: dict[str, list[tuple[ReleasedTable | None, dict[str, Any]]]] = {}
        for number, pair in enumerate(zip(self.tables, events, strict=True)):
            table, event = pair
            found.setdefault(event["question"] if table else f"{number}", []).append(pair)
        return [
            AskedQuestion(tuple(t for t, _ in all_), tuple(e for _, e in all_))
            for all_ in found.values()
        ]

    def document(self) -> dict[str, Any]:
        """Describe the model for machines: its statement, network, scores and released tables."""
        from understudy.models.strengths import MEASURE

        scores = self.strengths.scores
        edges = [{"parent": p, "child": c, "score": score} for (p, c), score in scores.items()]
        rows = self.strengths.rows
        return summary(self.model, self.model.rows) | {
            "network": {family.child: list(family.parents) for family in self.model.network},
            "edges": edges,
            "scores": {"measure": MEASURE, "exact": rows is None, "rows": rows},
            "tables": [table.document() for table in self.tables if table],
        }


def inspect(path: Path, *, output: Path | None = None, theme: str = "auto") -> ModelInspection:
    """Read a model; where an output is named, write its network there.

    Args:
        path: the model's file or folder.
        output: a picture, .svg or .png, or .bif for other programs, or .csv for the matrix of
            predictors that synthpop reads; samples of a model of images go to a .png file.
        theme: the colours of a picture: light, dark, or auto.
    """
    from understudy.models.model import Model
    from understudy.models.strengths import strengths_of
    from understudy.system.files.writing import check_apart

    if output is not None:
        check_apart(_checked(output), path)
    model = Model.load(path)
    found = ModelInspection(model, strengths_of(model))
    if output is not None and not _wrote_sheet(model, output):
        model.distribution.require_structure()
        _write_network(found, output, theme)
    return found


def _wrote_sheet(model: Model, output: Path) -> bool:
    """Write samples of a model of images, where a picture of pixels is asked for."""
    samples = model.distribution.sheet() if output.suffix == ".png" else None
    if samples is not None:
        write_bytes(output, samples)
    return samples is not None


def _checked(output: Path) -> Path:
    from understudy.system.files.writing import check_writable

    if output.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise UsageError(f"output {output}: suffix {output.suffix!r} is unknown; use {known}")
    return check_writable(output)


def _write_network(found: ModelInspection, output: Path, theme: str) -> None:
    from understudy.models.pictures import network_png, network_svg
    from understudy.models.predictors import predictor_matrix
    from understudy.system.extras import require

    model, strengths = found.model, found.strengths
    match output.suffix:
        case ".svg":
            data = network_svg(model, theme=theme, strengths=strengths).encode()
        case ".png":
            require("resvg_py", extra="pictures")
            data = network_png(model, theme=theme, strengths=strengths)
        case ".csv":
            data = predictor_matrix(model.network).encode()
        case _:
            data = "".join(model.bif_lines()).encode()
    write_bytes(output, data)
