"""The classes of commands and groups: help in ordered panels, and one suggestion for a typo."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from typer.core import TyperCommand, TyperGroup

from understudy.cli.options.panels import ORDER, OUTPUT
from understudy.errors import UsageError
from understudy.jobs.choices import suggestion

# Commands that are asked about several values, so that people give an option twice where it takes
# one. In others the last one counts, as wrappers and aliases expect.
_ASKED_ABOUT_SEVERAL = frozenset({"plan"})
# Names that options had before; they still work, and help does not show them.
OLD_NAMES = frozenset({"--keys"})
# Names that had two meanings: where the other one was meant, the new name is suggested.
RENAMED = {"--keys": "--users"}


class PanelCommand(TyperCommand):
    """A command whose help shows options in panels, daily ones first, required ones on top."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.help = _joined_lines(self.help)

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments, then options in the order of their panels."""
        return sorted(super().get_params(ctx), key=_rank)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a mistyped option gets one suggestion."""
        try:
            if self.name in _ASKED_ABOUT_SEVERAL:
                self._refuse_repeated(ctx, args)
            return super().parse_args(ctx, args)
        except Exception as error:
            _keep_closest(error, {name for option in self.params for name in option.opts})
            raise

    def _refuse_repeated(self, ctx: Any, args: list[str]) -> None:
        """Refuse an option with one value that is given twice: the first would be ignored."""
        given = self.make_parser(ctx).parse_args(args=list(args))[2]
        for option in given:
            times = sum(each is option for each in given)
            if times > 1 and _takes_one(option):
                raise UsageError(
                    f"{option.opts[0]} is given {times} times and takes one value; keep one of them"
                )

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help, in the panel with the other options about output."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.rich_help_panel = OUTPUT  # type: ignore[attr-defined]  # Typer reads it
        return option

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, without the old names of options."""
        with _without_old_names(self.params):
            super().format_help(ctx, formatter)


def _takes_one(parameter: Any) -> bool:
    """Whether a parameter is an option with one value, not a flag or a list."""
    option = parameter.param_type_name == "option"
    return option and not (parameter.multiple or parameter.is_flag or parameter.count)


def _keep_closest(error: Any, options: Collection[str]) -> None:
    """Leave one of the options that Click's error suggests, of whichever copy of Click it is."""
    if RENAMED.get(getattr(error, "option_name", "")) in options:
        error.possibilities = [RENAMED[error.option_name]]
    elif getattr(error, "possibilities", None) and hasattr(error, "option_name"):
        close = get_close_matches(error.option_name, error.possibilities, n=1, cutoff=0)
        error.possibilities = close


def _joined_lines(text: str | None) -> str | None:
    """Join the lines of each paragraph, so that a terminal breaks them where it has to."""
    if text is None:
        return None
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _rank(option: Any) -> tuple[int, bool]:
    """The place of an option: by its panel, and required ones first."""
    panel = getattr(option, "rich_help_panel", None)
    place = ORDER.index(panel) if panel in ORDER else -1
    return place, not option.required


@contextmanager
def _without_old_names(options: list[Any]) -> Iterator[None]:
    every = [option.opts for option in options]
    for option in options:
        option.opts = [name for name in option.opts if name not in OLD_NAMES]
    try:
        yield
    finally:
        for option, names in zip(options, every, strict=True):
            option.opts = names


class CommandGroup(TyperGroup):
    """A group of commands that answers a mistyped name with one suggestion."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command, or refuse its name."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.commands:
            close = suggestion(name, self.commands)
            ctx.fail(f"No such command {name!r}{f'; {close}' if close else '.'}")
        return super().resolve_command(ctx, args)
