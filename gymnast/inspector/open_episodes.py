"""The episodes that a worker keeps open."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from gymnast.errors import UsageError
from gymnast.inspector.address import EpisodeAddress
from gymnast.runs import layout
from gymnast.runs.episodes import episode_files
from gymnast.runs.run import Run

if TYPE_CHECKING:
    from gymnast.inspector.episode import OpenEpisode
    from gymnast.inspector.matches import OpenMatch

MAX_OPEN = 4
"""Number of episodes that stay open, with their environment and what was computed."""
AT_END: list[Callable[[], None]] = []
"""Functions that `OpenEpisodes.close` calls before the process ends: games that are played are stored."""
Stamp = tuple[tuple[str, int, int], ...]
"""Name, size and time of change of each file that an episode is read from."""


class OpenEpisodes:
    """The episodes that were used last; an episode whose file has changed is read again."""

    def __init__(self, maximum: int = MAX_OPEN) -> None:
        self._maximum = maximum
        self._open: OrderedDict[EpisodeAddress, tuple[Stamp, OpenEpisode | OpenMatch]] = (
            OrderedDict()
        )

    def open(self, address: EpisodeAddress) -> OpenEpisode:
        """Returns the episode, which stays open until others have been used more recently; for a match, the
        episode of the agent in the seat that the address names."""
        # A worker imports gymnasium after it has started to listen to its owner, see `warm_up`.
        from gymnast.inspector.matches import OpenMatch, open_episode

        stamp, whole = _stamp(address), address.whole
        if whole in self._open and self._open[whole][0] != stamp:
            self._open.pop(whole)[1].close()
            self._close_envs()
        if whole not in self._open:
            while len(self._open) >= self._maximum:
                self._open.popitem(last=False)[1][1].close()
                self._close_envs()
            self._open[whole] = stamp, open_episode(whole)
        self._open.move_to_end(whole)
        opened = self._open[whole][1]
        if isinstance(opened, OpenMatch):
            return opened.seat(address.role, address.seat)
        if address.role:
            raise UsageError("an episode of a single agent has no roles", fix="leave out the role")
        return opened

    def close(self) -> None:
        self._close_envs()
        self._open.clear()
        for function in AT_END:
            function()

    def _close_envs(self) -> None:
        """Closes the environments of all episodes, which open them again when they need them. After one is
        closed, others may not render: many call `pygame.quit`, which ends the fonts of all."""
        for _, episode in self._open.values():
            episode.close()


def _stamp(address: EpisodeAddress) -> Stamp:
    run = Run(address.path)
    stored = episode_files(run, address.kind, address.version, address.number)
    files = [layout.CONFIG.path(run.path), *stored]
    stats = [(file.name, file.stat()) for file in files]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
