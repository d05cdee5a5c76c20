"""Adam, written out: its state is plain arrays that a checkpoint can hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from understudy.gan.backend import Parameters, Tensor, torch

_SMALL = 1e-8


@dataclass
class Adam:
    """Steps against a gradient, each parameter at its own pace.

    Source: Kingma, Ba 2015. All it sees was released, so it is post-processing.
    """

    rate: float
    momentum: float = 0.5
    memory: float = 0.99
    taken: int = 0
    means: Parameters = field(default_factory=dict)
    squares: Parameters = field(default_factory=dict)

    def step(
        self, parameters: Parameters, gradient: Parameters, *, pace: float = 1.0
    ) -> Parameters:
        """The parameters one step further, at a part of the rate."""
        self.taken += 1
        first, second = 1 - self.momentum**self.taken, 1 - self.memory**self.taken
        rate = pace * self.rate
        return {
            name: value - rate * self._direction(name, gradient[name], first, second)
            for name, value in parameters.items()
        }

    def _direction(self, name: str, slope: Tensor, first: float, second: float) -> Tensor:
        zeros = torch().zeros_like(slope)
        mean = self.means.get(name, zeros) * self.momentum + slope * (1 - self.momentum)
        square = self.squares.get(name, zeros) * self.memory + slope * slope * (1 - self.memory)
        self.means[name], self.squares[name] = mean, square
        return (mean / first) / ((square / second).sqrt() + _SMALL)
