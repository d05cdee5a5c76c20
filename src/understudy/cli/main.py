"""The entry point: commands, exit codes, and errors in plain words.

`ExitCode` has the codes that commands end with; help and documents show the same table.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from functools import cache
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli.command import CommandGroup, PanelCommand
from understudy.cli.companions import without_companions
from understudy.cli.logs import LOG, logged, wanted_log
from understudy.errors import ExitCode, UnderstudyError
from understudy.jobs.choices import unknown_choice
from understudy.system.faults import SHOWN_BY, place_of, shows_messages
from understudy.system.printable import printable
from understudy.system.version import __version__

if TYPE_CHECKING:
    from click import ClickException, Command

_PROGRAM = "understudy"
# Windows has the first of them alone.
_ENDING = ("SIGTERM", "SIGALRM")
# Panels of commands in the help of the program.
_ROWS = "Make synthetic rows"
_CHECKS = "Ask and check"
_BOOKS = "Declare columns and limit spending"
_HOLDERS = "Learn from several holders"
_OTHERS = "Streams, studies and this machine"
# What refused arguments raise: Click's class under older Typers, a copy of it inside newer ones.
_REFUSED: type[Any] = next(k for k in typer.BadParameter.__mro__ if k.__name__ == "ClickException")

app = typer.Typer(
    name=_PROGRAM,
    cls=CommandGroup,
    help="Make a stand-in for a private table: synthetic rows under differential privacy.",
    no_args_is_help=True,
    epilog="Exit codes: " + " ".join(f"{code.value}: {code.meaning}" for code in ExitCode),
    # A pretty traceback would print local variables, and those hold private rows.
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    log: Annotated[
        str,
        typer.Option(
            LOG,
            metavar="FORMAT",
            help="Write messages to stderr as text, or as one JSON object per line (json). It "
            "comes before the command.",
        ),
    ] = "text",
) -> None:
    """Make a stand-in for a private table: synthetic rows under differential privacy."""
    if log not in ("text", "json"):
        raise unknown_choice("log", log, ("text", "json"))


def _add_commands() -> None:
    from understudy.cli.commands import (
        analyst,
        audit,
        check,
        demo,
        doctor,
        evaluate,
        fit,
        holder,
        inspect,
        keys,
        ledger,
        plan,
        query,
        sample,
        schema,
        stream,
        synth,
        verify,
    )
    from understudy.cli.commands import study as studies

    for command in (demo.demo, check.check, plan.plan, synth.synth, fit.fit, sample.sample):
        app.command(command.__name__, cls=PanelCommand, rich_help_panel=_ROWS)(command)
    for command in (query.query, inspect.inspect, verify.verify, evaluate.evaluate, audit.audit):
        app.command(command.__name__, cls=PanelCommand, rich_help_panel=_CHECKS)(command)
    app.add_typer(schema.app, name="schema", rich_help_panel=_BOOKS)
    app.add_typer(ledger.app, name="ledger", rich_help_panel=_BOOKS)
    for command in (holder.holder, analyst.analyst):
        app.command(command.__name__, cls=PanelCommand, rich_help_panel=_HOLDERS)(command)
    app.add_typer(keys.app, name="keys", rich_help_panel=_HOLDERS)
    app.command("doctor", cls=PanelCommand, rich_help_panel=_OTHERS)(doctor.doctor)
    app.add_typer(stream.app, name="stream", rich_help_panel=_OTHERS)
    app.command("study", cls=PanelCommand, rich_help_panel=_OTHERS)(studies.study)


_add_commands()


def main() -> None:
    """Run one command and end the process with its exit code."""
    for name in _ENDING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _as_interrupt)
    sys.unraisablehook = _unraisable
    without_companions()
    sys.exit(run(sys.argv[1:]))


@cache
def _program() -> Command:
    """Build the commands from their signatures, once for all runs in a process."""
    built: Command = typer.main.get_command(app)
    return built


def run(arguments: list[str]) -> int:
    """Run one command; whatever goes wrong becomes a sentence and an exit code."""
    if wanted_log(arguments) != "json":
        return _run(arguments)
    with logged(_command_of(arguments)) as log:
        code = _run(arguments)
        log.end(code)
    return code


def _command_of(arguments: list[str]) -> str:
    """The words that name a command, without anything that was given to it."""
    group: Any = _program()
    words = []
    for word in arguments:
        found = getattr(group, "commands", {}).get(word)
        if found is not None:
            words.append(word)
            group = found
    return " ".join(words)


def _run(arguments: list[str]) -> int:
    try:
        code = int(_program()(arguments, prog_name=_PROGRAM, standalone_mode=False) or 0)
        if code == ExitCode.INTERRUPTED:
            # Typer makes a number of it.
            raise KeyboardInterrupt
        return code
    except typer.Exit as error:
        return int(error.exit_code)
    except _REFUSED as error:
        _show_usage(error)
        return int(error.exit_code)
    except UnderstudyError as error:
        _print_error(str(error))
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        _print_error("interrupted; nothing was left half-written, and the ledger is true")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _end_quietly()
    except SystemExit as error:
        # Click ends the process itself when the reader of its output has gone away.
        if isinstance(error.__context__, BrokenPipeError):
            return _end_quietly()
        # Shell completion ends the process as soon as it is installed or shown.
        return error.code if isinstance(error.code, int) else 0
    except MemoryError:
        _print_error("memory ran out; use fewer bins or values, or a larger machine")
        return ExitCode.USAGE
    except Exception as error:
        if shows_messages():
            raise
        _print_error(_without_values(error))
        return ExitCode.FAULT


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _unraisable(fault: sys.UnraisableHookArgs) -> None:
    """Handle an error while an object is dropped: show no value, and repeat an interrupt.

    Python forgets an interrupt that falls there; raised here, it would be forgotten once more.
    """
    if isinstance(fault.exc_value, KeyboardInterrupt):
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
    elif shows_messages():
        sys.__unraisablehook__(fault)


def _end_quietly() -> int:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _print_error(sentence: str) -> None:
    """Print each sentence of an error in its own line; names that it quotes may be hostile."""
    for line in sentence.split("\n"):
        print(f"error: {printable(line)}", file=sys.stderr)


def _show_usage(error: ClickException) -> None:
    """Print Click's message about arguments, which may quote names that others chose."""
    said = io.StringIO()
    error.show(said)
    for line in said.getvalue().split("\n")[:-1]:
        print(printable(line), file=sys.stderr)


def _without_values(error: Exception) -> str:
    """Describe a fault of ours without its message, which may quote a private value."""
    return (
        f"this is a fault in understudy ({place_of(error)}); please report it. "
        f"Its message may quote rows and is shown only with {SHOWN_BY}=1"
    )


if __name__ == "__main__":
    main()
