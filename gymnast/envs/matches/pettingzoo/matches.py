"""Matches of a PettingZoo environment, stepped one after the other in this process.

An agent that is terminated and truncated in the same step counts as terminated. PettingZoo does not report
outcomes, so the outcome is always unknown.
"""

from __future__ import annotations

import traceback
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal

import numpy as np

from gymnast.config.episode_limit import ENV_LIMIT, EpisodeLimit
from gymnast.envs.backends import active_calls
from gymnast.envs.backends.active_calls import ActiveCall
from gymnast.envs.backends.backend import Fault, raise_fault
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, ByRole, MatchStep, Role, ScriptedPolicy
from gymnast.envs.matches.pettingzoo.determinism import is_reproducible
from gymnast.envs.matches.pettingzoo.make import make_parallel, time_limit_of
from gymnast.envs.matches.pettingzoo.roles import (
    MASK_UNSUPPORTED,
    agents_of,
    group_agents,
    make_role,
)
from gymnast.envs.matches.pettingzoo.table import AgentTable
from gymnast.errors import EnvError
from gymnast.processes import guard

Array = np.ndarray


class PettingZooMatches:
    """Implements `Matches` with one PettingZoo environment per match."""

    restore_mode: Literal["state", "replay", "none"]

    def __init__(
        self,
        name: str,
        n_matches: int,
        kwargs: Mapping[str, object] | None = None,
        roles: Mapping[str, str] | None = None,
        limit: EpisodeLimit = ENV_LIMIT,
    ) -> None:
        """`name` is an id as in `make.py`; `roles` maps each role to a pattern of its agents' names."""
        self.name, self.n_matches = name, n_matches
        self._kwargs = dict(kwargs or {})
        with guard.watch():
            self._envs = [make_parallel(name, self._kwargs) for _ in range(n_matches)]
        env = self._envs[0]
        self._agents = agents_of(name, env)
        seats = group_agents(name, self._agents, roles)
        self.roles: Mapping[str, Role] = {
            role: make_role(name, env, role, agents) for role, agents in seats.items()
        }
        self.outcomes: Mapping[str, str] = {}
        self.scripted: Mapping[str, Mapping[str, ScriptedPolicy]] = {}
        own = time_limit_of(env)
        self.has_default_limit = limit.default is not None and own is None
        self._limit = limit.default if self.has_default_limit else limit.steps
        """Number of steps after which we truncate a match; None for never."""
        self.time_limit = min((n for n in (own, self._limit) if n is not None), default=None)
        self.fps: float | None = getattr(env, "metadata", {}).get("render_fps")
        """Frame rate for videos, if the environment declares one."""
        self._table = AgentTable(self.roles, seats, n_matches)
        self.obs: ByRole = self._table.obs
        self._over = np.zeros(n_matches, bool)
        self._outcome = np.full(n_matches, UNKNOWN_OUTCOME)
        self._age = np.zeros(n_matches, np.int64)
        """Number of steps in each match so far."""
        self._playing: list[list[Hashable]] = [[] for _ in range(n_matches)]
        """Agents in play; empty if the match is over, broken or not started."""
        self._broken: set[int] = set()
        """Matches whose environment must be created again before the next reset."""
        self._recreate_always = self.in_fork = False
        """Whether every match needs a new environment object, because `reset` does not reset everything."""
        self._active: int | None = None
        """The match whose environment is being called right now, for the watchdog."""
        self._calls = 0
        active_calls.register(self)
        with guard.watch():
            self._check_seeding()

    def reset(self, matches: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts a new match in each of these slots, with its seed, and returns the faults. An environment
        that broke, or whose `reset` does not reset everything, is created again first."""
        faults: list[Fault] = []
        self._calls += 1
        for i, seed in zip(matches, seeds, strict=True):
            self._age[i] = 0
            self._active = i
            self._clear(i)
            try:
                if i in self._broken or self._recreate_always:
                    self._recreate(i)
                obs, infos = self._envs[i].reset(seed=int(seed))
            except (
                Exception,
                SystemExit,
            ) as cause:  # sys.exit() in one match must not end training
                faults.append(self._raised(i, f"reset(seed={seed})", cause))
                continue
            self._playing[i] = list(self._agents)
            problem = self._reset_problem(i, infos) or self._store_obs(i, obs)
            if problem is not None:
                faults.append(self._fault(i, problem))
        self._returned()
        return (*faults, *self._not_finite())

    def step(self, actions: ByRole, matches: Sequence[int] | None = None) -> MatchStep:
        """Steps all matches, or only the given ones, one after the other, with the actions [N, seats, ...] of
        each role."""
        faults: list[Fault] = []
        self._calls += 1
        for i in range(self.n_matches) if matches is None else matches:
            self._active = i
            self._clear(i)
            fault = self._step(i, actions)
            if fault is not None:
                faults.append(fault)
        self._returned()
        faults += self._not_finite()
        table, numbers = self._table, {"duration": self._age}
        return MatchStep(
            table.obs,
            table.reward,
            table.terminated,
            table.truncated,
            self._over,
            self._outcome,
            numbers,
            faults=tuple(faults),
        )

    def _returned(self) -> None:
        self._active = None
        if self.in_fork:
            active_calls.end_fork(self.name)

    def state(self) -> dict[str, Array]:
        raise EnvError(f"{self.name}: a running match cannot be stored, only replayed")

    def load(self, arrays: Mapping[str, Array]) -> None:
        raise EnvError(f"{self.name}: a running match cannot be loaded, only replayed")

    def render(self, match: int) -> Array:
        """Returns the current state of a match as an RGB image, uint8 [height, width, 3]. Raises EnvError if
        the environment cannot render one."""
        env = self._envs[match]
        if getattr(env, "render_mode", None) != "rgb_array":
            modes = ", ".join(getattr(env, "metadata", {}).get("render_modes") or ["none"])
            raise EnvError(
                f"{self.name} cannot render images (render_modes: {modes})",
                fix='accept render_mode="rgb_array" and store it as env.render_mode',
            )
        try:
            picture = env.render()
        except Exception as cause:
            what = f"{self.name} cannot be rendered: {type(cause).__name__}: {cause}"
            raise EnvError(what, fix="check what its render() needs") from cause
        is_array = isinstance(picture, np.ndarray)
        if not is_array or picture.shape[2:] != (3,) or picture.dtype != np.uint8:
            raise EnvError(f"{self.name}: render() did not return a uint8 image [height, width, 3]")
        return picture

    def close(self) -> None:
        for env in self._envs:
            env.close()

    def active_call(self) -> ActiveCall | None:
        match = self._active
        if match is None:
            return None
        return ActiveCall(self.name, match, int(self._age[match]), self._calls)

    # ---- one match -----------------------------------------------------------------------------

    def _step(self, i: int, actions: ByRole) -> Fault | None:
        """Steps match i and stores the result. Returns its fault if the match broke."""
        playing, env, table = self._playing[i], self._envs[i], self._table
        if not playing:
            return self._fault(i, "step was called although no match is running: reset it first")
        self._age[i] += 1
        chosen = {agent: table.action_of(agent, i, actions) for agent in playing}
        try:
            obs, reward, terminated, truncated, _ = env.step(chosen)
            agents = set(env.agents)
        except (Exception, SystemExit) as cause:
            return self._raised(i, f"step({chosen})", cause)
        # Our time limit truncates everybody, after which env.agents is expected to be empty.
        if self._limit is not None and self._age[i] >= self._limit:
            truncated, agents = dict.fromkeys(playing, True), set[Hashable]()
        # Observations first: they are stored for all who were in play, also for those who end now.
        problem = self._store_obs(i, obs) or self._store_result(i, reward, terminated, truncated)
        if problem is None:
            self._playing[i] = [agent for agent in playing if not table.has_ended(agent, i)]
            self._over[i] = not self._playing[i]
            problem = self._agents_problem(i, agents) or _reward_after_end(playing, reward)
        return None if problem is None else self._fault(i, problem)

    def _store_obs(self, i: int, obs: Mapping[Hashable, object]) -> str | None:
        """Stores the observations of the agents in play in match i. `obs`: agent -> observation. Returns what
        is wrong with them, None if nothing is."""
        for agent in self._playing[i]:
            if agent not in obs:
                return f"{agent} is in play, but got no observation"
            if problem := self._table.store_obs(agent, i, obs[agent]):
                return problem
        return None

    def _store_result(
        self,
        i: int,
        reward: Mapping[Hashable, float],
        terminated: Mapping[Hashable, bool],
        truncated: Mapping[Hashable, bool],
    ) -> str | None:
        """Stores reward and end of the agents in play in match i, each given as agent -> value. Returns what
        is wrong with them, None if nothing is."""
        for agent in self._playing[i]:
            try:
                result = reward[agent], terminated[agent], truncated[agent]
            except KeyError:
                return f"{agent} is in play, but its reward, terminated or truncated is missing"
            if problem := self._table.store_result(agent, i, *result):
                return problem
        return None

    def _reset_problem(self, i: int, infos: Mapping[Hashable, Mapping[str, object]]) -> str | None:
        """Returns what is wrong with a match that was just reset: missing agents, or action masks."""
        if set(self._envs[i].agents) != set(self._agents):
            started = ", ".join(map(str, self._envs[i].agents)) or "no agent"
            return f"of {', '.join(map(str, self._agents))} only {started} started the match"
        masked = any("action_mask" in infos.get(agent, ()) for agent in self._agents)
        return MASK_UNSUPPORTED if masked else None

    def _agents_problem(self, i: int, agents: set[Hashable]) -> str | None:
        """Returns what is wrong with `env.agents` after a step, given who terminated or was truncated."""
        expected = set(self._playing[i])
        for agent in agents - expected:
            return f"{agent} is still in env.agents, although it was terminated or truncated"
        for agent in expected - agents:
            return f"{agent} is missing in env.agents, but was neither terminated nor truncated"
        return None

    # ---- faults --------------------------------------------------------------------------------

    def _not_finite(self) -> list[Fault]:
        """Returns a fault for each match with NaN or infinity in an observation, for the first of them."""
        first: dict[int, str] = {}
        for i, what in self._table.not_finite():
            first.setdefault(i, what)
        return [self._fault(i, what) for i, what in first.items()]

    def _raised(self, i: int, call: str, cause: BaseException) -> Fault:
        text = "".join(traceback.format_exception(cause))
        return self._fault(i, f"{call} raised {type(cause).__name__}: {cause}", text)

    def _fault(self, i: int, what: str, text: str = "") -> Fault:
        """Takes match i out of play until its next reset, which creates a new environment, and returns the
        fault. `what`: the message; `text`: the traceback, if the environment raised."""
        self._broken.add(i)
        self._blank(i)
        return Fault(i, int(self._age[i]), what, text)

    def _blank(self, i: int) -> None:
        """Takes everybody in match i out of play and blanks the observations."""
        self._playing[i] = []
        self._over[i] = False
        self._table.blank(i)

    def _clear(self, i: int) -> None:
        """Clears the rewards and ends that the previous step left in the buffers."""
        self._over[i] = False
        self._table.clear(i)

    def _recreate(self, i: int) -> None:
        # The old environment is not closed: with pygame, that would break rendering of all the others.
        self._envs[i] = make_parallel(self.name, self._kwargs)
        self._broken.discard(i)

    def _check_seeding(self) -> None:
        """Finds out if a match is reproducible from its seed. In some environments, such as Knights Archers
        Zombies, `reset` leaves traces of earlier matches; then every match gets a new environment."""
        raise_fault(self.name, self.reset([0], [0]))
        # Try in order: plain resets, a new environment per match, no reproducibility at all.
        self.restore_mode = "replay"
        if not is_reproducible(self):
            self._recreate_always = True
            if not is_reproducible(self):
                self._recreate_always, self.restore_mode = False, "none"
        self._blank(0)


def _reward_after_end(playing: Sequence[Hashable], reward: Mapping[Hashable, float]) -> str | None:
    """Returns what is wrong if an agent out of play got a reward, which nobody would learn from."""
    if len(reward) > len(playing):
        for agent, value in reward.items():
            if value and agent not in playing:
                return f"{agent} got a reward of {value} after it was terminated or truncated"
    return None
