"""Kinds of columns learned from private rows, and paid for.

Each cell of a column counts once, under its narrowest kind: missing, boolean, integer, float, date,
datetime or text; of booleans, each usual word counts by itself, of reals, those of each number of
decimals, and of texts, codes with leading zeros, usual missing markers and notations of days and
numbers. The counts get noise, and so does the number of different values. The kind of a column,
labels, decimals, markers and notations follow from these releases and from its name. Proof:
docs/proofs/kinds.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from understudy.errors import UsageError
from understudy.facts.column import FALSE_WORDS, TRUE_WORDS, CategoricalColumn, Column, IdColumn
from understudy.facts.file_format import DECLARED, TextDialect
from understudy.facts.formats import Draft, DraftColumn
from understudy.facts.names import is_identifier, remark_on
from understudy.facts.schema import Schema
from understudy.facts.schema_cost import Inference
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.discover.discovery import NAMELESS, Opening, cost_of
from understudy.methods.discover.notations import NOTATIONS, alike, learned_notation, notation_of
from understudy.methods.discover.shares import (
    CountNoise,
    GaussianShares,
    LaplaceShares,
    QuestionShares,
    reached,
)
from understudy.privacy.budget import Amount, Budget, exact
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.run import Access, PaidRun, UnopenedRows
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.privacy.statements.statement import Statement
from understudy.rows.counting import CountSource, HasKeys, KeyCounts
from understudy.system.arrays import Integers
from understudy.system.frames import Rows

METHOD = "schema init"

KINDS = ("missing", "boolean", "integer", "float", "date", "datetime", "text")
"""The kinds of cells; usual words and numbers of decimals are counted apart, and the rest here."""

_WORDS = {*TRUE_WORDS, *FALSE_WORDS} - {"0", "1"}


def _spellings(words: Sequence[str]) -> tuple[str, ...]:
    """The words in small letters, with a capital, and in capitals, each once; numbers apart."""
    found = (f for w in words if not w[0].isdigit() for f in (w, w.capitalize(), w.upper()))
    return tuple(dict.fromkeys(found))


_TRUE, _FALSE = _spellings(TRUE_WORDS), _spellings(FALSE_WORDS)

ROUND = "decimals that are zero"
DECIMALS = tuple(f"{digits} decimals" for digits in range(1, 7))
"""Reals that are written without an exponent and with up to six decimals, by their number."""

MARKS = ("?", "--", "None")
"""Usual missing markers that are not read as missing unless they are declared."""

CODE = "leading zeros"
"""Digits behind a zero, such as 00501, which a number would lose."""

COUNTED = (*KINDS, *_TRUE, *_FALSE, *NOTATIONS, *MARKS, CODE, ROUND, *DECIMALS)
"""All that a cell may count under, in the order of a released vector."""

_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})")
_DECIMALS = re.compile(r"[+-]?[0-9]*\.([0-9]{1,6})")
_REAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

# The chance that some kind of which no cell is seems to be there, and the same for some word.
_STRAY = 1 / 200
# The same for a kind or notation beside a more frequent one, which would change the column's kind.
_MISTAKEN = 1e-6
# The same for codes with leading zeros: a number in place of a code is worse than the reverse.
_CODED = 1 / 1000
# Where noise could hide codes in more than this part of the cells, numbers may be codes.
_HIDDEN = 0.1
# Cells that cannot be read as numbers or dates make a column of texts beyond this part of all.
_UNREADABLE = 0.02
# Values that are nearly all different are names of rows, or texts.
_MOSTLY_DIFFERENT = 0.5
# What an id is by its name may be repeated, by persons with many rows; a code has fewer values.
_REPEATED = 0.02
_STAND_IN = "any"
# The part of a column's share that counts kinds; the rest counts different values, a round number.
_OF_KINDS = Fraction(3, 4)


def narrowest(text: str) -> str:
    """The narrowest kind that a cell's text can be read as; it is not empty.

    Example:
        >>> [narrowest(text) for text in ("1", "1.5", "yes", "2021-03-01", "00501", "x")]
        ['integer', 'float', 'boolean', 'date', 'text', 'text']
    """
    if _has_leading_zeros(text):
        return "text"
    if _WHOLE.fullmatch(text):
        return "integer"
    if _REAL.fullmatch(text):
        return "float" if math.isfinite(float(text)) else "text"
    if text.lower() in _WORDS:
        return "boolean"
    return _moment(text)


def _has_leading_zeros(text: str) -> bool:
    is_whole = _WHOLE.fullmatch(text.lstrip("+-0") or "0") is not None
    return is_whole and _LEADING_ZERO.match(text) is not None


def _moment(text: str) -> str:
    try:
        if _DAY.fullmatch(text):
            date.fromisoformat(text)
            return "date"
        if _DAY.match(text):
            datetime.fromisoformat(text)
            return "datetime"
    except ValueError:
        return "text"
    return "text"


@dataclass(frozen=True)
class NoisyDistinct:
    """A released number of different values, and the noise it was released with."""

    value: int
    noise: CountNoise

    @property
    def height(self) -> float:
        """Return the height that noise by itself exceeds in one of 200 columns."""
        return reached(self.noise, _STRAY)


@dataclass(frozen=True)
class LearnedKind:
    """The kind that was learned for a column.

    Attributes:
        kind: its kind.
        missing: whether missing cells stand out.
        clear: false where no kind stands out of the noise, and the kind is a guess.
        labels: of a boolean, the words for true and for false that most cells have.
        steps: of reals, `decimals` or a `step` that all cells that stand out have.
        markers: usual missing markers that stand out.
        notation: what declares how all cells are written that stand out, where that is unusual.
        doubtful: of whole numbers, whether noise may hide that they are codes.
    """

    kind: str
    missing: bool
    clear: bool
    labels: tuple[str, str] | None = None
    steps: Mapping[str, int | float] = field(default_factory=dict)
    markers: tuple[str, ...] = ()
    notation: Mapping[str, Any] = field(default_factory=dict)
    doubtful: bool = False

    @classmethod
    def of(cls, name: str, noisy: Integers, different: NoisyDistinct, noise: CountNoise) -> Self:
        """Decide by noisy counts of kinds and of different values, and by the column's name."""
        every = dict(zip(COUNTED, np.maximum(noisy, 0).tolist(), strict=True))
        words = _standing_out(every, (*_TRUE, *_FALSE), noise)
        digits = _standing_out(every, (ROUND, *DECIMALS), noise)
        marked = _standing_out(every, MARKS, noise)
        counts = {kind: every[kind] for kind in KINDS}
        steps = _steps(digits) if counts["float"] <= reached(noise, _STRAY / len(KINDS)) else {}
        # Words and decimals that chance may well show change labels and decimals, but no kind.
        apart = {"boolean": (*_TRUE, *_FALSE), "float": (ROUND, *DECIMALS)}
        for kind, parts in apart.items():
            counts[kind] += sum(_standing_out(every, parts, noise, chance=_MISTAKEN).values())
        least = reached(noise, _STRAY / len(KINDS))
        seen = _seen(counts, noise, noted=max(every[name] for name in NOTATIONS))
        noted = _standing_out(every, NOTATIONS, noise, chance=_MISTAKEN)
        if not noted and not seen:
            noted = _standing_out(every, NOTATIONS, noise)
        if kin := alike(noted):
            noted |= _standing_out(every, kin, noise)
        filled = sum(counts[kind] for kind in KINDS if kind != "missing" and kind in seen)
        codes, hidden = every[CODE], reached(noise, _CODED)
        filled += sum(noted.values()) + (codes if codes > hidden else 0)
        unlike = different.value > max(_MOSTLY_DIFFERENT * filled, different.height)
        few = counts["text"] - least <= _UNREADABLE * filled
        others = seen - {"missing", "text"} if few else seen - {"missing"}
        others |= {"text"} if codes - hidden > _UNREADABLE * filled else set()
        notation = learned_notation(noted) if noted else None
        notation = notation if notation is not None and others <= notation.beside else None
        kind = _kind(others) if notation is None else notation.kind
        # Beside other kinds of cells a notation is one of texts.
        kind = "categorical" if noted and notation is None else kind
        repeated = is_identifier(name) and different.value + different.height > _REPEATED * filled
        names_rows = repeated or (unlike and kind == "categorical")
        kind = "id" if names_rows else kind
        labels = _labels(words) if kind == "boolean" else None
        steps = steps if kind == "float" else {}
        # Among other texts a word may be a value.
        markers = tuple(m for m in marked if not (m.isalpha() and kind == "categorical"))
        return cls(
            kind,
            missing="missing" in seen or bool(markers),
            clear=bool(noted or others or seen - {"missing"}),
            labels=labels,
            steps=steps,
            markers=markers,
            notation={} if notation is None or kind == "id" else notation.keys,
            doubtful=kind == "integer" and (codes > hidden or hidden > _HIDDEN * filled),
        )

    def draft(self, name: str) -> DraftColumn:
        """Return the column of a skeleton."""
        missing: dict[str, Any] = {}
        if self.missing:
            missing = {"missing": [*self.markers]}
        if self.kind == "id":
            remark = remark_on(name) or "nearly all values differ: generated, never learned"
            return DraftColumn("id", remark=remark)
        remark = "" if self.clear else "no kind stood out of the noise; check this one"
        remark = _CODE_OR_NUMBER if self.doubtful else remark
        labels: dict[str, Any] = {"labels": [*self.labels]} if self.labels else {}
        keys = {**labels, **self.steps, **self.notation, **missing}
        return DraftColumn(self.kind, keys, remark)


