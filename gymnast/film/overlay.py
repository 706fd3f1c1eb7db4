"""The band below a picture: step, return, reward, value, and the action that follows."""

from __future__ import annotations

import numpy as np
import pygame

from gymnast.film.actions import Actions, Bar
from gymnast.film.lettering import Colour, Letters, pixels, surface
from gymnast.film.shot import Shot
from gymnast.text.wording import number

Array = np.ndarray
PAPER: Colour = (17, 19, 24)
QUIET: Colour = (140, 147, 160)
CLEAR: Colour = (236, 238, 242)
CHOSEN: Colour = (255, 183, 77)
SLOT: Colour = (44, 48, 58)
OTHER: Colour = (96, 108, 128)
WARNING: Colour = (255, 112, 97)

USUAL = 600
"""Width for which the sizes below are meant; others are in proportion, within limits."""
LABELLED = 8
"""More bars than this get no labels of their own."""


class Band:
    def __init__(self, width: int, actions: Actions, *, length: int | None = None, note: str = ""):
        """`length`: steps of the whole episode, where known. `note`: a warning on every picture."""
        self.width, self.actions, self.length, self.note = width, actions, length, note
        self.letters = Letters()
        self.scale = min(max(width / USUAL, 0.75), 2.0)
        self.height = self._px(84) + (self._px(22) if note else 0)

    def below(self, shot: Shot) -> Array:
        """The picture with its band."""
        return np.concatenate([shot.picture, self.draw(shot)])

    def draw(self, shot: Shot) -> Array:
        """The band alone, [height, width, 3]."""
        paper = surface(self.width, self.height, PAPER)
        top = self._px(9)
        if self.note:
            left, room = self._cell(0, 1)
            text = self.letters.fitted(self.note, self._px(18), room)
            self.letters.write(paper, text, (left, top), self._px(18), WARNING)
            top += self._px(22)
        self._numbers(paper, shot, top)
        self._action(paper, shot, top + self._px(42))
        return pixels(paper)

    def _numbers(self, paper: pygame.Surface, shot: Shot, top: int) -> None:
        of = "" if self.length is None else f" / {self.length}"
        shown = {
            "step": f"{shot.step}{of}",
            "return": number(shot.total),
            "reward": "" if shot.reward is None else f"{shot.reward:+.2f}",
            "value": "" if shot.value is None else number(shot.value),
        }
        for i, (label, text) in enumerate(shown.items()):
            left, _ = self._cell(i, len(shown))
            self.letters.write(paper, label, (left, top), self._px(16), QUIET)
            self.letters.write(paper, text, (left, top + self._px(14)), self._px(25), CLEAR)

    def _action(self, paper: pygame.Surface, shot: Shot, top: int) -> None:
        left, room = self._cell(0, 1)
        if shot.ending:
            self.letters.write(paper, shot.ending, (left, top), self._px(22), CHOSEN)
            return
        bars = self.actions.bars(shot)
        if len(bars) > LABELLED:
            name = self.letters.fitted(self.actions.name(shot.action), self._px(16), room)
            self.letters.write(paper, name, (left, top), self._px(16), CHOSEN)
        for i, bar in enumerate(bars):
            begin, width = self._cell(i, len(bars))
            self._bar(paper, bar, begin, top, max(1, width - self._px(6 if width > 20 else 1)))
            if len(bars) <= LABELLED:
                text = self.letters.fitted(bar.label, self._px(16), width - self._px(4))
                colour = CHOSEN if bar.chosen else QUIET
                self.letters.write(paper, text, (begin, top), self._px(16), colour)

    def _bar(self, paper: pygame.Surface, bar: Bar, left: int, top: int, width: int) -> None:
        top, height = top + self._px(15), self._px(9)
        paper.fill(SLOT, (left, top, width, height))
        begin, end = round(bar.low * width), round(bar.high * width)
        colour = CHOSEN if bar.chosen else OTHER
        paper.fill(colour, (left + begin, top, max(end - begin, 1), height))

    def _cell(self, i: int, n: int) -> tuple[int, int]:
        """Left edge and width of the i-th of n equal columns."""
        margin = self._px(12)
        room = self.width - 2 * margin
        left = margin + i * room // n
        return left, margin + (i + 1) * room // n - left

    def _px(self, size: int) -> int:
        return round(size * self.scale)
