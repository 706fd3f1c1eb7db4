"""Custom terms of a user, valid and invalid."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import Steps, TermContext


def fortune(steps: Steps, each: float = 1000.0) -> np.ndarray:
    return np.full(steps.reward.shape, each)


def brightness(steps: Steps) -> np.ndarray:
    """A potential over the observation of `tests.scripted:Script`."""
    return steps.potential(lambda seen: seen.rows.sum(-1, dtype=np.float64))


class Pairs:
    """Pays 1 for every second step of the run, counted over all rollouts."""

    def __init__(self, scene: TermContext) -> None:
        self.memory = {"steps": np.zeros(1, dtype=np.int64)}

    def __call__(self, steps: Steps) -> np.ndarray:
        number = self.memory["steps"] + np.arange(steps.reward.size).reshape(steps.reward.shape)
        self.memory["steps"] += steps.reward.size
        return (number % 2).astype(np.float64)


def misshapen(steps: Steps) -> np.ndarray:
    return steps.reward[0]


def words(steps: Steps) -> np.ndarray:
    return np.full(steps.reward.shape, "good")


def raises(steps: Steps) -> np.ndarray:  # noqa: ARG001
    raise ZeroDivisionError("nothing to divide by")


def unknown_name(steps: Steps) -> np.ndarray:
    return steps.next_obs["altitude"]


def infinite(steps: Steps) -> np.ndarray:
    return np.where(steps.age > 0, np.inf, 0.0)


def spite(steps: Steps) -> np.ndarray:
    """Returns minus three times the reward: with a weight of 1 the shaped reward is -2 times the raw one."""
    return -3 * steps.reward
