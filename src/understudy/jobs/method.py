"""Which method a job fits, by name: options are checked, and the synthesizer is built."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import UsageError
from understudy.jobs.choices import unknown_choice
from understudy.jobs.network_learning import NetworkLearningRequest
from understudy.jobs.network_rules import NetworkRequest
from understudy.jobs.reading import PersonRequest
from understudy.jobs.request import JobRequest
from understudy.methods import registry
from understudy.methods.abilities import TABLE_RULES

if TYPE_CHECKING:
    from understudy.facts.schema import Schema
    from understudy.gan.training import Hyperparameters
    from understudy.methods import Synthesizer
    from understudy.methods.abilities import Abilities
    from understudy.models.model import Model


@dataclass(frozen=True)
class TrainingRequest(JobRequest):
    """How a method that trains neural networks is to train them; None leaves the default.

    Attributes:
        epochs: how often a row is expected in a batch.
        batch: how many rows are expected in a batch.
        clip: the norm at which the gradient of a row is clipped.
        pace: a factor on the learning rates.
        lessons: steps in which a generator is taught by released moments or rows.
    """

    epochs: float | None = None
    batch: int | None = None
    clip: float | None = None
    pace: float | None = None
    lessons: int | None = None

    def settings(self, base: Hyperparameters) -> Hyperparameters:
        """Default settings, with what was asked for in place."""
        asked: dict[str, Any] = {"epochs": self.epochs, "batch": self.batch, "clip": self.clip}
        asked["lessons"] = self.lessons
        if self.pace is not None:
            if not 0 < self.pace < math.inf:
                raise UsageError(f"pace is {self.pace:g}; give a number above 0, such as 0.5")
            asked["critic_rate"] = base.critic_rate * self.pace
            asked["generator_rate"] = base.generator_rate * self.pace
        return replace(base, **{name: value for name, value in asked.items() if value is not None})


@dataclass(frozen=True)
class MethodRequest(JobRequest):
    """A method, its privacy budget, and what its network may contain.

    Attributes:
        epsilon: the privacy loss allowed; without a default.
        delta: the probability allowed for a larger loss.
        neighbours: add-remove or replace; the method's own unless given.
        method: the name of a method, or auto.
        structure: how the network is learned, or a file that holds it.
        degree: the most parents of an attribute.
        network: what the network must and must not contain.
        learning: by which settings the network is learned.
        workload: a file of column sets that count more than others.
    """

    epsilon: str | None = None
    delta: str = "0"
    neighbours: str | None = None
    method: str = "auto"
    structure: str | None = None
    degree: int | None = None
    network: NetworkRequest = field(default_factory=NetworkRequest)
    learning: NetworkLearningRequest = field(default_factory=NetworkLearningRequest)
    workload: Path | None = None

    @property
    def chosen(self) -> str:
        """The method's own name: auto is adaptive, or a network where options shape one."""
        from understudy.privacy.budget import exact

        if self.method != registry.AUTOMATIC:
            return self.method
        if not self.about_networks:
            return registry.DEFAULT
        return "nist" if exact(self.delta, what="delta") > 0 else "privbayes"

    @property
    def about_networks(self) -> list[str]:
        """The options given that only a method with a network can follow."""
        learning = {"--structure": self.structure, "--degree": self.degree}
        found = [option for option, value in learning.items() if value is not None]
        found += self.learning.given
        return found + [
            option for option in self.network.given if option.removeprefix("--") not in TABLE_RULES
        ]


@dataclass(frozen=True)
class FitRequest(MethodRequest):
    """A method that is to be fitted: its budget, its rules, the persons, and the training.

    Attributes:
        people: who has several rows.
        rows: how many synthetic rows to make.
        training: how neural networks are trained.
    """

    people: PersonRequest = field(default_factory=PersonRequest)
    rows: int | None = None
    training: TrainingRequest = field(default_factory=TrainingRequest)


