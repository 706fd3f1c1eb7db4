"""What `auto` means for the copies of an environment: where they run, and how many they are.

Each from one environment of its kind and one short sample (0.4 s of CPU) per number of copies, 4, 8, 16
and 32, on two cores that did other work beside: speeds are therefore by the CPU time that a vector
step waits for, that of the trainer and of its busiest worker, not by the clock, and what workers gain
is an estimate. Taken are the fewest copies, from 8 on, with 65 % of the speed of the fastest number,
and workers where they collect 1.6 times as much; several environments are close to either line.
`gymnast tune envs` says what holds on an idle machine. Entries are for ids that begin so, the longest
beginning that fits counts. Only backends that go on with running episodes when a run is resumed are
here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


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


def measured(env_id: str) -> Copies:
    fits = [begin for begin in MEASURED if env_id.startswith(begin)]
    return MEASURED[max(fits, key=len)] if fits else UNKNOWN
