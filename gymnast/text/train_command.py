"""The command line that starts a training."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def train_command(
    target: str,
    overrides: Sequence[str] = (),
    *,
    algo: str | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    source: str | None = None,
    name: str = "",
    tags: Sequence[str] = (),
) -> str:
    """Returns the `gymnast train` command with these arguments, quoted for a POSIX shell. `overrides`:
    KEY=VALUE texts; `seeds`: number of seeds of a group; `source`: the run of `--from`."""
    options = [
        *_option("--algo", algo),
        *_option("--seed", seed),
        *_option("--seeds", seeds),
        *_option("--from", source),
        *_option("--name", name or None),
        *(word for tag in tags for word in _option("--tag", tag)),
        *(word for text in overrides for word in _option("--set", text)),
    ]
    return shlex.join(["gymnast", "train", target, *options])


def _option(flag: str, value: object) -> list[str]:
    """Returns the words of an option; none if it has no value. A value that starts with a dash would be read
    as another option, unless it is attached to its flag."""
    if value is None:
        return []
    return [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]