def build(request: FitRequest, schema: Schema) -> Synthesizer:
    """Build the synthesizer asked for; options that its method does not take are refused.

    A fit checks the parameters themselves, before it reads anything.
    """
    known = (registry.AUTOMATIC, *sorted(registry.names()))
    if request.chosen not in known:
        raise unknown_choice("method", request.chosen, known)
    kind = registry.method(request.chosen)
    synthesizer = kind(schema, **_arguments(request, kind.abilities, schema))
    if request.epsilon is None and not synthesizer.is_free:
        raise UsageError(
            "epsilon is not given; say how much privacy loss is allowed, as --epsilon 1"
        )
    return synthesizer


def _arguments(request: FitRequest, able: Abilities, schema: Schema) -> dict[str, Any]:
    """The parameters of a method: those of all methods, and those that it has itself."""
    _refuse_unfit(request, able)
    return {
        "epsilon": request.epsilon or "0",
        "delta": request.delta,
        "neighbours": request.neighbours,
        "person_id": request.people.person_id,
        "rows_per_person": request.people.rows_per_person,
    } | {name: _argument(request, name, schema) for name in able.options}


def _argument(request: FitRequest, name: str, schema: Schema) -> Any:
    """Return the value of a parameter that only some methods have."""
    match name:
        case "restrictions":
            return request.network.restrictions(schema.attributes)
        case "target":
            return request.network.target
        case "search":
            return request.learning.search(request.structure)
        case "score" | "theta" | "size_share" | "one_way_share" | "structure_share":
            return getattr(request.learning, name)
        case "workload":
            from understudy.facts.workload import Workload

            return None if request.workload is None else Workload.load(request.workload)
        case "settings":
            from understudy.gan.tables import settings_of

            return request.training.settings(settings_of(request.chosen))
        case _:
            return getattr(request, name)


def _refuse_unfit(request: FitRequest, able: Abilities) -> None:
    """Refuse what only other methods take."""
    if request.training.lessons is not None and not able.lessons:
        raise UsageError("--lessons is for dpgan, and for images in an .npz file; leave it out")
    if request.training.given and not able.is_trained:
        trained = " and ".join(registry.taking("settings"))
        raise UsageError(f"{request.training.given[0]} is for {trained}; leave it out")
    if request.workload is not None and "workload" not in able.options:
        weighing = " and ".join(registry.taking("workload"))
        raise UsageError(f"--workload is for {weighing}; leave it out")
    if able.learns_network:
        return
    known = {*able.options, *(TABLE_RULES if "restrictions" in able.options else ())}
    unfit = [each for each in request.network.given if each.removeprefix("--") not in known]
    unfit = [*request.about_networks, *unfit]
    if unfit:
        raise UsageError(f"{unfit[0]} is for {_takers(unfit[0])}; leave it out")


def _takers(option: str) -> str:
    """The methods that take an option about networks or tables."""
    name = option.removeprefix("--")
    tables = {"restrictions", name} if name in TABLE_RULES else {"structure"}
    found = [
        method
        for method in registry.names()
        if (able := registry.abilities(method)).learns_network or tables & {*able.options}
    ]
    return f"{', '.join(found[:-1])} and {found[-1]}"


def refuse_unplanned(request: FitRequest) -> None:
    """Refuse methods that cannot be rehearsed: nothing but their noise is known without rows."""
    able = registry.abilities(request.chosen)
    if able.is_trained:
        raise UsageError(
            f"what {request.method} learns cannot be forecast; plan for nist, or fit a public table"
        )
    if able.releases_rows:
        raise UsageError(
            f"plan rehearses methods that count, and {request.method} draws rows, most of them "
            "from anywhere unless they are few and columns small; name another method"
        )


def remarks(request: FitRequest, model: Model) -> list[str]:
    """Explain to a person how a model came about; all of it is public or released."""
    said = []
    if request.method == registry.AUTOMATIC:
        said.append(f"method {request.chosen}{_reason(request)}")
    return said + registry.method(request.chosen).remarks(model)


def _reason(request: FitRequest) -> str:
    """Say why auto is a network, where it is."""
    if not request.about_networks:
        return ", the default"
    delta = "a delta was given" if request.chosen == "nist" else "no delta was given"
    return f", because {request.about_networks[0]} shapes a network and {delta}"
