"""The steps of a stored episode or match as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from gymnast.images import Images
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace

Array = np.ndarray


def step_columns(run: Run, episode: Trace | MatchTrace) -> dict[str, Array]:
    """Returns the columns of the table, each with one entry per step. Images have no columns.

    Where the facts of the config name no observations or actions, their indices are used."""
    if isinstance(episode, MatchTrace):
        return _match_columns(episode)
    facts = run.config_section("facts")
    actions, observations = (_names(facts.get(key)) for key in ("actions", "observations"))
    steps = len(episode)
    last = np.arange(steps) == steps - 1
    return {
        "step": np.arange(steps),
        **_obs_columns(episode, observations),
        **_components("action", episode.action, actions),
        **_distribution(episode, actions),
        "reward_raw": episode.reward,
        "reward_so_far_raw": np.cumsum(episode.reward),
        "value": episode.value,
        "terminated": last & episode.terminated,
        "truncated": last & episode.truncated,
    }


def _obs_columns(episode: Trace, names: Sequence[str]) -> dict[str, Array]:
    """Returns the observations before each action; none if they are images or were not stored."""
    obs = episode.obs
    if obs is None or isinstance(obs, Images):
        return {}
    before = obs[: len(episode)]
    if before.dtype.names is None:
        parts = {"obs": before}
    else:  # the facts name the components of a plain observation, not those inside a Dict or Tuple
        parts, names = {f"obs/{name}": before[name] for name in before.dtype.names}, ()
    columns: dict[str, Array] = {}
    for name, part in parts.items():
        if part.ndim <= 2:
            columns |= _components(name, part, names)
    return columns


def _distribution(episode: Trace, names: Sequence[str]) -> dict[str, Array]:
    """Returns the distributions that the actions were sampled from: probabilities of discrete actions, means
    and log standard deviations of a Box, else their parameters."""
    dist, action = episode.dist, episode.action
    k = dist.shape[1]
    if action.ndim == 1 and np.issubdtype(action.dtype, np.integer) and k > 1:
        logits = dist - dist.max(-1, keepdims=True)
        p = np.exp(logits)
        return _components("p", p / p.sum(-1, keepdims=True), names)
    size = int(np.prod(action.shape[1:]))
    if np.issubdtype(action.dtype, np.floating) and k == 2 * size:
        mean = _components("mean", dist[:, :size], names)
        return mean | _components("log_std", dist[:, size:], names)
    return _components("dist", dist, ())


def _match_columns(match: MatchTrace) -> dict[str, Array]:
    columns: dict[str, Array] = {"step": np.arange(len(match))}
    for role, rewards in match.rewards.items():
        for seat in range(rewards.shape[1]):
            columns |= _components(f"{role}/{seat}/action", match.actions[role][:, seat], ())
            columns[f"{role}/{seat}/reward_raw"] = rewards[:, seat]
    return columns


def _components(name: str, column: Array, labels: Sequence[str]) -> dict[str, Array]:
    """Returns one column per component, [T, ...] -> [T] each, numbered if `labels` do not fit."""
    if column.ndim == 1:
        return {name: column}
    flat = column.reshape(len(column), -1)
    if flat.shape[1] != len(labels):
        labels = [str(i) for i in range(flat.shape[1])]
    return {f"{name}/{label}": flat[:, i] for i, label in enumerate(labels)}


def _names(declared: object) -> list[str]:
    """Returns the names in a list of facts: texts, or mappings with a `name`."""
    entries = cast("list[object]", declared) if isinstance(declared, list) else []
    return [
        str(cast("dict[str, object]", entry).get("name")) if isinstance(entry, dict) else str(entry)
        for entry in entries
    ]
