"""Where a stream's events come from, as the command line says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.groups import Group
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.stream.reading import Wait
    from understudy.stream.universe import Ids


@dataclass(frozen=True)
class Source(Group):
    """Where events come from, and whether some of them are deletions."""

    data: Annotated[
        str,
        typer.Argument(help="Lines, .csv or .parquet of ids, redis://…; - is standard input."),
    ] = "-"
    column: Annotated[str | None, typer.Option("--column", help="That holds ids.")] = None
    stream: Annotated[str | None, typer.Option("--stream", help="The key of a Redis stream.")] = (
        None
    )
    group: Annotated[str, typer.Option("--group", help="Of Redis consumers.")] = "understudy"
    consumer: Annotated[
        str, typer.Option("--consumer", help="Whose unfinished entries come again.")
    ] = "understudy"
    idle: Annotated[
        float | None,
        typer.Option("--idle", min=0, help="Seconds without entries that end a Redis stream."),
    ] = None
    deletions: Annotated[
        bool, typer.Option("--deletions", help="Lines that begin with - are users going away.")
    ] = False

    @property
    def name(self) -> str:
        """The data's name in the ledger, unless another is given."""
        return self.stream or ("stream" if self.data == "-" else Path(self.data).stem)

    @contextmanager
    def opened(self) -> Iterator[Callable[[Wait], Iterator[Ids]]]:
        """Batches, given how often one must come; whatever is not there is refused now."""
        from understudy.stream.reading import check_events, events
        from understudy.stream.redis_streams import SCHEMES, Place, RedisEvents

        if not self.data.startswith(SCHEMES):
            check_events(self.data, self.column)
            yield lambda wait: events(self.data, column=self.column, wait=wait)
            return
        if self.stream is None or self.idle is None:
            raise UsageError(
                "name the Redis stream with --stream, and with --idle the silence that ends it"
            )
        if self.deletions:
            raise UsageError(
                "Redis may deliver an event twice, which deletions do not bear; "
                "send them through a file or standard input"
            )
        source = RedisEvents(Place(self.data, self.stream, self.group, self.consumer))
        try:
            yield lambda wait: source.batches(idle=self.idle, wait=wait)
        finally:
            source.close()
