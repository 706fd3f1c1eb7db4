"""Variations: another action at a step of an episode, and what the policy makes of it."""

from __future__ import annotations

import math
import time
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from gymnast.errors import UsageError
from gymnast.inspector.action_forms import label, to_row, to_value
from gymnast.inspector.branch_record import ActionValue, LineEnd, Variation
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.frames import frames
from gymnast.inspector.frames_record import FrameSet
from gymnast.inspector.lines import Branch, Line, LinePlayer, require_branchable
from gymnast.inspector.replay import Replay
from gymnast.inspector.table import as_lists
from gymnast.policy.policy import Policy
from gymnast.runs.trace import Trace

Array = np.ndarray


@dataclass(frozen=True)
class VariationKey:
    """Everything that a variation of an episode depends on."""

    step: int
    action: int | tuple[float, ...]
    horizon: int | None
    sampled: bool
    hold: int


def branch(
    episode: OpenEpisode,
    *,
    step: int,
    action: ActionValue,
    hold: int = 1,
    horizon: int | None = None,
    sampled: bool = False,
) -> Variation:
    """Returns the line after `action` at `step`, which is held for `hold` steps, continued with the policy to
    the end of the episode or to `horizon` steps after the branch. `sampled`: continue with actions that are
    sampled from the random numbers of the episode, not with the most likely ones. Raises UsageError if the
    episode cannot be branched there."""
    started = time.perf_counter()
    variation = open_variation(episode, step, action, horizon, sampled=sampled, hold=hold)
    trace, space = variation.trace, require_branchable(episode).action_space
    ended = trace.terminated or trace.truncated
    outcome: LineEnd = "terminated" if trace.terminated else "truncated" if ended else "horizon"
    return Variation(
        step=step,
        action=to_value(space, trace.action[step]),
        label=label(space, trace.action[step], episode.config.facts),
        hold=hold,
        table=as_lists({name: column[step:] for name, column in variation.table.items()}),
        raw_return=trace.raw_return,
        played_return=episode.trace.raw_return,
        ended=ended,
        outcome=outcome,
        seconds=time.perf_counter() - started,
    )


def branch_frames(
    episode: OpenEpisode,
    *,
    step: int,
    action: ActionValue,
    hold: int = 1,
    horizon: int | None = None,
    sampled: bool = False,
    first: int,
    last: int,
    every: int,
    width: int,
) -> tuple[FrameSet, bytes]:
    """Returns frames of the variation that `branch` describes, as `frames` does for an episode."""
    variation = open_variation(episode, step, action, horizon, sampled=sampled, hold=hold)
    return frames(variation, first, last, every, width)


def open_variation(
    episode: OpenEpisode,
    step: int,
    action: ActionValue,
    horizon: int | None,
    *,
    sampled: bool,
    hold: int = 1,
) -> OpenEpisode:
    """Returns a variation as an episode of its own, from the first step on. The last one of each episode
    stays open."""
    policy = require_branchable(episode, step)
    if horizon is not None and horizon < 1:
        raise UsageError(f"horizon is {horizon}, and a line has at least one step")
    if hold < 1:
        raise UsageError(f"hold is {hold}, and an action is held for at least one step")
    row = to_row(policy.action_space, action)
    _require_allowed(episode, policy, step, row)
    key = VariationKey(
        step, tuple(action) if isinstance(action, list) else action, horizon, sampled, hold
    )
    if episode.variation is not None and episode.variation[0] == key:
        return episode.variation[1]
    with closing(LinePlayer(episode, 1, sampled=sampled)) as player:
        (line,) = player.play([Branch(step, row, hold=hold)], horizon=horizon, record=True)
    trace = _joined_trace(episode, policy, line)
    return episode.open_variation(key, trace, _joined_replay(episode, trace, line))


def _require_allowed(episode: OpenEpisode, policy: Policy, step: int, row: Array) -> None:
    """Raises UsageError if the action mask rules this action out."""
    masks, space = episode.replay.masks, policy.action_space
    if masks is not None and not space.is_allowed(space.flatten(row), masks[step]):
        name = label(space, row, episode.config.facts)
        what = f"the action mask does not allow {name} at step {step}"
        raise UsageError(what, at=episode.run.id, fix="choose an action that is allowed there")


def _joined_trace(episode: OpenEpisode, policy: Policy, line: Line) -> Trace:
    """Returns the episode up to the branch, followed by the line."""
    played, step = episode.trace, line.branch.step
    obs = np.stack(line.obs)
    reward = np.concatenate([played.reward[:step], line.rewards])
    return replace(
        played,
        action=np.concatenate([played.action[:step], np.stack(line.actions)]),
        reward=reward,
        value=np.concatenate([played.value[:step], _line_values(episode, policy, step, obs)]),
        dist=np.concatenate([played.dist[:step], np.stack(line.dists)]),
        obs=np.concatenate([episode.replay.obs[:step], obs]),
        terminated=line.terminated,
        truncated=line.truncated,
        raw_return=math.fsum(reward.tolist()),
        numbers={},
    )


def _line_values(episode: OpenEpisode, policy: Policy, step: int, obs: Array) -> Array:
    """Returns the values of the observations of a line from its branch at `step` on, without the final
    one."""
    states = episode.states_before(step, step + 1)
    if states is None:
        return policy.value(obs[:-1])
    return policy.value(obs[:-1], policy.unroll(obs[:-1], states[0])[:-1])


def _joined_replay(episode: OpenEpisode, trace: Trace, line: Line) -> Replay:
    """Returns what a replay of the variation would give: the line was just played, from the same seed."""
    step, played = line.branch.step, episode.replay
    masks = None
    if played.masks is not None and line.masks:
        # No action follows the final observation, so it has no mask of its own.
        masks = np.concatenate([played.masks[:step], line.masks, line.masks[-1:]])
    assert trace.obs is not None
    infos = [*played.infos[: step + 1], *line.infos]
    return Replay(obs=np.asarray(trace.obs), infos=infos, masks=masks, mismatch=None)