_CODE_OR_NUMBER = (
    "code or number? Noise may hide cells with leading zeros, which numbers lose; "
    "a code is categorical"
)


def _seen(counts: Mapping[str, int], noise: CountNoise, *, noted: int) -> set[str]:
    """The kinds that stand out; beside the most frequent one, only those that no chance explains.

    Missing cells change no kind.

    Args:
        counts: of cells of every kind.
        noise: what was added to them.
        noted: how many cells have the most frequent notation.
    """
    least, sure = (reached(noise, chance / len(KINDS)) for chance in (_STRAY, _MISTAKEN))
    filled = {kind: count for kind, count in counts.items() if kind != "missing"}
    most = max(filled, key=filled.__getitem__)
    easy = {"missing", most} if filled[most] >= noted else {"missing"}
    return {k for k, count in counts.items() if count > (least if k in easy else sure)}


def _standing_out(
    counts: Mapping[str, int],
    words: Sequence[str],
    noise: CountNoise,
    *,
    chance: float = _STRAY,
) -> dict[str, int]:
    """The words whose noisy counts are above what noise alone reaches, but for a chance."""
    least = reached(noise, chance / len(words))
    return {word: counts[word] for word in words if counts[word] > least}


def _labels(words: Mapping[str, int]) -> tuple[str, str] | None:
    """The most frequent words for true and for false; None unless both stand out."""
    true, false = ([word for word in group if word in words] for group in (_TRUE, _FALSE))
    if not true or not false:
        return None
    return max(true, key=words.__getitem__), max(false, key=words.__getitem__)


