"""Commands do not load what Arrow and numba would like to have beside them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from understudy.cli.companions import Companions

_ASK = "def ask(finder, name): return finder.find_spec(name)"


def _asked_by(module: str, package: str) -> object:
    """What the finder says to code of a module that asks for a package."""
    own = {"__name__": module}
    exec(compile(_ASK, module, "exec"), own)  # the name of a module is what the finder looks at
    ask = own["ask"]
    assert callable(ask)
    found: object = ask(Companions(), package)
    return found


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("understudy.models.bayes_net", "pandas"),
        ("pyarrow.compute", "pandas"),
        ("numba.np.linalg", "scipy.linalg"),
    ],
)
def test_a_companion_is_not_found(module: str, package: str) -> None:
    """By those that can do without it."""
    with pytest.raises(ModuleNotFoundError, match="not needed"):
        _asked_by(module, package)


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("understudy.system.frames", "pandas"),
        ("understudy.system.extras", "pandas"),
        ("sklearn.utils", "pandas"),
        ("sklearn.utils", "scipy.linalg"),
        ("understudy.models.bayes_net", "numpy"),
    ],
)
def test_who_asks_by_name_is_sent_on(module: str, package: str) -> None:
    """Other finders look for the package."""
    assert _asked_by(module, package) is None


_CODE = """
import sys
from understudy.cli.companions import without_companions
without_companions()
import pyarrow as pa
from understudy.system.frames import in_brand
__name__ = "understudy.example"
rows = pa.table({"a": pa.array([1, 2])})
print("pandas" in sys.modules, list(in_brand(rows, "pandas")["a"]), "pandas" in sys.modules)
"""


@pytest.mark.slow
def test_frames_are_made_all_the_same() -> None:
    """Arrow gave pandas up for lists, and finds it for a frame."""
    ran = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=True)
    assert "False [1, 2] True\n" == ran.stdout
