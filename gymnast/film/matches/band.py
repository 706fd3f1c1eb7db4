"""The band below a frame of a match: step, player and return of each role, outcome."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gymnast.film.band_canvas import HIGHLIGHT, MUTED, BandCanvas
from gymnast.film.drawing import Color
from gymnast.film.matches.replay import MatchFrame
from gymnast.runs.match_trace import MatchTrace
from gymnast.text.formatting import number

Array = np.ndarray


class MatchBand:
    def __init__(
        self,
        width: int,
        trace: MatchTrace,
        cast: Mapping[str, str],
        colors: Mapping[str, Color],
        note: str,
    ) -> None:
        """`cast`: role -> text shown for its player. `colors`: role -> its color in the frame."""
        self.trace, self.cast, self.colors = trace, cast, colors
        self.canvas = BandCanvas(width, 80, note)

    def draw(self, frame: MatchFrame) -> Array:
        """Returns the band alone, [height, width, 3]."""
        canvas, trace = self.canvas, self.trace
        top, columns = canvas.clear(), len(self.cast) + 1  # one for the step, one per role
        left, _ = canvas.column_bounds(0, columns)
        canvas.write_number("step", f"{frame.step} / {len(trace)}", left, top)
        for i, (role, player) in enumerate(self.cast.items()):
            left, room = canvas.column_bounds(i + 1, columns)
            label = canvas.text_renderer.shorten(
                f"{role}: {player}", canvas.px(16), room - canvas.px(4)
            )
            color = self.colors.get(role, MUTED)
            canvas.write_number(label, number(frame.returns[role]), left, top, color)
        below = top + canvas.px(44)
        if frame.ending:
            canvas.write_line(frame.ending, below, 22, HIGHLIGHT)
        else:
            canvas.write_line(self._caption(), below, 16, MUTED)
        return canvas.pixels()

    def _caption(self) -> str:
        has_teams = any(rewards.shape[1] > 1 for rewards in self.trace.rewards.values())
        returns = "returns so far, means over agents" if has_teams else "returns so far"
        return f"{returns}; trained for {self.trace.version:,} env steps"
