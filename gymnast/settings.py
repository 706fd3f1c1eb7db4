"""The user's settings file: what gymnast may start on this machine, and where it may train. See
docs/settings.md.

Programs that gymnast starts are named only in this file. Runs, presets, pages and requests refer to them by
the names that they have here, so none of these can make gymnast start something else.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, ValidationError, model_validator

from gymnast.clock import CLOCKS, DEFAULT_CLOCK, ClockName
from gymnast.config.problems import InvalidConfig, Problem, explain_errors
from gymnast.config.section import Section
from gymnast.config.source import Source
from gymnast.errors import UsageError
from gymnast.text.command_template import check_template

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


PLACE_NAMES = ("job", "run", "runs", "log", "host", "python")
"""Placeholders that commands about jobs share."""
SUBMIT_NAMES = ("command", "argv", "name", "requeue", "max_jobs", *PLACE_NAMES)
"""Placeholders of a submit command."""
JOB_NAMES = ("id", "ids", *PLACE_NAMES)
"""Placeholders of commands about jobs that were submitted."""
SHELL_NAMES = ("command", "host", "python")
"""Placeholders of a command that starts another one on the host."""
HOST = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9._@:%\[\]-]*")
"""Form of the name of a host: an option of a program, which starts with -, is none."""


def check_submit(words: list[str]) -> list[str]:
    """Returns the words of a submit command; raises ValueError if they cannot start a job."""
    return check_template(_check_program(words), SUBMIT_NAMES, ("command", "argv"))


def _check_about_jobs(words: list[str]) -> list[str]:
    return check_template(_check_program(words), JOB_NAMES)


def _check_about_a_job(words: list[str]) -> list[str]:
    return check_template(_check_program(words), JOB_NAMES, ("id", "job"))


def _check_shell(words: list[str]) -> list[str]:
    return check_template(_check_program(words), SHELL_NAMES, ("command",))


def check_host(host: str) -> str:
    """Returns the name of a host; raises ValueError if a program could take it for something else."""
    if host and not HOST.fullmatch(host):
        raise ValueError(f"{host!r} is not the name of a host")
    return host


class JobProvider(Section):
    """A place where jobs train: commands that submit a job there and ask about it. Commands that are not
    given are the ones of the provider that it is `like`."""

    like: Literal["local", "ssh", "slurm", "ray"] | None = None
    """The provider that comes with gymnast whose commands it uses."""
    host: Annotated[str, AfterValidator(check_host)] = ""
    """The host: with ssh [USER@]HOST or a host of ~/.ssh/config, with ray the address of the cluster."""
    options: list[str] = []
    """Further arguments of the program that submits: of `ssh`, or of `sbatch`."""
    submit: Annotated[list[str], Field(min_length=1), AfterValidator(check_submit)] | None = None
    """Starts the job and prints its id as the last word."""
    status: Annotated[list[str], Field(min_length=1), AfterValidator(_check_about_jobs)] | None = (
        None
    )
    """Prints one line per job, `ID STATE`; a job that it does not list has ended."""
    cancel: Annotated[list[str], Field(min_length=1), AfterValidator(_check_about_a_job)] | None = (
        None
    )
    """Ends a job, if possible with SIGTERM."""
    log: Annotated[list[str], Field(min_length=1), AfterValidator(_check_about_a_job)] | None = None
    """Prints the output of a job whose output file is not in the runs directory."""
    shell: Annotated[list[str], Field(min_length=1), AfterValidator(_check_shell)] | None = None
    """Runs a command on the host and passes on its standard input and output: for checking the host and
    copying runs."""
    store: Literal["shared", "copy"] | None = None
    """Whether the host sees the runs directory, or runs are copied from it. Default: copy for ssh, shared
    otherwise."""
    runs: str = ""
    """The runs directory there; default: the same path as here, or `gymnast-runs` in the home directory if
    runs are copied."""
    python: str = ""
    """The Python interpreter there that has gymnast installed; default: the same path as here."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """Seconds after which a command that has not answered is ended."""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.like is None and self.submit is None and self.shell is None:
            raise ValueError("has neither `like` nor a `submit` or `shell` command")
        if self.like == "ssh" and not self.host:
            raise ValueError("is like ssh, but has no `host`")
        if self.store == "copy" and self.like != "ssh" and self.shell is None:
            raise ValueError("copies runs, which needs a `shell` command")
        return self


class ProposeCommand(UserCommand):
    """A program that reads the past trials of a study from standard input and prints the settings of the
    next one."""

    timeout: Annotated[float, Field(gt=0, le=86_400)] = 120.0
    """Seconds after which the command is ended."""


def _check_name(name: str) -> str:
    """Returns the name of a command; raises ValueError if it could not be given as an option."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise ValueError(f"{name!r} cannot name a command (expected letters, digits, . _ and -)")
    return name


CommandName = Annotated[str, AfterValidator(_check_name)]


class Settings(Section):
    """The content of the settings file."""

    clock: ClockName = DEFAULT_CLOCK
    """The clock of charts, curves, comparisons and trackers, if a command does not name another."""

    review: dict[CommandName, ReviewCommand] = {}
    """Commands for `gymnast review`, by name; the first one is the default."""

    dispatch: dict[CommandName, DispatchCommand] = {}
    """Commands for `gymnast nightly --dispatch`, by name."""

    providers: dict[CommandName, JobProvider] = {}
    """Places for `gymnast train --jobs-on`, by name."""

    propose: dict[CommandName, ProposeCommand] = {}
    """Commands for `gymnast sweep start --proposer`, by name."""

    def review_command(self, name: str | None = None) -> tuple[str, ReviewCommand] | None:
        """Returns the name and the command with this name, or the first one; None if there are none. Raises
        UsageError for a name that the settings file does not have."""
        if name is None:
            return next(iter(self.review.items()), None)
        return name, _named("review", self.review, name)

    def dispatch_command(self, name: str) -> DispatchCommand:
        """Returns the command with this name. Raises UsageError if the settings file does not have it."""
        return _named("dispatch", self.dispatch, name)

    def propose_command(self, name: str) -> ProposeCommand:
        """Returns the command with this name. Raises UsageError if the settings file does not have it."""
        return _named("propose", self.propose, name)


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


def state_directory() -> Path:
    """Returns the directory of gymnast's state: $XDG_STATE_HOME/gymnast."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "gymnast"


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


def view_clock(x: str = "") -> ClockName:
    """Returns the clock of the x axis of a view: `x` or, if it is empty, that of the settings file. Raises
    UsageError if there is no such clock."""
    if not x:
        return load_settings().clock
    for clock in CLOCKS:
        if x == clock:
            return clock
    raise UsageError(f"{x!r} is not a clock", fix=f"use {', '.join(CLOCKS)}")


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
