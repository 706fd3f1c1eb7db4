"""One arena for PettingZoo: agents by name, who leave when their part is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

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
PerAgent = dict[str, Any]


class TagParallel(ParallelEnv[str, Array, Array]):
    """`settings`: those of TagMatches. Episodes after the first follow from the seed given last; where
    none ever was, from chance."""

    metadata = {"name": "tag", "render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(self, *, render_mode: str | None = None, **settings: Any) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UsageError(f"tag cannot render as {render_mode!r}", fix="rgb_array, or None")
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

    def observation_space(self, agent: str) -> gym.Space[Any]:
        return self._observations[agent]

    def action_space(self, agent: str) -> gym.Space[Any]:
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[PerAgent, PerAgent]:
        if seed is not None or self._seed is None:
            drawn = int(np.random.default_rng().integers(2**31))
            self._seed, self._episode = drawn if seed is None else seed, 0
        self._matches.reset([0], [episode_seed(self._seed, "tag", self._episode)])
        self._episode += 1
        self.agents = list(self.possible_agents)
        return self._shown(self.agents), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[PerAgent, PerAgent, PerAgent, PerAgent, PerAgent]:
        """The last `info` of an agent whose part ends has the outcome and the numbers of the match, if
        it is over."""
        playing = self.agents
        done = self._matches.step(self._by_role(actions))
        over = bool(done.over[0])
        about = {"outcome": list(self._matches.outcomes)[done.outcome[0]]} if over else {}
        about |= {name: float(x[0]) for name, x in done.numbers.items()} if over else {}
        told = {
            kind: {
                agent: of[role][0, number].item() for agent, (role, number) in self._among(playing)
            }
            for kind, of in (
                ("reward", done.reward),
                ("terminated", done.terminated),
                ("truncated", done.truncated),
            )
        }
        infos = {
            agent: {
                "terms": {term: float(of[role][0, number]) for term, of in done.terms.items()},
                **about,
            }
            for agent, (role, number) in self._among(playing)
        }
        shown = self._shown(playing)
        self.agents = [agent for agent in playing if not told["terminated"][agent]]
        return shown, told["reward"], told["terminated"], told["truncated"], infos

    def render(self) -> Array | None:
        return self._matches.draw(0) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        self._matches.close()

    def _among(self, agents: list[str]) -> list[tuple[str, tuple[str, int]]]:
        return [(agent, self._seat[agent]) for agent in agents]

    def _shown(self, agents: list[str]) -> PerAgent:
        return {
            agent: self._matches.obs[role][0, number].copy()
            for agent, (role, number) in self._among(agents)
        }

    def _by_role(self, actions: Mapping[str, Any]) -> dict[str, Array]:
        """Agents out of play need none."""
        whole = {
            role: np.ones((1, kind.seats, len(ACTION.n)), int)
            for role, kind in self._matches.roles.items()
        }
        for agent, (role, number) in self._among(self.agents):
            if agent not in actions or not self._actions[agent].contains(
                np.asarray(actions[agent])
            ):
                given = actions.get(agent, "missing")
                what = f"tag: the action of {agent} is {given}, not one of {self._actions[agent]}"
                raise EnvError(what)
            whole[role][0, number] = actions[agent]
        return whole
