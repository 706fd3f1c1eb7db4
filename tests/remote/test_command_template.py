"""Command templates keep every value in its word, and mistakes in them are found before a start."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.settings import SUBMIT_NAMES
from gymnast.text.command_template import (
    PLACEHOLDERS,
    check_template,
    fill_template,
    parse_template,
)

words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(words)
def test_a_value_stays_one_word_and_a_shell_reads_it_unchanged(value: str):
    values = {"name": value, "command": shlex.join(["printf", "%s", value])}
    assert fill_template(["x", "--name={name}", "{name}"], values) == [
        "x",
        f"--name={value}",
        value,
    ]
    (code,) = fill_template(["exec printf '%s|' {name} {name}"], values)
    if not value.startswith("~/"):
        assert shlex.split(code)[2:] == ["%s|", value, value]
    assert fill_template(["exec {command}"], values) == [f"exec {values['command']}"]


def test_a_shell_really_prints_the_value():
    value = "a b; touch $HOME/x `id` 'q' \"d\" \\ $(ls)"
    done = subprocess.run(
        fill_template(["sh", "-c", "printf %s {name}"], {"name": value}),
        capture_output=True,
        text=True,
    )
    assert done.stdout == value


def test_argv_becomes_separate_words_and_braces_can_be_written():
    filled = fill_template(["run", "{argv}", "{{x}}"], {}, ["a b", "c"])
    assert filled == ["run", "a b", "c", "{x}"]


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("qsub {comand}", r"\{comand\} is not a placeholder.*did you mean command"),
        ("qsub {id} {command}", r"\{id\} is not a placeholder"),
        ("qsub", r"has no \{command\} or \{argv\}"),
        ("qsub --x={argv}", "must be a word of its own"),
        ("qsub {command", "expected '}'"),
        ("qsub {command!r}", "not a plain name"),
        ("qsub {command:>9}", "not a plain name"),
        ("qsub {} {command}", "not a plain name"),
        ("qsub '{command}", "no closing quotation"),
    ],
)
def test_a_mistake_in_a_template_is_explained(template: str, problem: str):
    with pytest.raises(ValueError, match=problem):
        check_template(parse_template(template), SUBMIT_NAMES, ("command", "argv"))


def test_every_placeholder_is_documented():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "remote-jobs.md").read_text()
    assert {*SUBMIT_NAMES} < {*PLACEHOLDERS}
    for name, meaning in PLACEHOLDERS.items():
        assert f"| `{{{name}}}` | {meaning} |" in page, name
