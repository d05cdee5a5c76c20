"""What `fit` and `synth` share: something private, a method to learn it by, and who pays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.cli import options
from understudy.cli.groups import Group
from understudy.cli.images import ImageOptions
from understudy.cli.methods import Request, build
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.cli.console import Stopwatch
    from understudy.model import Model
    from understudy.sources import Access
    from understudy.synthesizers import Synthesizer


@dataclass(frozen=True, kw_only=True)
class Learning(Group):
    """What is to be learned, as the command line says it."""

    data: options.Data
    schema: options.OptionalSchemaFile = None
    request: Request
    purse: options.Purse
    reading: options.ClusterReading
    images: ImageOptions

    @property
    def of_images(self) -> bool:
        """Whether it is images, which have neither columns nor a schema."""
        return self.data.endswith(".npz")

    @property
    def inputs(self) -> list[str | Path]:
        """Files that must stay as they are."""
        return [self.data] if self.schema is None else [self.data, self.schema]

    def checked(self) -> TableJob:
        """A table to be learned; what cannot work is refused before anything is read."""
        from understudy.schema import Schema

        if self.schema is None:
            raise UsageError("schema is not given; say what may stand in each column, by --schema")
        self.images.refuse_for_tables()
        synthesizer = build(self.request, Schema.load(self.schema))
        access = replace(self.reading.access, persons=synthesizer.persons)
        return TableJob(self.data, synthesizer, access, self.purse)


@dataclass(frozen=True)
class TableJob:
    """A table, how to reach it and how to learn it."""

    data: str
    synthesizer: Synthesizer
    access: Access
    purse: options.Purse

    def fitted(self, watch: Stopwatch) -> Model:
        """The model, paid for from the ledger; the owner sees how far reading has come."""
        from understudy.privacy.fingerprints import Sighting
        from understudy.sources import dataset_name, open_source

        name = self.purse.dataset or dataset_name(self.data, self.access)
        with watch.stage("fit", "reading and fitting") as readings:
            access = replace(self.access, watch=readings)
            schema = self.synthesizer.schema
            with open_source(self.data, schema, access) as source:
                self.purse.warn_of_copies(name, Sighting(self.data, source, schema))
                fitted = self.synthesizer.fit(source, ledger=self.purse.book, dataset=name)
        return fitted.model_
