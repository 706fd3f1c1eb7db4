"""The step table: one line per step of a rollout. `gymnast.runs.step_columns` declares its columns.

A checkpoint stores that of its last rollout as CSV. The table of an episode is that of a rollout with this
episode alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gymnast.config.facts import Facts
from gymnast.images import ObsArray
from gymnast.policy.head import Head
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout
from gymnast.spaces.observations import non_image_columns

Array = np.ndarray


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
    gamma: float
    """Discount factor of the update."""
    bootstraps: bool = True
    """Whether the algorithm uses the value of the final observation of a truncated episode."""
    shaping: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Shaping term -> what it added to the raw reward of each step."""

    def reward_columns(self) -> dict[str, Array]:
        """Returns the columns of shaped rewards, each [T, N]."""
        shaping = {f"shaping/{name}": added for name, added in self.shaping.items()}
        return {**shaping, "reward_learned": self.reward}

    def value_columns(self, rollout: Rollout) -> dict[str, Array]:
        """Returns the columns of values and advantages that exist for this update, each [T, N]. `rollout`:
        the one that it used."""
        columns: dict[str, Array] = {}
        if self.value is not None:
            columns["value_learned"] = self.value
            if self.raw_per_unit is not None:
                columns["value_raw"] = self.value * self.raw_per_unit
        if self.credit is not None:
            columns["return_learned"] = self.credit.returns
            columns["advantage_learned"] = self.credit.advantage
        if self.value is not None:
            no_future = rollout.terminated if self.bootstraps else rollout.done
            future = np.where(no_future, 0.0, rollout.next_value)
            columns["td_error_learned"] = self.reward + self.gamma * future - self.value
        return columns

    def first_copies(self, n: int) -> StepTargets:
        """Returns the targets of the first n environments."""
        credit = self.credit
        return StepTargets(
            reward=self.reward[:, :n],
            value=None if self.value is None else self.value[:, :n],
            credit=credit and Credit(*(None if x is None else x[:, :n] for x in credit)),  # pyright: ignore[reportArgumentType]
            raw_per_unit=self.raw_per_unit,
            gamma=self.gamma,
            bootstraps=self.bootstraps,
            shaping={name: added[:, :n] for name, added in self.shaping.items()},
        )


def step_table(
    rollout: Rollout,
    head: Head,
    facts: Facts,
    targets: StepTargets | None,
    max_rows: int | None = None,
) -> dict[str, Array]:
    """Returns the columns of the table, with one entry per valid step: all steps of the first environment
    copy in order of time, then those of the next copy. Of the copies after the first `max_rows` steps
    nothing is computed.

    Where `facts` names no observations or actions, their indices are used. `rollout` has raw rewards.
    `targets` is None if no update has used the rollout.
    """
    if max_rows is not None:
        copies = 1 + int(np.searchsorted(np.cumsum(rollout.valid.sum(0)), max_rows))
        if copies < rollout.reward.shape[1]:
            rollout, targets = (
                rollout.first_copies(copies),
                targets and targets.first_copies(copies),
            )
    n_steps, n = rollout.reward.shape
    # "ij" gives [N, T]: the same order of rows as `env_major`
    env, step = np.meshgrid(np.arange(n), np.arange(n_steps), indexing="ij")
    table = {"env": env.ravel(), "step": step.ravel()}
    table |= obs_columns("obs", rollout.obs, [c.name for c in facts.observations])
    action, dist = env_major(rollout.action), env_major(rollout.dist)
    table |= head.table_columns(action, dist, facts)
    table |= {"logprob": env_major(rollout.logprob), "entropy": head.entropy(dist)}
    if rollout.mask is not None:
        names, allowed = head.space.option_names(facts), env_major(rollout.mask)
        table |= {f"mask/{name}": allowed[:, i] for i, name in enumerate(names)}
    flat = {
        "reward_raw": rollout.reward,
        **(targets.reward_columns() if targets else {}),
        "reward_so_far_raw": _cumulative_reward(rollout.reward, rollout.start),
        "return_to_go_raw": _reward_to_go(rollout.reward, rollout.done),
        **(targets.value_columns(rollout) if targets else {}),
        "terminated": rollout.terminated,
        "truncated": rollout.done & ~rollout.terminated,
        "starts": rollout.start,
    }
    if rollout.info is not None:
        flat |= {f"info/{key}": rollout.info[key] for key in rollout.info.dtype.names or ()}
    table |= {name: env_major(column) for name, column in flat.items()}
    # Invalid steps are removed last, when all columns have the same length N * T.
    keep = env_major(rollout.valid)
    return table if keep.all() else {name: column[keep] for name, column in table.items()}


def obs_columns(prefix: str, obs: ObsArray, labels: Sequence[str]) -> dict[str, Array]:
    """Returns one column `PREFIX/NAME` per component of observations [T, N, ...], env-major; images have
    none. `labels`: names of the components of a plain observation, not of those inside a Dict or Tuple."""
    columns: dict[str, Array] = {}
    for name, column in non_image_columns(obs).items():
        path = f"{prefix}/{name}" if name else prefix
        columns |= _components(path, column, () if name else labels)
    return columns


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


def _reward_to_go(reward: Array, done: Array) -> Array:
    """Returns the sum of rewards from each step to the end of its episode or of the rollout, [T, N]. `done`
    [T, N] is True at the last step of an episode."""
    # Backward in time, an episode starts with its last step.
    return _cumulative_reward(reward[::-1], done[::-1])[::-1]
