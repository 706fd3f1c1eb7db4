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
        self.canvas = BandCanvas(width, 84, note)
        self.height = self.canvas.height

    def attach_below(self, frame: EpisodeFrame) -> Array:
        """Returns the picture with the band below it."""
        return np.concatenate([frame.picture, self.draw(frame)])

    def draw(self, frame: EpisodeFrame) -> Array:
        """Returns the band alone, [height, width, 3]."""
        top = self.canvas.clear()
        self._numbers(frame, top)
        self._action(frame, top + self.canvas.px(42))
        return self.canvas.pixels()

    def _numbers(self, frame: EpisodeFrame, top: int) -> None:
        """Writes step, return, reward and value in four columns, from `top` on; values that the
        frame lacks are left empty."""
        length = "" if self.length is None else f" / {self.length}"
        numbers = {
            "step": f"{frame.step}{length}",
            "return": number(frame.total),
            "reward": "" if frame.reward is None else f"{frame.reward:+.2f}",
            "value": "" if frame.value is None else number(frame.value),
        }
        for i, (label, text) in enumerate(numbers.items()):
            left, _ = self.canvas.column_bounds(i, len(numbers))
            self.canvas.write_number(label, text, left, top)

    def _action(self, frame: EpisodeFrame, top: int) -> None:
        """Draws the bars of the next action, from `top` on; at the end of the episode, writes how
        it ended instead."""
        canvas = self.canvas
        if frame.ending:
            canvas.write(frame.ending, canvas.column_bounds(0, 1)[0], top, 22, HIGHLIGHT)
            return
        bars = self.actions.bars(frame)
        if len(bars) > MAX_LABELED_BARS:  # too narrow for labels: one line for all bars
            canvas.write_line(self.actions.action_text(frame.action), top, 16, HIGHLIGHT)
        for i, bar in enumerate(bars):
            left, width = canvas.column_bounds(i, len(bars))
            self._bar(bar, left, top, max(1, width - canvas.px(6 if width > 20 else 1)))
            if len(bars) <= MAX_LABELED_BARS:
                text = canvas.text_renderer.shorten(bar.label, canvas.px(16), width - canvas.px(4))
                canvas.write(text, left, top, 16, HIGHLIGHT if bar.chosen else MUTED)

    def _bar(self, bar: Bar, left: int, top: int, width: int) -> None:
        """Draws one bar of this width, below the line of its label, which begins at `top`."""
        top, height = top + self.canvas.px(15), self.canvas.px(9)
        self.canvas.fill(SLOT, (left, top, width, height))
        begin, end = round(bar.low * width), round(bar.high * width)
        color = HIGHLIGHT if bar.chosen else OTHER
        # At least one pixel wide, so that an improbable action is still visible as chosen.
        self.canvas.fill(color, (left + begin, top, max(end - begin, 1), height))
