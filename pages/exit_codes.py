"""The table of exit codes, from the enum and the tree of errors."""

from __future__ import annotations

from collections.abc import Iterator

from understudy.errors import ExitCode, UnderstudyError


def exit_code_table() -> str:
    """Every exit code, its meaning, and the errors that end with it."""
    heads = "| exit code | meaning | errors |\n|---|---|---|"
    return "\n".join([heads, *(_line(code) for code in ExitCode)])


def _line(code: ExitCode) -> str:
    named = ", ".join(f"`{kind.__name__}`" for kind in _errors() if kind.exit_code is code)
    return f"| {code.value} | {code.meaning} | {named} |"


def _errors() -> Iterator[type[UnderstudyError]]:
    """Every class of errors that is raised: those below the root, in the order of the tree."""
    waiting = [*UnderstudyError.__subclasses__()]
    while waiting:
        kind = waiting.pop(0)
        waiting = [*kind.__subclasses__(), *waiting]
        if kind.__module__ == UnderstudyError.__module__ and kind.__name__ != "BudgetError":
            yield kind
