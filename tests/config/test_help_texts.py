"""Examples in `--help` can be pasted into a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from gymnast.cli import cli


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


COMMANDS = dict(commands(cli))


def examples(command: click.Command) -> list[str]:
    """Returns the lines `gymnast ...` of a help text, without the comment after two spaces."""
    lines = (line.strip() for line in (command.help or "").splitlines())
    return [re.split(r"\s{2,}", line)[0] for line in lines if line.startswith("gymnast ")]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_example_is_redirected_into_a_file_or_cut_off_by_the_shell(name: str):
    for example in examples(COMMANDS[name]):
        command = re.sub(r" > \w+\.(csv|yaml)$", "", example)  # written into a file on purpose
        words = shlex.shlex(command, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        operators = {word for word in words if set(word) <= set("<>|;&()")}
        assert operators <= {"&&"}, example


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_suggests_an_arrow_without_quotes(name: str):
    for option in COMMANDS[name].params:
        text = getattr(option, "help", None) or ""
        assert "->" not in re.sub(r"'[^']*'", "", text), text


def test_the_examples_contain_schedules():
    assert any("->" in example for example in examples(COMMANDS["train"]))
