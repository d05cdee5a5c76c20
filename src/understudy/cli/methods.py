"""The methods that `--method` names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import options
from understudy.cli.groups import Group
from understudy.cli.wishes import Wishes
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.gan.training import Settings
    from understudy.model import Model
    from understudy.schema import Schema
    from understudy.synthesizers import Synthesizer

METHODS = (
    *("auto", "dpgan", "histogram", "independent", "nist", "noise-gan", "privbayes", "random"),
)
_WITH_NETWORK = ("nist", "privbayes")
_WITH_ROWS = ("dpgan", "histogram", "noise-gan", "random")
_TRAINED = ("dpgan", "noise-gan")
_TRAINED_REMARK = "rows come from a trained network, which has no probabilities to ask for"


@dataclass(frozen=True)
class Training(Group):
    """What the command line asks of a method that trains networks; what is not said is None."""

    epochs: Annotated[
        float | None,
        typer.Option("--epochs", help="dpgan, noise-gan: how often a row is expected in a batch."),
    ] = None
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch", min=1, help="dpgan, noise-gan: how many rows a batch has, expected."
        ),
    ] = None
    clip: Annotated[
        float | None,
        typer.Option("--clip", help="dpgan: the norm at which a row's gradient is cut off."),
    ] = None
    pace: Annotated[
        float | None,
        typer.Option(
            "--pace",
            help="dpgan, noise-gan: how fast networks learn, times the usual; less where they "
            "diverge.",
        ),
    ] = None

    def settings(self, base: Settings) -> Settings:
        """Settings with what was said in place."""
        said: dict[str, Any] = {"epochs": self.epochs, "batch": self.batch, "clip": self.clip}
        if self.pace is not None:
            if not 0 < self.pace < math.inf:
                raise UsageError(f"pace is {self.pace:g}; give a number above 0, as 0.5")
            said["critic_rate"] = base.critic_rate * self.pace
            said["generator_rate"] = base.generator_rate * self.pace
        return replace(base, **{name: value for name, value in said.items() if value is not None})


@dataclass(frozen=True)
class Choice(Group):
    """A method, what it may spend and what it may learn."""

    epsilon: options.Epsilon = None
    delta: options.Delta = "0"
    method: options.MethodName = "auto"
    structure: options.StructureName = None
    degree: options.Degree = None
    wishes: Wishes = field(default_factory=Wishes)
    neighbours: options.NeighboursName = None

    @property
    def chosen(self) -> str:
        """The method itself: `auto` is nist where a delta allows it, and privbayes else."""
        from understudy.privacy.budget import exact

        if self.method != "auto":
            return self.method
        return "nist" if exact(self.delta, what="delta") > 0 else "privbayes"


@dataclass(frozen=True)
class Request(Choice):
    """What the command line asks of a method that is going to be fitted."""

    rows: options.RowCount = None
    people: options.People = field(default_factory=options.People)
    training: Training = field(default_factory=Training)


def kinds() -> Mapping[str, type[Synthesizer]]:
    """The class of every method that `--method` names, `auto` apart."""
    from understudy import synthesizers
    from understudy.gan.tables import DPGAN, NoiseGAN

    return {
        "dpgan": DPGAN,
        "histogram": synthesizers.Histogram,
        "independent": synthesizers.Independent,
        "nist": synthesizers.Nist,
        "noise-gan": NoiseGAN,
        "privbayes": synthesizers.PrivBayes,
        "random": synthesizers.Random,
    }


def build(request: Request, schema: Schema) -> Synthesizer:
    """The synthesizer asked for; an impossible combination is refused before anything is read."""
    if request.method not in METHODS:
        raise UsageError(f"method {request.method!r} is unknown; use one of {', '.join(METHODS)}")
    free = request.chosen == "random" and request.rows is not None
    if request.epsilon is None and not free:
        raise UsageError(
            "epsilon is not given; say how much privacy loss is allowed, as --epsilon 1"
        )
    synthesizer = kinds()[request.chosen](schema, **_arguments(request, schema))
    synthesizer.check()
    return synthesizer


def _arguments(request: Request, schema: Schema) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "epsilon": request.epsilon or "0",
        "delta": request.delta,
        "neighbours": request.neighbours,
        "person_id": request.people.person_id,
        "rows_per_person": request.people.rows_per_person,
    }
    _refuse_training(request)
    network = {"structure": request.structure, "degree": request.degree}
    if request.chosen in _WITH_NETWORK:
        restrictions = request.wishes.restrictions(schema.attributes)
        return arguments | network | {"restrictions": restrictions}
    _refuse_network(request, network)
    arguments |= {"rows": request.rows} if request.chosen in _WITH_ROWS else {}
    return arguments | (_training(request) if request.chosen in _TRAINED else {})


def _refuse_network(request: Request, network: Mapping[str, object]) -> None:
    """Refuse what only networks take, where the method has none."""
    unfit = [f"--{name}" for name, value in network.items() if value is not None]
    unfit += request.wishes.given
    if request.chosen in _TRAINED:
        unfit = [option for option in unfit if option != "--target"]
    if unfit:
        raise UsageError(f"{unfit[0]} is for {' and '.join(_WITH_NETWORK)}; leave it out")


def _training(request: Request) -> dict[str, Any]:
    from understudy.gan.training import Settings

    settings = request.training.settings(Settings())
    return {"target": request.wishes.target, "settings": settings}


def refuse_trained(request: Request) -> None:
    """Refuse methods of which nothing but their noise can be said without rows."""
    if request.method in _TRAINED:
        raise UsageError(
            f"what {request.method} learns cannot be forecast; plan for nist, or fit a public table"
        )


def _refuse_training(request: Request) -> None:
    """Refuse what only trained methods take, where the method is another."""
    unfit = request.training.given
    if unfit and request.chosen not in _TRAINED:
        raise UsageError(f"{unfit[0]} is for {' and '.join(_TRAINED)}; leave it out")


def remarks(request: Request, model: Model) -> list[str]:
    """What a person should know of how a model came about; all of it public or released."""
    said = []
    if request.method == "auto":
        why = "a delta was given" if request.chosen == "nist" else "no delta was given"
        said.append(f"method {request.chosen}, because {why}")
    if request.chosen in _WITH_NETWORK and model.network.degree == 0 and len(model.domain) > 1:
        said.append("no two columns were worth the noise of a table: they are independent here")
    if request.chosen in _TRAINED:
        said.append(f"{_TRAINED_REMARK}; nist is more accurate on most tables at the same epsilon")
    if request.chosen == "histogram":
        drawn = model.rows * (1 - _smoothing(model))
        said.append(f"about {drawn:,.1f} rows were drawn from the table, the others from anywhere")
    return said


def _smoothing(model: Model) -> float:
    """How far a model's histogram was smoothed; wholly where nothing was drawn."""
    from understudy.privacy.events import SmoothedHistogramEvent

    events = (charge.event for charge in model.statement.charges)
    return next((float(e.smoothing) for e in events if isinstance(e, SmoothedHistogramEvent)), 1.0)
