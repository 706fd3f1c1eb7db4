"""The step table: one CSV line per step of the last rollout, written next to each checkpoint.

Rewards and values exist in two units, and the suffix of the column name says which: `_raw` is the
reward of the environment, `_learned` is what the algorithm learned from, after shaping,
`normalize.reward_scale` and `normalize.reward`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.config.facts import Facts
from gymnast.policy.head import Head
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout
from gymnast.spaces.observations import non_image_columns

Array = np.ndarray
COLUMNS = {
    "env": "index of the environment copy; with several agents, of the seat (match and agent)",
    "step": "index of the step within the rollout",
    "obs/*": "observation before the action, one column per component",
    "action": "action taken; `action/*` if an action has several components",
    "greedy": "whether the action, or every option in it, is the policy's most likely one",
    "p/*": "probability of each action (Discrete, also as an entry of a Dict or Tuple)",
    "mean/*": "mean of the distribution (continuous)",
    "logprob": "log-probability of the action, in nats",
    "reward_raw": "reward of the environment",
    "reward_so_far_raw": "sum of `reward_raw` since the later of episode start and rollout start",
    "terminated": "the episode terminated with this step",
    "truncated": "the episode was truncated after this step",
    "starts": "the observation is the first of an episode",
    "reward_learned": "reward used for learning: shaped, scaled, normalized",
    "value_learned": "the critic's estimate at the time of acting; for Q-networks, the highest action value",
    "advantage_learned": "advantage used for learning, before `algo.advantage_norm`",
    "return_learned": "return used for learning: the critic's target",
    "value_raw": "`value_learned` in raw units, if a factor converts it: no shaping, no `sign`",
}
"""Every column of the table and its meaning. `*_learned` and `value_raw` exist if an update used the
rollout; advantages and returns only if the algorithm computes them for the rollout; values only if it
has a critic."""


@dataclass(frozen=True)
class StepTargets:
    """Everything one update computed for each step of a rollout, [T, N], in learned units."""

    reward: Array
    value: Array | None
    """None if the algorithm has no critic."""
    credit: Credit | None
    """Advantages and returns; None if the algorithm learns from a replay buffer instead of the rollout."""
    raw_per_unit: float | None
    """Raw reward per unit of learned reward; None if no constant factor converts one to the other."""

    def columns(self) -> dict[str, Array]:
        """Returns the columns of the step table that exist for this update, each [T, N]."""
        columns = {"reward_learned": self.reward}
        if self.value is not None:
            columns["value_learned"] = self.value
        if self.credit is not None:
            columns["advantage_learned"] = self.credit.advantage
            columns["return_learned"] = self.credit.returns
        if self.value is not None and self.raw_per_unit is not None:
            columns["value_raw"] = self.value * self.raw_per_unit
        return columns


def step_table(
    rollout: Rollout, head: Head, facts: Facts, targets: StepTargets | None
) -> dict[str, Array]:
    """Returns the columns of the table, with one entry per valid step: all steps of the first environment
    copy in order of time, then those of the next copy.

    Where `facts` names no observations or actions, their indices are used. `rollout` has raw rewards.
    `targets` is None if no update has used the rollout.
    """
    n_steps, n = rollout.reward.shape
    flat = {
        "logprob": rollout.logprob,
        "reward_raw": rollout.reward,
        "reward_so_far_raw": _cumulative_reward(rollout.reward, rollout.start),
        "terminated": rollout.terminated,
        "truncated": rollout.done & ~rollout.terminated,
        "starts": rollout.start,
    }
    if targets is not None:
        flat |= targets.columns()
    # "ij" gives [N, T]: the same order of rows as `env_major`
    env, step = np.meshgrid(np.arange(n), np.arange(n_steps), indexing="ij")
    table = {"env": env.ravel(), "step": step.ravel()}
    labels = [c.name for c in facts.observations]
    for name, column in non_image_columns(rollout.obs).items():
        # the facts name the components of a plain observation, not those inside a Dict or Tuple
        table |= _components(f"obs/{name}" if name else "obs", column, () if name else labels)
    action, dist = env_major(rollout.action), env_major(rollout.dist)
    table |= head.table_columns(action, dist, facts.actions)
    table |= {name: env_major(column) for name, column in flat.items()}
    if rollout.info is not None:
        table |= {
            f"info/{key}": env_major(rollout.info[key]) for key in rollout.info.dtype.names or ()
        }
    # Invalid steps are removed last, when all columns have the same length N * T.
    keep = env_major(rollout.valid)
    return table if keep.all() else {name: column[keep] for name, column in table.items()}


def to_csv(table: dict[str, Array], max_rows: int) -> str:
    """Returns the header and the first `max_rows` rows as CSV. Floats survive the round trip exactly."""
    columns = (_cells(column[:max_rows]) for column in table.values())
    lines = map(",".join, zip(*columns, strict=True))
    return "\n".join([",".join(map(_quoted, table)), *lines]) + "\n"


def _cells(column: Array) -> list[str]:
    """Returns the entries of a column as text. The standard library's csv module takes five times as
    long, and writing a checkpoint waits for this."""
    if column.dtype == np.float32:
        return [f"{x:.9g}" for x in column.tolist()]  # 9 digits identify every float32
    if column.dtype == object:
        text = {name: _quoted(name) for name in set(column.tolist())}  # few distinct action names
        return [text[name] for name in column.tolist()]
    return list(map(repr, column.tolist()))  # repr is the shortest text that identifies a float64


def _quoted(text: str) -> str:
    special = any(sign in text for sign in ',"\n\r')
    return '"' + text.replace('"', '""') + '"' if special else text


def env_major(column: Array) -> Array:
    """Reorders [T, N, ...] into [N * T, ...]: one environment copy after the other."""
    return column.swapaxes(0, 1).reshape(-1, *column.shape[2:])


def _components(name: str, column: Array, labels: Sequence[str]) -> dict[str, Array]:
    """Returns one column per component of an observation, numbered if `labels` do not fit."""
    flat = env_major(column).reshape(column.shape[0] * column.shape[1], -1)
    if flat.shape[1] != len(labels):
        labels = [str(i) for i in range(flat.shape[1])]
    return {f"{name}/{label}": flat[:, i] for i, label in enumerate(labels)}


def _cumulative_reward(reward: Array, start: Array) -> Array:
    """Returns the running sum of rewards, [T, N], which restarts with every episode. `start` [T, N]
    is True at the first step of an episode."""
    total = np.empty_like(reward)
    carry = np.zeros_like(reward[0])
    for t in range(len(reward)):
        carry = np.where(start[t], 0.0, carry) + reward[t]
        total[t] = carry
    return total
