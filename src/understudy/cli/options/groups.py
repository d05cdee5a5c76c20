"""Options in groups: people give them one by one, commands take each group as a frozen request.

A group of options is a request of `jobs/` whose fields say which options set them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeGuard, get_type_hints

from understudy.jobs.request import JobRequest


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Show a command to Typer with the options of each group in place of the group."""
    taken = list(inspect.signature(command, eval_str=True).parameters.values())

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{each.name: _value(each, given) for each in taken})

    options = _options(taken)
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]  # read by inspect
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _is_group(annotation: object) -> TypeGuard[type[JobRequest]]:
    return isinstance(annotation, type) and issubclass(annotation, JobRequest)


def _options(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """All options in their order, taken by name because some have no default."""
    found: list[inspect.Parameter] = []
    for each in parameters:
        group = each.annotation
        found += _options(_fields(group)) if _is_group(group) else [each]
    return [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in found]


def _fields(group: type[JobRequest]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    fields = inspect.signature(group).parameters.values()
    return [field.replace(annotation=hints[field.name]) for field in fields]


def _value(parameter: inspect.Parameter, given: Mapping[str, Any]) -> Any:
    """The value of one of a command's parameters: an option's own, or a group of them."""
    group = parameter.annotation
    if not _is_group(group):
        return given[parameter.name]
    return group(**{field.name: _value(field, given) for field in _fields(group)})
