"""The band of numbers below a frame: step, return, reward, value, and the next action."""

from __future__ import annotations

import numpy as np

from gymnast.film.actions import ActionLabels, Bar
from gymnast.film.band_canvas import HIGHLIGHT, MUTED, BandCanvas
from gymnast.film.drawing import Color
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.text.formatting import number

Array = np.ndarray
SLOT: Color = (44, 48, 58)
OTHER: Color = (96, 108, 128)

MAX_LABELED_BARS = 8
"""Maximum number of bars with a label each."""


class Band:
    def __init__(
        self, width: int, actions: ActionLabels, *, length: int | None = None, note: str = ""
    ):
        """`length` is the length of the episode, if known; `note` is a warning shown on every frame."""
        self.actions, self.length = actions, length
        self.sheet = BandCanvas(width, 84, note)
        self.height = self.sheet.height

    def attach_below(self, shot: EpisodeFrame) -> Array:
        """Returns the picture with the band below it."""
        return np.concatenate([shot.picture, self.draw(shot)])

    def draw(self, shot: EpisodeFrame) -> Array:
        """Returns the band alone, [height, width, 3]."""
        top = self.sheet.clear()
        self._numbers(shot, top)
        self._action(shot, top + self.sheet.px(42))
        return self.sheet.pixels()

    def _numbers(self, shot: EpisodeFrame, top: int) -> None:
        length = "" if self.length is None else f" / {self.length}"
        numbers = {
            "step": f"{shot.step}{length}",
            "return": number(shot.total),
            "reward": "" if shot.reward is None else f"{shot.reward:+.2f}",
            "value": "" if shot.value is None else number(shot.value),
        }
        for i, (label, text) in enumerate(numbers.items()):
            self.sheet.write_number(label, text, self.sheet.column_bounds(i, len(numbers))[0], top)

    def _action(self, shot: EpisodeFrame, top: int) -> None:
        sheet = self.sheet
        if shot.ending:
            sheet.write(shot.ending, sheet.column_bounds(0, 1)[0], top, 22, HIGHLIGHT)
            return
        bars = self.actions.bars(shot)
        if len(bars) > MAX_LABELED_BARS:
            sheet.write_line(self.actions.action_text(shot.action), top, 16, HIGHLIGHT)
        for i, bar in enumerate(bars):
            begin, width = sheet.column_bounds(i, len(bars))
            self._bar(bar, begin, top, max(1, width - sheet.px(6 if width > 20 else 1)))
            if len(bars) <= MAX_LABELED_BARS:
                text = sheet.text_renderer.shorten(bar.label, sheet.px(16), width - sheet.px(4))
                sheet.write(text, begin, top, 16, HIGHLIGHT if bar.chosen else MUTED)

    def _bar(self, bar: Bar, left: int, top: int, width: int) -> None:
        top, height = top + self.sheet.px(15), self.sheet.px(9)
        self.sheet.fill(SLOT, (left, top, width, height))
        begin, end = round(bar.low * width), round(bar.high * width)
        color = HIGHLIGHT if bar.chosen else OTHER
        self.sheet.fill(color, (left + begin, top, max(end - begin, 1), height))
