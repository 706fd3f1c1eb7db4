"""The last step of an episode leads to its final observation, however the copies run and however it ends."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.collect.collector import Collector
from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.rollout import Rollout
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner
from tests.envs.zoo_games import AGENTS, obs_of

MAX_X, MAX_ANGLE = 2.4, 12 * np.pi / 180
"""CartPole terminates an episode if and only if its state is beyond one of these."""
LIMIT = 25
PLACES: dict[str, dict[str, Any]] = {
    "inprocess": {},
    "process": {"env.backend": "process", "env.workers": 2},
    "vector": {"env.backend": "vector"},
    "envpool": {"env.backend": "envpool"},
    "hosts": {"collect.on": "local", "collect.hosts": 2},
}


def rollouts(cfg: Config, collector: Collector, role: str, count: int) -> list[tuple[Any, Rollout]]:
    """Returns the learner of a role and each of its rollouts."""
    learner = Learner(role, *collector.spaces[role], cfg, len(collector.columns(role)))
    collector.start_episodes()
    clock, found = Clock(), []
    policies = {
        name: Learner(name, *collector.spaces[name], cfg, len(collector.columns(name))).policy
        for name in collector.spaces
    }
    span = cfg.initial_hyperparameters().rollout_length()
    for number in range(count):
        clock.rollouts = number
        found.append((learner, collector.collect(policies, span, clock).rollouts[role]))
    return found


@pytest.mark.parametrize(
    ("place", "algo"), [*((place, "ppo") for place in PLACES), ("inprocess", "reinforce")]
)
def test_terms_see_the_state_in_which_an_episode_ended(place: str, algo: str):
    if place == "envpool":
        pytest.importorskip("envpool")
    settings = {"env.n_envs": 4, "env.max_episode_steps": LIMIT, "shaping.late.weight": 1}
    steps = {"algo.n_steps": 64} if algo == "ppo" else {"algo.episodes": 4}
    cfg = resolve("CartPole-v1", settings | steps | PLACES[place], algo=algo).config
    terminated = truncated = 0
    with closing(open_collector(cfg)) as collector:
        for learner, rollout in rollouts(cfg, collector, "agent", 2):
            seen = learner.shaping.make_steps(rollout, 0.99)
            x, angle = (np.abs(seen.next_obs[name]) for name in ("cart position", "pole angle"))
            failed = (x > MAX_X) | (angle > MAX_ANGLE)
            # EnvPool reports an episode that fails in the last allowed step as truncated only
            known = seen.valid & ~seen.truncated
            assert np.array_equal(failed[known], seen.terminated[known])
            # the position moves by the velocity, which shows that a truncated step has its own successor
            moved = seen.next_obs["cart position"] - seen.obs["cart position"]
            expected = 0.02 * seen.obs["cart velocity"]
            assert np.allclose(moved[seen.valid], expected[seen.valid], atol=1e-5)
            terminated += int((seen.terminated & seen.valid).sum())
            truncated += int((seen.truncated & seen.valid).sum())
    assert terminated
    assert truncated


@pytest.mark.parametrize("role", ["cat", "mouse"])
def test_an_agent_that_leaves_a_match_has_its_final_observation(role: str):
    settings = {"env.n_envs": 3, "algo.n_steps": 30, "shaping.late.weight": 1}
    cfg = resolve("pettingzoo/py:tests.envs.zoo_games:Fading", settings, algo="ppo").config
    agents = [agent for agent in AGENTS if agent.startswith(role)]
    with closing(open_collector(cfg)) as collector:
        ((learner, rollout),) = rollouts(cfg, collector, role, 1)
    seen = learner.shaping.make_steps(rollout, 0.99)
    for t, seat in np.argwhere(rollout.valid):
        seed, age = (seen.obs.rows[t, seat, :2] * 8).round().astype(np.int64)
        expected = obs_of(int(seed), int(age) + 1, agents[seat % len(agents)])
        assert np.array_equal(seen.next_obs.rows[t, seat], expected)
    assert rollout.terminated.any()
    assert (rollout.done & ~rollout.terminated).any()
