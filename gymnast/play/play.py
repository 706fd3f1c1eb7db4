"""Episodes played for someone to watch: in a window, into a film, step by step, or all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gymnast.config.facts import Facts
from gymnast.film.actions import Actions
from gymnast.film.encode import FilmWriter
from gymnast.film.make import HOLD, hold
from gymnast.film.overlay import Band
from gymnast.film.shot import Shot, ending_of
from gymnast.film.stage import Stage
from gymnast.play import narrate
from gymnast.play.players import Player
from gymnast.play.window import Window, WindowClosed

Array = np.ndarray


@dataclass(frozen=True)
class Outcome:
    seed: int
    total: float
    """Raw return."""
    length: int
    ending: str
    """`terminated`, `truncated`, or `left` where it was broken off."""


@dataclass
class Audience:
    """Who watches: any of a window, a film, and a narration of every step."""

    actions: Actions
    facts: Facts
    window: Window | None = None
    film: FilmWriter | None = None
    step_by_step: bool = False
    """Every step is told, and waits for a key or a line."""
    by_hand: bool = False
    """A person plays, who sees the picture before there is a decision, and is never waited for."""
    tell: Callable[[str], None] = print
    ask: Callable[[str], str] = input
    _band: Band | None = None

    @property
    def looks(self) -> bool:
        return self.window is not None or self.film is not None

    def sees(self, shot: Shot, obs: Any) -> None:
        """Where the episode stands, before the next decision."""
        if self.step_by_step:
            self.tell(narrate.seen(shot.step, obs, self.facts))
        if self.window is not None and self.by_hand:
            self.window.show(self._frame(shot))

    def decided(self, shot: Shot) -> None:
        frame = self._frame(shot) if self.looks else _NOTHING
        if self.film is not None:
            self.film.add(frame)
        if self.step_by_step:
            self.tell(narrate.decided(shot, self.actions))
        if self.window is not None and not self.by_hand:
            self.window.show(frame)
        if self.step_by_step and not self.by_hand:
            self._wait()

    def got(self, reward: float, total: float) -> None:
        if self.step_by_step:
            self.tell(narrate.got(reward, total))

    def ended(self, shot: Shot) -> None:
        """The last picture stays for a moment."""
        frame = self._frame(shot) if self.looks else _NOTHING
        if self.film is not None:
            self.film.add(frame)
            hold(self.film, frame)
        if self.window is not None:
            for _ in range(1 + round(HOLD * self.window.fps)):
                self.window.show(frame)

    def _wait(self) -> None:
        if self.window is not None:
            self.window.wait_for_key()
            return
        try:
            self.ask("")
        except EOFError:
            raise WindowClosed from None

    def _frame(self, shot: Shot) -> Array:
        if self._band is None:
            self._band = Band(shot.picture.shape[1], self.actions)
        return self._band.below(shot)


def play_episode(stage: Stage, player: Player, seed: int, audience: Audience) -> Outcome:
    """Play until the end, or until whoever watches has had enough (a closed window, Ctrl-C)."""
    total, step, reward, ending = 0.0, 0, None, ""
    try:
        obs, stage.info = stage.env.reset(seed=seed)
        player.begin(seed)
        while not ending:
            shot = Shot(_picture(stage, audience), step, total, reward)
            audience.sees(shot, obs)
            made = player.decide(obs, stage.mask)
            audience.decided(
                replace(shot, action=made.action, value=made.value, chances=made.chances)
            )
            obs, reward, terminated, truncated = stage.step(made.action)
            total, step = total + reward, step + 1
            audience.got(reward, total)
            ending = ending_of(terminated, truncated)
        audience.ended(Shot(_picture(stage, audience), step, total, reward, ending=ending))
    except (WindowClosed, KeyboardInterrupt):
        ending = ending or "left"
    return Outcome(seed, total, step, ending)


def _picture(stage: Stage, audience: Audience) -> Array:
    return stage.picture() if audience.looks else _NOTHING


_NOTHING = np.zeros((1, 1, 3), np.uint8)
