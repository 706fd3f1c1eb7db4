"""Families of environments: how their ids begin, what registers them, what installs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    name: str
    ids: tuple[str, ...]
    """What their ids begin with."""
    extra: str = ""
    """Our extra that installs what they need; none: they come with gymnast."""
    module: str = ""
    """Importing it registers them; none: Gymnasium itself does."""


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
    Family("PettingZoo", ("pettingzoo/",), "pettingzoo"),
)
"""In the order in which they are listed."""
YOURS, OTHERS = "yours", "others"
"""Presets of your own; and environments of no family above."""


def has_roles(env_id: str) -> bool:
    """Whether several agents act in it."""
    return env_id == "tag" or env_id.startswith("pettingzoo/")


def family_of(env_id: str) -> Family | None:
    """Letter case does not matter: whoever mistypes an id is told the right one."""
    low = env_id.lower()
    return next((f for f in FAMILIES if low.startswith(tuple(x.lower() for x in f.ids))), None)


def how_to_install(env_id: str) -> str:
    """What an environment needs that is missing."""
    family = family_of(env_id)
    extra = family.extra if family is not None else ""
    return f"pip install 'gymnast[{extra}]'" if extra else "install that package"
