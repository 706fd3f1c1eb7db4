"""The surprise of a listed episode, against the steps of its trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.config.resolve import resolve, save
from gymnast.metrics.store import MetricStore
from gymnast.runs.episodes import list_episodes
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, write_traces

GAMMA = 0.9


def episode(rewards: list[float], values: list[float], *, terminated: bool) -> Trace:
    return Trace(
        seed=1,
        action=np.zeros(len(rewards), np.int64),
        reward=np.array(rewards),
        value=np.array(values, np.float32),
        dist=np.zeros((len(rewards), 2), np.float32),
        obs=None,
        terminated=terminated,
        truncated=not terminated,
        raw_return=sum(rewards),
        env=0,
        version=100,
    )


EPISODES = [
    episode([1.0, 2.0, 4.0], [5.0, 0.0, 0.0], terminated=True),
    episode([1.0, 2.0], [3.0, 10.0], terminated=False),
]


def stored(at: Path, algo: str, settings: dict[str, Any], scales: dict[int, float]) -> Run:
    """Returns a run with both episodes, and with the recorded scales of rewards by env steps."""
    cfg = resolve("CartPole-v1", {"algo.gamma": GAMMA, **settings}, algo=algo).config
    name = "CartPole-v1"
    run = Run.create(at, config_text=save(cfg), preset=name, seed=0, provenance={}, env=name)
    write_traces(run.traces / f"eval-{100:012d}.safetensors", EPISODES, {})
    with MetricStore(run.path / "metrics.db", "w") as store:
        for steps, scale in scales.items():
            clocks = {"clock/env_steps": float(steps), "clock/rollouts": steps / 10}
            store.append({**clocks, "normalize/reward_scale": scale})
    return run


CASES: dict[str, tuple[str, dict[str, Any], float | None]] = {
    "plain": ("ppo", {}, 1.0),
    "scaled": ("ppo", {"normalize.reward_scale": -0.5}, -2.0),
    "running": ("ppo", {"normalize.reward": "running", "normalize.reward_scale": 0.5}, 6.0),
    "sign": ("ppo", {"normalize.reward": "sign"}, None),
    "shaped": ("ppo", {"shaping.centered.weight": 1.0}, None),
    "no critic": ("reinforce", {"algo.baseline": "none"}, None),
}
"""Name -> algorithm, settings, and raw reward per unit of learned reward."""


@pytest.mark.parametrize("case", CASES)
def test_surprise_is_the_distance_of_the_return_from_the_first_value(case: str, tmp_path: Path):
    algo, settings, per_unit = CASES[case]
    run = stored(tmp_path / "run", algo, settings, {50: 9.0, 90: 3.0, 120: 7.0})
    found = [episode.surprise for episode in list_episodes(run)]
    if per_unit is None:
        assert found == [None, None]
        return
    # The value before the truncation takes the place of what would have followed.
    returns = [1 + GAMMA * 2 + GAMMA**2 * 4, 1 + GAMMA * 2 + GAMMA**2 * 10 * per_unit]
    expected = [abs(returns[0] - 5 * per_unit), abs(returns[1] - 3 * per_unit)]
    assert found == pytest.approx(expected)


def test_a_run_whose_config_cannot_be_read_lists_its_episodes(tmp_path: Path):
    run = stored(tmp_path / "run", "ppo", {}, {})
    (run.path / "config.yaml").write_text("algo: {name: unheard}\n")
    assert [episode.surprise for episode in list_episodes(run)] == [None, None]
