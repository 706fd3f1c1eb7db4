"""Families of environments: the prefixes of their ids, the module that registers them, the pip extra."""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.errors import EnvError


@dataclass(frozen=True)
class Family:
    name: str
    ids: tuple[str, ...]
    """Prefixes of the ids of its environments."""
    extra: str = ""
    """The pip extra of gymnast that installs its dependencies. Empty: no extra is needed."""
    module: str = ""
    """Module whose import registers its environments. Empty: Gymnasium registers them itself."""


PETTINGZOO = "pettingzoo/"
"""Prefix of the ids of PettingZoo environments."""
FAMILIES = (
    Family("classic control", ("Acrobot-", "CartPole-", "MountainCar", "Pendulum-")),
    Family("toy text", ("Blackjack-", "CliffWalking", "FrozenLake", "Taxi-"), "toy-text"),
    Family("Box2D", ("BipedalWalker", "CarRacing-", "LunarLander"), "box2d"),
    Family(
        "MuJoCo",
        (
            "Ant-",
            "HalfCheetah-",
            "Hopper-",
            "Humanoid",
            "InvertedDoublePendulum-",
            "InvertedPendulum-",
            "Pusher-",
            "Reacher-",
            "Swimmer-",
            "Walker2d-",
        ),
        "mujoco",
        "gymnast.envs.suites.mujoco",
    ),
    Family("Atari", ("ALE/",), "atari", "ale_py"),
    Family("MinAtar", ("MinAtar/",), "minatar", "gymnast.envs.suites.minatar"),
    Family("MiniGrid", ("MiniGrid-", "BabyAI-"), "minigrid", "gymnast.envs.suites.minigrid"),
    Family("VizDoom", ("Vizdoom",), "vizdoom", "gymnast.envs.suites.vizdoom"),
    Family("bandits", ("Bandit-",), "", "gymnast.envs.suites.bandits"),
    Family("self-play", ("tag",)),
    Family("PettingZoo", (PETTINGZOO,), "pettingzoo"),
)
"""All families, in the order of `gymnast presets`."""
YOURS, OTHERS = "yours", "others"
"""Groups of presets: the user's own, and those of no family above."""


def is_multi_agent(env_id: str) -> bool:
    """True if this is a multi-agent environment."""
    return env_id == "tag" or env_id.startswith(PETTINGZOO)


def require_single_agent(env_id: str, fix: str) -> None:
    """Raises EnvError, which suggests `fix`, if this is a multi-agent environment."""
    if is_multi_agent(env_id):
        raise EnvError(f"{env_id} has several roles, but this needs a single agent", fix=fix)


def family_of(env_id: str) -> Family | None:
    """Returns the family of an id, or None if it belongs to none. Letter case is ignored, so that a mistyped
    id can still be corrected."""
    lowered = env_id.lower()
    return next((f for f in FAMILIES if lowered.startswith(tuple(x.lower() for x in f.ids))), None)


def install_hint(env_id: str) -> str:
    """Returns how to install the missing dependency of an environment."""
    family = family_of(env_id)
    extra = family.extra if family is not None else ""
    return f"pip install 'gymnast[{extra}]'" if extra else "install that package"
