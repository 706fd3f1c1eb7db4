"""The steps that some env copies of a run made in one rollout, and what becomes of them.

A fragment holds everything that was measured. Turning it into the rollout to learn from, and into traces,
needs the earlier steps of the episodes, which only the training process has: hosts that collect for it
(`shards/`) return fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gymnast.collect.collector import ROLE, CollectResult
from gymnast.collect.episode_ends import EpisodeEnds
from gymnast.collect.rollout_buffer import make_rollout, next_values, values_of
from gymnast.collect.running_episodes import Columns, RunningEpisodes
from gymnast.collect.whole_episodes import keep_whole_episodes, make_trace, whole_episode
from gymnast.config.section import RolloutLength
from gymnast.envs.backends.backend import Fault
from gymnast.images import join_copies
from gymnast.policy.policy import Policy
from gymnast.rollout import Episodes

Array = np.ndarray
_TRACED = ("env_action", "reward", "value", "dist")
"""Columns of a running episode that are kept for its trace, and to replay it."""
_EPISODE = (
    *_TRACED,
    *("obs", "action", "logprob", "next_value", "terminated", "done", "start", "valid", "mask"),
    "info",
)
"""Columns of a running episode that are kept to learn from it once it is complete."""


@dataclass(frozen=True)
class Fragment:
    """T steps of some env copies. Columns are [T, N, ...]."""

    columns: Columns
    ends: EpisodeEnds
    last_obs: Array
    """Observations after the last step, [N, ...]."""
    memory: Array | None
    """Policy states before the first step of each sequence, [K, N, S]; None without memory."""
    sequences: Array | None
    """The sequences that a policy with memory is trained on, [K, 2]."""
    env_steps: int
    """Env steps, summed over the copies."""
    length: int
    """Vector steps, T."""
    complete: bool
    """False if collecting whole episodes was cut off before every copy had finished its quota."""
    faults: tuple[Fault, ...]
    fatal_fault: Fault | None
    env_seconds: float
    seconds: float
    """Wall time of the fragment, `env_seconds` included."""


def join(fragments: Sequence[Fragment], first: Sequence[int]) -> Fragment:
    """Returns fragments of the same steps as one, with the copies in the order of the fragments. `first`: the
    number of the first copy of each. Nothing depends on which process made a fragment, or when. The arrays
    are new: those of a fragment may lie in memory that cannot be written."""
    one = fragments[0]
    # An environment that returns masks only now and then may have returned none to some of the hosts.
    names = dict.fromkeys(name for fragment in fragments for name in fragment.columns)
    columns = {name: join_copies([_column(f, name) for f in fragments]) for name in names}
    memory = None
    if one.memory is not None:
        memory = np.concatenate([f.memory for f in fragments if f.memory is not None], axis=1)
    faults = tuple(
        fault for f, start in zip(fragments, first, strict=True) for fault in moved(f.faults, start)
    )
    fatal = [
        fault
        for f, start in zip(fragments, first, strict=True)
        if f.fatal_fault is not None
        for fault in moved([f.fatal_fault], start)
    ]
    return Fragment(
        columns,
        _join_ends([f.ends for f in fragments], first),
        np.concatenate([f.last_obs for f in fragments]),
        memory,
        None if one.sequences is None else one.sequences.copy(),
        env_steps=sum(f.env_steps for f in fragments),
        length=one.length,
        complete=all(f.complete for f in fragments),
        faults=faults,
        fatal_fault=fatal[0] if fatal else None,
        # The time of training is that of the slowest.
        env_seconds=max(f.env_seconds for f in fragments),
        seconds=max(f.seconds for f in fragments),
    )


def with_values(fragment: Fragment, policy: Policy, state: Array | None) -> Fragment:
    """Returns the fragment with the values that its hosts have left out (`shards/full_batch.py`). `state`:
    the policy states after the last step, [N, S]; None without memory."""
    columns, last = fragment.columns, fragment.last_obs
    if policy.values_while_acting:
        acted = np.asarray(columns["value"])
        value = np.concatenate([acted, policy.value(last, state)[None]])
    else:
        value = values_of(policy, np.concatenate([np.asarray(columns["obs"]), last[None]]))
    next_value = next_values(policy, value, fragment.ends)
    return replace(fragment, columns={**columns, "value": value[:-1], "next_value": next_value})


def moved(faults: Sequence[Fault], by: int) -> tuple[Fault, ...]:
    """Returns the faults with copy numbers that are higher by `by`."""
    return tuple(
        replace(
            fault,
            copy=fault.copy + by,
            caused_by=None if fault.caused_by is None else fault.caused_by + by,
        )
        for fault in faults
    )


def _column(fragment: Fragment, name: str) -> Array:
    """Returns a column of a fragment; a missing mask allows everything."""
    column = fragment.columns.get(name)
    if column is None:
        assert name == "mask", name
        shape = fragment.columns["reward"].shape
        options = fragment.columns["dist"].shape[-1]
        return np.ones((*shape, options), dtype=bool)
    return column  # type: ignore[return-value]


def _join_ends(ends: Sequence[EpisodeEnds], first: Sequence[int]) -> EpisodeEnds:
    """Returns all episode ends in the order of their steps and, within a step, of their copies: the order in
    which a single process records them."""
    t = np.concatenate([e.t for e in ends])
    env = np.concatenate([e.env + start for e, start in zip(ends, first, strict=True)])
    order = np.lexsort((env, t))

    def column(name: str) -> Array:
        return np.concatenate([getattr(e.episodes, name) for e in ends])[order]

    numbers: tuple[dict[str, float], ...] = ()
    if any(e.episodes.numbers for e in ends):
        every = [n for e in ends for n in (e.episodes.numbers or ({},) * len(e.episodes))]
        numbers = tuple(every[k] for k in order)
    names = ("raw_return", "length", "seed", "truncated")
    episodes = Episodes(**{n: column(n) for n in names}, env=env[order], numbers=numbers)
    states = [e.final_state for e in ends if e.final_state is not None]
    state = np.concatenate(states)[order] if states else None
    return EpisodeEnds(
        t[order], episodes, np.concatenate([e.final_obs for e in ends])[order], state
    )


def finish(
    fragment: Fragment,
    running: RunningEpisodes,
    span: RolloutLength,
    version: int,
    should_trace: Callable[[int], bool],
    *,
    keep_obs: bool,
) -> CollectResult:
    """Returns the rollout to learn from and the traces of the episodes that ended, and adds the steps to
    `running`, the unfinished episodes of these copies. `version`: the number of env steps before the rollout;
    the other arguments are those of `VectorCollector`."""
    columns, ends = fragment.columns, fragment.ends
    # 1. Complete the episodes that ended, as far as they are needed: to learn from them as a whole, or
    # for traces.
    names = _EPISODE if span.episodes else (*_TRACED, *(("obs",) if keep_obs else ()))
    kept = {name: columns[name] for name in names if name in columns}
    traced = [k for k, seed in enumerate(ends.episodes.seed.tolist()) if should_trace(seed)]
    wanted = range(len(ends.t)) if span.episodes else traced
    # Episodes must be joined before the rollout is appended, which may free their first steps.
    episodes = {k: whole_episode(ends, k, kept, running) for k in wanted}
    running.append_rollout(kept, fragment.length)
    # 2. The rollout to learn from.
    if span.episodes:
        rollout = keep_whole_episodes(ends, list(episodes.values()), columns)
    else:
        rollout = make_rollout(columns, fragment.last_obs, ends)
        rollout = replace(rollout, memory=fragment.memory, sequences=fragment.sequences)
    traces = [make_trace(ends, k, episodes[k], version, keep_obs=keep_obs) for k in traced]
    return CollectResult(
        {ROLE: rollout},
        steps=fragment.env_steps,
        vec_steps=fragment.length,
        episodes=len(rollout.episodes),
        complete=fragment.complete,
        traces=traces,
        faults=list(fragment.faults),
        fatal_fault=fragment.fatal_fault,
        env_seconds=fragment.env_seconds,
        inference_seconds=fragment.seconds - fragment.env_seconds,
    )
