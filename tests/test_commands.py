"""Every command that a document shows exists: its name, its options, its scripts and extras."""

from __future__ import annotations

import functools
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer.main

from benchmarks.__main__ import BENCHMARKS, _parser
from support.documents import DOCUMENTS, ROOT
from understudy.cli.main import app

APP = typer.main.get_command(app)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# Options of programs that documents speak of and that are not ours.
FOREIGN = {
    "--isolation",  # flower-supernode
    "--no-deps",  # pip
    "--require-hashes",  # pip
    "--strict",  # mypy, and ours
    "--write",  # python -m benchmarks, python -m pages
    "--all",  # scripts/check
    "--full",  # scripts/check
    "--upgrade",  # scripts/lock
    "--inputs",  # scripts/fuzz
    "--replay",  # scripts/fuzz
    "--seed",  # scripts/fuzz, and ours
}
# Words that stand for something that the reader puts in.
PLACEHOLDER = re.compile(r"[A-Z]+(_[A-Z]+)*")


def _blocks(text: str) -> Iterator[str]:
    """The commands of fenced blocks, a line each, continued lines joined."""
    for body in re.findall(r"^```(?:bash|text)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in body.replace("\\\n", " ").splitlines():
            yield from (part.strip() for part in line.split("&&"))


def _inline(text: str) -> Iterator[str]:
    """The texts between single backquotes outside of fenced blocks."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for code in re.findall(r"`([^`]+)`", prose):
        yield " ".join(code.split())


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _commands(path: Path, program: str) -> list[str]:
    text = _text(path)
    found = [*_blocks(text), *_inline(text)]
    return [code for code in found if re.match(rf"{program}(\s|$)", code)]


def _options(command: click.Command) -> set[str]:
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


def _all_options(command: click.Command) -> set[str]:
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return _options(command).union({"--help", "--version"}, *(_all_options(c) for c in inner))


def _split(code: str) -> list[str]:
    return shlex.split(code.replace("…", "ELLIPSIS"), comments=True)


def _resolved(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words name, and the words that are left."""
    command, rest = APP, words[1:]
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            raise LookupError(f"{' '.join(words)}: there is no command {rest[0]!r}")
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


def _fault(code: str) -> str | None:
    """What is wrong with a command of ours that a document shows, if anything is."""
    words = _split(code)
    try:
        command, rest = _resolved(words)
    except LookupError as error:
        return str(error)
    given = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
    unknown = given - _options(command) - {"--help", "--version"}
    return f"{code}: there is no option {', '.join(sorted(unknown))}" if unknown else None


def _parse_fault(code: str) -> str | None:
    """What a parser says about a whole command, without running anything."""
    command, rest = _resolved(_split(code))
    try:
        with command.make_context(command.name, [word for word in rest if word != "2>&1"]):
            return None
    except click.ClickException as error:
        return f"{code}: {error.format_message()}"
    except click.exceptions.Exit:
        return None


def _python_fault(code: str) -> str | None:
    """What is wrong with a call of Python: a module or a file that is not there."""
    words = _split(code)[1:]
    if words[:1] == ["-m"]:
        if importlib.util.find_spec(words[1]) is None:
            return f"{code}: there is no module {words[1]}"
        return _benchmark_fault(code, words[2:]) if words[1] == "benchmarks" else None
    missing = words and words[0].endswith(".py") and not (ROOT / words[0]).exists()
    return f"{code}: there is no file {words[0]}" if missing else None


def _benchmark_fault(code: str, words: list[str]) -> str | None:
    asked = _parser().parse_args(words)
    names = [name for name in asked.names if not PLACEHOLDER.fullmatch(name)]
    unknown = set(names) - {*BENCHMARKS, "all", "table"}
    return f"{code}: there is no benchmark {', '.join(sorted(unknown))}" if unknown else None


def test_commands_of_documents_exist() -> None:
    """Every `understudy …` names a command that there is, and options that it has."""
    faults = [_fault(code) for document in DOCUMENTS for code in _commands(document, "understudy")]
    assert [] == [fault for fault in faults if fault]


def test_whole_commands_of_documents_can_be_parsed() -> None:
    """A command in a block of its own has all that the program needs, in a form that it takes."""
    blocks = [code for document in DOCUMENTS for code in _blocks(_text(document))]
    faults = [_parse_fault(code) for code in blocks if code.startswith("understudy ")]
    assert [] == [fault for fault in faults if fault]


def test_options_of_documents_exist() -> None:
    """An option that is named by itself is one of some command, or of a program that we name."""
    known = _all_options(APP) | FOREIGN
    codes = [code for document in DOCUMENTS for code in _inline(_text(document))]
    named = [re.match(r"--[a-z][a-z-]+", code) for code in codes]
    assert set() == {found[0] for found in named if found} - known


def test_python_commands_of_documents_exist() -> None:
    """Every `python …` names a module or a file that there is; benchmarks are those we have."""
    codes = [code for document in DOCUMENTS for code in _commands(document, "python3?")]
    faults = [_python_fault(code) for code in codes]
    assert [] == [fault for fault in faults if fault]


def test_scripts_of_documents_exist() -> None:
    """Every script that is named can be run, and takes the option that is shown."""
    for code in [c for document in DOCUMENTS for c in _commands(document, r"scripts/\w+")]:
        script, *words = _split(code)
        text = (ROOT / script).read_text(encoding="utf-8")
        assert (ROOT / script).stat().st_mode & 0o111, script
        assert [] == [w for w in words if w.startswith("--") and w not in text], code


def test_extras_of_documents_exist() -> None:
    """Every `understudy[extra]` and `.[extra]` is an extra of the package."""
    pattern = r"(?:understudy|[\s\"']\.)\[([a-z,]+)\](?!\()"
    named = [found for document in DOCUMENTS for found in re.findall(pattern, _text(document))]
    assert set() == {extra for names in named for extra in names.split(",")} - EXTRAS.keys()


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ("understudy imagine", "no command 'imagine'"),
        ("understudy schema invent x.csv", "no command 'invent'"),
        ("understudy synth a.csv --schema b.toml --espilon 1 -o c.csv", "no option --espilon"),
    ],
)
def test_commands_that_do_not_exist_are_seen(planted: str, words: str) -> None:
    """The check can fail: a wrong command, a wrong subcommand, a wrong option."""
    assert words in str(_fault(planted))


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ("understudy plan --schema a.toml --rows many", "not a valid int"),
        ("understudy synth --schema a.toml", "issing"),
    ],
)
def test_commands_that_cannot_be_parsed_are_seen(planted: str, words: str) -> None:
    """The check can fail: a word where a number belongs, and a missing argument."""
    assert words in str(_parse_fault(planted))


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ("python benchmarks/scale.py", "no file"),
        ("python -m benchmarking all", "no module"),
        ("python -m benchmarks scale", "no benchmark scale"),
    ],
)
def test_python_commands_that_do_not_exist_are_seen(planted: str, words: str) -> None:
    """The check can fail: a file, a module and a benchmark that are not there."""
    assert words in str(_python_fault(planted))
