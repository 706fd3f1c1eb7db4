"""Episodes in which bad actions are forced, for `benchmarks.blunders`. Nothing here uses the inspector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gymnast.config.config import Config
from gymnast.envs.build.make import make_env
from gymnast.policy.policy import Policy
from gymnast.runs.trace import Trace
from gymnast.seeds import episode_seed
from gymnast.spaces import spaces

Array = np.ndarray
BURST, CONTINUATIONS = 60, 40


@dataclass
class Player:
    """Plays episodes with the most likely actions of a policy, except where actions are forced."""

    config: Config
    policy: Policy
    version: int

    def __post_init__(self) -> None:
        limit = self.config.evaluation_limit()
        self.env = make_env(self.config.env.for_evaluation(), limit=limit)

    def play(
        self, seed: int, forced: Mapping[int, int], new_numbers: tuple[int, int] | None = None
    ) -> Trace:
        """Returns the episode. `forced`: step -> action; `new_numbers`: the step at which the environment
        gets other random numbers, and their seed."""
        columns: dict[str, list[Any]] = {"obs": [], "action": [], "reward": [], "dist": []}
        obs, _ = self.env.reset(seed=seed)
        terminated = truncated = False
        while not (terminated or truncated):
            t = len(columns["reward"])
            if new_numbers is not None and new_numbers[0] == t:
                self.env.unwrapped.np_random = np.random.default_rng(new_numbers[1])
            row = spaces.as_rows(self.policy.obs_space, [obs])
            action, dist = self.policy.act(row, None)
            chosen = forced.get(t, int(action[0]))
            columns["obs"].append(row[0])
            obs, reward, terminated, truncated, _ = self.env.step(chosen)
            for name, value in (("action", chosen), ("reward", float(reward)), ("dist", dist[0])):
                columns[name].append(value)
        final = spaces.as_rows(self.policy.obs_space, [obs])
        rows = np.concatenate([np.stack(columns["obs"]), final])
        return Trace(
            seed=seed,
            action=np.array(columns["action"]),
            reward=np.array(columns["reward"]),
            value=self.policy.value(rows[:-1]),
            dist=np.stack(columns["dist"]),
            obs=rows,
            terminated=bool(terminated),
            truncated=not terminated,
            raw_return=float(np.sum(columns["reward"])),
            env=0,
            version=self.version,
        )


@dataclass
class Injected:
    """An episode with forced actions."""

    trace: Trace
    bad: dict[int, float]
    """Step of each bad action -> the return that it loses."""


@dataclass
class FrozenLakeValues:
    """Exact values for every number of remaining steps, by dynamic programming."""

    player: Player
    q: list[Array] = field(default_factory=list[Array])
    """Remaining steps -> action values [states, actions], if the best actions follow."""
    policy_q: list[Array] = field(default_factory=list[Array])
    """The same if the actions of the policy follow."""

    def __post_init__(self) -> None:
        model: Any = getattr(self.player.env.unwrapped, "P")  # noqa: B009 - only FrozenLake has it
        states = len(model)
        chosen, _ = self.player.policy.act(np.arange(states), None)
        best, followed = np.zeros(states), np.zeros(states)
        for _ in range(101):
            self.q.append(_backup(model, best))
            self.policy_q.append(_backup(model, followed))
            best = self.q[-1].max(1)
            followed = self.policy_q[-1][np.arange(states), chosen]


def _backup(model: Any, value: Array) -> Array:
    """Returns the action values for values of the next states, one Bellman backup."""
    q = np.zeros((len(model), len(model[0])))
    for state, actions in model.items():
        for action, outcomes in actions.items():
            q[state, action] = sum(p * (r + (not end) * value[s]) for p, s, r, end in outcomes)
    return q


def cells_of(trace: Trace) -> list[int]:
    """Returns the cell of the lake before each step, and the final one."""
    return np.asarray(trace.obs).tolist()


def inject_by_values(player: Player, rng: np.random.Generator, least: float) -> Injected:
    """Forces the worst action at random steps whose exact loss is large, up to three per episode."""
    exact = FrozenLakeValues(player)
    seed = int(rng.integers(2**31))
    forced: dict[int, int] = {}
    bad: dict[int, float] = {}
    while True:
        trace = player.play(seed, forced)
        cells = cells_of(trace)
        candidates = {
            t: float(np.ptp(exact.q[99 - t][cells[t]]))
            for t in range(max(bad, default=-1) + 1, len(trace))
        }
        steps = [t for t, loss in candidates.items() if loss >= least]
        if not steps or len(bad) == 3:
            return Injected(trace, bad)
        t = int(rng.choice(steps))
        forced[t], bad[t] = int(exact.q[99 - t][cells[t]].argmin()), candidates[t]


def inject_burst(player: Player, rng: np.random.Generator, least: float) -> Injected | None:
    """Forces one action from a random step on, up to the one that is decisive; None if there is none."""
    seed = int(rng.integers(2**31))
    clean = player.play(seed, {})
    start = int(rng.integers(len(clean)))
    action = int(rng.integers(player.policy.head.n_outputs))

    def forced(count: int) -> dict[int, int]:
        return dict.fromkeys(range(start, start + count), action)

    # Bisection: the half in which more of the return is lost has the decisive step.
    low, high = 0, BURST
    before, after = clean, player.play(seed, forced(BURST))
    while high - low > 1:
        if before.raw_return - after.raw_return < least:
            return None
        middle = (low + high) // 2
        between = player.play(seed, forced(middle))
        if before.raw_return - between.raw_return >= between.raw_return - after.raw_return:
            high, after = middle, between
        else:
            low, before = middle, between
    step = start + low
    if step >= len(before) or int(before.action[step]) == action:
        return None
    loss = _expected_loss(player, seed, forced(low), step, action)
    return Injected(after, {step: loss}) if loss >= least else None


def _expected_loss(
    player: Player, seed: int, forced: Mapping[int, int], t: int, action: int
) -> float:
    """Returns the mean return that an action loses, over continuations with other random numbers."""
    losses: list[float] = []
    for k in range(CONTINUATIONS):
        numbers = (t, episode_seed(seed, "benchmark", k))
        without = player.play(seed, forced, numbers).raw_return
        losses.append(without - player.play(seed, {**forced, t: action}, numbers).raw_return)
    return float(np.mean(losses))
