"""Command templates: a program and its arguments, with placeholders such as {job} in them.

A template is a list of words that is started without a shell, so a value never becomes more than its word. In
a word with spaces, which is a command for a shell (`sh -c`, `ssh`), every value is quoted for that shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from string import Formatter

from gymnast.text.suggestions import did_you_mean

PLACEHOLDERS = {
    "command": "the command that trains, as one text for a shell",
    "argv": "the same as separate words; it must be a word of its own",
    "job": "id of the job, which is that of its run",
    "name": "name of the run, or the id of the job",
    "run": "directory of the run there",
    "runs": "the runs directory there",
    "log": "file for the output of the job there",
    "host": "the host or address of the provider",
    "python": "the Python interpreter there",
    "max_jobs": "the number of jobs that train at once there; 0: one per core",
    "requeue": "--requeue or --no-requeue",
    "id": "the id that the submit command printed",
    "ids": "the ids of all jobs in question, joined by commas",
}
"""Placeholder -> its meaning."""
SHELL_CODE = ("command",)
"""Placeholders whose value is quoted already."""
WORD_LIST = "argv"


def parse_template(text: str) -> list[str]:
    """Returns the words of a template that was written as one text. Raises ValueError if a quote is not
    closed."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{str(error).lower()} in {text!r}") from None


def check_template(
    words: Sequence[str], allowed: Sequence[str], one_of: Sequence[str] = ()
) -> list[str]:
    """Returns the words of a template. Raises ValueError if a placeholder is unknown, malformed or not
    `allowed`, or if none of `one_of` occurs."""
    used = set[str]()
    for word in words:
        for name in _names(word):
            if name not in allowed:
                guess = did_you_mean(name, allowed)
                known = ", ".join(f"{{{known}}}" for known in allowed)
                raise ValueError(f"{{{name}}} is not a placeholder of it{guess} (it has {known})")
            if name == WORD_LIST and word != f"{{{WORD_LIST}}}":
                raise ValueError(f"{{{WORD_LIST}}} must be a word of its own, not in {word!r}")
            used.add(name)
    if one_of and not used & {*one_of}:
        wanted = " or ".join(f"{{{name}}}" for name in one_of)
        raise ValueError(f"has no {wanted}")
    return [*words]


def fill_template(
    words: Sequence[str], values: Mapping[str, str], argv: Sequence[str] = ()
) -> list[str]:
    """Returns the words of a checked template with these values. `argv`: the words for {argv}."""
    filled = list[str]()
    for word in words:
        if word == f"{{{WORD_LIST}}}":
            filled += argv
            continue
        parts = [*Formatter().parse(word)]
        is_shell_code = any(any(map(str.isspace, text)) for text, *_ in parts)
        filled.append(
            "".join(text + _value(name, values, quoted=is_shell_code) for text, name, *_ in parts)
        )
    return filled


def quote_word(word: str) -> str:
    """Returns a word quoted for a POSIX shell, which still replaces `~/` at its start."""
    return f"~/{shlex.quote(word[2:])}" if word.startswith("~/") else shlex.quote(word)


def _value(name: str | None, values: Mapping[str, str], *, quoted: bool) -> str:
    """Returns the value of a placeholder; empty for the text after the last one."""
    if name is None:
        return ""
    return quote_word(values[name]) if quoted and name not in SHELL_CODE else values[name]


def _names(word: str) -> list[str]:
    """Returns the placeholders in a word. Raises ValueError for a brace that belongs to none."""
    try:
        parts = [*Formatter().parse(word)]
    except ValueError as error:
        problem = f"{word!r}: {str(error).lower()} (write {{{{ and }}}} for braces)"
        raise ValueError(problem) from None
    for _, name, spec, conversion in parts:
        if spec or conversion or name == "":
            raise ValueError(f"{word!r} has a placeholder that is not a plain name")
    return [name for _, name, *_ in parts if name is not None]