def _steps(digits: Mapping[str, int]) -> dict[str, int | float]:
    """The most decimals that stand out; a step of one where all are zeros."""
    seen = [number for number, name in enumerate(DECIMALS, 1) if name in digits]
    if seen:
        return {"decimals": max(seen)}
    return {"step": 1.0} if ROUND in digits else {}


def _kind(seen: set[str]) -> str:
    """The narrowest kind that reads all kinds of cells that stand out."""
    kinds = (kind for kind, holds in _HOLDS.items() if seen and seen <= holds)
    return next(kinds, "categorical")


# Which kinds of cell a column of a kind can hold, the narrowest first.
_HOLDS = {
    "boolean": {"boolean"},
    "integer": {"integer"},
    "float": {"integer", "float"},
    "date": {"date"},
    "datetime": {"date", "datetime"},
}


@dataclass(frozen=True)
class LearnedKinds:
    """A skeleton whose kinds were learned, what is promised about it, and what it cost.

    Attributes:
        draft: the skeleton.
        statement: what is promised about it.
        inference: what it cost.
        unclear: columns of which no kind stood out of the noise, so that theirs is a guess.
        doubtful: columns of whole numbers of which noise may hide that they are codes.
    """

    draft: Draft
    statement: Statement
    inference: Inference
    unclear: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    @property
    def lacks_kinds(self) -> bool:
        """Whether no kind stood out in more than half of the columns that were asked about."""
        # Two questions for each column.
        return 4 * len(self.unclear) > len(self.statement.charges)


