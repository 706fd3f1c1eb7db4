"""A stored match that is being inspected: its replay, its players, and a view of it from every seat.

A match stores the actions and rewards of every seat, but neither observations nor decisions. The replay gives
what each agent observed; its stored policy, run on these observations, gives probabilities and values. So
everything that is known about an episode of a single agent is known about a seat, by the same functions.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path

from gymnast.config.config import Config
from gymnast.config.sections.league import LEARNER
from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.matches.matches import Role
from gymnast.errors import EnvError, UsageError
from gymnast.film.matches.replay import MatchRenderer, replayed_steps
from gymnast.film.renderer import DEFAULT_FPS
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.env_note import opening_problem
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.match_replay import MatchReplay, empty_replay, replay_match
from gymnast.inspector.players import RolePlayer, find_player
from gymnast.inspector.replay import RenderedStates
from gymnast.inspector.role_config import config_of_role
from gymnast.inspector.seat import OpenSeat
from gymnast.runs.episodes import episode_settings, list_episodes, read_episode
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import config_with, has_matches
from gymnast.runs.run import Run
from gymnast.text.suggestions import did_you_mean


def open_episode(address: EpisodeAddress) -> OpenEpisode | OpenMatch:
    """Opens a stored episode or match. Raises RunError if it is not stored."""
    return OpenMatch(address) if has_matches(Run(address.path)) else OpenEpisode(address)


class OpenMatch:
    """One stored match between roles. Its environment is opened on first use; `close` it."""

    def __init__(self, address: EpisodeAddress) -> None:
        """Reads the match. Raises RunError if it is not stored, UsageError for an episode of one agent."""
        self.address, self.run = address.whole, Run(address.path)
        named = (self.run, address.kind, address.version, address.number)
        stored = read_episode(*named)
        self.settings = episode_settings(*named)
        """The settings of a fresh or played match; None for matches of training and evaluations."""
        self.config: Config = config_with(self.run, self.settings)
        if not isinstance(stored, MatchTrace):
            raise UsageError("this is an episode of one agent, not a match")
        self.trace: MatchTrace = stored
        self._env: MatchRenderer | None = None
        self._renderer: MatchRenderer | None = None
        self._players: dict[str, RolePlayer] = {}
        self._seats: dict[tuple[str, int], OpenSeat] = {}

    # ---- roles and seats ---------------------------------------------------------------------

    @property
    def seats(self) -> dict[str, int]:
        """Role -> its number of seats."""
        return {role: rewards.shape[1] for role, rewards in self.trace.rewards.items()}

    @property
    def first_learner(self) -> str:
        """The first role that a learning policy had, else the first role."""
        learners = [role for role, player in self.trace.cast.items() if player == LEARNER]
        return [*learners, *self.trace.cast][0]

    def seat(self, role: str = "", seat: int = 0) -> OpenSeat:
        """Returns a seat of a role, by default of the first learner. Raises UsageError if the match has no
        such role or seat."""
        role = role or self.first_learner
        if role not in self.seats:
            problem = f"this match has no role {role!r}{did_you_mean(role, self.seats)}"
            raise UsageError(problem, fix=f"use {', '.join(self.seats)}")
        if not 0 <= seat < self.seats[role]:
            fix = f"use 0 to {self.seats[role] - 1}"
            raise UsageError(f"the {role} has no seat {seat}", fix=fix)
        if (role, seat) not in self._seats:
            self._seats[role, seat] = OpenSeat(self, role, seat)
        return self._seats[role, seat]

    def all_seats(self) -> list[OpenSeat]:
        """Returns every seat of every role."""
        return [self.seat(role, seat) for role, n in self.seats.items() for seat in range(n)]

    def player(self, role: str) -> RolePlayer:
        """Returns who had the role, with its policy if that is stored."""
        if role not in self._players:
            self._players[role] = find_player(self.run, self.config, self.trace, role)
        return self._players[role]

    # ---- environment -------------------------------------------------------------------------

    def env(self) -> MatchRenderer:
        """Returns the environment of the match, with the handicap with which it replays exactly. Raises
        EnvError if it cannot be opened."""
        if self._env is None:
            self._env = self._opened()
        return self._env

    def renderer(self) -> MatchRenderer:
        """Returns another copy of the environment, for pictures. Raises EnvError if it cannot be opened."""
        if self._renderer is None:
            self._renderer = self._opened()
        return self._renderer

    def _opened(self) -> MatchRenderer:
        opened = MatchRenderer(self.config, training=self.address.kind == "train")
        opened.find_handicap(self.trace)
        return opened

    @cached_property
    def env_note(self) -> str:
        """The reason why the environment cannot be opened; empty if it can."""
        return opening_problem(self.env)

    @cached_property
    def frames_note(self) -> str:
        """The reason why the match cannot be shown in pictures; empty if it can."""
        if self.env_note:
            return self.env_note
        matches = self.renderer().matches
        try:
            raise_fault(matches.name, matches.reset([0], [self.trace.seed]))
            self.renderer().render()
        except EnvError as problem:
            return problem.message
        return ""

    @property
    def fps(self) -> float:
        """Frames per second at natural speed."""
        return (self.config.facts.fps or DEFAULT_FPS) if self.env_note else self.env().fps

    def role(self, role: str) -> Role | None:
        """Returns the number of seats and the spaces of a role; None if the environment cannot be opened."""
        return None if self.env_note else self.env().matches.roles[role]

    def config_of(self, role: str) -> Config:
        """Returns the config of a role, with facts about its agents."""
        return config_of_role(self.config, role, None if self.env_note else self.env().matches)

    def evaluation_returns(self) -> dict[str, list[float]]:
        """Returns role -> the returns of its agents, averaged, in each of the run's evaluation matches."""
        folder = self.run.matches
        if not folder.exists():  # a run that only has matches outside of training
            return {}
        return _evaluation_returns(self.run.path, folder.stat().st_mtime_ns)

    @cached_property
    def replay(self) -> MatchReplay:
        """The replay of the match. If the environment cannot be opened, it has no observations."""
        if self.env_note:
            return empty_replay(self.trace, self.env_note)
        return replay_match(self.env(), self.trace)

    @cached_property
    def rendered(self) -> RenderedStates:
        """The pictures of a replay."""
        renderer = self.renderer()
        return RenderedStates(
            lambda: replayed_steps(renderer, self.trace, strict=True), renderer.render
        )

    def close(self) -> None:
        """Closes the environments, which are opened again when they are needed."""
        self.__dict__.pop("rendered", None)
        for env in (self._env, self._renderer):
            if env is not None:
                env.close()
        self._env = self._renderer = None


@lru_cache(maxsize=4)
def _evaluation_returns(run: Path, _: int) -> dict[str, list[float]]:
    """Reads `OpenMatch.evaluation_returns`. The second argument changes when a file is added or removed."""
    found: dict[str, list[float]] = {}
    for match in list_episodes(Run(run), "eval"):
        for role, value in match.returns.items():
            found.setdefault(role, []).append(value)
    return found
