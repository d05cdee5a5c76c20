"""Read a network as JSON, BIF or CSV, or a matrix of which attributes may predict which.

A matrix in CSV is as synthpop has it: names in the first row and in the first column, and a 1 where
the column's attribute is, or may be, a parent of the row's.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.models.bif import NotBif, parents_of
from understudy.models.network import Network

STRUCTURES = ("greedy", "pairwise", "tree", "genetic")
"""The learners of structure, by name."""

GIVEN = "given"
"""In place of a learner's name, where a network is given and nothing is learned."""

SUFFIXES = (".json", ".bif", ".csv")


@dataclass(frozen=True)
class Resolved:
    """A structure that was asked for, looked up once.

    Attributes:
        asked: the name, the network or the file.
        network: what was given or read; None where it is to be learned.
    """

    asked: str | Path | Network
    network: Network | None = None

    @classmethod
    def of(cls, asked: str | Path | Network) -> Resolved:
        """Look up what was asked for; a file is read here and nowhere else."""
        match asked:
            case Network():
                return cls(asked, asked)
            case name if str(name) in STRUCTURES:
                return cls(asked)
            case path if Path(path).suffix in SUFFIXES:
                return cls(asked, read_network(path))
            case unknown:
                choices, files = ", ".join(STRUCTURES), ", ".join(SUFFIXES)
                raise UsageError(
                    f"structure {unknown!r} is unknown; use {choices} or a file ({files})"
                )

    @property
    def learner(self) -> str:
        """The learner by name; where there is nothing to learn, that of given networks."""
        return str(self.asked) if self.network is None else GIVEN

    def over(self, domain: Domain) -> Network | None:
        """The network that was given, when its attributes are the domain's."""
        return None if self.network is None else check_network(self.network, domain)


def read_network(path: str | Path) -> Network:
    """The network in a file, by its suffix."""
    path = Path(path)
    where = f"network {path}"
    read = {".bif": _from_bif, ".csv": _from_matrix}.get(path.suffix, _from_json)
    return Network.from_parents(read(_text_of(path, where), where))


def read_predictors(path: str | Path) -> dict[str, Attributes]:
    """For each attribute, those that may be its parents, from a matrix of 0 and 1."""
    path = Path(path)
    where = f"predictors {path}"
    found = _from_matrix(_text_of(path, where), where)
    for child, parents in found.items():
        if child in parents:
            raise UsageError(f"{where}: {child!r} does not predict itself; write 0 there")
    return {child: tuple(parents) for child, parents in found.items()}


def _text_of(path: Path, where: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{where}: cannot be read: {error.strerror}; check it") from None
    except ValueError:
        raise UsageError(f"{where}: is not UTF-8 text; save it as UTF-8") from None


def _from_json(text: str, where: str) -> dict[str, list[str]]:
    """Parents from a text such as {"income": ["age", "sex"], "age": []}."""
    try:
        document = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        raise UsageError(f"{where}: is not JSON; write each attribute's parents") from None
    if not isinstance(document, dict) or not all(_are_names(p) for p in document.values()):
        raise UsageError(f'{where}: write {{"attribute": ["parent", ...], ...}}')
    named: dict[str, list[str]] = {
        parent: [] for parents in document.values() for parent in parents
    }
    return {**named, **document}


def _from_bif(text: str, where: str) -> dict[str, list[str]]:
    try:
        return parents_of(text)
    except NotBif as error:
        raise UsageError(f"{where}: is not BIF: {error}; check the file") from None


def _from_matrix(text: str, where: str) -> dict[str, list[str]]:
    """Parents from a matrix of 0 and 1, a row for each child and a column for each parent.

    Messages quote the header alone: a file of private rows may be named by mistake.
    """
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        numbered = [(reader.line_num, [*map(str.strip, line)]) for line in reader if any(line)]
    except csv.Error:
        raise UsageError(f"{where}: is not CSV; write a matrix of 0 and 1") from None
    if not numbered or len(numbered[0][1]) < 2:
        raise UsageError(f"{where}: has no header; name the attributes in the first row")
    (_, (_, *names)), *rows = numbered
    _check_rows(names, {number: line[0] for number, line in rows}, where)
    return {child: _parents_in(child, cells, names, where) for _, (child, *cells) in rows}


def _check_rows(names: Sequence[str], rows: Mapping[int, str], where: str) -> None:
    """Refuse a matrix whose rows and columns are not the same names, each once."""
    for name in (name for name, times in Counter(names).items() if times > 1):
        raise UsageError(f"{where}: column {name!r} is there twice; keep one")
    for number in (number for number, name in rows.items() if name not in names):
        raise UsageError(f"{where}: line {number} begins with no name of the header; add it")
    times = Counter(rows.values())
    for name in names:
        if times[name] != 1:
            fault = "is there twice; keep one" if times[name] else "is missing; add it"
            raise UsageError(f"{where}: row {name!r} {fault}")


def _parents_in(child: str, cells: Sequence[str], names: Sequence[str], where: str) -> list[str]:
    if len(cells) != len(names):
        raise UsageError(
            f"{where}: row {child!r} has {len(cells)} cells, the header names "
            f"{len(names)}; give one for each"
        )
    for name, cell in zip(names, cells, strict=True):
        if cell not in ("0", "1"):
            raise UsageError(
                f"{where}: row {child!r}, column {name!r} is not 0 or 1; "
                "write 1 where the column is a parent of the row"
            )
    return [name for name, cell in zip(names, cells, strict=True) if cell == "1"]


def check_network(network: Network, domain: Domain) -> Network:
    """The network, when its attributes are the domain's; those it leaves out have no parents."""
    unknown = [name for name in network.order if name not in domain.sizes]
    if unknown:
        known = ", ".join(domain)
        raise UsageError(f"the network's attribute {unknown[0]!r} is unknown; known are {known}")
    alone = Network.without_edges([a for a in domain if a not in network.order])
    return Network((*network.families, *alone.families))


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object as it stands; Python's own reader would keep the last of two equal names."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise UsageError(f"the network names attribute {name!r} twice; keep one")
    return dict(pairs)


def _are_names(parents: object) -> bool:
    return isinstance(parents, list) and all(isinstance(name, str) for name in parents)
