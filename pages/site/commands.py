"""The reference of commands, made from the same tree that `--help` is made from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from understudy.cli.command import OLD_NAMES
from understudy.cli.main import app
from understudy.cli.options.panels import ORDER

_HEAD = """\
# Options of every command

This page is made from the commands themselves, so it says what `--help` says.
[The command line](commands.md) lists the commands with their exit codes.
"""


def commands_page() -> str:
    """Return the page of all commands: what each does, its arguments, and options by panel."""
    program = typer.main.get_command(app)
    return "\n".join([_HEAD, *(_described(name, each) for name, each in _leaves(program))])


def _leaves(command: Any, name: str = "understudy") -> Iterator[tuple[str, Any]]:
    """Yield the full name of every command below a group, with the command."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for part, each in inner.items():
        yield from _leaves(each, f"{name} {part}")


def _described(name: str, command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    words = " ".join(_placeholder(each) for each in arguments)
    usage = f"```text\n{' '.join([name, words, '[OPTIONS]']).replace('  ', ' ')}\n```"
    panels = [_panel(title, options) for title, options in _by_panel(command) if options]
    return "\n\n".join([f"## `{name}`", command.help or "", usage, _listed(arguments), *panels])


def _placeholder(argument: Any) -> str:
    word = argument.make_metavar(None) if argument.metavar is None else argument.metavar
    return str(word) if argument.required else f"[{str(word).strip('[]')}]"


def _listed(arguments: list[Any]) -> str:
    said = [f"| `{_placeholder(each)}` | {_words(each)} |" for each in arguments]
    return "\n".join(["| argument | meaning |", "|---|---|", *said, ""]) if said else ""


def _by_panel(command: Any) -> Iterator[tuple[str, list[Any]]]:
    options = [each for each in command.params if each.param_type_name == "option"]
    shown = [each for each in options if not each.hidden]
    for panel in (*ORDER, None):
        named = [o for o in shown if getattr(o, "rich_help_panel", None) == panel]
        yield panel or "Other options", named


def _panel(title: str, options: list[Any]) -> str:
    lines = [f"| {title} | default | meaning |", "|---|---|---|"]
    lines += [f"| {_names(each)} | {_default(each)} | {_words(each)} |" for each in options]
    return "\n".join([*lines, ""])


def _names(option: Any) -> str:
    named = [name for name in option.opts if name not in OLD_NAMES]
    plain = ", ".join(f"`{name}`" for name in [*named, *option.secondary_opts])
    choices = getattr(option.type, "choices", None)
    if choices:
        return f"{plain}: {', '.join(f'`{each}`' for each in choices)}"
    return plain


def _default(option: Any) -> str:
    if option.required:
        return "required"
    shown = option.show_default
    value = shown if isinstance(shown, str) else option.default
    plain = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    return f"`{value}`" if plain else ""


def _words(parameter: Any) -> str:
    """Return the help text, such that no word of it is markup."""
    text = " ".join((parameter.help or "").split()).replace("\\[", "[")
    for mark in "\\|<>*_":
        text = text.replace(mark, f"\\{mark}")
    return re.sub(r"(?<![\w-])--[a-z][a-z-]*", lambda option: f"`{option[0]}`", text)
