"""Every metric of steps, episodes and evaluations equals the value recomputed from stored traces and
the scripted environment, by code that is independent of the code that reported it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gymnast.runs.run import Run
from gymnast.runs.trace import Trace
from tests.scripted import end_of, length_of, obs_of, reward_of
from tests.small_runs import rows, traces, train_small

N, T, ROLLOUTS, EPISODES = 3, 8, 16, 10
T_QUANTILE = 2.262157
"""The 97.5 % quantile of Student's t with 9 degrees of freedom."""
CASES: dict[str, dict[str, Any]] = {
    "any length, any end": {},
    "amounts": {"box": True},
    "four steps, truncated": {"length": 4, "end": "truncated"},
    "one step, both ends": {"length": 1, "end": "both"},
}


@dataclass(frozen=True)
class TracedRun:
    """A run and its traced training episodes, in the order in which they ended."""

    run: Run
    kwargs: dict[str, Any]
    episodes: list[tuple[int, Trace]]
    """(vector steps when it ended, the episode)"""


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def traced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TracedRun:
    settings = {
        "env.n_envs": N,
        "algo.n_steps": T,
        "stop.rollouts": ROLLOUTS,
        "traces.train": "100%",
        "eval.every": "4 rollouts",
        "eval.episodes": EPISODES,
        "eval.confirm_episodes": EPISODES,
        "checkpoint.every": "6 rollouts",
        "normalize.obs": "running",  # what is reported is raw all the same
        "normalize.reward": "running",
    }
    if request.param:  # an empty mapping is refused: it sets nothing
        settings["env.kwargs"] = request.param
    run = train_small("Script", settings, runs_dir=tmp_path_factory.mktemp("runs"))
    found = [trace for several in traces(run, "train").values() for trace in several]
    ended: list[tuple[int, Trace]] = []
    for copy in range(N):
        clock = 0
        for trace in found:
            if trace.env == copy:
                clock += len(trace.reward)
                ended.append((clock, trace))
    ended.sort(key=lambda at: (at[0], at[1].env))
    return TracedRun(run, request.param, ended)


def training_rows(traced: TracedRun) -> list[dict[str, float]]:
    return [row for row in rows(traced.run) if "rollout/reward_mean" in row]


def steps_of(traced: TracedRun, first: int, last: int) -> list[tuple[Trace, int]]:
    """Returns (episode, its step) for every step taken in the vector steps first < t <= last."""
    found = []
    for end, trace in traced.episodes:
        length = len(trace.reward)
        found += [(trace, k) for k in range(length) if first < end - length + k + 1 <= last]
    return found


def test_traces_match_the_scripted_environment(traced: TracedRun):
    assert traced.episodes
    for _, trace in traced.episodes:
        length = traced.kwargs.get("length") or length_of(trace.seed)
        end = traced.kwargs.get("end") or end_of(trace.seed)
        assert trace.reward.tolist() == [reward_of(trace.seed, t + 1) for t in range(length)]
        assert (trace.terminated, trace.truncated) == (end != "truncated", end == "truncated")
        assert trace.raw_return == math.fsum(trace.reward)
    assert len({trace.seed for _, trace in traced.episodes}) == len(traced.episodes)


def test_episode_metrics_are_those_of_the_last_hundred_episodes(traced: TracedRun):
    for row in training_rows(traced):
        now = row["clock/vec_steps"]
        over = [trace for end, trace in traced.episodes if end <= now]
        assert row["clock/episodes"] == len(over)
        recent = over[-100:]
        assert row["episode/count"] == len(recent)
        if recent:
            returns = [float(sum(map(Fraction, t.reward.tolist()), Fraction(0))) for t in recent]
            _same(row, "episode/return", _moments(returns))
            lengths = [len(t.reward) for t in recent]
            assert row["episode/length"] == pytest.approx(sum(lengths) / len(lengths), rel=1e-12)


def test_rollout_metrics_are_those_of_its_own_steps(traced: TracedRun):
    checked = 0
    for row in training_rows(traced):
        last = int(row["clock/vec_steps"])
        steps = steps_of(traced, last - T, last)
        if len(steps) < N * T:
            continue  # an episode of it had not ended when the run did
        checked += 1
        _same(row, "rollout/reward", _moments([float(t.reward[k]) for t, k in steps]), mean="_mean")
        shown = np.array([obs_of(t.seed, k) for t, k in steps], dtype=np.float64)
        given = np.array([t.action[k] for t, k in steps], dtype=np.float64)
        for name, values in (("obs", shown), ("action", given)):
            mean, std, *_ = _moments(values.ravel().tolist())
            assert row[f"rollout/{name}_mean"] == pytest.approx(mean, rel=1e-9, abs=1e-12)
            assert row[f"rollout/{name}_std"] == pytest.approx(std, rel=1e-9, abs=1e-12)
        for k in range(3):
            assert row[f"rollout/obs_mean.{k}"] == pytest.approx(shown[:, k].mean(), rel=1e-9)
        _same_actions(row, given)
        paid = sum(t.reward[k] != 0 for t, k in steps)
        assert row["rollout/reward_interval"] == pytest.approx(N * T / paid)
        ends = [trace for end, trace in traced.episodes if last - T < end <= last]
        assert row["rollout/episodes"] == len(ends)
        share = sum(t.truncated for t in ends) / len(ends) if ends else 0.0
        assert row["rollout/truncated_share"] == pytest.approx(share, rel=1e-12)
    assert checked >= ROLLOUTS - 1


