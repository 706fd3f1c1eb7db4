"""Complete episodes, joined across rollouts: stored as traces, or used as a rollout of whole episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gymnast.collect.episode_ends import EpisodeEnds
from gymnast.collect.rollout_buffer import make_rollout
from gymnast.collect.running_episodes import Columns, RunningEpisodes
from gymnast.images import Images, ObsArray, concatenate
from gymnast.rollout import Rollout
from gymnast.runs.trace import Trace


def whole_episode(ends: EpisodeEnds, k: int, columns: Columns, running: RunningEpisodes) -> Columns:
    """Returns the columns of the k-th ended episode, [length, ...]; `columns` are those of the rollout in
    which it ended."""
    env, steps = int(ends.env[k]), slice(ends.first_step[k], ends.t[k] + 1)
    last_piece = {name: column[steps, env] for name, column in columns.items()}
    return running.complete_episode(env, int(ends.episodes.length[k]), last_piece)


def make_trace(
    ends: EpisodeEnds, k: int, columns: Columns, version: int, *, keep_obs: bool
) -> Trace:
    """Returns the trace of the k-th ended episode. `columns` are those of the whole episode; `version` is
    the number of env steps before the rollout in which it ended."""
    obs = concatenate([columns["obs"], ends.final_obs[k][None]]) if keep_obs else None
    truncated = bool(ends.episodes.truncated[k])
    return Trace(
        seed=int(ends.episodes.seed[k]),
        env=int(ends.env[k]),
        # Copies, because a view would keep the whole rollout in memory.
        action=np.asarray(columns["env_action"]).copy(),
        reward=np.asarray(columns["reward"]).copy(),
        value=np.asarray(columns["value"]).copy(),
        dist=np.asarray(columns["dist"]).copy(),
        obs=obs,
        terminated=not truncated,
        truncated=truncated,
        raw_return=float(ends.episodes.raw_return[k]),
        version=version,
        numbers=ends.episodes.numbers[k] if ends.episodes.numbers else {},
    )


def keep_whole_episodes(
    ends: EpisodeEnds, episodes: Sequence[Columns], columns: Mapping[str, ObsArray]
) -> Rollout:
    """Returns a rollout of finished episodes only. `episodes`: the columns of each ended episode, in the
    order of `ends`; `columns`: those of the rollout, which give dtypes and shapes. The episodes of a copy
    follow each other in its column; shorter columns are padded with steps that are not valid."""
    n = columns["reward"].shape[1]
    used = [0] * n  # steps of each column that are taken already
    rows: list[slice] = []  # steps that each episode takes in its column
    for env, episode in zip(ends.env.tolist(), episodes, strict=True):
        rows.append(slice(used[env], used[env] + len(episode["reward"])))
        used[env] = rows[-1].stop
    at = list(zip(rows, ends.env.tolist(), strict=True))
    padded: Columns = {
        name: _pad([episode[name] for episode in episodes], at, (max([*used, 1]), n), column)
        for name, column in columns.items()
    }
    if "mask" in padded:
        # Without any allowed action, the log-probabilities of padding steps would be NaN.
        mask, valid = np.asarray(padded["mask"]), np.asarray(padded["valid"])  # no copies
        mask[~valid] = True
    # The episodes have moved, and with them the steps at which they end.
    t = np.array([place.stop - 1 for place in rows], dtype=np.int64)
    return make_rollout(padded, np.asarray(padded["obs"][-1]), replace(ends, t=t))


def _pad(
    pieces: Sequence[ObsArray],
    at: Sequence[tuple[slice, int]],
    shape: tuple[int, int],
    like: ObsArray,
) -> ObsArray:
    """Returns a column of shape [T, N, ...] with each piece at its (rows, column), and zeros elsewhere.
    `shape`: (T, N); `like`: a column with the dtype and the remaining shape."""
    # Images are indices into a pool of frames: pad the indices, with a blank image as number 0.
    if isinstance(like, Images):
        blank = Images.from_array(np.zeros((1, *like.shape[2:]), like.dtype), like.channels)
        every = concatenate([blank, *pieces])
        assert isinstance(every, Images)
        ends = np.cumsum([1, *map(len, pieces)])
        rows = np.split(every.index, ends[:-1])[1:]
        return replace(every, index=_pad(rows, at, shape, like.index))
    column = np.zeros((*shape, *like.shape[2:]), like.dtype)
    for piece, place in zip(pieces, at, strict=True):
        column[place] = piece
    return column
