"""Options that `fit` and `synth` share: private data, a method, and the ledger that pays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options.data import ClusterReadingOptions, Data, OptionalSchemaFile
from understudy.cli.options.method import FitOptions
from understudy.cli.options.output import Force
from understudy.cli.options.panels import DATA, TRAINING
from understudy.cli.options.privacy import LedgerOptions
from understudy.jobs.images import ImageRequest, ImageSizeRequest
from understudy.jobs.learning import LearningRequest

Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        rich_help_panel=DATA,
        help="Do not ask at a terminal when rows do not fit the schema; they are lost.",
    ),
]


@dataclass(frozen=True)
class ImageSizeOptions(ImageSizeRequest):
    """Options about the sizes of images, which are public."""

    height: Annotated[
        int | None,
        typer.Option(
            "--height",
            metavar="PIXELS",
            rich_help_panel=TRAINING,
            help="Declare the height of all images; it is a public fact.",
        ),
    ] = None
    width: Annotated[
        int | None,
        typer.Option(
            "--width",
            metavar="PIXELS",
            rich_help_panel=TRAINING,
            help="Declare the width of all images; it is a public fact.",
        ),
    ] = None
    classes: Annotated[
        int | None,
        typer.Option(
            "--classes",
            metavar="NUMBER",
            rich_help_panel=TRAINING,
            help="Declare how many labels images have; labels are numbered from 0. Leave it out "
            "for images without labels (moments).",
        ),
    ] = None
    channels: Annotated[
        int | None,
        typer.Option(
            "--channels",
            metavar="NUMBER",
            rich_help_panel=TRAINING,
            help="Declare 1 for grey images, the default, or 3 for colour (moments).",
        ),
    ] = None


@dataclass(frozen=True)
class ImageOptions(ImageSizeOptions, ImageRequest):
    """Options that only images take."""

    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            rich_help_panel=TRAINING,
            help="Save training of images in this .npz file; the same command then resumes an "
            "interrupted run (dpgan).",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LearningOptions(LearningRequest):
    """Options about private data, a method that learns from it, and the ledger that pays."""

    data: Data
    schema: OptionalSchemaFile = None
    fit: FitOptions
    payer: LedgerOptions
    reading: ClusterReadingOptions
    images: ImageOptions
    unchecked: Annotated[
        bool,
        typer.Option(
            "--unchecked",
            rich_help_panel=DATA,
            help="Do not look first whether most rows fit the schema, nor stop where a schema that "
            "was learned is of no use. By default a terminal shows you the exact losses, and a "
            "script spends a fiftieth of epsilon on a noisy count.",
        ),
    ] = False
    force: Force = False