def test_clocks_match_the_recorded_steps_and_episodes(traced: TracedRun):
    for k, row in enumerate(training_rows(traced), start=1):
        assert row["clock/rollouts"] == k
        assert row["clock/vec_steps"] == k * T
        assert row["clock/env_steps"] == row["clock/frames"] == k * T * N
        assert row["clock/updates"] == k * 4  # two epochs of two minibatches
    assert k == ROLLOUTS


def test_evaluation_metrics_match_the_stored_episodes_of_that_version(traced: TracedRun):
    stored = traces(traced.run, "eval")
    # The score of the start is not a row of metrics.
    returns = [_scripted_return(traced, trace) for trace in stored.pop(0)]
    assert traced.run.info["start_score"]["mean"] == pytest.approx(_moments(returns)[0], rel=1e-12)
    seen = [row for row in rows(traced.run) if "eval:episode/return" in row]
    assert [int(row["eval:clock/env_steps"]) for row in seen] == sorted(stored)
    assert sorted(stored) == [4 * T * N * k for k in range(1, ROLLOUTS // 4 + 1)]
    for row in seen:
        episodes = stored[int(row["eval:clock/env_steps"])]
        returns = [_scripted_return(traced, trace) for trace in episodes]
        assert [t.raw_return for t in episodes] == returns
        assert row["eval:episode/count"] == len(returns) == EPISODES
        mean, std, *_ = moments = _moments(returns)
        _same(row, "eval:episode/return", moments)
        half = T_QUANTILE * std * math.sqrt(EPISODES / (EPISODES - 1)) / math.sqrt(EPISODES)
        assert row["eval:episode/low"] == pytest.approx(mean - half, rel=1e-4, abs=1e-5)
        assert row["eval:episode/high"] == pytest.approx(mean + half, rel=1e-4, abs=1e-5)
        assert row["eval:episode/iqm"] == pytest.approx(_iqm(returns), rel=1e-12)
        lengths = [len(t.reward) for t in episodes]
        assert row["eval:episode/length"] == pytest.approx(sum(lengths) / EPISODES, rel=1e-12)
        assert {t.version for t in episodes} == {int(row["eval:clock/env_steps"])}


def test_the_final_score_matches_the_stored_confirmation_episodes(traced: TracedRun):
    info = traced.run.info
    ((version, episodes),) = traces(traced.run, "confirm").items()
    returns = [_scripted_return(traced, trace) for trace in episodes]
    assert version == info["score"]["env_steps"] == info["checkpoints"]["best"]
    assert info["score"]["mean"] == pytest.approx(_moments(returns)[0], rel=1e-12)
    assert info["score"]["iqm"] == pytest.approx(_iqm(returns), rel=1e-12)
    assert info["score"]["episodes"] == EPISODES


def _scripted_return(traced: TracedRun, trace: Trace) -> float:
    length = traced.kwargs.get("length") or length_of(trace.seed)
    return math.fsum(reward_of(trace.seed, t + 1) for t in range(length))


def _moments(values: list[float]) -> tuple[float, float, float, float]:
    """Returns mean, standard deviation, minimum and maximum, in exact arithmetic up to the last operation."""
    every = [Fraction(v) for v in values]
    mean = sum(every, Fraction(0)) / len(every)
    variance = sum(((v - mean) ** 2 for v in every), Fraction(0)) / len(every)
    return float(mean), math.sqrt(variance), min(values), max(values)


def _same(row: dict[str, float], key: str, moments: tuple[float, ...], mean: str = "") -> None:
    for suffix, value in zip((mean, "_std", "_min", "_max"), moments, strict=True):
        assert row[f"{key}{suffix}"] == pytest.approx(value, rel=1e-12, abs=1e-12), suffix


def _same_actions(row: dict[str, float], given: np.ndarray) -> None:
    """Returns the expected metrics of the executed actions: the share of each discrete action, or the
    moments of each Box component."""
    if given.ndim == 1:
        for k, share in enumerate(np.bincount(given.astype(int), minlength=3) / len(given)):
            assert row[f"rollout/action_share.{k}"] == pytest.approx(share, rel=1e-12)
        assert "rollout/action_share.3" not in row
        return
    for k in range(2):
        mean, std, *_ = _moments(given[:, k].tolist())
        assert row[f"rollout/action_mean.{k}"] == pytest.approx(mean, rel=1e-9, abs=1e-12)
        assert row[f"rollout/action_std.{k}"] == pytest.approx(std, rel=1e-9, abs=1e-12)
    at_limit = [abs(amount) == 2.0 for amount in given.ravel().tolist()]
    assert row["rollout/action_at_limit"] == pytest.approx(sum(at_limit) / len(at_limit))


def _iqm(values: list[float]) -> float:
    entries = sorted(Fraction(v) for v in values for _ in range(4))
    middle = entries[len(values) : 3 * len(values)]
    return float(sum(middle, Fraction(0)) / len(middle))