@dataclass(frozen=True)
class KindDiscovery:
    """The kinds of some columns, a budget, and for whom the promise holds.

    Args:
        columns: the names of all columns, as in the header.
        epsilon: what all answers together may cost.
        delta: the chance allowed for a larger loss; with one, many columns cost less.
        unit: whom the promise protects.
        person_id: the column that names persons, where they are the unit.
        declared: kinds that the file itself declares, which are not asked for.
        dialect: how the file spells numbers, which is public.
    """

    columns: Sequence[str]
    epsilon: Amount
    delta: Amount = 0
    unit: Unit = field(default_factory=lambda: Unit(Neighbours.ADD_REMOVE))
    person_id: str | None = None
    declared: Mapping[str, DraftColumn] = field(default_factory=dict)
    dialect: TextDialect = field(default_factory=lambda: DECLARED.dialect(".csv"))
    instruments: Instruments = field(default_factory=Instruments)

    def __post_init__(self) -> None:
        Budget.approximate(self.epsilon, self.delta)
        if exact(self.epsilon, what="epsilon") == 0:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")
        if not self.asked:
            raise UsageError(
                "the file declares the kind of every column, so nothing is left to find out; "
                "leave epsilon out"
            )

    @property
    def asked(self) -> list[str]:
        """The columns whose kinds are learned."""
        known = {*self.declared, self.person_id}
        return [name for name in self.columns if name not in known]

    @cached_property
    def shares(self) -> QuestionShares:
        """How the budget is shared: Laplace or Gaussian noise, whichever hides fewer codes.

        Three quarters of a column's share count its kinds.
        """
        plain = LaplaceShares(
            epsilon=exact(self.epsilon, what="epsilon"),
            delta=exact(self.delta, what="delta"),
            unit=self.unit,
            keyed={},
            ranged=dict.fromkeys(self.asked, Fraction(1)),
        )
        if plain.delta == 0:
            return plain
        other = GaussianShares(**{part.name: getattr(plain, part.name) for part in fields(plain)})
        return min(plain, other, key=self._hidden)

    def _hidden(self, shares: QuestionShares) -> float:
        """How many codes of a column noise would hide."""
        return reached(shares.counts(self.asked[0], _OF_KINDS), _CODED)

    def run(
        self, opening: Opening, *, dataset: str | None = None, ledger: LedgerChoice = DEFAULT
    ) -> LearnedKinds:
        """Find out the kinds.

        Privacy: the grant is made before rows are read, and charged before each draw. All that is
        returned is released.
        """
        terms = self._run
        books = terms.books(ledger, dataset)
        with terms.granted(books) as run, opening(self._texts, self.asked) as source:
            curator = run.curator_over(source)
            found = {name: self._learned(curator, name) for name in self.asked}
        statement = run.statement()
        inference = cost_of(
            statement, unit=self.unit, dataset=dataset or NAMELESS, person_id=self.person_id
        )
        known = {self.person_id: DraftColumn("id", remark="names persons")} | dict(self.declared)
        columns = {
            name: found[name].draft(name) if name in found else known[name] for name in self.columns
        }
        unclear = tuple(name for name, learned in found.items() if not learned.clear)
        draft = Draft(columns, inference=inference.document())
        doubtful = tuple(name for name, learned in found.items() if learned.doubtful)
        return LearnedKinds(draft, statement, inference, unclear=unclear, doubtful=doubtful)

    def _learned(self, curator: Curator, name: str) -> LearnedKind:
        """The kind of one column, by two noisy answers."""
        kinds = self.shares.counts(name, _OF_KINDS)
        different = self.shares.counts(name, 1 - _OF_KINDS)
        counts = curator.release(
            kinds,
            lambda source: kinds_of(source, name, self.dialect),
            name=f"kinds of cells of {name}",
        )
        [values] = curator.release(
            different,
            lambda source: np.array([len(_keys(source, name).counts)], np.int64),
            name=f"number of different values of {name}",
        )
        return LearnedKind.of(name, counts, NoisyDistinct(int(values), different), kinds)

    @property
    def _texts(self) -> Schema:
        """Every asked column as texts, all of which count as one value; empty cells are missing."""
        column = CategoricalColumn(values=(_STAND_IN,), missing=(), outside=_STAND_IN)
        others: dict[str, Column] = {name: IdColumn() for name in self.columns}
        return Schema(others | dict.fromkeys(self.asked, column))

    @property
    def _run(self) -> PaidRun:
        return PaidRun(
            method=METHOD,
            budget=self.shares.budget,
            unit=self.unit,
            schema=self._texts,
            person_id=self.person_id,
            pricing=self.shares.pricing,
            instruments=self.instruments,
        )


