"""Measured values of `env.n_envs: auto` and `env.backend: auto`.

How they were measured: for one environment of each kind, one short sample (0.4 s of CPU time) with each of
4, 8, 16 and 32 env copies, on two cores that were also busy with other work. Speed is therefore based on
CPU time (that of the trainer plus that of its busiest worker), not on wall time, and the gain from workers
is an estimate.

The rule: the smallest number of copies, 8 or more, that reaches 65 % of the speed of the fastest number,
and worker processes if they collect 1.6 times as fast. Several environments are close to these limits;
`gymnast tune envs` measures what is best on your idle machine. Keys are prefixes of ids; the longest
matching prefix counts.

An environment's own vector implementation is used if it is faster still and no other setting rules it out
(`vector_blockers`). Measured in the same way, the one of the Atari games is 1.3 times as fast as copies in
this process; CartPole's is as fast with 16 copies and 1.6 times as fast with 32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from gymnast.config.sections.shaping import step_info_keys

if TYPE_CHECKING:
    from gymnast.config.config import Config


class VecEnvDefaults(NamedTuple):
    backend: Literal["inprocess", "process"]
    n_envs: int


FALLBACK = VecEnvDefaults("inprocess", 8)
"""Used for environments that were not measured."""

MEASURED: dict[str, VecEnvDefaults] = {
    # classic control
    "Acrobot-": VecEnvDefaults("inprocess", 8),
    "CartPole-": VecEnvDefaults("inprocess", 16),
    "MountainCar-": VecEnvDefaults("inprocess", 16),
    "MountainCarContinuous-": VecEnvDefaults("inprocess", 16),
    "Pendulum-": VecEnvDefaults("inprocess", 16),
    # toy text
    "Blackjack-": VecEnvDefaults("inprocess", 8),
    "CliffWalking-": VecEnvDefaults("inprocess", 16),
    "FrozenLake": VecEnvDefaults("inprocess", 16),
    "Taxi-": VecEnvDefaults("inprocess", 16),
    # Box2D
    "BipedalWalker": VecEnvDefaults("inprocess", 8),
    "CarRacing-": VecEnvDefaults("process", 8),  # 2x: a step takes 6 ms
    "LunarLander": VecEnvDefaults("inprocess", 8),
    # MuJoCo: the more joints, the longer a step
    "Ant-": VecEnvDefaults("inprocess", 8),
    "HalfCheetah-": VecEnvDefaults("inprocess", 8),
    "Hopper-": VecEnvDefaults("inprocess", 8),
    "Humanoid-": VecEnvDefaults("process", 8),  # 1.4x: a step takes 0.3 ms
    "HumanoidStandup-": VecEnvDefaults("inprocess", 8),
    "InvertedDoublePendulum-": VecEnvDefaults("inprocess", 8),
    "InvertedPendulum-": VecEnvDefaults("inprocess", 8),
    "Pusher-": VecEnvDefaults("inprocess", 8),
    "Reacher-": VecEnvDefaults("inprocess", 16),
    "Swimmer-": VecEnvDefaults("inprocess", 8),
    "Walker2d-": VecEnvDefaults("inprocess", 8),
    "ALE/": VecEnvDefaults("inprocess", 8),
}

VECTOR_MIN_ENVS = {"ALE/": 1, "CartPole-": 32}
"""Prefix of ids -> number of copies from which the environment's own vector implementation is fastest."""
_WRAPPED = (
    *("kwargs", "tasks", "curriculum", "randomize", "noise", "keep", "one_hot", "hide", "view"),
    *("image", "atari", "stack", "previous_actions"),
)
"""Settings of `env` that add wrappers or change the environment itself."""


def vec_env_defaults(env_id: str) -> VecEnvDefaults:
    """Returns the backend and the number of copies that were measured to be fast for an environment."""
    prefixes = [prefix for prefix in MEASURED if env_id.startswith(prefix)]
    return MEASURED[max(prefixes, key=len)] if prefixes else FALLBACK


def vector_is_fastest(cfg: Config) -> bool:
    """True if `env.backend: auto` means the environment's own vector implementation."""
    prefixes = [prefix for prefix in VECTOR_MIN_ENVS if cfg.env.id.startswith(prefix)]
    enough = any(cfg.env.n_envs >= VECTOR_MIN_ENVS[prefix] for prefix in prefixes)
    return enough and not vector_blockers(cfg)


def vector_blockers(cfg: Config) -> list[str]:
    """Returns the settings that an environment's own vector implementation does not support, or only at a
    higher cost: wrappers, algorithms that learn from whole episodes, metrics from `info`, and traces of
    training episodes with images, which would have to store every image because a vector cannot replay one
    episode."""
    plain = type(cfg.env)(id=cfg.env.id)
    blockers = [
        f"env.{name}" for name in _WRAPPED if getattr(cfg.env, name) != getattr(plain, name)
    ]
    blockers += ["algo.name"] if cfg.initial_hyperparameters().rollout_length().episodes else []
    blockers += ["metrics"] if cfg.metrics else []
    blockers += ["shaping"] if step_info_keys(cfg.shaping) else []
    blockers += ["traces.train"] if cfg.env.view == "image" and cfg.traces.train > 0 else []
    return blockers
