"""What `auto` means for the copies of an environment: where they run, and how many they are.

Each from one environment of its kind and one short sample (0.4 s of CPU) per number of copies, 4, 8, 16
and 32, on two cores that did other work beside: speeds are therefore by the CPU time that a vector
step waits for, that of the trainer and of its busiest worker, not by the clock, and what workers gain
is an estimate. Taken are the fewest copies, from 8 on, with 65 % of the speed of the fastest number,
and workers where they collect 1.6 times as much; several environments are close to either line.
`gymnast tune envs` says what holds on an idle machine. Entries are for ids that begin so, the longest
beginning that fits counts.

An environment's own vector implementation is taken where it is faster than that and nothing in the config
forbids it (`forbids_vector`): measured the same way, that of the Atari games is 1.3 times as fast as
copies in this process, and CartPole's is as fast with 16 copies and 1.6 times as fast with 32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gymnast.config.sections.shaping import step_keys

if TYPE_CHECKING:
    from gymnast.config.config import Config


class Copies(NamedTuple):
    backend: Literal["inprocess", "process"]
    n_envs: int


UNKNOWN = Copies("inprocess", 8)
"""For all others."""

MEASURED: dict[str, Copies] = {
    # classic control
    "Acrobot-": Copies("inprocess", 8),
    "CartPole-": Copies("inprocess", 16),
    "MountainCar-": Copies("inprocess", 16),
    "MountainCarContinuous-": Copies("inprocess", 16),
    "Pendulum-": Copies("inprocess", 16),
    # toy text
    "Blackjack-": Copies("inprocess", 8),
    "CliffWalking-": Copies("inprocess", 16),
    "FrozenLake": Copies("inprocess", 16),
    "Taxi-": Copies("inprocess", 16),
    # Box2D
    "BipedalWalker": Copies("inprocess", 8),
    "CarRacing-": Copies("process", 8),  # 2 times: a step takes 6 ms
    "LunarLander": Copies("inprocess", 8),
    # MuJoCo: the more joints, the longer a step
    "Ant-": Copies("inprocess", 8),
    "HalfCheetah-": Copies("inprocess", 8),
    "Hopper-": Copies("inprocess", 8),
    "Humanoid-": Copies("process", 8),  # 1.4 times: a step takes 0.3 ms
    "HumanoidStandup-": Copies("inprocess", 8),
    "InvertedDoublePendulum-": Copies("inprocess", 8),
    "InvertedPendulum-": Copies("inprocess", 8),
    "Pusher-": Copies("inprocess", 8),
    "Reacher-": Copies("inprocess", 16),
    "Swimmer-": Copies("inprocess", 8),
    "Walker2d-": Copies("inprocess", 8),
    "ALE/": Copies("inprocess", 8),
}

VECTOR_FROM = {"ALE/": 1, "CartPole-": 32}
"""Copies from which an environment's own vector implementation is the fastest backend."""
_AROUND = (
    *("kwargs", "tasks", "curriculum", "randomize", "noise", "keep", "one_hot", "view", "image"),
    *("atari", "stack", "previous_actions"),
)
"""Settings of `env` that change what lies around an environment."""


def measured(env_id: str) -> Copies:
    fits = [begin for begin in MEASURED if env_id.startswith(begin)]
    return MEASURED[max(fits, key=len)] if fits else UNKNOWN


def vector_is_fastest(cfg: Config[Any]) -> bool:
    """Whether `env.backend: auto` means the environment's own vector implementation."""
    begins = [begin for begin in VECTOR_FROM if cfg.env.id.startswith(begin)]
    enough = any(cfg.env.n_envs >= VECTOR_FROM[begin] for begin in begins)
    return enough and not forbids_vector(cfg)


def forbids_vector(cfg: Config[Any]) -> list[str]:
    """Settings that an environment's own vector cannot serve, or not at the same cost: anything around
    the environment, whole episodes, numbers from `info`, and traces of training episodes with pictures,
    which would hold every picture because a vector cannot replay a single episode."""
    usual = type(cfg.env)(id=cfg.env.id)
    found = [f"env.{name}" for name in _AROUND if getattr(cfg.env, name) != getattr(usual, name)]
    found += ["algo.name"] if cfg.algo.span().episodes else []
    found += ["metrics"] if cfg.metrics else []
    found += ["shaping"] if step_keys(cfg.shaping) else []
    found += ["traces.train"] if cfg.env.view == "image" and cfg.traces.train > 0 else []
    return found
