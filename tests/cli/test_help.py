"""Help, completion and typos: every option has a panel and a sentence, one name is suggested."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
import typer.main

from support.commands import Desk
from support.tiers import slow_but
from understudy.cli.command import OLD_NAMES
from understudy.cli.main import app
from understudy.cli.options import completion
from understudy.cli.options.panels import ORDER

APP = typer.main.get_command(app)
MOST_COLUMNS = 80


def _commands(group: click.Command, *names: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(group, click.Group):
        for name, command in group.commands.items():
            yield from _commands(command, *names, name)
    else:
        yield " ".join(names), group


COMMANDS = dict(_commands(APP))


def _options(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option)]


@pytest.mark.parametrize("name", ["fit", "synth"])
def test_help_says_what_a_table_needs(name: str) -> None:
    """What images or random rows go without, and what is learned unless it is given."""
    said = {option.name: option.help or "" for option in _options(COMMANDS[name])}
    assert "Without it, a part of the budget learns the schema" in said["schema"]
    assert "Required for tables" in said["epsilon"]


def test_help_shows_words_in_brackets(desk: Desk) -> None:
    """A table of the schema is named as it is written; brackets are not read as markup."""
    shown = re.sub(r"[│\s]+", " ", desk.run("synth", "--help").out)
    assert "what the schema's [format] says" in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_a_panel(name: str) -> None:
    """No option is left for the panel that has no name."""
    panels = {getattr(option, "rich_help_panel", None) for option in _options(COMMANDS[name])}
    assert set() == panels - set(ORDER)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_texts_are_sentences(name: str) -> None:
    """Each begins with a capital letter, or the name of a choice, and ends with a full stop."""
    for option in COMMANDS[name].params:
        text = getattr(option, "help", "") or ""
        assert re.fullmatch(r"[A-Z].*[.]", text), (option.name, text)


@pytest.mark.parametrize("name", COMMANDS)
def test_options_begin_with_what_they_do(name: str) -> None:
    """The first word of an option is a verb: none begins with an article or a preposition."""
    weak = {"A", "An", "The", "Of", "How", "What", "Where", "Whether", "If", "In", "For", "With"}
    begun = {option.name: (option.help or "").split()[0] for option in _options(COMMANDS[name])}
    assert {} == {name: word for name, word in begun.items() if word in weak}


@pytest.mark.parametrize("columns", [MOST_COLUMNS, 100])
@pytest.mark.parametrize("name", ["synth", "evaluate", "stream density"])
def test_help_fits_a_terminal(
    name: str, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Panels come in their order, and no line is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERMINAL_WIDTH", str(columns))
    with pytest.raises(SystemExit):
        app([*name.split(), "--help"], prog_name="understudy")
    lines = capsys.readouterr().out.splitlines()
    assert columns >= max(map(len, lines))
    titles = [found[1] for line in lines if (found := re.match(r"╭─ (.+?) ─", line))]
    assert titles == ["Arguments", *(panel for panel in ORDER if panel in titles)]


def test_daily_options_come_before_training(desk: Desk) -> None:
    """In the help of synth, epsilon and output are above all options of neural networks."""
    shown = desk.run("synth", "--help").out
    places = [shown.index(option) for option in ("--epsilon", "--output", "--method", "--epochs")]
    assert sorted(places) == places


def test_an_old_name_has_one_meaning_and_is_not_shown(desk: Desk) -> None:
    """`--keys` was the name of `--known`, and works; it was that of `--users`, which is said."""
    assert {"--keys"} == OLD_NAMES
    for command, new in ((("evaluate",), "--known"), (("stream", "density"), "--users")):
        shown = desk.run(*command, "--help").out
        assert new in shown
        assert "--keys " not in shown
    desk.synth()
    asked = ("evaluate", desk.data, desk.output, "-s", desk.schema, "-o", desk.folder / "p.html")
    refused = desk.run(*asked, "--keys", "age")
    assert (2, True) == (refused.code, "--sensitive is not given" in refused.err)
    (desk.folder / "users.txt").write_text("ann\nbob\n")
    (desk.folder / "ids.txt").write_text("ann\n")
    counted = ("stream", "density", desk.folder / "ids.txt", "--epsilon", 1, "--json")
    refused = desk.run(*counted, "--keys", desk.folder / "users.txt")
    assert (2, True) == (refused.code, "--users" in refused.err), refused.err
    assert 0 == desk.run(*counted, "--users", desk.folder / "users.txt").code


@pytest.mark.parametrize(
    ("words", "suggested"),
    [
        (("synht",), "did you mean 'synth'?"),
        (("schema", "chek"), "did you mean 'check'?"),
        (("ledger", "shw"), "did you mean 'show'?"),
    ],
)
def test_a_mistyped_command_gets_one_suggestion(
    desk: Desk, words: tuple[str, ...], suggested: str
) -> None:
    """Exit code 2, and the closest name once."""
    result = desk.run(*words)
    assert (2, "") == (result.code, result.out)
    assert 1 == result.err.lower().count("did you mean")
    assert suggested in result.err


def test_a_command_like_no_other_gets_no_suggestion(desk: Desk) -> None:
    """Nothing is guessed."""
    result = desk.run("xyzzy")
    assert (2, False) == (result.code, "did you mean" in result.err)


@pytest.mark.parametrize("flag", ["--epsiln", "--ouptut"])
def test_a_mistyped_option_gets_one_suggestion(desk: Desk, flag: str) -> None:
    """Exit code 2, and the closest option."""
    result = desk.run("synth", desk.data, flag, "1")
    assert (2, "") == (result.code, result.out)
    assert {"--epsiln": "--epsilon", "--ouptut": "--output"}[flag] in result.err
    assert 2 == len(re.findall("--[a-z]+", result.err.partition("No such option")[2]))


def test_a_mistyped_value_gets_one_suggestion(desk: Desk) -> None:
    """The closest method is named before the list of all."""
    result = desk.synth("--method", "privbays")
    assert (2, 1) == (result.code, result.err.count("did you mean 'privbayes'?"))


def _shell(*words: str, **settings: str) -> str:
    """Ask the program for completions as a shell does."""
    done = subprocess.run(
        [sys.executable, "-m", "understudy.cli.main", *words],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_a_plan_completes_methods_that_it_can_rehearse() -> None:
    """Methods that draw rows or train are offered to a fit, and not to a plan."""
    assert "histogram" in completion.methods_or_auto("")
    planned = completion.planned_methods_or_auto("")
    assert {"auto", "adaptive", "nist"} <= {*planned}
    assert not {"histogram", "dpgan", "moments"} & {*planned}


def test_a_plan_takes_an_option_with_one_value_once(desk: Desk) -> None:
    """The first of two values would be ignored without a word; elsewhere the last one counts."""
    result = desk.run("plan", "--rows", 100, "--epsilon", 1, "--epsilon", 2)
    assert (2, True) == (result.code, "--epsilon is given 2 times" in result.err)
    assert 0 == desk.synth("--seed", 1, "--seed", 2).code


COMPLETED = {
    "understudy sy": "synth",
    "understudy schema in": "init",
    "understudy synth --eps": "--epsilon",
    "understudy synth --method priv": "privbayes",
    "understudy audit hist": "histogram",
    "understudy plan --method priv": "privbayes",
    "understudy synth --neighbours add": "add-remove",
}


@pytest.mark.parametrize("words", slow_but({"understudy synth --method priv"}, COMPLETED))
def test_a_shell_completes_commands_options_and_values(words: str) -> None:
    """Bash is given what fits the beginning of a word."""
    place = str(len(words.split()) - 1)
    found = _shell(_UNDERSTUDY_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place)
    assert COMPLETED[words] in found.split()


def test_a_shell_is_given_its_script() -> None:
    """The script for Bash asks this program for completions."""
    setting = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = _shell("--show-completion", "bash", **setting)
    assert "_UNDERSTUDY_COMPLETE=complete_bash" in script
    assert "understudy" in script.splitlines()[-1]


def test_the_program_says_how_completion_is_installed(desk: Desk) -> None:
    """Its help names the option."""
    assert "--install-completion" in desk.run("--help").out
