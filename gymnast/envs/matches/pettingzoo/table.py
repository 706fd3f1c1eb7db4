"""What every agent of every match sees, gets and how its part ends: the arrays behind a MatchStep."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gymnast.envs.matches.matches import Role
from gymnast.envs.matches.pettingzoo.roles import Seats
from gymnast.spaces import spaces


class AgentTable:
    def __init__(self, roles: Mapping[str, Role], agents: Seats, n_matches: int) -> None:
        self.roles = roles
        self._seat = {
            agent: (role, place) for role, its in agents.items() for place, agent in enumerate(its)
        }
        self._agents = agents
        shapes = {name: (n_matches, role.seats) for name, role in roles.items()}
        self._rows = {
            name: spaces.blank(role.obs, n_matches * role.seats) for name, role in roles.items()
        }
        """Role -> an observation per agent, match after match; the same memory as `obs`."""
        self.obs = {
            name: rows.reshape(*shapes[name], *rows.shape[1:]) for name, rows in self._rows.items()
        }
        self.reward = {name: np.zeros(shape) for name, shape in shapes.items()}
        self.terminated = {name: np.zeros(shape, bool) for name, shape in shapes.items()}
        self.truncated = {name: np.zeros(shape, bool) for name, shape in shapes.items()}

    def action_of(self, agent: Any, i: int, actions: Mapping[str, np.ndarray]) -> Any:
        role, place = self._seat[agent]
        return actions[role][i, place]

    def has_ended(self, agent: Any, i: int) -> bool:
        role, place = self._seat[agent]
        return bool(self.terminated[role][i, place] or self.truncated[role][i, place])

    def see(self, agent: Any, i: int, obs: Any) -> str | None:
        """Write what an agent of match i sees; or say what is wrong with it."""
        role, place = self._seat[agent]
        its = self.roles[role]
        problem = its.obs.put(self._rows[role], i * its.seats + place, obs)
        return None if problem is None else f"{agent}: {problem}"

    def get(self, agent: Any, i: int, reward: Any, terminated: Any, truncated: Any) -> str | None:
        """Write what an agent of match i got and whether its part ended; or say what is wrong."""
        role, place = self._seat[agent]
        try:
            self.reward[role][i, place] = reward
        except (TypeError, ValueError):
            return f"{agent}: the reward is {reward!r}, not a number"
        if not math.isfinite(self.reward[role][i, place]):
            return f"{agent}: the reward is {reward}"
        try:
            self.terminated[role][i, place] = terminated
            self.truncated[role][i, place] = truncated and not terminated
        except (TypeError, ValueError):
            ends = f"terminated is {terminated!r} and truncated {truncated!r}"
            return f"{agent}: {ends}, not both True or False"
        return None

    def clear(self, i: int) -> None:
        """Nobody in match i got anything, and nobody's part ended."""
        for role in self.roles:
            self.reward[role][i] = 0.0
            self.terminated[role][i] = self.truncated[role][i] = False

    def blank(self, i: int) -> None:
        """Nor does anybody see anything: what they are shown is only of their space."""
        self.clear(i)
        for name, role in self.roles.items():
            self.obs[name][i] = spaces.blank(role.obs, 1)[0]

    def not_finite(self) -> Iterator[tuple[int, str]]:
        """Matches in which an agent sees NaN or infinity, and where."""
        for name, role in self.roles.items():
            bad = role.obs.not_finite(self._rows[name])
            for row in [] if bad is None else np.flatnonzero(bad).tolist():
                i, place = divmod(row, role.seats)
                where = role.obs.where_not_finite(self._rows[name][row])
                yield i, f"{self._agents[name][place]}: the observation is not finite at {where}"
