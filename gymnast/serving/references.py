"""Arguments that name runs or environments: by id or name only, never by a path.

On the command line a run may be given by its directory and a config by its file. A request to the server
must not reach outside the runs directory, so that everything that could be a path is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gymnast.errors import Failure
from gymnast.foreign.reference import is_foreign_name

RUN_ARGUMENTS = ("ref", "refs", "run", "source", "roles", "at")
"""Arguments that name runs, checkpoints, groups of seeds or players."""
TARGET_ARGUMENTS = ("target", "targets", "a", "b", "algo")
"""Arguments that name an environment with a variant, a preset, an algorithm, or a run."""
TARGET_NAMES = ("config_show",)
"""Operations whose argument `name` is a target, too. Elsewhere it is the name of a new run or a metric."""
_ENV_WITH_SLASH = re.compile(r"[A-Za-z][\w-]*(/[A-Za-z0-9][\w-]*){1,3}")
"""Ids such as ALE/Pong-v5 and pettingzoo/butterfly/pistonball_v6."""
_FILE = re.compile(r"(?i)\.(?:yaml|yml|zip)(?::|$)")
"""The end of the name of a config or a bundle, before a checkpoint."""
_BEST_OF_ENV = "@best:"


class Reference(NamedTuple):
    """A text of a request that names something."""

    argument: str
    text: str
    is_target: bool
    """Whether it may be an environment or a preset, and not only a run."""


def path_refusal(operation: str, arguments: Mapping[str, object]) -> Failure | None:
    """Returns the error for an argument that is or could be a path; None if there is none."""
    for named in references(operation, arguments):
        problem = _problem(named.text, named.is_target)
        if problem:
            return Failure(
                "usage",
                f"{named.argument} {named.text!r} {problem}",
                at=operation,
                fix="use the id or the name of a run of this directory, or an environment id",
            )
    return None


def references(operation: str, arguments: Mapping[str, object]) -> Iterator[Reference]:
    """Yields every text of the arguments that names a run, an environment or a preset."""
    for argument, value in arguments.items():
        is_target = argument in TARGET_ARGUMENTS or (
            argument == "name" and operation in TARGET_NAMES
        )
        if is_target or argument in RUN_ARGUMENTS:
            yield from (Reference(argument, text, is_target) for text in texts(value))


def texts(value: object) -> Iterator[str]:
    """Yields a text, or the texts of a list or of the values of a mapping."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        items: list[object] = [*(value.values() if isinstance(value, Mapping) else value)]  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownVariableType]
        yield from (item for item in items if isinstance(item, str))


def _problem(text: str, may_be_env: bool) -> str:
    """Returns why a text is refused; empty if it is not."""
    if not text.isprintable():
        return "has characters that cannot be printed"
    if is_foreign_name(text):
        return "names a run of another program"
    if text.startswith((".", "~")) or ".." in text or "\\" in text:
        return "looks like a path"
    if "/" not in text:
        return "names a file" if _FILE.search(text) else ""
    name = text.removeprefix(_BEST_OF_ENV)
    if not (may_be_env or name != text):
        return "looks like a path"
    env = name.partition(":")[0]
    return "looks like a path" if not _ENV_WITH_SLASH.fullmatch(env) or Path(env).exists() else ""
