"""A method whose process dies while it learns, as when a machine runs out of memory."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

from understudy.methods import Random
from understudy.privacy.curator import Curator


class Deadly(Random):
    """Ends its process, which must not be that of the tests."""

    def learn(self, curator: Curator) -> NoReturn:
        """Without a word."""
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError
