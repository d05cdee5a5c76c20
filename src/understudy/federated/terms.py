"""The terms that holders agree to before the first question: public, and shown to people.

A holder answers nothing before it has seen these terms and agreed, and nothing beyond them after.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.privacy.budget import Budget, exactly

_LONGEST_SCHEMA = 2**22
_LONGEST_FRACTION = 700
_MOST_QUESTIONS = 100_000
_MOST_EDGES, _MOST_NAMES = 10_000, 4_096


class ProtocolName(StrEnum):
    """How holders and analyst learn together."""

    STATISTICS = "statistics"
    """All noisy tables of k attributes; structure and parameters come from their sums."""

    VOTES = "votes"
    """Holders vote on each family of the network; then they hand in its tables."""

    MODEL = "model"
    """Each holder learns a model of its own rows; the analyst learns from all of them."""

    PARAMETERS = "parameters"
    """The network is known; holders hand in its tables."""

    ADAPTIVE = "adaptive"
    """Tables in groups show where the model is wrong; then the tables themselves are handed in."""

    MOMENTS = "moments"
    """Holders of images hand in noisy sums over them, which are added up to moments of classes."""


class Fields(BaseModel):
    """The base of everything sent: frozen, strictly typed, with declared fields only."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _is_fraction(text: str) -> str:
    exactly(text)
    return text


ExactText = Annotated[str, Field(max_length=_LONGEST_FRACTION), AfterValidator(_is_fraction)]


Name = Annotated[str, Field(max_length=1024)]
Names = tuple[Name, ...]
_Some = Annotated[Names, Field(max_length=_MOST_NAMES)]
_Edges = Annotated[tuple[tuple[Name, Name], ...], Field(max_length=_MOST_EDGES)]
_ByName = Annotated[dict[Name, _Some], Field(max_length=_MOST_NAMES)]


class Limits(Fields):
    """Restrictions on networks as they travel; what they mean is said in `learn.restrict`.

    Attributes:
        version: of these fields; another one is refused, whatever it says.
        protected: for each protected attribute all that it may depend on, written out.
    """

    version: Literal[1] = 1
    required: _Edges = ()
    forbidden: _Edges = ()
    tiers: Annotated[tuple[_Some, ...], Field(max_length=_MOST_NAMES)] = ()
    predictors: _ByName | None = None
    target: Name | None = None
    protected: _ByName = Field(default_factory=dict)
    quasi_identifiers: _Some = ()

    @classmethod
    def of(cls, restrictions: Restrictions) -> Limits:
        """Some restrictions, ready to travel."""
        held, predictors = restrictions.protection, restrictions.predictors
        return cls(
            required=restrictions.required,
            forbidden=restrictions.forbidden,
            tiers=restrictions.tiers,
            predictors=None if predictors is None else dict(predictors),
            target=held.target,
            protected=held.kept,
            quasi_identifiers=held.quasi_identifiers,
        )

    @property
    def restrictions(self) -> Restrictions:
        """Return the restrictions that the message describes."""
        protection = Protection(self.target, self.protected, self.quasi_identifiers)
        return Restrictions(
            required=self.required,
            forbidden=self.forbidden,
            tiers=self.tiers,
            predictors=self.predictors,
            protection=protection,
        )

    def lines(self) -> list[str]:
        """The restrictions for a person who is to decide, one kind a line."""
        edges = {"required": self.required, "forbidden": self.forbidden}
        found = [
            f"{kind} edges: {', '.join(':'.join(edge) for edge in some)}"
            for kind, some in edges.items()
            if some
        ]
        if self.tiers:
            found.append(f"order: {' | '.join(', '.join(tier) for tier in self.tiers)}")
        if self.predictors is not None:
            found.append("parents: only those of a list of predictors")
        sentence = self.restrictions.protection.sentence
        return [*found, sentence] if sentence else found


class ImageFacts(Fields):
    """Public facts about images, on which all sides agree."""

    height: int = Field(ge=1, le=4096)
    width: int = Field(ge=1, le=4096)
    classes: int = Field(ge=1, le=2**20)
    channels: int = Field(ge=1, le=16)

    @property
    def line(self) -> str:
        """The facts for a person who is to decide."""
        colour = "grey" if self.channels == 1 else f"in {self.channels} channels"
        return f"images: {self.height} × {self.width} pixels, {colour}, {self.classes} classes"


class Terms(Fields):
    """The whole of what a run may ask of one holder.

    Attributes:
        protocol: how the run learns.
        schema_text: the schema that the analyst works with.
        neighbours: whom the promise protects.
        rows_per_person: the most rows of a person, where the promise is for persons.
        epsilon: the privacy loss of the whole run, exact.
        delta: the chance of a larger one, exact.
        questions: the most messages that cost anything.
        limits: what the network must keep to; a holder answers no question beyond it.
        images: the sizes of images, where the rows are images.
    """

    protocol: ProtocolName
    schema_text: str = Field(max_length=_LONGEST_SCHEMA)
    neighbours: Neighbours
    rows_per_person: int | None = Field(default=None, ge=1)
    epsilon: ExactText
    delta: ExactText
    questions: int = Field(ge=1, le=_MOST_QUESTIONS)
    limits: Limits | None = None
    images: ImageFacts | None = None

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Terms without limits or images travel as they did before there were any."""
        document: dict[str, Any] = write(self)
        for name in ("limits", "images"):
            if document[name] is None:
                del document[name]
        return document

    @property
    def budget(self) -> Budget:
        """Return the budget of the whole run."""
        return Budget.approximate(Fraction(self.epsilon), Fraction(self.delta))

    @property
    def unit(self) -> Unit:
        """Return the unit that the promise protects."""
        return Unit(self.neighbours, self.rows_per_person, of_images=self.images is not None)

    @cached_property
    def restrictions(self) -> Restrictions:
        """Return the restrictions on the network; none by default."""
        return NONE if self.limits is None else self.limits.restrictions

    @cached_property
    def schema_asked(self) -> Schema:
        """The schema that the analyst works with; SchemaError where it is not a schema."""
        return Schema.from_json(self.schema_text)

    def lines(self) -> list[str]:
        """The terms for a person who is to decide, one fact a line."""
        schema, budget = self.schema_asked, self.budget
        unit = self.unit
        return [
            f"protocol: {self.protocol}",
            f"columns: {', '.join(schema.learned)}",
            f"schema: {schema.fingerprint}",
            f"questions: at most {self.questions}",
            f"privacy loss in all: {budget}, for any one {unit.label} under {unit.neighbours}",
            *(() if self.images is None else [self.images.line]),
            *(() if self.limits is None else self.limits.lines()),
        ]
