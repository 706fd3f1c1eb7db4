"""Splits the target of a training, `ENV[:variant]`, into its parts. Needs the standard library only."""

from __future__ import annotations

import re

from gymnast.errors import ConfigError

CUSTOM_PREFIX = "py:"
"""Prefix of user-defined environments and algorithms: `py:package.module:Class`."""
CLASS_PREFIXES = ("py", "pettingzoo/py")
"""Prefixes of environment names that refer to a class."""
CHECKPOINT = re.compile(r"best|latest|\d+(\.\d+)?[kMG]?")
"""Names of checkpoints, which variants cannot have."""


def split_target(target: str) -> tuple[str, str | None]:
    """Splits `ENV[:variant]` into (env, variant or None); ENV may be `[pettingzoo/]py:package.module:Class`.
    The variant may be a user-defined algorithm: `ENV:py:package.module:Class`. Raises ConfigError if there is
    no ENV, or if the variant is the name of a checkpoint."""
    # `:py:` can only start an algorithm: an environment's own `py:` has no colon before it.
    name, separator, algorithm = target.partition(f":{CUSTOM_PREFIX}")
    if separator:
        return name, f"{CUSTOM_PREFIX}{algorithm}"
    head, separator, rest = target.partition(":")
    if head in CLASS_PREFIXES and separator:
        module, _, tail = rest.partition(":")
        name, _, variant = tail.partition(":")
        # A PettingZoo module need not name its function: the default is `parallel_env`.
        names_class = name or not head.startswith("pettingzoo/")
        env = f"{head}:{module}:{name}" if names_class else f"{head}:{module}"
        return env, variant or None
    name, _, variant = target.rpartition(":") if separator else (target, "", "")
    if not name:
        raise ConfigError(f"`{target}` names no environment (expected ENV or ENV:variant)")
    if CHECKPOINT.fullmatch(variant):
        raise ConfigError(f"`{variant}` is a checkpoint of a run, not a variant of {name}")
    return name, variant or None
