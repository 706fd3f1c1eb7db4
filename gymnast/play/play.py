"""Plays episodes in a window, into a film, and step by step as text, or any combination of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gymnast.config.facts import Facts
from gymnast.film.actions import ActionLabels
from gymnast.film.encode import FilmWriter
from gymnast.film.episode_frame import EpisodeFrame, ending_text
from gymnast.film.make import HOLD_SECONDS, hold_last_frame
from gymnast.film.overlay import Band
from gymnast.film.renderer import EnvRenderer
from gymnast.play import step_text
from gymnast.play.players import Player
from gymnast.play.recording import EpisodeRecording
from gymnast.play.request import EpisodeOutcome
from gymnast.play.window import Window, WindowClosed

Array = np.ndarray


@dataclass
class Viewer:
    """Shows an episode: in a window, in a film, as text of every step, or any combination."""

    actions: ActionLabels
    facts: Facts
    window: Window | None = None
    film: FilmWriter | None = None
    step_by_step: bool = False
    """Whether every step is printed and waits for a key or a line."""
    is_human: bool = False
    """Whether a human plays: the frame is shown before the decision, and steps do not wait for a key."""
    echo: Callable[[str], None] = print
    ask: Callable[[str], str] = input
    _band: Band | None = None

    @property
    def needs_frames(self) -> bool:
        return self.window is not None or self.film is not None

    def show_state(self, frame: EpisodeFrame, obs: object) -> None:
        """Shows the state before the next decision."""
        if self.step_by_step:
            self.echo(step_text.observation_text(frame.step, obs, self.facts))
        if self.window is not None and self.is_human:
            self.window.show(self._picture_with_band(frame))

    def show_action(self, frame: EpisodeFrame) -> None:
        """Shows the decision; the frame has the action, and for a policy its probabilities and the value."""
        picture = self._picture_with_band(frame) if self.needs_frames else _NO_PICTURE
        if self.film is not None:
            self.film.add(picture)
        if self.step_by_step:
            self.echo(step_text.action_text(frame, self.actions))
        if self.window is not None and not self.is_human:  # a human has seen this frame already
            self.window.show(picture)
        if self.step_by_step and not self.is_human:
            self._wait()

    def show_reward(self, reward: float, total: float) -> None:
        if self.step_by_step:
            self.echo(step_text.reward_text(reward, total))

    def show_end(self, frame: EpisodeFrame) -> None:
        """Shows the last frame for HOLD_SECONDS."""
        picture = self._picture_with_band(frame) if self.needs_frames else _NO_PICTURE
        if self.film is not None:
            self.film.add(picture)
            hold_last_frame(self.film, picture)
        if self.window is not None:
            for _ in range(1 + round(HOLD_SECONDS * self.window.fps)):
                self.window.show(picture)

    def _wait(self) -> None:
        """Waits for a key in the window or, without a window, for Enter in the terminal. Raises
        WindowClosed at the end of the input."""
        if self.window is not None:
            self.window.wait_for_key()
            return
        try:
            self.ask("")
        except EOFError:
            raise WindowClosed from None

    def _picture_with_band(self, frame: EpisodeFrame) -> Array:
        if self._band is None:  # its width is that of the first picture
            self._band = Band(frame.picture.shape[1], self.actions)
        return self._band.attach_below(frame)


def play_episode(
    renderer: EnvRenderer,
    player: Player,
    seed: int,
    viewer: Viewer,
    recording: EpisodeRecording | None = None,
) -> EpisodeOutcome:
    """Plays until the episode ends or the user leaves (closed window, Ctrl-C). `recording` gets the steps."""
    total, step, reward, ending = 0.0, 0, None, ""
    try:
        obs, renderer.info = renderer.env.reset(seed=seed)
        player.start_episode(seed)
        if recording is not None:
            recording.see(obs)
        while not ending:
            frame = EpisodeFrame(_picture(renderer, viewer), step, total, reward)
            viewer.show_state(frame, obs)
            decision = player.decide(obs, renderer.action_mask)
            viewer.show_action(
                replace(
                    frame,
                    action=decision.action,
                    value=decision.value,
                    action_probs=decision.action_probs,
                )
            )
            # The frame shows the decision before its effect; the next one has the reward.
            obs, reward, terminated, truncated = renderer.step(decision.action)
            total, step = total + reward, step + 1
            if recording is not None:
                row = np.asarray(renderer.action_space.pack(decision.action))
                recording.add(row, reward, obs)
            viewer.show_reward(reward, total)
            ending = ending_text(terminated, truncated)
        viewer.show_end(
            EpisodeFrame(_picture(renderer, viewer), step, total, reward, ending=ending)
        )
    except (WindowClosed, KeyboardInterrupt):  # not an error: the episode so far is reported
        ending = ending or "interrupted"
    return EpisodeOutcome(seed, total, step, ending)


def _picture(renderer: EnvRenderer, viewer: Viewer) -> Array:
    return renderer.render() if viewer.needs_frames else _NO_PICTURE


_NO_PICTURE = np.zeros((1, 1, 3), np.uint8)
