"""The band below a frame of a match: step, player and return of each role, outcome."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gymnast.film.lettering import Color
from gymnast.film.matches.frames import MatchShot
from gymnast.film.sheet import CHOSEN, QUIET, Sheet
from gymnast.runs.match_trace import MatchTrace
from gymnast.text.wording import number

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
        self.sheet = Sheet(width, 80, note)

    def draw(self, shot: MatchShot) -> Array:
        """Returns the band alone, [height, width, 3]."""
        sheet, trace = self.sheet, self.trace
        top, columns = sheet.begin(), len(self.cast) + 1
        sheet.number("step", f"{shot.step} / {len(trace)}", sheet.cell(0, columns)[0], top)
        for i, (role, player) in enumerate(self.cast.items()):
            left, room = sheet.cell(i + 1, columns)
            label = sheet.letters.fitted(f"{role}: {player}", sheet.px(16), room - sheet.px(4))
            color = self.colors.get(role, QUIET)
            sheet.number(label, number(shot.returns[role]), left, top, color)
        below = top + sheet.px(44)
        if shot.ending:
            sheet.line(shot.ending, below, 22, CHOSEN)
        else:
            sheet.line(self._caption(), below, 16, QUIET)
        return sheet.pixels()

    def _caption(self) -> str:
        has_teams = any(rewards.shape[1] > 1 for rewards in self.trace.rewards.values())
        returns = "returns so far, means over agents" if has_teams else "returns so far"
        return f"{returns}; trained for {self.trace.version:,} env steps"
