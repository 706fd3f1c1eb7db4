"""Writes transitions and optimal values of Gymnasium's grid worlds, which tests of the playground compare.

`python web/make_grid_cases.py` writes web/src/pages/playground/grid/gymnasium.cases.json; `--check` only
reports whether it is current.
"""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium as gym
import numpy as np

OUT = Path(__file__).parent / "src" / "pages" / "playground" / "grid" / "gymnasium.cases.json"
WORLDS = {"lake": ("FrozenLake-v1", 0.99), "cliff": ("CliffWalking-v1", 0.9)}
"""Preset of the playground -> environment and discount."""
ACTIONS = {"lake": ["left", "down", "right", "up"], "cliff": ["up", "right", "down", "left"]}
"""Preset -> names of the environment's actions."""

Transitions = list[list[list[tuple[float, int, float, bool]]]]
"""[state][action] -> (probability, next state, reward, terminated)."""


def transitions(env_id: str) -> Transitions:
    """Returns the transitions of an environment; equal outcomes are added up."""
    env = gym.make(env_id).unwrapped
    table = env.P  # pyright: ignore[reportAttributeAccessIssue]
    found: Transitions = []
    for state in range(len(table)):
        actions: list[list[tuple[float, int, float, bool]]] = []
        for action in range(len(table[state])):
            summed: dict[tuple[int, float, bool], float] = {}
            for probability, after, reward, terminated in table[state][action]:
                key = (int(after), float(reward), bool(terminated))
                summed[key] = summed.get(key, 0.0) + float(probability)
            actions.append([(p, *key) for key, p in sorted(summed.items())])
        found.append(actions)
    return found


def optimal_values(table: Transitions, gamma: float) -> list[float]:
    """Returns the optimal values by policy iteration, whose evaluation solves the linear system."""
    size, actions = len(table), len(table[0])
    chances, rewards = np.zeros((size, actions, size)), np.zeros((size, actions))
    for state, options in enumerate(table):
        for action, outcomes in enumerate(options):
            for probability, after, reward, terminated in outcomes:
                rewards[state, action] += probability * reward
                chances[state, action, after] += 0.0 if terminated else probability
    policy, rows = np.zeros(size, dtype=int), np.arange(size)
    while True:
        matrix = np.eye(size) - gamma * chances[rows, policy]
        values = np.linalg.solve(matrix, rewards[rows, policy])
        q = rewards + gamma * chances @ values
        if (q.max(axis=1) <= q[rows, policy] + 1e-10).all():
            return [round(float(value), 9) for value in values]
        policy = q.argmax(axis=1)


def text() -> str:
    """Returns the file: one line per world."""
    lines: list[str] = []
    for preset, (env_id, gamma) in WORLDS.items():
        table = transitions(env_id)
        values = optimal_values(table, gamma)
        case = {"gamma": gamma, "actions": ACTIONS[preset], "transitions": table, "values": values}
        lines.append(f"{json.dumps(preset)}: {json.dumps(case)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    from made_file import write_or_check  # its directory is in the path only if this is the program

    raise SystemExit(write_or_check(OUT, text(), "web/make_grid_cases.py"))
