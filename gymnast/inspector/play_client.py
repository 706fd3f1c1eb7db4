"""Games that people play from a page, as seen by the process that serves the page.

This module imports neither torch nor gymnasium. Each game has a worker for itself, so that neither long
questions about an episode nor another environment, which may crash or end pygame, disturb it.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from gymnast.errors import GymnastError, UsageError
from gymnast.inspector.client import InspectorPool
from gymnast.inspector.play_record import PlayEnd, PlayStart, PlayState
from gymnast.processes.per_process import PerProcess

T = TypeVar("T")
MAX_GAMES = 2
"""Number of games at the same time. Starting another one stops the one that was not used for longest."""
IDLE_SECONDS = 600.0
"""Time without a step after which a game is stopped and stored."""
DEADLINE_SECONDS = 60.0
"""Time that starting a game, or the steps of one request, may take."""


class Games:
    """The games of this process. All methods may be called from any thread."""

    def __init__(self, max_games: int = MAX_GAMES, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._lock = threading.Lock()
        self._free = [InspectorPool(1, idle_seconds=idle_seconds) for _ in range(max_games)]
        """Places for a worker without a game, the one that had a game last at the end: it is warm."""
        self._open: OrderedDict[str, InspectorPool] = OrderedDict()
        """Id of a game -> its place, the most recently used last."""

    def start(
        self,
        target: str,
        *,
        run_path: Path | None,
        which: str | None,
        runs_dir: Path,
        seed: int | None,
        role: str,
        sampled: bool | None,
        overrides: Mapping[str, object],
        width: int,
    ) -> PlayStart:
        """Starts a game, see `api.play_start`; stops the least recently used one if there are too many."""
        arguments = {
            "target": target,
            "run_path": None if run_path is None else str(run_path.resolve()),
            "which": which,
            "runs_dir": str(runs_dir.resolve()),
            "seed": seed,
            "role": role,
            "sampled": sampled,
            "overrides": overrides,
            "width": width,
        }
        session, place = secrets.token_hex(8), self._take_place()
        try:
            started = _call(place, "play_start", session, arguments, PlayStart)
        except BaseException:
            with self._lock:
                self._free.append(place)
            raise
        with self._lock:
            self._open[session] = place
        return started

    def step(
        self,
        session: str,
        *,
        keys: Sequence[str],
        action: float | Sequence[float] | None,
        steps: int,
    ) -> PlayState:
        """Takes steps in a game, see `api.play_step`."""
        arguments = {"keys": keys, "action": action, "steps": steps}
        try:
            state = _call(self._use(session), "play_step", session, arguments, PlayState)
        except UsageError:  # of this request: the game continues
            raise
        except GymnastError:  # the environment or its worker is gone
            self._forget(session)
            raise
        if state.over:
            self._forget(session)
        return state

    def stop(self, session: str) -> PlayEnd:
        """Stops a game and returns the stored episode."""
        place = self._use(session)
        try:
            return _call(place, "play_stop", session, {}, PlayEnd)
        finally:
            self._forget(session)

    def close(self) -> None:
        """Stops all games; what was played is stored."""
        with self._lock:
            places = [*self._open.values(), *self._free]
            self._open.clear()
            self._free = places
        for place in places:
            place.close()

    def _take_place(self) -> InspectorPool:
        """Returns a free place for a game; stops the least recently used game if there is none."""
        while True:
            with self._lock:
                if self._free:
                    return self._free.pop()
                idle = next(iter(self._open), None)
            if idle is None:  # other threads are starting games in all places
                raise UsageError("too many games are starting", fix="try again in a second")
            with suppress(GymnastError):  # it is over, or its worker is
                self.stop(idle)

    def _use(self, session: str) -> InspectorPool:
        """Marks a game as used now and returns its place; raises UsageError if there is no such game."""
        with self._lock:
            if session not in self._open:
                problem = f"there is no game {session!r}: it is over or was stopped"
                raise UsageError(problem, fix="start a new one")
            self._open.move_to_end(session)
            return self._open[session]

    def _forget(self, session: str) -> None:
        with self._lock:
            if session in self._open:
                self._free.append(self._open.pop(session))


def _call(
    place: InspectorPool,
    function: str,
    session: str,
    arguments: Mapping[str, object],
    result_type: type[T],
) -> T:
    given = {"session": session, **arguments}
    return place.call(function, session, given, result_type, deadline=DEADLINE_SECONDS)


default_games = PerProcess(Games)
"""The games of this process."""
