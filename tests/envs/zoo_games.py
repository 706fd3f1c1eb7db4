"""Small PettingZoo environments, with the id `pettingzoo/py:tests.envs.zoo_games:Name`.

A match of `Fading` is a function of its seed and the actions. The pure functions below compute every
observation, reward and ending, so that tests know the expected values without stepping an environment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import AgentSelector

AGENTS = ["cat_0", "mouse_0", "cat_1", "mouse_1", "mouse_2"]
"""The agents are not sorted by role, so that a test notices if they are put in another order."""


def last_step(seed: int, agent: str) -> int:
    """Returns the last step of an agent in a match."""
    return 2 + (seed + 3 * AGENTS.index(agent)) % 7


def is_truncated(seed: int, agent: str) -> bool:
    return (seed + AGENTS.index(agent)) % 3 == 0


def is_terminated(seed: int, agent: str) -> bool:
    """True for every agent that is not truncated, and for some of the truncated ones."""
    return not is_truncated(seed, agent) or (seed + AGENTS.index(agent)) % 2 == 0


def obs_of(seed: int, t: int, agent: str) -> np.ndarray:
    return np.array([seed, t, AGENTS.index(agent)][: size_of(agent)], dtype=np.float32) / 8


def reward_of(seed: int, t: int, agent: str, action: int) -> float:
    return (action * 5 + seed + t * AGENTS.index(agent)) % 16 / 8 - 1


def size_of(agent: str) -> int:
    return 3 if agent.startswith("cat") else 2


def actions_of(agent: str) -> int:
    return 4 if agent.startswith("cat") else 3


class Fading(ParallelEnv):
    """Agents leave one after the other: terminated, truncated, or both at once."""

    metadata = {"render_modes": ["rgb_array"], "name": "fading"}
    max_cycles = 8

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        return Box(0.0, np.inf, (size_of(agent),), np.float32)

    def action_space(self, agent: str) -> Any:
        return Discrete(actions_of(agent))

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        assert seed is not None
        self.agents, self.seed, self.t = list(self.possible_agents), seed, 0
        return {a: obs_of(seed, 0, a) for a in self.agents}, {a: {} for a in self.agents}

    def step(self, actions: Any) -> Any:
        assert set(actions) == set(self.agents)
        self.t += 1
        seed, t, playing = self.seed, self.t, self.agents
        ends = [a for a in playing if last_step(seed, a) == t]
        self.agents = [a for a in playing if a not in ends]
        return (
            {a: obs_of(seed, t, a) for a in playing},
            {a: reward_of(seed, t, a, int(actions[a])) for a in playing},
            {a: a in ends and is_terminated(seed, a) for a in playing},
            {a: a in ends and is_truncated(seed, a) for a in playing},
            {a: {} for a in playing},
        )

    def render(self) -> Any:
        return np.full((4, 6, 3), self.t, np.uint8)


class Piloted(Fading):
    """Takes Dict actions, whose gear is the action of `Fading`."""

    def action_space(self, agent: str) -> Any:
        stick = Box(-1.0, 1.0, (2,), np.float32)
        return Dict(gear=Discrete(actions_of(agent)), stick=stick)

    def step(self, actions: Any) -> Any:
        for agent, action in actions.items():
            assert self.action_space(agent).contains(action)
        return super().step({agent: action["gear"] for agent, action in actions.items()})


FAULTY_SEED, FAULTY_STEP = 77, 3
"""The seed and step at which `Faulty` fails. At that step, cat_1 is still playing and cat_0 is not."""


class Faulty(Fading):
    """Fails in the given way, in one match, at one step."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def step(self, actions: Any) -> Any:
        result = list(super().step(actions))
        if (self.seed, self.t) != (FAULTY_SEED, FAULTY_STEP):
            return result
        obs, reward, terminated, _, _ = result
        match self.how:
            case "nan":
                obs["mouse_1"][1] = np.nan
            case "shape":
                obs["cat_1"] = np.zeros(4, np.float32)
            case "nan reward":
                reward["cat_1"] = float("nan")
            case "text reward":
                reward["cat_1"] = "a lot"
            case "ends":
                terminated["cat_1"] = np.array([True, False])
            case "raises":
                raise ZeroDivisionError("the physics went wrong")
            case "exits":
                raise SystemExit("enough")
            case "no observation":
                del obs["cat_1"]
            case "no reward":
                del reward["cat_1"]
            case "acts after death":
                self.agents.append("cat_0")
            case "paid after death":
                reward["cat_0"] = 2.0
            case "vanishes":
                self.agents.remove("cat_1")
            case "four things":
                return result[:4]
        return result


class Forgetful(Fading):
    """Its observations depend on the matches that the same instance played before."""

    matches = 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, infos = super().reset(seed)
        self.matches += 1
        return {a: row + self.matches for a, row in obs.items()}, infos


class Random(Fading):
    """Its observations depend on an unseeded generator."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, infos = super().reset(seed)
        return {a: row + np.float32(np.random.random()) for a, row in obs.items()}, infos


class Blind(Fading):
    """Its constructor does not accept a render_mode."""

    def __init__(self) -> None:
        super().__init__()
        self.render_mode = None


class Masked(Fading):
    """Provides action masks, in its infos or in its observations."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where

    def observation_space(self, agent: str) -> Any:
        space = super().observation_space(agent)
        if self.where == "infos":
            return space
        return Dict({"observation": space, "action_mask": Box(0, 1, (3,), np.int8)})

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        obs, infos = super().reset(seed)
        return obs, {a: {"action_mask": np.ones(3)} for a in infos}


class Latecomer(Fading):
    """One agent is missing after the reset."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        result = super().reset(seed)
        self.agents.remove("mouse_2")
        return result


class Unmakable(Fading):
    def __init__(self, bug: Any = None) -> None:
        if bug:
            list(bug)
        raise RuntimeError("no such level")


object = object
"""An importable name that is not an environment."""


TURNS = 9
"""Turns of a match of `Turns`; a multiple of the three players, so that it ends with a cycle."""


class Turns(AECEnv):
    """Players act in turns (AEC): each earns 1 for naming the number that it sees, which changes with its
    turn."""

    metadata: dict[str, Any] = {"name": "turns", "is_parallelizable": False}
    max_cycles = TURNS // 3

    def __init__(self) -> None:
        super().__init__()
        self.possible_agents = ["fox_0", "hen_0", "fox_1"]

    def observation_space(self, agent: str) -> Any:
        return Discrete(4)

    def action_space(self, agent: str) -> Any:
        return Discrete(4)

    def observe(self, agent: str) -> Any:
        return self.seen[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.numbers = np.random.default_rng(seed)
        self.agents, self.t = list(self.possible_agents), 0
        self.seen = {agent: int(self.numbers.integers(4)) for agent in self.agents}
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._order = AgentSelector(self.agents)
        self.agent_selection = self._order.reset()

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._clear_rewards()
        self.rewards[agent] = float(action == self.seen[agent])
        self.seen[agent] = int(self.numbers.integers(4))
        self.t += 1
        self.terminations = dict.fromkeys(self.agents, self.t == TURNS)
        self.agent_selection = self._order.next()


class Cycles(Turns):
    """The same, but declared to be the same as a parallel environment."""

    metadata = {"name": "cycles", "is_parallelizable": True}
