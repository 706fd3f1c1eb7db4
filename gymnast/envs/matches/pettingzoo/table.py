"""The arrays behind a MatchStep: observation, reward and end of every agent in every match."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping

import numpy as np

from gymnast.envs.matches.matches import Role
from gymnast.envs.matches.pettingzoo.roles import AgentsByRole
from gymnast.spaces import spaces


class AgentTable:
    """Arrays by role, [matches, seats, ...]. Rows are written by the name of an agent, which has a fixed seat
    of its role."""

    def __init__(self, roles: Mapping[str, Role], agents: AgentsByRole, n_matches: int) -> None:
        self.roles = roles
        self._seat = {
            agent: (role, seat)
            for role, members in agents.items()
            for seat, agent in enumerate(members)
        }
        self._agents, self._kinds = agents, {name: role.action for name, role in roles.items()}
        shapes = {name: (n_matches, role.seats) for name, role in roles.items()}
        self._rows = {
            name: spaces.blank_obs(role.obs, n_matches * role.seats) for name, role in roles.items()
        }
        """Observations of each role, [matches * seats, ...]: a view of the same memory as `obs`."""
        self.obs = {
            name: rows.reshape(*shapes[name], *rows.shape[1:]) for name, rows in self._rows.items()
        }
        self.reward = {name: np.zeros(shape) for name, shape in shapes.items()}
        self.terminated = {name: np.zeros(shape, bool) for name, shape in shapes.items()}
        self.truncated = {name: np.zeros(shape, bool) for name, shape in shapes.items()}

    def action_of(self, agent: Hashable, i: int, actions: Mapping[str, np.ndarray]) -> object:
        """Returns the action of an agent in match i."""
        role, seat = self._seat[agent]
        return self._kinds[role].unpack_each(actions[role][i, seat][None])[0]

    def has_ended(self, agent: Hashable, i: int) -> bool:
        """True if the agent was terminated or truncated in the last step of match i."""
        role, seat = self._seat[agent]
        return bool(self.terminated[role][i, seat] or self.truncated[role][i, seat])

    def store_obs(self, agent: Hashable, i: int, obs: object) -> str | None:
        """Stores the observation of an agent in match i. Returns what is wrong with it, if anything."""
        name, seat = self._seat[agent]
        role = self.roles[name]
        problem = role.obs.put(self._rows[name], i * role.seats + seat, obs)
        return None if problem is None else f"{agent}: {problem}"

    def store_result(
        self, agent: Hashable, i: int, reward: float, terminated: bool, truncated: bool
    ) -> str | None:
        """Stores reward and end of an agent in match i. Returns what is wrong with them, if anything."""
        role, seat = self._seat[agent]
        try:
            self.reward[role][i, seat] = reward
        except (TypeError, ValueError):
            return f"{agent}: the reward is {reward!r}, not a number"
        if not math.isfinite(self.reward[role][i, seat]):
            return f"{agent}: the reward is {reward}"
        try:
            self.terminated[role][i, seat] = terminated
            self.truncated[role][i, seat] = truncated and not terminated
        except (TypeError, ValueError):
            flags = f"terminated is {terminated!r}, truncated is {truncated!r}"
            return f"{agent}: {flags}, but both must be True or False"
        return None

    def clear(self, i: int) -> None:
        """Sets the rewards of match i to 0 and its ends to False."""
        for role in self.roles:
            self.reward[role][i] = 0.0
            self.terminated[role][i] = self.truncated[role][i] = False

    def blank(self, i: int) -> None:
        """Clears match i and replaces its observations by a placeholder from the observation space."""
        self.clear(i)
        for name, role in self.roles.items():
            self.obs[name][i] = spaces.blank_obs(role.obs, 1)[0]

    def not_finite(self) -> Iterator[tuple[int, str]]:
        """Yields each match with a NaN or infinity in an observation, and a message that says where."""
        for name, role in self.roles.items():
            bad = role.obs.not_finite(self._rows[name])
            for row in [] if bad is None else np.flatnonzero(bad).tolist():
                i, seat = divmod(row, role.seats)
                where = role.obs.where_not_finite(self._rows[name][row])
                yield i, f"{self._agents[name][seat]}: the observation is not finite at {where}"
