"""Two tables that the package statsmodels contains, coded by bounds from their documentation.

`randhie` (20,190 rows, RAND Health Insurance Experiment) and `fair` (6,366 rows, Fair's survey of
affairs) were named for the arena before any constant of a method was chosen. The bounds below
follow the notes that statsmodels prints for each data set; no row was looked at to choose them. The
package has an environment of its own, where `peer_jobs/run_statsmodels.py` writes a CSV file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.csv

from benchmarks.environments import STATSMODELS, run_peer

Columns = dict[str, npt.NDArray[np.integer]]

# Lower ends of all bins but the first. The notes say: visits are a count; coinsurance is 0 to 100
# percent, so the logarithm of 1 + it is at most 4.62; payments and deductibles are logarithms of
# dollars a year, here of up to some thousands; diseases are a count; the rest is yes or no.
# A limitation may be unknown, so it has a bin between no and yes.
RANDHIE: dict[str, tuple[float, ...]] = {
    "mdvis": (1, 2, 3, 5, 10),
    "lncoins": tuple(np.arange(0.25, 4.75, 0.25)),
    "idp": (0.5,),
    "lpi": tuple(np.arange(0.5, 8.0, 0.5)),
    "fmde": tuple(np.arange(0.5, 9.0, 0.5)),
    "physlm": (0.001, 0.999),
    "disea": tuple(np.arange(3.0, 60.0, 3.0)),
    "hlthg": (0.5,),
    "hlthf": (0.5,),
    "hlthp": (0.5,),
}
# The notes list the values of ratings, education and occupations; ages and years are intervals,
# named by their middle in the paper. `affairs` is a time, of which only some or none is kept.
FAIR: dict[str, tuple[float, ...]] = {
    "rate_marriage": (1.5, 2.5, 3.5, 4.5),
    "age": (20, 25, 30, 35, 40),
    "yrs_married": (1.5, 4, 7.5, 11, 14.5, 20),
    "children": (0.5, 1.5, 2.5, 3.5, 4.5),
    "religious": (1.5, 2.5, 3.5),
    "educ": (10.5, 13, 15, 16.5, 18.5),
    "occupation": (1.5, 2.5, 3.5, 4.5, 5.5),
    "occupation_husb": (1.5, 2.5, 3.5, 4.5, 5.5),
    "affairs": (1e-9,),
}


def randhie() -> tuple[Columns, dict[str, int]]:
    """Codes and sizes of the health insurance table."""
    return binned(_exported("randhie"), RANDHIE)


def fair() -> tuple[Columns, dict[str, int]]:
    """Codes and sizes of the table of affairs."""
    return binned(_exported("fair"), FAIR)


def binned(
    columns: Mapping[str, npt.NDArray[np.float64]], ends: Mapping[str, Sequence[float]]
) -> tuple[Columns, dict[str, int]]:
    """The bin of each value, and how many bins each column has."""
    codes: Columns = {
        name: np.searchsorted(np.asarray(cuts), columns[name], side="right")
        for name, cuts in ends.items()
    }
    return codes, {name: len(cuts) + 1 for name, cuts in ends.items()}


def _exported(name: str) -> dict[str, npt.NDArray[np.float64]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        run_peer(STATSMODELS, "run_statsmodels.py", name, str(path))
        rows = pyarrow.csv.read_csv(path)
    return {column: rows[column].to_numpy().astype(float) for column in rows.column_names}
