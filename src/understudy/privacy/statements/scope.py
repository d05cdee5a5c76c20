"""Say in plain words whom a promise asks to be trusted, and what it leaves unprotected.

Every statement says both, beside its numbers. They follow from unit, neighbours and method alone,
in the manner of NIST SP 800-226, which asks that a claim names its unit, its trust model and what
lies outside of it.
"""

from __future__ import annotations

from understudy.facts.unit import Neighbours, Unit

_FEDERATED = "federated "

NOBODY = (
    "Nobody is protected: the noise was predictable, or there was none; for tests and studies only."
)
CURATOR = (
    "Whoever ran understudy saw the rows and is trusted with them; whoever receives the result, "
    "and whatever else they know, is not trusted."
)
HOLDERS = (
    "Each holder sees its own rows alone and adds the noise itself; no holder trusts the analyst, "
    "the other holders or the network."
)
SEIZED = (
    "Whoever runs the stream is trusted with the events of the moment and with nothing later: an "
    "intruder may see the state once, at any moment."
)


def trust_model(method: str, *, private: bool) -> str:
    """Who sees the rows and is trusted, in one sentence."""
    if not private:
        return NOBODY
    return HOLDERS if method.startswith(_FEDERATED) else CURATOR


def not_protected(method: str, unit: Unit) -> list[str]:
    """List what the promise does not cover, one phrase each."""
    return [
        "facts about groups: what holds for people like you is shown, with or without you",
        "what was declared as public: columns, values, bounds, bins, constraints and sizes",
        *_of_unit(unit),
        *_of_method(method),
        "other results from the same rows: their losses add up",
        "how long the run took, and what it said on the owner's terminal",
    ]


def _of_unit(unit: Unit) -> list[str]:
    if unit.rows_per_person is not None:
        return ["a person who is in the rows under several names"]
    one, several = ("image", "images") if unit.of_images else ("row", "rows")
    owner = f"a person who owns several {several}: each {one} is protected, the person is not"
    if unit.neighbours is Neighbours.REPLACE:
        return [
            owner,
            f"the number of {several}, which counts as public",
            f"that someone has {'an' if unit.of_images else 'a'} {one}",
        ]
    return [owner]


def _of_method(method: str) -> list[str]:
    if not method.startswith(_FEDERATED):
        return []
    return [
        "which holders take part, and that they answered",
        "a person whose rows lie with several holders: the losses at each of them add up",
    ]
