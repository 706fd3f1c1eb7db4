"""The user's settings file: what gymnast may start on this machine. See docs/settings.md.

Programs that gymnast starts are named only in this file. Runs, presets, pages and requests refer to them by
the names that they have here, so none of these can make gymnast start something else.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from gymnast.config.problems import InvalidConfig, Problem, explain_errors
from gymnast.config.section import Section
from gymnast.config.source import Source
from gymnast.errors import UsageError

T = TypeVar("T")
FILE_VARIABLE = "GYMNAST_SETTINGS"
"""Environment variable with the path of another settings file."""
Frames = Literal["none", "base64", "files"]
"""The form in which a command receives frames of an episode."""


def _check_program(words: list[str]) -> list[str]:
    """Returns the words of a command; raises ValueError if they cannot be started as they are."""
    program = words[0]
    if not program.strip():
        raise ValueError("starts with an empty word (expected a program)")
    if "/" in program and not program.startswith(("/", "~/")):
        raise ValueError(f"{program!r} is a relative path (expected a name, /... or ~/...)")
    if any("\0" in word for word in words):
        raise ValueError("has a word with a null character")
    return words


class UserCommand(Section):
    """A program that reads a text from standard input."""

    command: Annotated[list[str], Field(min_length=1), AfterValidator(_check_program)]
    """The program and its arguments, one list entry each. No shell is involved; `~/` at the start of a word
    is the home directory."""
    timeout: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """Seconds after which the command is ended."""

    def words(self) -> list[str]:
        """Returns the program and its arguments with the home directory in place of `~/`."""
        return [os.path.expanduser(w) if w.startswith("~/") else w for w in self.command]


class ReviewCommand(UserCommand):
    """A program that reads a bundle about a run from standard input and prints a review of it."""

    frames: Frames = "none"
    """How the frames of an episode are passed: not at all, as data URIs inside of the text, or as PNG files
    in the directory in which the command runs."""


class DispatchCommand(UserCommand):
    """A program that reads a finding of a night from standard input: the text of a task."""


def _check_name(name: str) -> str:
    """Returns the name of a command; raises ValueError if it could not be given as an option."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise ValueError(f"{name!r} cannot name a command (expected letters, digits, . _ and -)")
    return name


CommandName = Annotated[str, AfterValidator(_check_name)]


class Settings(Section):
    """The content of the settings file."""

    review: dict[CommandName, ReviewCommand] = {}
    """Commands for `gymnast review`, by name; the first one is the default."""

    dispatch: dict[CommandName, DispatchCommand] = {}
    """Commands for `gymnast nightly --dispatch`, by name."""

    def review_command(self, name: str | None = None) -> tuple[str, ReviewCommand] | None:
        """Returns the name and the command with this name, or the first one; None if there are none. Raises
        UsageError for a name that the settings file does not have."""
        if name is None:
            return next(iter(self.review.items()), None)
        return name, _named("review", self.review, name)

    def dispatch_command(self, name: str) -> DispatchCommand:
        """Returns the command with this name. Raises UsageError if the settings file does not have it."""
        return _named("dispatch", self.dispatch, name)


def _named(section: str, commands: Mapping[str, T], name: str) -> T:
    """Returns the command of a section with this name; raises UsageError if there is none."""
    if name in commands:
        return commands[name]
    known = ", ".join(commands) or "none"
    raise UsageError(
        f"no {section} command is called {name!r}",
        at=str(settings_file()),
        fix=f"use one of those in the settings file ({known}), or add it there",
    )


def settings_file() -> Path:
    """Returns the path of the settings file, which need not exist: GYMNAST_SETTINGS, else
    gymnast/settings.yaml in $XDG_CONFIG_HOME or ~/.config."""
    if named := os.environ.get(FILE_VARIABLE):
        return Path(named).expanduser()
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "gymnast" / "settings.yaml"


def load_settings() -> Settings:
    """Reads the settings file; without one, all settings have their defaults. Raises InvalidConfig with the
    lines of all mistakes, and UsageError if the file cannot be read, if every user of the machine may change
    it, or if GYMNAST_SETTINGS names a file that does not exist."""
    path = settings_file()
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read()
    except FileNotFoundError:
        if os.environ.get(FILE_VARIABLE):
            fix = f"create it, or unset {FILE_VARIABLE}"
            raise UsageError("the settings file does not exist", at=str(path), fix=fix) from None
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"the settings file cannot be read: {reason}", at=str(path)) from None
    if stat.S_ISREG(mode) and mode & stat.S_IWOTH:
        problem = "every user of this machine may change the settings file, which names programs"
        raise UsageError(problem, at=str(path), fix=f"chmod o-w {path}")
    return parse_settings(text, str(path))


def parse_settings(text: str, name: str) -> Settings:
    """Returns the settings in a YAML text. `name`: the file, for messages. Raises InvalidConfig."""
    source = Source.parse(text, name)
    if not isinstance(source.data, dict):
        raise InvalidConfig([Problem(name, "", "has no sections (expected `key: value` lines)")])
    if source.duplicate_keys:
        raise InvalidConfig(source.duplicate_keys)
    try:
        return Settings.model_validate(source.data)
    except ValidationError as error:
        raise InvalidConfig(explain_errors(error, Settings, source.location)) from None
