"""Where the events of a stream come from: a file, standard input or Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.stream.reading import Wait
    from understudy.stream.universe import Ids


@dataclass(frozen=True)
class EventRequest(JobRequest):
    """Where events come from, and whether some of them are deletions.

    Attributes:
        data: a file of ids, the address of a Redis server, or - for standard input.
        column: the column, or the field of Redis entries, that holds ids.
        stream: the key of a Redis stream.
        group: the group of Redis consumers.
        consumer: the consumer whose unfinished entries are delivered again.
        idle: how many seconds without entries end a Redis stream.
        deletions: lines that begin with - are users who leave.
    """

    data: str = "-"
    column: str | None = None
    stream: str | None = None
    group: str = "understudy"
    consumer: str = "understudy"
    idle: float | None = None
    deletions: bool = False

    @property
    def name(self) -> str:
        """The name of the data in the ledger, unless another is given."""
        return self.stream or ("stream" if self.data == "-" else Path(self.data).stem)

    @contextmanager
    def opened(self) -> Iterator[Callable[[Wait], Iterator[Ids]]]:
        """Batches, given how often one must come; a source that is absent is refused now."""
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
                "Redis may deliver an event twice, and a deletion must not be counted twice; "
                "send deletions through a file or standard input"
            )
        place = Place(
            self.data, self.stream, self.group, consumer=self.consumer, column=self.column
        )
        source = RedisEvents(place)
        try:
            source.check()
            yield lambda wait: source.batches(idle=self.idle, wait=wait)
        finally:
            source.close()
