"""How the commands of `understudy stream` print an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.cli.console import messages, results
from understudy.system.printable import printable_json

if TYPE_CHECKING:
    from understudy.jobs.streams import StreamAnswer


def print_standing(sentences: tuple[str, ...], *, as_json: bool) -> None:
    """Say to people what is spent on a stream so far, and what is left."""
    for sentence in () if as_json else sentences:
        messages().print(sentence)


def print_answer(answer: StreamAnswer, *, as_json: bool) -> None:
    """Print an answer for people, or as one line of JSON."""
    if as_json:
        print(printable_json(answer.document()), flush=True)
    else:
        results().print(answer.sentence)
