"""The progress of a run in run.json and in the list of runs: budget, speed, remaining time, curve."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast import api
from gymnast.clock import Clock, budget_share, remaining_seconds
from gymnast.measure.pace import SPACING_SECONDS, WINDOW_SECONDS, Pace
from gymnast.metrics.store import MetricStore
from gymnast.runs.curve import CURVE_POINTS, short_curve
from gymnast.runs.run import Run
from gymnast.runs.summary import RunSummary, summarize
from tests.runs.conftest import Maker
from tests.small_runs import copy_killed_at, resume_run, train_small, train_with_commands

ROLLOUT = 4 * 32
SETTINGS = {
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "stop.env_steps": 12 * ROLLOUT,
    "eval.every": "2 rollouts",
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 100,
}


def listed(run: Run) -> RunSummary:
    (found,) = [one for one in api.runs(runs_dir=run.path.parent).runs if one.id == run.id]
    return found


def evaluated(run: Run) -> list[tuple[float, float]]:
    """Returns the evaluations, read from the database with its own code."""
    with MetricStore(run.path / "metrics.db") as store:
        rows = [row for row in store.rows() if "eval:episode/return" in row]
    return sorted((row["eval:clock/env_steps"], row["eval:episode/return"]) for row in rows)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYMNAST_RUNS", str(tmp_path_factory.mktemp("runs")))
        return train_small("CartPole-v1", SETTINGS)


def test_a_finished_run_is_listed_with_its_curve_and_speed_and_nothing_remains(trained: Run):
    run = listed(trained)
    assert run.progress == 1.0
    assert run.remaining_seconds is None
    assert run.curve == evaluated(trained)
    assert run.score is not None
    assert run.best_score == max(run.score.mean, *(mean for _, mean in evaluated(trained)))
    assert run.steps_per_second == run.clocks["env_steps"] / run.clocks["seconds"]
    assert (run.env, run.variant) == ("CartPole-v1", "ppo")


def test_listing_runs_opens_no_database(trained: Run, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise AssertionError("metrics.db was opened")

    monkeypatch.setattr(MetricStore, "__init__", refuse)
    assert listed(trained).curve


def test_a_run_that_was_killed_continues_its_curve(trained: Run):
    copy = copy_killed_at(trained, 5 * ROLLOUT)
    resume_run(copy)
    assert listed(copy).curve == evaluated(copy) == evaluated(trained)


def test_a_branch_has_the_curve_up_to_its_checkpoint_and_its_own_after_it(trained: Run):
    branch = resume_run(trained, {"stop.env_steps": 6 * ROLLOUT}, at=str(4 * ROLLOUT))
    run = listed(branch)
    assert run.curve == evaluated(branch)
    assert run.curve[-1][0] == 6 * ROLLOUT
    assert run.progress == 1.0
    assert listed(trained).curve == evaluated(trained)


def test_progress_counts_live_changes_of_the_budget(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("GYMNAST_RUNS", str(tmp_path))
    more = {"stop.env_steps": 24 * ROLLOUT}
    run = train_with_commands("CartPole-v1", SETTINGS, {3: [("set", more)], 6: [("stop", {})]})
    assert run.info.get("limits") == {"env_steps": 24 * ROLLOUT}
    found = listed(run)
    assert found.progress == found.clocks["env_steps"] / (24 * ROLLOUT) < 0.5
    resume_run(run)
    assert run.info.get("limits") == {"env_steps": 24 * ROLLOUT}
    assert listed(run).progress == 1.0


def test_a_run_of_an_older_version_is_listed_without_what_it_does_not_have(make_run: Maker):
    clocks = {"env_steps": 100, "seconds": 4.0}
    score = {"mean": 0.0, "low": -1.0, "high": 1.0, "episodes": 4}
    old = listed(make_run(clocks=clocks, score=score))
    assert (old.progress, old.remaining_seconds, old.curve) == (None, None, [])
    assert old.steps_per_second == 25.0
    assert old.best_score == 0.0
    untrained = listed(make_run())
    assert (untrained.steps_per_second, untrained.best_score) == (None, None)


def test_an_active_run_has_a_remaining_time_from_its_present_speed(make_run: Maker):
    run = make_run(clocks={"env_steps": 600, "seconds": 60.0}, group="g1", name="try-s0")
    run.update(
        limits={"env_steps": 1000, "seconds": 600.0}, rates={"env_steps": 100.0, "seconds": 1.0}
    )
    for status, left, speed in (("running", 4.0, 100.0), ("lost", None, 10.0)):
        found = summarize(run.path, run.info, status)
        assert (found.remaining_seconds, found.steps_per_second) == (left, speed)
        assert found.progress == 0.6
    assert listed(run).group_name == "g1"
    assert listed(make_run(group="g2")).group_name == "CartPole-v1:ppo g2"


@pytest.mark.parametrize(
    ("counters", "limits", "rates", "left"),
    [
        ({"env_steps": 30}, {"env_steps": 100}, {"env_steps": 7.0}, 10.0),
        ({"env_steps": 30}, {"env_steps": 100}, {}, None),
        ({"env_steps": 30}, {"env_steps": 100}, {"env_steps": 0.0}, None),
        ({"env_steps": 130}, {"env_steps": 100}, {}, 0.0),
        ({}, {}, {"env_steps": 7.0}, None),
        ({"seconds": 50.0}, {"env_steps": 1e9, "seconds": 60}, {"seconds": 1.0}, 10.0),
    ],
)
def test_what_remains_is_the_rest_of_the_budget_and_not_the_total(
    counters: dict[str, float],
    limits: dict[str, float],
    rates: dict[str, float],
    left: float | None,
):
    assert remaining_seconds(counters, limits, rates) == left


@given(st.lists(st.tuples(st.floats(0.01, 20.0), st.integers(0, 1000)), min_size=1, max_size=60))
def test_the_speed_is_the_mean_of_the_last_half_minute(rollouts: list[tuple[float, int]]):
    clock = Clock(env_steps=10**6, seconds=500.0)  # as restored by a resume
    pace, history = Pace(clock), [(500.0, 10**6)]
    assert pace.rates() == {}
    for seconds, steps in rollouts:
        clock.seconds += seconds
        clock.env_steps += steps
        pace.add(clock)
        history.append((clock.seconds, clock.env_steps))
    rate = pace.rates()["env_steps"]
    now, total = history[-1]
    # The window starts at a rollout boundary that is at most one spacing and one rollout older than it.
    slowest = max(seconds for seconds, _ in rollouts)
    oldest = now - WINDOW_SECONDS - SPACING_SECONDS - slowest
    possible = [
        (total - count) / (now - at) for at, count in history[:-1] if at >= min(oldest, now)
    ]
    if now - 500.0 <= WINDOW_SECONDS:
        assert rate == pytest.approx((total - 10**6) / (now - 500.0))
    assert any(rate == pytest.approx(one) for one in possible)


@given(st.lists(st.floats(-1e6, 1e6), max_size=300))
def test_a_short_curve_keeps_its_ends_and_extremes(returns: list[float]):
    xs = [float(i) for i in range(len(returns))]
    stored = short_curve((xs, returns))
    points = list(zip(stored["env_steps"], stored["mean_return"], strict=True))
    assert len(points) <= CURVE_POINTS
    assert set(points) <= set(zip(xs, returns, strict=True))
    assert points == sorted(points)
    if returns:
        assert (points[0], points[-1]) == ((0.0, returns[0]), (xs[-1], returns[-1]))
        assert {min(returns), max(returns)} <= {y for _, y in points}


def test_the_budget_that_is_used_up_most_defines_the_progress():
    assert budget_share({"env_steps": 50, "seconds": 9.0}, {"env_steps": 100, "seconds": 10}) == 0.9
    assert budget_share({"env_steps": 500}, {"env_steps": 100}) == 1.0
    assert budget_share({"env_steps": 500}, {}) is None
