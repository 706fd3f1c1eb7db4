"""A stored episode as a rollout with one environment, from its trace and its replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np

from gymnast.config.sections.shaping import step_info_keys
from gymnast.envs.backends.step_info import read_info_values
from gymnast.images import Images, ObsArray
from gymnast.inspector.episode import OpenEpisode
from gymnast.policy.actions import head_for
from gymnast.policy.head import Head
from gymnast.policy.policy import Policy
from gymnast.rollout import Episodes, Rollout
from gymnast.runs.trace import Trace
from gymnast.spaces.observations import Observation, blank_obs

Array = np.ndarray


def episode_rollout(episode: OpenEpisode, head: Head, obs_space: Observation) -> Rollout:
    """Returns the steps of an episode as a rollout [T, 1, ...] with raw rewards. Observations that are not
    known, after the first difference of a replay, are blank. The value of the final observation is NaN if the
    policy is needed for it and not available."""
    trace, steps = episode.trace, len(episode.trace)
    # Somebody else than a policy may have played: the distribution of the actions is then unknown.
    dist = trace.dist if has_policy(trace, head) else np.zeros((steps, head.dist_size), np.float32)
    obs = complete_obs(episode.obs, obs_space, steps + 1)
    action = head.from_env(trace.action)
    last = np.arange(steps) == steps - 1
    final_value = 0.0 if trace.terminated else _final_value(episode)
    next_value = np.append(trace.value[1:], np.float32(final_value)).astype(np.float32)
    final_obs = np.asarray(obs[steps : steps + 1])
    return Rollout(
        obs=_one_copy(obs[:steps]),
        last_obs=final_obs,
        final_obs=final_obs,
        final_at=(np.array([steps - 1]), np.zeros(1, np.int64)),
        action=action[:, None],
        dist=dist[:, None],
        logprob=head.logprob(dist, action)[:, None],
        value=trace.value[:, None],
        reward=trace.reward[:, None],
        next_value=next_value[:, None],
        terminated=(last & trace.terminated)[:, None],
        done=(last & (trace.terminated or trace.truncated))[:, None],
        start=(np.arange(steps) == 0)[:, None],
        valid=np.ones((steps, 1), dtype=bool),
        mask=_masks(episode),
        memory=None,
        episodes=Episodes.empty(),
        info=_info_numbers(episode),
    )


def has_policy(trace: Trace, head: Head) -> bool:
    """Returns whether the trace has the distributions that a policy chose the actions from."""
    return trace.dist.shape[-1] == head.dist_size


def head_of(episode: OpenEpisode) -> Head | None:
    """Returns the action head of the policy; if its checkpoint was removed, that of the config; None if the
    environment cannot be opened either."""
    if episode.policy is not None:
        return episode.policy.head
    cfg, space = episode.config.policy, episode.action_space
    if space is None:
        return None
    selection = episode.config.algo.action_selection
    return head_for(space, cfg.log_std, squash=cfg.squash, action_selection=selection)


def obs_space_of(episode: OpenEpisode) -> Observation | None:
    """Returns the observation space of the policy; if its checkpoint was removed, of the environment; None if
    the environment cannot be opened either."""
    if episode.policy is not None:
        return episode.policy.obs_space
    return episode.obs_space


def complete_obs(obs: ObsArray, space: Observation, length: int) -> ObsArray:
    """Returns observations [length, ...], with blank ones after the known ones."""
    missing = length - len(obs)
    if missing <= 0:
        return obs
    blank = blank_obs(space, missing)
    return np.concatenate([np.asarray(obs), blank]) if len(obs) else blank


def _one_copy(obs: ObsArray) -> ObsArray:
    """Returns observations [T, ...] of one environment as [T, 1, ...], without copying them."""
    if isinstance(obs, Images):
        return obs.reshape(len(obs), 1, *obs.shape[1:])
    return obs[:, None]


def _final_value(episode: OpenEpisode) -> float:
    """Returns the value of the final observation; NaN if the policy or the observation is not available."""
    policy: Policy | None = episode.policy
    if policy is None or len(episode.obs) <= len(episode.trace):
        return np.nan
    last = len(episode.obs) - 1
    state = episode.states_before(last, last + 1)
    return float(policy.value(np.asarray(episode.obs[-1:]), state)[0])


def _masks(episode: OpenEpisode) -> Array | None:
    """Returns the action masks before each step, [T, 1, options]; None if they are not known for all."""
    masks, steps = episode.replay.masks, len(episode.trace)
    return None if masks is None or len(masks) < steps else masks[:steps, None]


def _info_numbers(episode: OpenEpisode) -> Array | None:
    """Returns the numbers in the info of each step as records by key, [T, 1], NaN where there is none; None
    if no step has any. They are what shaping terms read, and all numbers that are not in a nested dict."""
    infos: Sequence[Mapping[str, object]] = episode.replay.infos[1:]
    shaping_keys = step_info_keys(episode.config.shaping)
    columns = {key: list[float]() for key in shaping_keys}
    for key in dict.fromkeys(key for info in infos for key in info if isinstance(key, str)):
        found = [_number(info.get(key)) for info in infos]
        if np.isfinite(found).any():
            columns[key] = found
    if shaping_keys:
        name = episode.config.env.id
        rows = [read_info_values(info, shaping_keys, name) for info in infos]
        columns |= {key: [row[i] for row in rows] for i, key in enumerate(shaping_keys)}
    if not columns:
        return None
    record = np.dtype([(key, np.float64) for key in columns])
    table = np.full((len(episode.trace), 1), np.nan, record)
    for key, found in columns.items():
        table[key][: len(found), 0] = found
    return table


def _number(value: object) -> float:
    """Returns an entry of an info as a number; NaN if it is not a single one."""
    return float(value) if isinstance(value, Real | np.bool_) else np.nan
