"""The papers' experiments: each table or figure is a study that one command runs again.

A study is one file with a `STUDY`, and one line of the registry below. `study` says what a study
is, `cells` are its numbers, `running` measures what is not there yet, in several `processes`,
`record` keeps it, `page` shows it; `tables` are the public tables, `seven` and `census` made-up
ones, `digits` are images; `copula` and `printed` are what AAU's studies share, `accuracy` what
TUC-2's do, `raw_tables` what NIST's draws from, `printed_streams` what those of streams share,
`sba` what SBA's share.

Privacy: all rows are public or made up. Noise is seeded, so that a study can be repeated; whatever
is made on the way says NOT PRIVATE.
"""

from __future__ import annotations

import importlib

from understudy.errors import UsageError
from understudy_studies.study import Study

STUDIES = {
    "aau-histogram": "histogram_power",
    "aau-networks": "private_networks",
    "aau-mixture": "power_over_mixture",
    "aau-privacy": "power_over_epsilon",
    "aau-comparison": "power_of_both",
    "gan-adult": "private_rows",
    "gan-mnist": "private_images",
    "nist-tasks": "nist_tasks",
    "sba-protection": "protected_networks",
    "sba-search": "genetic_search",
    "tuc1-bits": "cross_entropy",
    "tuc1-federated": "federated_bits",
    "tuc1-state": "pan_private_state",
    "tuc1-density": "pan_private_error",
    "tuc1-sketches": "sketches",
    "tuc2-classifiers": "classifiers",
    "tuc2-federated": "federated_classifiers",
    "tuc2-choices": "score_and_degree",
}


def find(name: str) -> Study:
    """Return the study of this name.

    Example:
        >>> find("aau-networks").source
        'AAU section 4.2.1, figures 4.1 and 4.2'
    """
    if name not in STUDIES:
        raise UsageError(f"study {name!r} is unknown; known are {', '.join(STUDIES)}")
    found = importlib.import_module(f"understudy_studies.{STUDIES[name]}").STUDY
    assert isinstance(found, Study)
    return found
