"""PyTorch, where it is installed, and the few words that this room has for its values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from understudy.system.extras import require

Tensor = Any
"""A torch.Tensor; the package may be missing where types are checked."""

Parameters = dict[str, Tensor]
"""The numbers of a network, by name."""


def torch() -> Any:
    """The package itself; where it is missing, the error names the extra."""
    return require("torch", extra="gan")


@contextmanager
def one_thread() -> Iterator[None]:
    """Calculate on one thread: sums come out the same on every machine, and others have room."""
    before = torch().get_num_threads()
    torch().set_num_threads(1)
    try:
        yield
    finally:
        torch().set_num_threads(before)


def random_from(seed: int) -> Any:
    """A generator of public random numbers: first weights, latent numbers, masks.

    Privacy: none of these protect anybody. Batches and noise come from the Curator's own source,
    and nothing private may decide how often this generator is asked.
    """
    return torch().Generator().manual_seed(seed)


def leaky(values: Tensor) -> Tensor:
    """Return the leaky rectifier."""
    from understudy.models.generator import SLOPE

    return torch().nn.functional.leaky_relu(values, SLOPE)
