"""Makes docs/studies/stale-rollouts.json: PPO on CartPole, from rollouts of the policy of several updates
before.

    python -m docs.studies.stale_rollouts        # about 5 minutes

Numbers are areas under the curve: the mean return of the last 50 episodes, averaged over all rollouts.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gymnast.clock import Clock
from gymnast.config.resolve import resolve
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.seeds import stream
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner

Way = Literal["off", "values", "v-trace", "recentered"]
FILE = Path(__file__).with_name("stale-rollouts.json")
SEEDS, LAGS = 10, (4, 8)
COMMON = {"env.n_envs": 8, "algo.lr": 1e-3, "stop.env_steps": "10M"}
SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {
    "few large updates": (100, {"algo.n_steps": 128, "algo.batch_size": 256, "algo.epochs": 4}),
    "many small updates": (250, {"algo.n_steps": 32, "algo.batch_size": 64, "algo.epochs": 10}),
}
"""Name -> number of rollouts, and settings."""


def mean_returns(settings: str, seed: int, lag: int, way: Way) -> list[float]:
    """Returns the mean return of the last 50 episodes after each rollout. `lag`: the number of updates by
    which the collecting policy is older than the learner's; `way`: off without a correction; values with the
    values of the current critic, and GAE; v-trace as with collect.mode=async; recentered the same, with the
    ratios of PPO measured from the current policy."""
    rollouts, own = SETTINGS[settings]
    cfg = resolve("CartPole-v1", COMMON | own | {"seed": seed}, algo="ppo").config
    collector = open_collector(cfg)
    collector.start_episodes()
    learner = Learner("agent", *collector.spaces["agent"], cfg)
    acting = Policy.from_spec(learner.policy.spec())
    versions = deque([learner.policy.arrays()], maxlen=lag + 1)
    clock, ended, means = Clock(limits=cfg.stop.limits()), deque[float](maxlen=50), list[float]()
    for k in range(rollouts):
        acting.load(versions[0])
        hparams = cfg.algo.values_at(clock)
        found = collector.collect({"agent": acting}, hparams.rollout_length(), clock)
        rollout = found.rollouts["agent"]
        ended.extend(rollout.episodes.raw_return.tolist())
        if way != "off":
            stale = replace(rollout, staleness=np.full(cfg.env.n_envs, len(versions) - 1))
            rollout, _ = learner.correct_staleness(stale)
        if way == "values":
            rollout = replace(rollout, rho=None, trace_cut=None)
        elif way == "recentered":
            rollout = _recentered(rollout, learner.policy)
        learner.update(rollout, hparams, stream(seed, "batch", "agent", k), network_stats=False)
        versions.append(learner.policy.arrays())
        clock.rollouts += 1
        means.append(float(np.mean(ended)))
    collector.close()
    return means


def _recentered(rollout: Rollout, policy: Policy) -> Rollout:
    """Returns the rollout with the distributions of `policy`, as if it had chosen the actions."""
    obs, action = np.asarray(rollout.obs).reshape(-1, 4), rollout.action.ravel()
    dist = policy.dist(obs)
    logprob = policy.head.logprob(dist, action).reshape(rollout.logprob.shape)
    return replace(rollout, dist=dist.reshape(rollout.dist.shape), logprob=logprob)


def main() -> None:
    ways: tuple[Way, ...] = ("off", "values", "v-trace", "recentered")
    cases: list[tuple[int, Way]] = [(0, "off"), *((lag, way) for lag in LAGS for way in ways)]
    found: list[dict[str, Any]] = []
    for settings in SETTINGS:
        for lag, way in cases:
            areas = [
                float(np.mean(mean_returns(settings, seed, lag, way))) for seed in range(SEEDS)
            ]
            entry = {"settings": settings, "lag": lag, "way": way, "mean": float(np.mean(areas))}
            found.append(entry | {"areas": [round(area, 1) for area in areas]})
            print(settings, lag, way, round(found[-1]["mean"], 1), flush=True)
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
