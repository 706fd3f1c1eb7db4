"""Makes the list of all environments that gymnast can train on: `python -m gymnast.envs.catalog`.

It creates every environment once, so all extras must be installed. Code that only searches for environments
reads the result (`config/environments.py`) and imports no environment.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import gymnasium as gym
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Text, Tuple

from gymnast.config.environments import FILE, KnownEnvironment
from gymnast.config.families import FAMILIES, family_of
from gymnast.config.versions import highest_version
from gymnast.envs.build.env_ids import register
from gymnast.records import to_json

_ONE_OF_MANY = re.compile(r"Vizdoom(Doom|Freedoom)")
"""The maps of whole games, in several difficulties each: 700 ids that would hide the scenarios."""


def known_environments() -> list[KnownEnvironment]:
    """Returns every environment of the families of which the package is installed, by family and id."""
    found = [*_registered(), *_pettingzoo()]
    order = [family.name for family in FAMILIES]
    return sorted(found, key=lambda env: (order.index(env.family), env.id))


def _registered() -> Iterator[KnownEnvironment]:
    """Yields the newest version of each registered environment of the families."""
    for family in FAMILIES:
        with suppress(ImportError):
            register(family.ids[0])
    for env_id in list(gym.registry):
        family = family_of(env_id)
        if family is None or highest_version(env_id, gym.registry) != env_id:
            continue
        if _ONE_OF_MANY.match(env_id):
            continue
        spec = gym.spec(env_id)
        try:
            env = gym.make(env_id, disable_env_checker=True)
        except Exception as problem:
            print(f"{env_id}: {problem}", file=sys.stderr)
            continue
        yield KnownEnvironment(
            id=env_id,
            family=family.name,
            observation=_space_text(env.observation_space),
            action=_space_text(env.action_space),
            max_steps=spec.max_episode_steps,
            threshold=spec.reward_threshold,
        )
        env.close()


def _pettingzoo() -> Iterator[KnownEnvironment]:
    with suppress(ImportError):
        from pettingzoo import parallel_registry

        for spec in parallel_registry.values():
            yield KnownEnvironment(f"pettingzoo/{spec.id}", "PettingZoo", "", "", None, None)


def _space_text(space: Space[object]) -> str:
    """Returns the kind and size of a space: `Discrete(4)`, `Box(8)`, `image Box(210, 160, 3)`."""
    match space:
        case Discrete():
            return f"Discrete({space.n})"
        case MultiDiscrete():
            return f"MultiDiscrete({', '.join(map(str, space.nvec.tolist()))})"
        case MultiBinary():
            return f"MultiBinary({space.n})"
        case Box():
            image = "image " if space.dtype == "uint8" and len(space.shape) == 3 else ""
            return f"{image}Box({', '.join(map(str, space.shape))})"
        case Dict():
            return f"Dict({', '.join(f'{k}: {_space_text(s)}' for k, s in space.spaces.items())})"
        case Tuple():
            return f"Tuple({', '.join(map(_space_text, space.spaces))})"
        case Text():
            return "Text"
        case _:
            return type(space).__name__


def main() -> None:
    warnings.simplefilter("ignore")
    lines = (json.dumps(to_json(env)) for env in known_environments())
    Path(FILE).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
