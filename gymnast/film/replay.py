"""Renders a stored episode: the environment is reset with its seed and replays the stored actions.

Every reward is compared with the stored one, so that a film shows exactly what happened or has a
note that it does not. The policy is not run again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from gymnast.film.episode_frame import EpisodeFrame, ending_text
from gymnast.film.renderer import EnvRenderer, enlarged
from gymnast.images import Images
from gymnast.policy.actions import head_for
from gymnast.runs.trace import Trace
from gymnast.spaces import spaces

Array = np.ndarray
T = TypeVar("T")


class ReplayMismatch(Exception):
    """A replay differs from the stored episode."""

    def __init__(self, step: int, what: str = "recorded episode", why: str = "") -> None:
        """`what` is what the replay differs from, `why` a likely reason."""
        self.step = step
        reason = f": {why}" if why else ""
        super().__init__(f"this replay differs from the {what}, from step {step}{reason}")


def episode_frames(renderer: EnvRenderer, trace: Trace, *, strict: bool) -> Iterator[EpisodeFrame]:
    """Yields every frame of the episode with its numbers.

    If `strict`, raises ReplayMismatch at the first step that is not as stored; otherwise continues until the
    stored actions or the replay end."""
    stored_frames = image_observations(trace)
    if stored_frames is not None:
        yield from _from_observations(renderer, trace, stored_frames)
        return
    renderer.env.reset(seed=trace.seed)
    total, reward, last = 0.0, None, len(trace) - 1
    ends = trace.terminated or trace.truncated
    for t in range(len(trace)):
        yield _frame(renderer, trace, t, renderer.render(), total, reward)
        _, reward, terminated, truncated = renderer.step(renderer.to_env_action(trace.action[t]))
        total += reward
        over = terminated or truncated
        # Exact comparison: a replay of a deterministic environment repeats every bit.
        if strict and (
            reward != trace.reward[t]
            or over != (ends and t == last)
            or (over and terminated != trace.terminated)
        ):
            raise ReplayMismatch(t + 1)
        if over or t == last:
            ending = ending_text(terminated, truncated) or "the recording ends"
            yield EpisodeFrame(renderer.render(), t + 1, total, reward, ending=ending)
            return


def replayed_states(renderer: EnvRenderer, trace: Trace) -> Iterator[object]:
    """Resets the environment and repeats the episode. Yields the observation before each step and the final
    one, while the environment is in that state. Raises ReplayMismatch, with the number of the first state
    that is not that of the episode, and EnvError if the environment fails."""
    obs = renderer.reset(trace.seed)
    if not _is_stored(renderer, trace, 0, obs):
        raise ReplayMismatch(0)
    yield obs
    last = len(trace) - 1
    ends = trace.terminated or trace.truncated
    for t in range(len(trace)):
        obs, reward, terminated, truncated = renderer.step(renderer.to_env_action(trace.action[t]))
        over = terminated or truncated
        # Exact comparison: a replay of a deterministic environment repeats every bit.
        if (
            reward != trace.reward[t]
            or over != (ends and t == last)
            or (over and terminated != trace.terminated)
            or not _is_stored(renderer, trace, t + 1, obs)
        ):
            raise ReplayMismatch(t + 1)
        yield obs


def retry_with_note(make: Callable[[str], T]) -> tuple[T, str]:
    """Returns `make("")` and no note or, if it raises ReplayMismatch, `make(note)` and the note.

    The film is made again from the start, so that every frame shows that it is not an exact
    replay."""
    try:
        return make(""), ""
    except ReplayMismatch as mismatch:
        logging.getLogger("gymnast").warning("%s", mismatch)
        return make(str(mismatch)), str(mismatch)


def image_observations(trace: Trace) -> Array | None:
    """Returns the stored observations [T + 1, H, W, 3] if they are RGB or gray images, else None."""
    obs = trace.obs  # [T + 1, ...]: the observation of every step and the final one
    if obs is None or isinstance(obs, Images) or obs.dtype != np.uint8 or obs.ndim != 4:
        return None
    if obs.shape[-1] not in (1, 3) and obs.shape[1] in (1, 3):
        obs = obs.transpose(0, 2, 3, 1)  # channels first
    if obs.shape[-1] == 1:
        obs = obs.repeat(3, -1)
    return obs if obs.shape[-1] == 3 else None


def _from_observations(
    renderer: EnvRenderer, trace: Trace, pictures: Array
) -> Iterator[EpisodeFrame]:
    """Yields the frames of an episode whose observations are its pictures [T + 1, H, W, 3]."""
    total, reward = 0.0, None
    for t in range(len(trace)):
        yield _frame(renderer, trace, t, enlarged(pictures[t]), total, reward)
        reward = float(trace.reward[t])
        total += reward
    ending = ending_text(trace.terminated, trace.truncated)
    yield EpisodeFrame(enlarged(pictures[-1]), len(trace), total, reward, ending=ending)


def _frame(
    renderer: EnvRenderer, trace: Trace, t: int, picture: Array, total: float, reward: float | None
) -> EpisodeFrame:
    """Returns the frame before step t, with the stored decision of the policy in that state.
    `total`: the return before this step; `reward`: that of the step before, None at t = 0."""
    action_probs, head = None, head_for(renderer.action_space)
    if head.space.options and trace.dist.shape[1:] == (head.dist_size,):
        action_probs = head.option_probabilities(trace.dist[t])
    action = renderer.to_env_action(trace.action[t])
    return EpisodeFrame(picture, t, total, reward, action, float(trace.value[t]), action_probs)


def _is_stored(renderer: EnvRenderer, trace: Trace, t: int, obs: object) -> bool:
    """Returns whether an observation is the stored one; True if none are stored."""
    if trace.obs is None:
        return True
    stored = np.asarray(trace.obs[t : t + 1])
    return stored.tobytes() == spaces.as_rows(renderer.obs_space, [obs]).tobytes()