def kinds_of(source: CountSource, column: str, dialect: TextDialect) -> Integers:
    """How many cells of a column are of each kind, numbers being spelled as declared. Private."""
    counts = dict.fromkeys(COUNTED, 0)
    for text, times in _keys(source, column).counts.items():
        counts[_place(text, dialect)] += times
    counts["missing"] = int(source.count([(column,)])[0].counts[1])
    return np.array(list(counts.values()), np.int64)


def _place(text: str, dialect: TextDialect) -> str:
    """The one place of the released vector that a cell counts under."""
    if text in MARKS:
        return text
    spelled = dialect.plain_number(text)
    found = narrowest(spelled)
    if found == "boolean":
        return text if text in _TRUE or text in _FALSE else found
    if found == "text" and _has_leading_zeros(spelled):
        return CODE
    decimals = _DECIMALS.fullmatch(spelled) if found == "float" else None
    if decimals is None:
        return (notation_of(text, dialect) or found) if found == "text" else found
    digits = decimals[1]
    return DECIMALS[len(digits) - 1] if digits.strip("0") else ROUND


def _keys(source: CountSource, column: str) -> KeyCounts:
    assert isinstance(source, HasKeys)
    return source.keys(column)


_PLAIN = Access()


def infer_kinds(
    data: Rows,
    columns: Sequence[str],
    *,
    epsilon: Amount,
    delta: Amount = 0,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    declared: Mapping[str, DraftColumn] | None = None,
    ledger: LedgerChoice = DEFAULT,
    dataset: str | None = None,
    access: Access = _PLAIN,
) -> LearnedKinds:
    """Learn the kinds of a table's columns from its private rows.

    Args:
        data: a file, a data frame of any brand, or a table of a database.
        columns: the names of all its columns, which are public.
        epsilon: the privacy loss allowed.
        delta: the chance allowed for a larger loss.
        neighbours: which tables must be hard to tell apart.
        declared: columns whose kind is public already.
        ledger: where the spending is kept; None keeps no record, and the statement says so.
        dataset: the name the ledger knows the rows by; a file's stem unless given.
        access: how the rows are reached; persons among them are what the promise is for.

    Example:
        >>> rows = {"age": ["31", "45"] * 400, "town": ["Oslo", "Bergen"] * 400}
        >>> found = infer_kinds(rows, ["age", "town"], epsilon=100, ledger=None)
        >>> [column.kind for column in found.draft.columns.values()]
        ['integer', 'categorical']

    Privacy: everything is charged before it is drawn. The skeleton is released and says its cost.
    """
    most, named = (access.persons.most, access.persons.column) if access.persons else (None, None)
    rows = UnopenedRows(data, access)
    name = dataset or rows.name
    rows.warn_of_copies(ledger, name)
    discovery = KindDiscovery(
        columns,
        epsilon,
        delta,
        unit=Unit(Neighbours.parse(neighbours), most),
        person_id=named,
        declared=declared or {},
        dialect=access.format.dialect(".csv"),
    )
    return discovery.run(rows.open_keyed, dataset=name, ledger=ledger)
