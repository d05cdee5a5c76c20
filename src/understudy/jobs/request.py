"""The base of all requests: frozen values of plain types that can be checked before any work."""

from __future__ import annotations

from dataclasses import Field, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class JobRequest:
    """A request to a job: each field is a value, or a request about one part of the job."""

    @property
    def given(self) -> list[str]:
        """The fields that differ from their defaults, by the names of their options."""
        return [option for each in fields(self) for option in self._given(each)]

    def _given(self, field: Field[Any]) -> list[str]:
        value = getattr(self, field.name)
        if isinstance(value, JobRequest):
            return value.given
        return [] if value == field.default or value == [] else [option_name(field.name)]


def option_name(field: str) -> str:
    """The option that sets a field, as people write it.

    Example:
        >>> option_name("rows_per_person")
        '--rows-per-person'
    """
    return f"--{field.replace('_', '-')}"
