"""Episodes from their first step to their last: to be stored, or to be learned from whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gymnast.collect.ends import EpisodeEnds
from gymnast.collect.running import Columns, RunningEpisodes
from gymnast.collect.tape import rollout_of
from gymnast.images import Images, Observed, concatenate
from gymnast.rollout import Rollout
from gymnast.runs.trace import Trace

Array = np.ndarray


def whole_episode(ends: EpisodeEnds, k: int, columns: Columns, running: RunningEpisodes) -> Columns:
    """The k-th that ended on a tape with these columns, [length, ...]."""
    env, steps = int(ends.env[k]), slice(ends.begins[k], ends.t[k] + 1)
    piece = {name: column[steps, env] for name, column in columns.items()}
    return running.whole(env, int(ends.episodes.length[k]), piece)


def trace_of(ends: EpisodeEnds, k: int, columns: Columns, version: int, *, keep_obs: bool) -> Trace:
    """To be stored; `columns`: of the whole episode; `version`: env steps taken before the rollout in
    which it ended."""
    seen = concatenate([columns["obs"], ends.final_obs[k][None]]) if keep_obs else None
    truncated = bool(ends.episodes.truncated[k])
    return Trace(
        seed=int(ends.episodes.seed[k]),
        env=int(ends.env[k]),
        action=columns["env_action"].copy(),  # of a tape that need not live as long
        reward=columns["reward"].copy(),
        value=columns["value"].copy(),
        dist=columns["dist"].copy(),
        obs=seen,
        terminated=not truncated,
        truncated=truncated,
        raw_return=float(ends.episodes.raw_return[k]),
        version=version,
        numbers=ends.episodes.numbers[k] if ends.episodes.numbers else {},
    )


def keep_whole_episodes(
    ends: EpisodeEnds, episodes: Sequence[Columns], columns: Mapping[str, Observed]
) -> Rollout:
    """A rollout of finished episodes only: those of a copy follow each other in its column, and what
    the shorter columns lack is not valid. `columns` tells kinds and shapes."""
    n = columns["reward"].shape[1]
    used = [0] * n
    places: list[slice] = []
    for env, whole in zip(ends.env.tolist(), episodes, strict=True):
        places.append(slice(used[env], used[env] + len(whole["reward"])))
        used[env] = places[-1].stop
    at = list(zip(places, ends.env.tolist(), strict=True))
    padded: Columns = {
        name: _placed([whole[name] for whole in episodes], at, (max([*used, 1]), n), column)
        for name, column in columns.items()
    }
    if "mask" in padded:
        padded["mask"][~padded["valid"]] = True
    t = np.array([place.stop - 1 for place in places], dtype=np.int64)
    return rollout_of(padded, np.asarray(padded["obs"][-1]), replace(ends, t=t))


def _placed(
    pieces: Sequence[Any], at: Sequence[tuple[slice, int]], shape: tuple[int, int], like: Observed
) -> Observed:
    """Columns [T, N, ...] of this shape with each piece in its place, and blank elsewhere."""
    if isinstance(like, Images):
        blank = Images.of(np.zeros((1, *like.shape[2:]), like.dtype), like.channels)
        every = concatenate([blank, *pieces])
        assert isinstance(every, Images)
        ends = np.cumsum([1, *map(len, pieces)])
        rows = np.split(every.index, ends[:-1])[1:]
        return replace(every, index=_placed(rows, at, shape, like.index))
    column = np.zeros((*shape, *like.shape[2:]), like.dtype)
    for piece, place in zip(pieces, at, strict=True):
        column[place] = piece
    return column
