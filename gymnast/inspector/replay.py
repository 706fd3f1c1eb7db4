"""Replays a stored episode to get what was not stored: observations, infos, action masks and pictures.

The environment is reset with the seed of the episode and repeats its actions. Every reward, the end and the
observations, if they are stored, are compared with the stored ones, so that a replay shows what happened, or
says from which step on it does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.errors import EnvError
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import ReplayMismatch, replayed_states
from gymnast.runs.trace import Trace
from gymnast.spaces import spaces

Array = np.ndarray
MAX_SECONDS = 20.0
"""Time after which a replay is stopped: some environments run in real time."""
RENDERED_BEFORE, RENDERED_SECONDS = 8, 0.05
"""Number of states before a picture that are rendered, too, unless that takes more CPU time. Some renderers
have a memory: the sparks of LunarLander fade in 7 pictures, and the taxi turns when a move is drawn."""


@dataclass(frozen=True, eq=False)
class Replay:
    """The steps of a replay, up to the end of the episode or to the first difference."""

    obs: Array
    """Observations as rows of the observation space, one before each step and the final one, [S + 1, ...].
    There are none if the environment cannot be opened, or starts in another state."""
    infos: list[Mapping[str, object]]
    """The info of the reset and of every step, one per observation."""
    masks: Array | None
    """Allowed options at each observation, [S + 1, options]; None if the environment has no action mask."""
    mismatch: int | None
    """Number of the first step whose result differs from the stored one; None if there is none."""
    note: str = ""
    """A sentence that says why the replay is not complete; empty if it is."""

    @property
    def is_exact(self) -> bool:
        return self.mismatch is None and not self.note

    @property
    def last(self) -> int:
        """Number of the last step at which the state is that of the episode; -1 if there is none."""
        return len(self.obs) - 1


def replay_episode(
    renderer: EnvRenderer, trace: Trace, *, max_seconds: float = MAX_SECONDS
) -> Replay:
    """Returns the replay of an episode in this environment."""
    give_up = time.monotonic() + max_seconds
    obs: list[object] = []
    infos: list[Mapping[str, object]] = []
    masks: list[object] = []
    mismatch, note = None, ""
    try:
        for state in replayed_states(renderer, trace):
            obs.append(state)
            infos.append(dict(renderer.info))
            masks.append(renderer.action_mask)
            if time.monotonic() > give_up and len(obs) <= len(trace):
                note = f"the replay was stopped after {max_seconds:g} s, at step {len(obs) - 1}"
                break
    except ReplayMismatch as differs:
        mismatch = max(differs.step - 1, 0)
        note = f"the replay differs from the episode at step {mismatch}"
    except EnvError as problem:
        note = f"the replay failed at step {max(len(obs) - 1, 0)}: {problem.message}"
    known = bool(masks) and all(mask is not None for mask in masks)
    return Replay(
        obs=spaces.as_rows(renderer.obs_space, obs),
        infos=infos,
        masks=spaces.as_masks(renderer.action_space, masks) if known else None,
        mismatch=mismatch,
        note=note,
    )


class RenderedStates:
    """Pictures of the states of a replay. The environment steps forward from where it is, and is reset for an
    earlier state. On the way to a state, at most the last RENDERED_BEFORE states are rendered."""

    def __init__(
        self,
        start: Callable[[], Iterator[object]],
        render: Callable[[], Array],
        set_rendered: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """`start`: starts a replay and returns its states; `render`: renders the current one; `set_rendered`
        is called before each step, with whether the state after it will be rendered."""
        self._start, self._render, self._set_rendered = start, render, set_rendered
        self._states: Iterator[object] = iter(())
        self._position = -1
        """Number of the state in which the environment is; -1 before the first."""
        self._picture: Array | None = None
        """The picture of that state, if it was rendered: each state is rendered at most once."""
        self._seconds: list[float] = []
        """CPU times of the first pictures: two, since renderers are set up by the first."""
        self._differs: ReplayMismatch | None = None
        """The difference that ended an earlier replay."""

    def picture(self, step: int) -> Array:
        """Returns the picture of the state before a step, [H, W, 3]. Raises ReplayMismatch if the replay
        differs by then."""
        if self._differs is not None and step >= self._differs.step:
            raise self._differs
        if not 0 <= self._position <= step:
            self._states, self._position = self._start(), -1
        try:
            while self._position < step:
                renders = self._position + 1 >= step - self._n_before or len(self._seconds) < 2
                self._set_rendered(renders)
                next(self._states)
                self._position += 1
                self._picture = self._rendered() if renders else None
        except ReplayMismatch as differs:
            self._differs, self._position = differs, -1
            raise
        except BaseException:
            self._position = -1  # the next picture needs a new replay
            raise
        assert self._picture is not None
        return self._picture

    @property
    def _n_before(self) -> int:
        """Number of states before a picture that are rendered."""
        seconds = min(self._seconds, default=0.0)
        if seconds * RENDERED_BEFORE <= RENDERED_SECONDS:
            return RENDERED_BEFORE
        return int(RENDERED_SECONDS / seconds)

    def _rendered(self) -> Array:
        began = time.process_time()
        picture = self._render()
        if len(self._seconds) < 2:
            self._seconds.append(time.process_time() - began)
        return picture
