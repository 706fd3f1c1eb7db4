"""One line per step: what was seen, done, got and expected. The CSV beside each checkpoint.

Rewards and values exist in two units, and the name of a column says which: `_raw` is what the
environment pays, `_learned` is what the algorithm was given, after shaping, `normalize.reward_scale`
and `normalize.reward`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.config.facts import Facts
from gymnast.policy.actions import AnyHead, Categorical, EpsilonGreedy, log_softmax
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout
from gymnast.spaces.observations import flat_size
from gymnast.spaces.spaces import BoxAction

Array = np.ndarray
COLUMNS = {
    "env": "copy of the environment; of several agents, the place in the rollout (match and agent)",
    "step": "number of the step within the rollout",
    "obs/*": "observation before the action, a column per number",
    "action": "what was done; `action/*` where an action has several parts",
    "greedy": "whether it is the policy's most likely action",
    "p/*": "probability of each action (discrete)",
    "mean/*": "mean of the distribution (continuous)",
    "logprob": "log-probability of the action, in nats",
    "reward_raw": "reward of the environment",
    "reward_so_far_raw": "sum of these since the episode's start, or the rollout's",
    "terminated": "the episode ended with this step",
    "truncated": "the episode was cut off after this step",
    "starts": "the observation opens an episode",
    "reward_learned": "reward that was learned from: shaped, scaled, normalized",
    "value_learned": "the critic's estimate when it acted; of action values, the highest",
    "advantage_learned": "advantage that was learned from, before `algo.advantage_norm`",
    "return_learned": "return that was learned from: the critic's target",
    "value_raw": "`value_learned` in raw units, where a factor leads there: no shaping, no `sign`",
}
"""Every column of the table -> what it says. `_learned` and `value_raw` exist where an update learned
from the rollout, advantages and returns where the algorithm computes them for it, values where it
has a critic."""


@dataclass(frozen=True)
class Lesson:
    """What one update computed for each step of a rollout, [T, N], in learned units."""

    reward: Array
    value: Array | None
    """None where no critic takes part."""
    credit: Credit | None
    """None where the algorithm does not learn from the rollout as such."""
    raw_units: float | None
    """Raw reward per learned reward; None where no factor leads from one to the other."""

    def columns(self) -> dict[str, Array]:
        columns = {"reward_learned": self.reward}
        if self.value is not None:
            columns["value_learned"] = self.value
        if self.credit is not None:
            columns["advantage_learned"] = self.credit.advantage
            columns["return_learned"] = self.credit.returns
        if self.value is not None and self.raw_units is not None:
            columns["value_raw"] = self.value * self.raw_units
        return columns


def step_table(
    rollout: Rollout, head: AnyHead, facts: Facts, lesson: Lesson | None
) -> dict[str, Array]:
    """Columns with one entry per step that is learned from, copy by copy in order of time. Without
    facts, indices stand for names. `rollout` has raw rewards."""
    n_steps, n = rollout.reward.shape
    flat = {
        "logprob": rollout.logprob,
        "reward_raw": rollout.reward,
        "reward_so_far_raw": _so_far(rollout.reward, rollout.start),
        "terminated": rollout.terminated,
        "truncated": rollout.done & ~rollout.terminated,
        "starts": rollout.start,
    }
    if lesson is not None:
        flat |= lesson.columns()
    env, step = np.meshgrid(np.arange(n), np.arange(n_steps), indexing="ij")
    table = {"env": env.ravel(), "step": step.ravel()}
    labels = [c.name for c in facts.observations]
    for name, column in flat_size(rollout.obs).items():
        table |= _parts(f"obs/{name}" if name else "obs", column, () if name else labels)
    table |= _actions(rollout, head, facts.actions)
    table |= {name: by_copy(column) for name, column in flat.items()}
    if rollout.info is not None:
        table |= {
            f"info/{key}": by_copy(rollout.info[key]) for key in rollout.info.dtype.names or ()
        }
    keep = by_copy(rollout.valid)
    return table if keep.all() else {name: column[keep] for name, column in table.items()}


def to_csv(table: dict[str, Array], most: int) -> str:
    """The first lines, at most so many. Every float reads back as the same number of its type."""
    columns = (_cells(column[:most]) for column in table.values())
    lines = map(",".join, zip(*columns, strict=True))
    return "\n".join([",".join(map(_quoted, table)), *lines]) + "\n"


def _cells(column: Array) -> list[str]:
    """As text. The module csv takes five times as long, and a checkpoint waits for this."""
    if column.dtype == np.float32:
        return [f"{x:.9g}" for x in column.tolist()]  # as many digits as tell float32 apart
    if column.dtype == object:
        text = {name: _quoted(name) for name in set(column.tolist())}
        return [text[name] for name in column.tolist()]
    return list(map(repr, column.tolist()))


def _quoted(text: str) -> str:
    special = any(sign in text for sign in ',"\n\r')
    return '"' + text.replace('"', '""') + '"' if special else text


def by_copy(column: Array) -> Array:
    """[T, N, ...] -> [N * T, ...]."""
    return column.swapaxes(0, 1).reshape(-1, *column.shape[2:])


def _parts(name: str, column: Array, labels: Sequence[str]) -> dict[str, Array]:
    flat = by_copy(column).reshape(column.shape[0] * column.shape[1], -1)
    if flat.shape[1] != len(labels):
        labels = [str(i) for i in range(flat.shape[1])]
    return {f"{name}/{label}": flat[:, i] for i, label in enumerate(labels)}


def _actions(rollout: Rollout, head: AnyHead, labels: Sequence[str]) -> dict[str, Array]:
    dist, action = by_copy(rollout.dist), by_copy(rollout.action)
    if isinstance(head.space, BoxAction):
        chosen = _parts("action", rollout.action, labels)
        mean = {f"mean/{i}": dist[:, i] for i in range(head.n_outputs)}
        return chosen | mean
    if not isinstance(head, Categorical | EpsilonGreedy):
        greedy = (action == head.mode(dist)).all(-1)
        return _parts("action", rollout.action, labels) | {"greedy": greedy}
    names = labels if len(labels) == head.n_outputs else [str(i) for i in range(head.n_outputs)]
    probability = np.exp(log_softmax(dist))
    return {
        "action": np.array(names, dtype=object)[action],
        "greedy": action == head.mode(dist),
        **{f"p/{name}": probability[:, i] for i, name in enumerate(names)},
    }


def _so_far(reward: Array, start: Array) -> Array:
    """Sum of rewards within the rollout since the episode's start, or the rollout's."""
    total = np.empty_like(reward)
    carry = np.zeros_like(reward[0])
    for t in range(len(reward)):
        carry = np.where(start[t], 0.0, carry) + reward[t]
        total[t] = carry
    return total
