"""A single match of tag as a PettingZoo ParallelEnv."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike

from gymnast.envs.env_types import Info, Options
from gymnast.envs.matches.tag.arena import ACTION, TagMatches
from gymnast.envs.matches.tag.sight import SPACE
from gymnast.errors import EnvError, NotInstalled, UsageError
from gymnast.seeds import episode_seed

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as problem:
    what = f"gymnast.envs.matches.tag.parallel_env needs {problem.name}"
    raise NotInstalled(what, fix="pip install 'gymnast[pettingzoo]'") from None

Array = np.ndarray


class TagParallel(ParallelEnv[str, Array, Array]):
    """Tag with PettingZoo's parallel API; `settings` are those of `TagMatches`.

    Episodes after a reset with a seed are determined by that seed; if none was ever given, the first reset
    draws one.
    """

    metadata = {"name": "tag", "render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(self, *, render_mode: str | None = None, **settings: Any) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UsageError(
                f"tag has no render mode {render_mode!r}", fix='use "rgb_array" or None'
            )
        self.render_mode = render_mode
        self._matches = TagMatches(1, **settings)
        self._seat = {
            f"{role}_{number}": (role, number)
            for role, kind in self._matches.roles.items()
            for number in range(kind.seats)
        }
        self.possible_agents, self.agents = list(self._seat), list[str]()
        low, high = (np.array(x, SPACE.dtype) for x in (SPACE.low, SPACE.high))
        self._observations = {agent: gym.spaces.Box(low, high) for agent in self._seat}
        self._actions = {agent: gym.spaces.MultiDiscrete(list(ACTION.n)) for agent in self._seat}
        self._seed: int | None = None
        self._episode = 0

    def observation_space(self, agent: str) -> gym.Space[Array]:
        return self._observations[agent]

    def action_space(self, agent: str) -> gym.Space[Array]:
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: Options = None
    ) -> tuple[dict[str, Array], dict[str, Info]]:
        """Starts a match and returns observations and empty infos by agent. With a seed, this and all
        following matches follow from it."""
        if seed is not None or self._seed is None:
            drawn = int(np.random.default_rng().integers(2**31))
            self._seed, self._episode = drawn if seed is None else seed, 0
        self._matches.reset([0], [episode_seed(self._seed, "tag", self._episode)])
        self._episode += 1
        self.agents = list(self.possible_agents)
        return self._obs(self.agents), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, ArrayLike]
    ) -> tuple[
        dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]
    ]:
        """Steps the match. When it is over, `info` contains its outcome and metrics; `info["terms"]`
        always contains the agent's reward terms."""
        playing = self.agents
        step = self._matches.step(self._by_role(actions))
        over = bool(step.over[0])
        summary = {"outcome": list(self._matches.outcomes)[step.outcome[0]]} if over else {}
        summary |= {name: float(x[0]) for name, x in step.metrics.items()} if over else {}
        reward, terminated, truncated = (
            {
                agent: by_role[role][0, number].item()
                for agent, (role, number) in self._seats(playing)
            }
            for by_role in (step.reward, step.terminated, step.truncated)
        )
        infos = {
            agent: {
                "terms": {term: float(x[role][0, number]) for term, x in step.terms.items()},
                **summary,
            }
            for agent, (role, number) in self._seats(playing)
        }
        obs = self._obs(playing)
        self.agents = [agent for agent in playing if not terminated[agent]]
        return obs, reward, terminated, truncated, infos

    def render(self) -> Array | None:
        return self._matches.render(0) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        self._matches.close()

    def _seats(self, agents: list[str]) -> list[tuple[str, tuple[str, int]]]:
        return [(agent, self._seat[agent]) for agent in agents]

    def _obs(self, agents: list[str]) -> dict[str, Array]:
        return {
            agent: self._matches.obs[role][0, number].copy()
            for agent, (role, number) in self._seats(agents)
        }

    def _by_role(self, actions: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Returns the actions as arrays [1, seats, 3] by role; agents out of play need no action. Raises
        EnvError for a missing or invalid action of an agent in play."""
        # Index 1 is straight, coast and, ignored for agents out of play, dash.
        by_role = {
            role: np.ones((1, kind.seats, len(ACTION.n)), int)
            for role, kind in self._matches.roles.items()
        }
        for agent, (role, number) in self._seats(self.agents):
            if agent not in actions or not self._actions[agent].contains(
                np.asarray(actions[agent])
            ):
                action = actions.get(agent, "missing")
                what = f"tag: the action of {agent} is {action}, not one of {self._actions[agent]}"
                raise EnvError(what)
            by_role[role][0, number] = actions[agent]
        return by_role
