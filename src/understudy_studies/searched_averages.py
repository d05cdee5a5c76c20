"""Numbers that SBA prints of two searches, in tables V to VII, and averages beside them."""

from __future__ import annotations

from understudy_studies.cells import Results, Setting, Spread
from understudy_studies.sba import GENETIC, GREEDY, OFF, RIVALLED, SMALL

REAL = "real rows"
SEARCHES = (GREEDY, GENETIC, RIVALLED)
FRAUDS = "credit card"
DEGREES = {"cmc": (1, 2, 3, 4), "adult": (1, 2, 3, 4), FRAUDS: (1, 2, 3), SMALL: (1,)}
# The averages of tables V, VI (accuracy) and VII (F2), in percent, for degrees from 1.
PRINTED: dict[tuple[str, str], tuple[float, ...]] = {
    ("cmc", GREEDY): (43.0, 48.0, 50.7, 49.3),
    ("cmc", GENETIC): (43.2, 49.3, 49.7, 49.9),
    ("adult", GREEDY): (79.7, 81.1, 79.5, 79.9),
    ("adult", GENETIC): (79.9, 79.7, 81.4, 81.4),
    (FRAUDS, GREEDY): (49.4, 59.8, 40.7),
    (FRAUDS, GENETIC): (54.4, 59.4, 57.4),
}
PRINTED_REAL = {"cmc": 49.8, "adult": 81.8, FRAUDS: 66.5}
BOTH = (GREEDY, GENETIC)


def printed_average(setting: Setting) -> float | None:
    """Return the paper's number for a setting; it prints none with noise."""
    table, search = str(setting["table"]), str(setting["search"])
    if search == REAL:
        return PRINTED_REAL.get(table)
    if setting["epsilon"] != OFF or (table, search) not in PRINTED:
        return None
    return PRINTED[table, search][int(setting["degree"]) - 1]


def mean_average(results: Results) -> float:
    """In percent, over all runs of the cells."""
    return 100 * Spread.of([value for run in results.numbers("mean") for value in run]).mean


def searches_of(results: Results) -> list[str]:
    """The searches that there are cells of; an older record has no rival."""
    return [search for search in SEARCHES if search in results.values("search")]
