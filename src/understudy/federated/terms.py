"""What an analyst asks holders to agree to before the first question: public, and shown to people.

A holder answers nothing before it has seen these terms and agreed, and nothing beyond them after.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from understudy.privacy.budget import Budget, exactly
from understudy.privacy.unit import Neighbours, Unit
from understudy.schema import Schema

_LONGEST_SCHEMA = 2**22
_LONGEST_FRACTION = 700
_MOST_QUESTIONS = 100_000


class ProtocolName(StrEnum):
    """How holders and analyst learn together."""

    STATISTICS = "statistics"
    """All tables of so many attributes, noisy; structure and parameters come from their sums."""

    VOTES = "votes"
    """Holders vote on each family of the network; then they hand in its tables."""

    MODEL = "model"
    """Each holder learns a model of its own rows; the analyst learns from all of them."""

    PARAMETERS = "parameters"
    """The network is known; holders hand in its tables."""


class Fields(BaseModel):
    """What travels: frozen, typed strictly, and nothing beside what is declared."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _is_fraction(text: str) -> str:
    exactly(text)
    return text


ExactText = Annotated[str, Field(max_length=_LONGEST_FRACTION), AfterValidator(_is_fraction)]


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
    """

    protocol: ProtocolName
    schema_text: str = Field(max_length=_LONGEST_SCHEMA)
    neighbours: Neighbours
    rows_per_person: int | None = Field(default=None, ge=1)
    epsilon: ExactText
    delta: ExactText
    questions: int = Field(ge=1, le=_MOST_QUESTIONS)

    @property
    def budget(self) -> Budget:
        """What the run may cost in all."""
        return Budget.approximate(Fraction(self.epsilon), Fraction(self.delta))

    @property
    def unit(self) -> Unit:
        """Whom the promise protects."""
        return Unit(self.neighbours, self.rows_per_person)

    @cached_property
    def schema_asked(self) -> Schema:
        """The schema that the analyst works with; SchemaError where it is none."""
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
        ]
