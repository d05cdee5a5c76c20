"""The one list of methods: their names, in order, and where their classes are.

Classes are named as texts and imported when they are asked for, so that a list of names costs
nothing, and so that methods of optional packages are in the same list. Other distributions add
methods through the entry point group `understudy.methods`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from understudy.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from understudy.methods.abilities import Abilities
    from understudy.methods.base import Synthesizer

GROUP = "understudy.methods"
"""The entry point group by which other distributions add a method: `toy = "my_package:Toy"`."""

NAME = re.compile(r"[a-z][a-z0-9-]*")
"""What a method of another distribution may be called."""

AUTOMATIC = "auto"
"""What a command line says instead of a name: the default, or a network where options shape one."""

DEFAULT = "adaptive"
"""The method that is taken where no option shapes a network."""


@dataclass(frozen=True)
class Entry:
    """One method: its name, and where its class is.

    Attributes:
        name: as commands and statements call it.
        place: the class as the text `module:Class`.
        remark: what help texts say of it, in brackets.
        refusal: why it cannot be used, as a rule and a way out; empty where it can.
    """

    name: str
    place: str
    remark: str = ""
    refusal: str = ""

    @property
    def described(self) -> str:
        """The name, with the remark in brackets where there is one."""
        return f"{self.name} ({self.remark})" if self.remark else self.name

    def load(self) -> type[Synthesizer]:
        """Import the class; one that is not a method of this name is refused."""
        # Importing it takes longer than all the rest of a start.
        from importlib.metadata import EntryPoint

        if self.refusal:
            raise UsageError(f"method {self.name!r}: {self.refusal}")
        try:
            found = EntryPoint(self.name, self.place, GROUP).load()
        except ImportError as error:
            raise UsageError(
                f"method {self.name!r}: {self.place} cannot be imported: {error}; "
                "install it again, or remove it"
            ) from error
        except (AttributeError, ValueError) as error:
            raise UsageError(
                f"method {self.name!r}: {self.place} is not a Synthesizer: {error}; "
                "correct its entry point"
            ) from error
        return _checked(self, found)


BUILT_IN = (
    Entry("adaptive", "understudy.methods.adaptive:AdaptiveMarginals"),
    Entry("nist", "understudy.methods.nist:Nist", "with delta"),
    Entry("privbayes", "understudy.methods.privbayes:PrivBayes", "without"),
    Entry("independent", "understudy.methods.independent:Independent"),
    Entry("histogram", "understudy.methods.histogram:Histogram"),
    Entry("random", "understudy.methods.random:Random"),
    Entry("dpgan", "understudy.gan.tables:DPGAN"),
    Entry("noise-gan", "understudy.gan.tables:NoiseGAN"),
)


@cache
def entries() -> dict[str, Entry]:
    """Every method by its name: those of this package in order, then those of others by name.

    A name that is taken here stays as it is: no other distribution can replace a method. An entry
    of another distribution that breaks a rule is listed, and refused when someone uses it, so
    that one faulty distribution does not stop the methods of all others.
    """
    own = {entry.name: entry for entry in BUILT_IN}
    added: dict[str, list[EntryPoint]] = {}
    for found in _entry_points():
        added.setdefault(found.name, []).append(found)
    others = sorted(added.keys() - own.keys() - {AUTOMATIC})
    return own | {name: _added(name, added[name]) for name in others}


def _entry_points() -> Iterable[EntryPoint]:
    # Importing it takes longer than all the rest of a start.
    from importlib import metadata

    return metadata.entry_points(group=GROUP)


def _added(name: str, found: Sequence[EntryPoint]) -> Entry:
    """The entry of a method that other distributions add, with the rule that it breaks, if any."""
    return Entry(name, found[0].value, refusal=_refusal(name, found))


def _refusal(name: str, found: Sequence[EntryPoint]) -> str:
    from understudy.privacy.statements.assurance import METHODS, RELEASES

    if not NAME.fullmatch(name):
        return (
            "the name of a method is small letters, digits and hyphens, and begins with a letter; "
            f"rename the entry point in {_distributions(found)}"
        )
    # A statement with such a name would claim proofs that are of something else.
    if name in {*METHODS, *RELEASES}:
        return (
            "statements call another kind of release so; "
            f"rename the entry point in {_distributions(found)}"
        )
    if len(found) > 1:
        return f"{_distributions(found)} both add it; remove one of them"
    return ""


def _distributions(found: Sequence[EntryPoint]) -> str:
    """The distributions that add some entry points, by name."""
    return " and ".join(sorted(each.dist.name if each.dist else each.value for each in found))


def names() -> tuple[str, ...]:
    """The names of all methods, in order."""
    return tuple(entries())


def planned_names() -> tuple[str, ...]:
    """The names of all methods but those of this package that `plan` cannot rehearse."""
    from understudy.privacy.statements.assurance import METHODS

    left_out = {entry.name for entry in BUILT_IN if "plan" not in METHODS[entry.name].commands}
    return tuple(name for name in names() if name not in left_out)


def method(name: str) -> type[Synthesizer]:
    """Import and return the class of a method.

    Example:
        >>> method("nist").__name__
        'Nist'
    """
    if name not in entries():
        known = ", ".join([AUTOMATIC, *sorted(names())])
        raise UsageError(f"method {name!r} is unknown; use one of {known}")
    return entries()[name].load()


def abilities(name: str) -> Abilities:
    """Return what a method can be asked for."""
    return method(name).abilities


def taking(option: str) -> list[str]:
    """The methods of this package that have a parameter for a command line to fill, by name."""
    own = (entry.name for entry in BUILT_IN)
    return sorted(name for name in own if option in abilities(name).options)


def listed(*first: str, command: str = "fit") -> str:
    """The methods of this package that a command offers, as help texts list them, after some words.

    Help texts are made at every start, and looking for methods of others takes too long for that.
    """
    from understudy.privacy.statements.assurance import METHODS

    offered = (entry for entry in BUILT_IN if command in METHODS[entry.name].commands)
    *others, last = [*first, *(entry.described for entry in offered)]
    return f"{', '.join(others)} or {last}"


def _checked(entry: Entry, kind: Any) -> type[Synthesizer]:
    """A class as it was found, when it is a synthesizer whose statements bear the entry's name."""
    from understudy.methods.base import Synthesizer

    if not (isinstance(kind, type) and issubclass(kind, Synthesizer)):
        raise UsageError(
            f"method {entry.name!r}: {entry.place} is not a Synthesizer; correct its entry point"
        )
    if kind.method != entry.name:
        raise UsageError(
            f"method {entry.name!r}: {entry.place} calls itself {kind.method!r}; "
            "its entry point must have the same name"
        )
    return kind


__all__ = [
    "AUTOMATIC",
    "BUILT_IN",
    "DEFAULT",
    "GROUP",
    "NAME",
    "Entry",
    "abilities",
    "entries",
    "listed",
    "method",
    "names",
    "taking",
]
