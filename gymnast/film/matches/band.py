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
        self.sheet = BandCanvas(width, 80, note)

    def draw(self, shot: MatchFrame) -> Array:
        """Returns the band alone, [height, width, 3]."""
        sheet, trace = self.sheet, self.trace
        top, columns = sheet.clear(), len(self.cast) + 1
        sheet.write_number(
            "step", f"{shot.step} / {len(trace)}", sheet.column_bounds(0, columns)[0], top
        )
        for i, (role, player) in enumerate(self.cast.items()):
            left, room = sheet.column_bounds(i + 1, columns)
            label = sheet.text_renderer.shorten(
                f"{role}: {player}", sheet.px(16), room - sheet.px(4)
            )
            color = self.colors.get(role, MUTED)
            sheet.write_number(label, number(shot.returns[role]), left, top, color)
        below = top + sheet.px(44)
        if shot.ending:
            sheet.write_line(shot.ending, below, 22, HIGHLIGHT)
        else:
            sheet.write_line(self._caption(), below, 16, MUTED)
        return sheet.pixels()

    def _caption(self) -> str:
        has_teams = any(rewards.shape[1] > 1 for rewards in self.trace.rewards.values())
        returns = "returns so far, means over agents" if has_teams else "returns so far"
        return f"{returns}; trained for {self.trace.version:,} env steps"
