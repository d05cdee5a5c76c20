"""Faults to be planted: texts of the source replaced in a copy of it, which is then audited.

`python -m support.faults NAME RUNS CONFIDENCE` runs the audit that a fault is for on whatever
`understudy` the interpreter finds, and prints what it found as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import understudy
from support.torches import by_noise_layer
from understudy.methods import AdaptiveMarginals, Independent, Nist, PrivBayes, Random, Synthesizer
from understudy.methods.auditing import PERSON, SCHEMA, audit, schema_for
from understudy.models.network import Family, Network

TESTS = Path(__file__).parent.parent
# So sure that code without fault is accused once in a million runs.
SURE = 1 - 1e-6


@dataclass(frozen=True)
class Edit:
    """A text of one file of the package, and the text that replaces it."""

    file: str
    old: str
    new: str

    def apply(self, package: Path) -> None:
        """Replace the text, which must occur exactly once."""
        path = package / self.file
        text = path.read_text(encoding="utf-8")
        assert 1 == text.count(self.old), f"{self.file} does not hold the text of this fault once"
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True)
class Fault:
    """A fault, the audit that is to find it, and what that says.

    Attributes:
        edits: what is changed in the source.
        method: what is audited.
        runs: how many fits of the first case.
        part: the part of the audit that must find it, as its JSON names it.
        words: what that part must say.
    """

    edits: tuple[Edit, ...]
    method: Callable[[], Synthesizer]
    runs: int
    part: str
    words: tuple[str, ...]


SENSITIVITY = "answers differ by more than the sensitivity"
_NOISY = "exact + noise.laplace(self.scale, exact.size).reshape(exact.shape)"

_SHARED = '''class _Shared:
    """The first draw of a size and scale, again and again."""

    private = True

    def __init__(self, noise: Any) -> None:
        self._noise, self._drawn = noise, {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._noise, name)

    def laplace(self, scale: Fraction, size: int) -> Integers:
        return self._drawn.setdefault((scale, size), self._noise.laplace(scale, size))

    def gaussian(self, sigma: Fraction, size: int) -> Integers:
        return self._drawn.setdefault((sigma, size), self._noise.gaussian(sigma, size))


def _draw('''

_ROUNDS = schema_for(AdaptiveMarginals.abilities)

FAULTS: dict[str, Fault] = {
    "L2 sensitivity of a replaced row is 1": Fault(
        (
            Edit(
                "facts/unit.py",
                "            return Fraction(2)\n        return Fraction(self.rows) ** 2",
                "            return Fraction(1)\n        return Fraction(self.rows) ** 2",
            ),
        ),
        lambda: Independent(SCHEMA, epsilon=1, delta=1e-6, neighbours="replace"),
        runs=4,
        part="replay",
        words=("unlike all others in every column", "counts of first", SENSITIVITY),
    ),
    "Laplace noise of 0.8 times its scale": Fault(
        (
            Edit(
                "privacy/mechanisms/additive.py",
                "noise.laplace(self.scale, exact.size)",
                "noise.laplace(self.scale * Fraction(4, 5), exact.size)",
            ),
        ),
        lambda: Independent(SCHEMA, epsilon=1),
        runs=600,
        part="noise",
        words=("scale",),
    ),
    "scores forget the rows of a person": Fault(
        (
            Edit(
                "privacy/curator.py",
                "_Grid(score.sensitivity * self.unit.rows)",
                "_Grid(score.sensitivity)",
            ),
        ),
        lambda: Nist(SCHEMA, epsilon=1, delta=1e-6, person_id=PERSON, rows_per_person=3),
        runs=4,
        part="replay",
        words=("total variation", SENSITIVITY),
    ),
    "scores are scaled by a fact of the rows": Fault(
        (
            Edit(
                "privacy/curator.py",
                "        return np.array([known[attributes] for attributes in sets])",
                "        found = np.array([known[attributes] for attributes in sets])\n"
                "        return found * (2 if found.max(initial=0) > 50 else 1)",
            ),
        ),
        lambda: Nist(SCHEMA, epsilon=1, delta=1e-6),
        runs=4,
        part="replay",
        words=("one more of a few among hundreds", "total variation", SENSITIVITY),
    ),
    "errors are those of a model with the true number of rows": Fault(
        (
            Edit(
                "methods/structure/rounds.py",
                "np.abs(marginal.counts - self.expected[marginal.attributes]).sum()",
                "np.abs(marginal.counts - self.expected[marginal.attributes] "
                "* (marginal.counts.sum() / self.expected[marginal.attributes].sum())).sum()",
            ),
        ),
        lambda: AdaptiveMarginals(_ROUNDS, epsilon=1, delta=1e-6),
        runs=4,
        part="replay",
        words=("of a kind of its own among thousands", "the model's L1 error", SENSITIVITY),
    ),
    "errors of many tables get the noise of one": Fault(
        (
            Edit(
                "privacy/curator.py",
                "grid.sensitivity**2 * len(sets)",
                "grid.sensitivity**2",
            ),
        ),
        lambda: AdaptiveMarginals(_ROUNDS, epsilon=1, delta=1e-6),
        runs=4,
        part="replay",
        words=("of a kind of its own among thousands", "the model's L1 error", SENSITIVITY),
    ),
    "one noise for all tables of a size and scale": Fault(
        (
            Edit(
                "privacy/curator.py",
                "        noise, tape = self._instruments.noise, self._instruments.tape\n",
                "        noise, tape = self._instruments.noise, self._instruments.tape\n"
                "        noise = _Shared(noise)\n",
            ),
            Edit("privacy/curator.py", "def _draw(", _SHARED),
        ),
        lambda: Independent(SCHEMA, epsilon=1),
        runs=200,
        part="noise",
        words=("equal noise in two questions", "counts of first", "counts of second"),
    ),
    "the public number of rows counts those kept": Fault(
        (
            Edit(
                "rows/engines/memory.py",
                "        return self.table.rows_read",
                "        return self.table.rows",
            ),
        ),
        lambda: Independent(SCHEMA, epsilon=1, neighbours="replace"),
        runs=4,
        part="replay",
        words=("kept where it was dropped", "the models differ"),
    ),
    "dropped rows lose their lines": Fault(
        (
            Edit(
                "rows/engines/memory.py",
                "numbers[kept, place] = cells",
                "numbers[: self.table.rows, place] = cells",
            ),
        ),
        lambda: by_noise_layer(SCHEMA, epsilon=1, delta=1e-6),
        runs=4,
        part="replay",
        words=("kept where it was dropped", SENSITIVITY),
    ),
    "rows without a name are one person's": Fault(
        (
            Edit(
                "facts/codec/persons.py",
                "        person = number_names(self.column, names)\n"
                "        gone: Mask = person == UNNAMED\n",
                "        person = number_names(self.column, names)\n"
                "        person = np.where(person == UNNAMED, person.max(initial=0) + 1, person)\n"
                "        gone: Mask = np.zeros(person.size, bool)\n",
            ),
        ),
        lambda: Independent(SCHEMA, epsilon=1, person_id=PERSON, rows_per_person=2),
        runs=4,
        part="replay",
        words=("rows with a name and rows without", "counts of first", SENSITIVITY),
    ),
    "empty cells get no noise": Fault(
        (
            Edit(
                "privacy/mechanisms/additive.py",
                f"        return {_NOISY}\n",
                f"        return np.where(exact == 0, 0, {_NOISY})\n",
            ),
        ),
        lambda: Independent(SCHEMA, epsilon=1),
        runs=600,
        part="noise",
        words=("scale", "counts of first"),
    ),
    "noise is drawn again until no count is negative": Fault(
        (
            Edit(
                "privacy/mechanisms/additive.py",
                f"        return {_NOISY}\n",
                f"        noisy = {_NOISY}\n"
                "        while (noisy < 0).any():\n"
                f"            noisy = {_NOISY}\n"
                "        return noisy\n",
            ),
        ),
        lambda: Independent(SCHEMA, epsilon=1),
        runs=1500,
        part="noise",
        words=("centre", "counts of first"),
    ),
    "noise is drawn for a row of a table and used for all": Fault(
        (
            Edit(
                "privacy/mechanisms/additive.py",
                f"        return {_NOISY}\n",
                "        last = exact.shape[-1:]\n"
                "        drawn = noise.laplace(self.scale, last[0] if last else 1)\n"
                "        return exact + drawn.reshape(last)\n",
            ),
        ),
        lambda: PrivBayes(
            SCHEMA, epsilon=1, structure=Network((Family("first"), Family("second", ("first",))))
        ),
        runs=300,
        part="noise",
        words=("independence of cells", "counts of first"),
    ),
    "the number of rows counts a person's surplus": Fault(
        (
            Edit(
                "rows/engines/memory.py",
                "            return np.array(self.table.rows, np.int64)",
                "            return np.array(self.rows_read, np.int64)",
            ),
        ),
        lambda: Random(SCHEMA, epsilon=1, person_id=PERSON, rows_per_person=3),
        runs=4,
        part="replay",
        words=("a person with rows of several kinds", "number of rows", SENSITIVITY),
    ),
}


def planted(fault: Fault, folder: Path) -> Path:
    """A copy of the package with a fault, as a place for imports; kernels stay compiled."""
    copy = folder / "understudy"
    shutil.copytree(Path(understudy.__file__).parent, copy)
    for edit in fault.edits:
        edit.apply(copy)
    return folder


def audited(
    name: str, source: Path, *, runs: int | None = None, confidence: float = SURE
) -> dict[str, Any]:
    """Run the audit that a fault is for, in a separate process, on the package in a folder."""
    paths = os.pathsep.join([str(source), str(TESTS)])
    done = subprocess.run(
        [
            *(sys.executable, "-m", "support.faults"),
            *(name, str(runs or FAULTS[name].runs), str(confidence)),
        ],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    assert str(source) == found["source"]
    return found


def main(name: str, runs: int, confidence: float) -> None:
    """Run the audit that a fault is for and print what it found."""
    found = audit(FAULTS[name].method(), runs=runs, confidence=confidence, processes=1)
    source = str(Path(understudy.__file__).parent.parent)
    sys.stdout.write(json.dumps(found.document() | {"source": source}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
