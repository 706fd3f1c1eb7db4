"""The band below a picture of a match: step, who plays each role and its return so far, the outcome."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gymnast.film.lettering import Colour
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
        colours: Mapping[str, Colour],
        note: str,
    ) -> None:
        """`cast`: what is said of who plays each role. `colours`: of roles, as the picture has them,
        where it does."""
        self.trace, self.cast, self.colours = trace, cast, colours
        self.sheet = Sheet(width, 80, note)

    def draw(self, shot: MatchShot) -> Array:
        """The band alone, [height, width, 3]."""
        sheet, trace = self.sheet, self.trace
        top, columns = sheet.begin(), len(self.cast) + 1
        sheet.number("step", f"{shot.step} / {len(trace)}", sheet.cell(0, columns)[0], top)
        for i, (role, who) in enumerate(self.cast.items()):
            left, room = sheet.cell(i + 1, columns)
            label = sheet.letters.fitted(f"{role}: {who}", sheet.px(16), room - sheet.px(4))
            colour = self.colours.get(role, QUIET)
            sheet.number(label, number(shot.returns[role]), left, top, colour)
        below = top + sheet.px(44)
        if shot.ending:
            sheet.line(shot.ending, below, 22, CHOSEN)
        else:
            sheet.line(self._said(), below, 16, QUIET)
        return sheet.pixels()

    def _said(self) -> str:
        several = any(rewards.shape[1] > 1 for rewards in self.trace.rewards.values())
        returns = "returns so far, means over agents" if several else "returns so far"
        return f"{returns}; learned from {self.trace.version:,} env steps"
