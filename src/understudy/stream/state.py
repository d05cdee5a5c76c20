"""The state: everything that is kept between events, in memory or in a file.

A file *is* the state: events change it in place, through memory that is mapped to it. A copy saved
now and then would be a second sight of the same entries: a bit that was 0 in the copy and is 1 now
betrays its user. So there is one version at any time, and a process that dies leaves it as it was
after some event. Entries may be caught between two events, which is a state all the same; what is
counted, answers and epochs, is written as one sector before anything is released.

Layout: a header of one sector, JSON filled up with blanks; a sector for the digest that a clean
end leaves and a beginning wipes; then the entries of every epoch, one after another.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import BudgetExceeded, DataError, OutputError, UsageError
from understudy.stream.design import Design
from understudy.stream.entries import Entries, Source, bytes_for, entries_in
from understudy.stream.header import SECTOR, design_of, header_line, read_header
from understudy.stream.texts import Texts
from understudy.system.arrays import Bytes
from understudy.system.files.descriptors import flush, make_room, read_at, write_at
from understudy.system.files.locking import is_at, lock, open_locked, unlock
from understudy.system.files.writing import writing

_DIGEST_AT = SECTOR
_ENTRIES_AT = 2 * SECTOR


@dataclass
class State:
    """The state in memory.

    Attributes:
        design: its terms.
        epochs: the entries of each epoch; all but the last were seen and are public.
        given: how many answers have been given.
    """

    design: Design
    epochs: list[Entries]
    given: int = 0
    source: Source = os.urandom

    @classmethod
    def start(cls, design: Design, source: Source = os.urandom) -> State:
        """A fresh state, drawn from the initial law."""
        state = cls(design, [], source=source)
        state.begin_epoch()
        return state

    @property
    def live(self) -> Entries:
        """The entries that events change."""
        if not self.epochs:
            raise UsageError("this state was closed; resume it from its file")
        return self.epochs[-1]

    def begin_epoch(self) -> None:
        """Leave the entries as they are, and continue with fresh ones."""
        store = np.zeros(bytes_for(self.design.sample, self.design.response), np.uint8)
        entries = entries_in(store, self.design.sample, self.design.response, self.source)
        entries.restart()
        self.epochs.append(entries)

    def count_answer(self) -> None:
        """Write down that an answer is about to be given."""
        self.given += 1

    def check_place(self) -> None:
        """Refuse to continue where the state is not the one that others would find."""

    def close(self) -> None:
        """End; a state in memory is gone."""


class FileState(State):
    """The state in a file, which no other process may have open."""

    def __init__(self, path: Path, design: Design, descriptor: int, header: Mapping[str, Any]):
        super().__init__(design, [], header["given"])
        self.path = path
        self._descriptor = descriptor
        for number in range(header["epochs"]):
            self.epochs.append(self._mapped(number))

    @classmethod
    def create(cls, path: str | os.PathLike[str], design: Design) -> FileState:
        """A fresh state in a new file, which appears whole or not at all."""
        place = Path(path)
        beside = place.with_name(f".{place.name}.{os.getpid()}.part")
        try:
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise _unwritable(place, error) from None
        try:
            lock(descriptor, wait=False)
            state = cls(place, design, descriptor, {"given": 0, "epochs": 0})
            state.begin_epoch()
            os.link(beside, place)
            return state
        except BaseException as error:
            os.close(descriptor)
            raise _unwritable(place, error) if isinstance(error, OSError) else error from None
        finally:
            beside.unlink(missing_ok=True)

    @classmethod
    def open(cls, path: str | os.PathLike[str], names: Texts | None = None) -> FileState:
        """The state that a file holds.

        Args:
            path: of the file.
            names: the universe again, where it is one of listed keys.
        """
        place = Path(path)
        try:
            descriptor = open_locked(place, os.O_RDWR)
        except BlockingIOError:
            raise _taken(place) from None
        except OSError as error:
            raise DataError(f"state {place}: cannot be opened: {error.strerror}") from None
        try:
            header = read_header(place, descriptor)
            design = design_of(place, header, names)
            _check_size(place, descriptor, design, header["epochs"])
            state = cls(place, design, descriptor, header)
            state._take_digest()
            return state
        except BaseException:
            os.close(descriptor)
            raise

    def begin_epoch(self) -> None:
        """Continue with fresh entries behind the old ones; counted once they are all drawn."""
        number = len(self.epochs)
        with writing(self.path):
            # Room is made now: a full disk would end the process when mapped memory is written.
            make_room(self._descriptor, _ENTRIES_AT + (number + 1) * self._stride)
            entries = self._mapped(number)
            entries.restart()
            flush(self._descriptor)
            self.epochs.append(entries)
            self._write_header()

    def count_answer(self) -> None:
        """Write the count to the disk before the answer is drawn."""
        super().count_answer()
        self._write_header()

    def check_place(self) -> None:
        """Refuse to continue where another file has this one's name.

        Privacy: the other would not know of an answer, and whoever resumes it would get one more.
        """
        if not is_at(self.path, self._descriptor):
            raise DataError(
                f"state {self.path}: was moved or replaced while it was open; put it back"
            )

    def close(self) -> None:
        """Leave a digest of the entries, by which damage shows when the file is opened again."""
        if self._descriptor < 0:
            return
        flush(self._descriptor)
        write_at(self._descriptor, self._digest(), _DIGEST_AT)
        flush(self._descriptor)
        # Mapped memory holds the file open, and with it the lock, until it is collected.
        unlock(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1
        self.epochs = []

    @property
    def _stride(self) -> int:
        size = bytes_for(self.design.sample, self.design.response)
        return -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY

    def _mapped(self, number: int) -> Entries:
        size = bytes_for(self.design.sample, self.design.response)
        offset = _ENTRIES_AT + number * self._stride
        before = offset % mmap.ALLOCATIONGRANULARITY
        mapping = mmap.mmap(self._descriptor, size + before, offset=offset - before)
        store = np.frombuffer(mapping, np.uint8)[before:]
        return entries_in(store, self.design.sample, self.design.response)

    def _write_header(self) -> None:
        line = header_line(self.design, given=self.given, epochs=len(self.epochs))
        with writing(self.path):
            write_at(self._descriptor, line, 0)
            flush(self._descriptor)

    def _digest(self) -> bytes:
        found = hashlib.sha256()
        for entries in self.epochs:
            found.update(entries.bytes.data)
        return found.digest()

    def _take_digest(self) -> None:
        """Compare and wipe the digest; there is none where the last process did not end by itself.

        It must not outlive the first event: it would be another sight of the entries.
        """
        left = read_at(self._descriptor, 32, _DIGEST_AT)
        if any(left) and left != self._digest():
            raise DataError(f"state {self.path}: its entries are damaged; start a new one")
        write_at(self._descriptor, bytes(32), _DIGEST_AT)
        flush(self._descriptor)


def _taken(path: Path) -> UsageError:
    return UsageError(f"state {path}: another process has it open; wait until it ends")


def _unwritable(path: Path, error: OSError) -> OutputError:
    if isinstance(error, FileExistsError):
        return OutputError(f"state {path}: is there already; resume it, or choose another place")
    return OutputError(f"state {path}: cannot be written: {error.strerror}; choose another place")


def _check_size(path: Path, descriptor: int, design: Design, epochs: int) -> None:
    """A file may be longer, where a new epoch was not finished, but never shorter."""
    size = bytes_for(design.sample, design.response)
    stride = -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
    if epochs < 1 or os.fstat(descriptor).st_size < _ENTRIES_AT + (epochs - 1) * stride + size:
        raise DataError(f"state {path}: is cut short; start a new one")


def state_bytes(state: State) -> Bytes:
    """Return the changing entries as an intruder would see them, read-only."""
    seen = state.live.bytes.view()
    seen.flags.writeable = False
    return seen


def check_answers_left(state: State) -> None:
    """Refuse an answer beyond the number declared, or one that the state's file would not know."""
    state.check_place()
    if state.given >= state.design.answers:
        raise BudgetExceeded(
            f"all {state.design.answers} declared answers have been given; "
            "declare more when a state is started",
            requested=state.design.answer_epsilon,
            remaining=Fraction(0),
        )
