"""Ledgers in all stores, and processes that spend from one until they are killed."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import psycopg

from understudy.errors import BudgetExceeded
from understudy.privacy.accounting.events import Charge, LaplaceEvent
from understudy.privacy.budget import Budget
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.stores.postgres import PostgresStore

KINDS = ("file", "sqlite", "postgres")
_numbers = itertools.count()


@contextmanager
def server_of(server: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection as the server's owner."""
    with closing(psycopg.connect(server, autocommit=True)) as connection:
        yield connection


def new_database(server: str) -> str:
    """The address of a database that holds nothing."""
    name = f"privacy{os.getpid()}_{next(_numbers)}"
    with server_of(server) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY FILE_COPY".encode())
    return urlsplit(server)._replace(path=f"/{name}").geturl()


def new_ledger(kind: str, folder: Path, server: str) -> str:
    """The place of an empty ledger."""
    match kind:
        case "sqlite":
            return f"sqlite:///{folder / 'ledger.sqlite'}"
        case "postgres":
            place = new_database(server)
            PostgresStore(place).init()
            return place
        case _:
            return str(folder / "ledger.jsonl")


def spend(place: str, *, charges: int, said: int) -> None:
    """Charge a run of this process again and again, and say so after each, on a pipe."""
    each = Charge("q", LaplaceEvent(Fraction(charges), Fraction(1)))
    try:
        with Ledger(place).grant("a", Budget.pure(1)) as grant:
            for _ in range(charges):
                grant.charge([each])
                os.write(said, b".")
    except BudgetExceeded:
        pass


def killed_spenders(place: str, *, least: int, charges: int, seed: int) -> int:
    """Have processes race in pairs, and kill each at some instant after some of its charges.

    Args:
        place: of the ledger.
        least: how many charges are to be heard of, at least.
        charges: of one process that nobody kills.
        seed: of the instants.

    Returns:
        How many charges the processes said they had made.
    """
    draw, said = Random(seed), 0
    while said < least:
        running = [_forked(place, charges) for _ in range(2)]
        for child, pipe in running:
            said += _heard(pipe, least=draw.randrange(charges))
            time.sleep(draw.random() * 0.003)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            said += _heard(pipe)
            os.close(pipe)
    return said


def _forked(place: str, charges: int) -> tuple[int, int]:
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(heard)
        try:
            spend(place, charges=charges, said=said)
        finally:
            os._exit(0)
    os.close(said)
    return child, heard


def _heard(pipe: int, least: int | None = None) -> int:
    """Count the charges that were heard of, up to a number or to the end."""
    said = 0
    while least is None or said < least:
        more = os.read(pipe, 1)
        if not more:
            break
        said += len(more)
    return said
