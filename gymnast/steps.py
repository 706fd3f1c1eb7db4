"""One line per step: what was seen, done, got and expected. The CSV beside each checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.config.facts import Facts
from gymnast.policy.actions import AnyHead, Categorical, EpsilonGreedy, log_softmax
from gymnast.policy.observations import numbers_in
from gymnast.policy.spaces import Amounts
from gymnast.rollout import Rollout

Array = np.ndarray


def step_table(
    rollout: Rollout, head: AnyHead, facts: Facts, *, gamma: float, lam: float
) -> dict[str, Array]:
    """Columns with one entry per step that is learned from, copy by copy in order of time. Without
    facts, indices stand for names."""
    n_steps, n = rollout.reward.shape
    advantage, target = rollout.advantages(gamma, lam)
    flat = {
        "reward": rollout.reward,
        "reward_so_far": _so_far(rollout.reward, rollout.start),
        "value": rollout.value,
        "advantage": advantage,
        "value_target": target,
        "logprob": rollout.logprob,
        "terminated": rollout.terminated,
        "truncated": rollout.done & ~rollout.terminated,
        "starts": rollout.start,
    }
    env, step = np.meshgrid(np.arange(n), np.arange(n_steps), indexing="ij")
    table = {"env": env.ravel(), "step": step.ravel()}
    labels = [c.name for c in facts.observations]
    for name, column in numbers_in(rollout.obs).items():
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
    if isinstance(head.space, Amounts):
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
