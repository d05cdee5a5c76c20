"""Companions of other packages that no command needs, and whose import would double its start.

Arrow imports pandas, where it is installed, to ask whether a list is a series; numba imports the
linear algebra of SciPy to offer it to kernels. Both do without. Whoever asks for these packages by
their names still gets them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

# Which package is not needed by whom. Arrow's own requests come from compiled code, so that whoever
# called it seems to ask; frames for people who have pandas are made in one place, by one module of
# Arrow's, and Spark Connect is asked for with all that it needs.
_NOT_NEEDED = {"pandas": ("understudy.", "pyarrow."), "scipy.linalg": ("numba.",)}
_BY_NAME = ("understudy.system.frames", "understudy.system.extras", "pyarrow.pandas_compat")


class Companions(MetaPathFinder):
    """Lets Arrow and numba find that a companion is not installed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse a companion to those who do not need it; else leave it to others."""
        if fullname in _NOT_NEEDED:
            asking = _asking(sys._getframe(1))
            if asking not in _BY_NAME and asking.startswith(_NOT_NEEDED[fullname]):
                raise ModuleNotFoundError(f"{fullname} is not needed here", name=fullname)
        return None


def _asking(frame: FrameType | None) -> str:
    """The module whose code asks for an import, past those that carry it out."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith("importlib"):
            return name
        frame = frame.f_back
    return ""


def without_companions() -> None:
    """Do without them for the rest of the process."""
    sys.meta_path.insert(0, Companions())
