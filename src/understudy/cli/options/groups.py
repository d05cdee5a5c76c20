"""Options in groups: people give them one by one, commands take each group as a frozen value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, TypeGuard, get_type_hints

Parameters = list[inspect.Parameter]


@dataclass(frozen=True)
class Group:
    """Options as they were given: each field is one, or a group of them."""

    @property
    def given(self) -> list[str]:
        """The options that say something else than their defaults, as people write them."""
        said = ((each, getattr(self, each.name)) for each in fields(self))
        return [
            f"--{each.name.replace('_', '-')}"
            for each, value in said
            if value != each.default and value != []
        ]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command as Typer is to see it: in place of each group stand the options in it."""
    taken = list(inspect.signature(command, eval_str=True).parameters.values())

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{each.name: _value(each, given) for each in taken})

    options = _options(taken)
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]  # read by inspect
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _is_group(annotation: object) -> TypeGuard[type[Group]]:
    return isinstance(annotation, type) and issubclass(annotation, Group)


def _options(parameters: Parameters) -> Parameters:
    """All options, in the order in which they stand; by name, as some have no default."""
    found: Parameters = []
    for each in parameters:
        group = each.annotation
        found += _options(_fields(group)) if _is_group(group) else [each]
    return [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in found]


def _fields(group: type[Group]) -> Parameters:
    hints = get_type_hints(group, include_extras=True)
    fields = inspect.signature(group).parameters.values()
    return [field.replace(annotation=hints[field.name]) for field in fields]


def _value(parameter: inspect.Parameter, given: Mapping[str, Any]) -> Any:
    """What a command is given for one of its parameters."""
    group = parameter.annotation
    if not _is_group(group):
        return given[parameter.name]
    return group(**{field.name: _value(field, given) for field in _fields(group)})
