"""Named random streams, and the clocks of a run."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.clock import CLOCKS, Clock
from gymnast.config.resolve import resolve
from gymnast.seeds import episode_seed, stream
from gymnast.training.live.settings import Schedules


def test_a_stream_is_a_function_of_root_and_path():
    def draw(root: int, *path: str | int) -> list[float]:
        return stream(root, *path).random(8).tolist()

    assert draw(0, "action", "agent", 17) == draw(0, "action", "agent", 17)
    others = [(1, "action", "agent", 17), (0, "batch", "agent", 17), (0, "action", "agent", 18)]
    others += [(0, "action", "agent", "17"), (0, "action"), (0, "action", "agent", 1, 7)]
    found = [tuple(draw(*other)) for other in others]
    assert len({*found, tuple(draw(0, "action", "agent", 17))}) == len(others) + 1


def test_streams_never_change_between_versions():
    """Stored runs resume with these numbers."""
    assert episode_seed(0, "episode", "agent", 0, 0) == 1998370900
    assert episode_seed(1000, "eval", 3) == 1873026500
    assert stream(0, "action", "agent", 0).integers(1_000_000, size=3).tolist() == [
        689530,
        841162,
        645933,
    ]


def test_streams_of_neighboring_counters_are_independent():
    draws = np.array([stream(0, "action", "agent", k).standard_normal(64) for k in range(200)])
    correlation = np.corrcoef(draws)
    np.fill_diagonal(correlation, 0)
    assert np.abs(correlation).max() < 6 / np.sqrt(64)
    assert abs(draws.mean()) < 4 / np.sqrt(draws.size)


def test_episode_seeds_are_valid_for_every_environment_and_rarely_collide():
    seeds = [episode_seed(0, "episode", "agent", env, k) for env in range(20) for k in range(200)]
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(set(seeds)) >= len(seeds) - 1


def test_a_clock_reads_every_counter_and_is_restored_from_them():
    clock = Clock(1, 2, 3, 4, 5, 6, 7.5, limits={"rollouts": 10})
    assert [clock.read(name) for name in CLOCKS] == [1, 2, 3, 4, 5, 6, 7.5]
    again = Clock(limits={"rollouts": 10})
    again.load(clock.counters())
    assert again == clock


@pytest.mark.parametrize(
    ("counters", "limits", "main", "progress", "spent"),
    [
        ({"env_steps": 50}, {}, "env_steps", None, None),
        ({"env_steps": 50}, {"env_steps": 200}, "env_steps", 0.25, None),
        ({"env_steps": 200}, {"env_steps": 200}, "env_steps", 1.0, "env_steps"),
        ({"env_steps": 260}, {"env_steps": 200}, "env_steps", 1.0, "env_steps"),
        ({"updates": 3}, {"env_steps": 200, "updates": 4}, "env_steps", 0.75, None),
        ({"updates": 4}, {"env_steps": 200, "updates": 4}, "env_steps", 1.0, "updates"),
        ({"seconds": 30.0}, {"seconds": 60}, "seconds", 0.5, None),
    ],
)
def test_progress_is_the_share_of_the_budget_that_is_nearest_its_end(
    counters, limits, main, progress, spent
):
    clock = Clock(**counters, limits=limits)
    assert (clock.main_clock, clock.progress, clock.reached_limit) == (main, progress, spent)


def test_every_schedule_of_the_algorithm_is_evaluated_at_the_same_clock():
    cfg = resolve(
        "CartPole-v1",
        {
            "algo.lr": "1e-3 -> 0",
            "algo.clip": "0.2 -> 0.1 clock updates @ 0..100",
            "algo.value_clip": 0.5,
        },
    ).config
    control = Schedules(cfg.algo)
    clock = Clock(env_steps=25_000, updates=50, limits={"env_steps": 100_000})
    values = control.hyperparameters(clock)
    assert (values.lr, values.clip) == pytest.approx((7.5e-4, 0.15))
    assert values.value_clip == 0.5
    row = control.row(values)
    assert row["hyper/lr"] == values.lr
    assert row["hyper/value_clip"] == 0.5
    assert control.budget_dependent() == ["lr"]
