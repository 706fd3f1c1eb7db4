"""Terms in real runs: learning uses shaped rewards, reports use raw ones, and resuming is exact."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gymnast.config.resolve import resolve
from gymnast.errors import ConfigError
from gymnast.runs import checkpoint
from gymnast.runs.trace import Trace
from gymnast.shaping.shaping import Shaping
from gymnast.shaping.steps import episode_returns
from tests.algos.harness import LearnerHarness
from tests.scripted import end_of, length_of, obs_of, seed_from_obs
from tests.small_runs import (
    assert_same_run,
    checkpoint_arrays,
    copy_killed_at,
    resume_run,
    rows,
    same_arrays,
    traces,
    train_small,
    train_with_commands,
)

OWN = "py:tests.shaping.own_terms:"
N, T = 3, 16
SMALL = {
    "env.n_envs": N,
    "algo.n_steps": T,
    "stop.env_steps": 8 * N * T,
    "eval.every": "2 rollouts",
    "stop.eval_return": "off",
    "checkpoint.every": "3 rollouts",
    "checkpoint.keep": 20,
    "traces.train": "100%",
}
COUNTED = {
    "shaping.count.kwargs": {"bins": 8},
    "shaping.count.weight": "1 -> 0.5",
    "shaping.energy.weight": 5,
    "shaping.pairs.term": f"{OWN}Pairs",
    "shaping.late": {"kwargs": {"after": 20}, "weight": 0.1},
    "env.max_episode_steps": 37,
    "eval.max_episode_steps": 40,
}
"""Terms with memory, one that counts steps of episodes across rollouts, and a schedule."""


def own(name: str, **more: Any) -> dict[str, Any]:
    return {"shaping.mine": {"term": f"{OWN}{name}", **more}}


def shaped_by_hand(practice: LearnerHarness, rollout: Any, *, truncation_ends: bool) -> np.ndarray:
    """Returns the potential `brightness`, from the observation of each step of an episode."""
    gamma, added = practice.cfg.algo.gamma, np.zeros_like(rollout.reward)
    for t, n in np.argwhere(rollout.valid):
        seed, at = seed_from_obs(rollout.obs[t, n]), round(float(rollout.obs[t, n, 0]) * 8)
        last = at + 1 == length_of(seed)
        over = last and (truncation_ends or end_of(seed) != "truncated")
        follows = 0.0 if over else gamma * obs_of(seed, at + 1).sum(dtype=np.float64)
        added[t, n] = follows - obs_of(seed, at).sum(dtype=np.float64)
    return added


@pytest.mark.parametrize(
    ("algo", "truncation_ends"),
    [("ppo", False), ("a2c", False), ("dqn", False), ("reinforce", True)],
)
def test_a_potential_uses_the_true_next_state_and_is_zero_at_the_end(
    algo: str, truncation_ends: bool
):
    practice = LearnerHarness.make(
        "Script", {"env.n_envs": 4, **own("brightness", weight=0.5)}, algo
    )
    for _ in range(3):
        rollout = practice.collect()
        shaped, row = practice.learner.shaping(rollout, {"mine": 0.5}, practice.cfg.algo.gamma)
        added = 0.5 * shaped_by_hand(practice, rollout, truncation_ends=truncation_ends)
        assert np.abs(shaped.reward - rollout.reward - added).max() < 1e-6
        assert row["shaping/mine"] == row["shaping/total"]
        assert row["shaping/mine"] == pytest.approx(added[rollout.valid].mean())
        assert row["hyper/shaping.mine"] == 0.5
        assert shaped.episodes is rollout.episodes


@pytest.mark.parametrize("algo", ["ppo", "a2c", "reinforce", "dqn"])
def test_a_run_learns_from_the_raw_reward_plus_weighted_terms(algo: str):
    """The reference is a twin that gets the shaped rewards directly."""
    settings = {"env.n_envs": 2, "normalize.reward": "off" if algo == "dqn" else "running"}
    settings |= {"algo.warmup": 8} if algo == "dqn" else {}
    first = LearnerHarness.make("Script", settings | own("fortune", kwargs={"each": 3.0}), algo)
    twin = LearnerHarness.make("Script", settings, algo)
    for _ in range(3):
        rollout, same = first.collect(), twin.collect()
        assert np.array_equal(rollout.reward, same.reward)
        shaped, _ = first.learner.shaping(rollout, {"mine": 2.0}, 0.9)
        by_hand = same.reward + 6.0 * same.valid
        assert first.learn(shaped) == twin.learn(replace(same, reward=by_hand))
    assert np.array_equal(first.learner.policy.parameters.flat, twin.learner.policy.parameters.flat)


@pytest.mark.parametrize(
    ("algo", "more"),
    [
        ("ppo", {"normalize.reward": "running"}),
        ("ppo", {"collect.mode": "overlap"}),
        ("ppo", {"env.backend": "process", "env.workers": 2}),
        ("a2c", {}),
        ("dqn", {"algo.warmup": 32}),
        ("reinforce", {"algo.n_steps": "off", "stop.env_steps": 8 * N * 37}),
    ],
)
def test_counts_and_episode_ages_resume_bit_for_bit(algo: str, more: dict[str, Any]):
    settings = SMALL | COUNTED | more
    whole = train_small("MountainCar-v0", settings, algo=algo)
    stored = checkpoint_arrays(whole, "learner")
    assert stored["agent/shaping.count.visits"].sum() > 100
    steps = sorted(checkpoint.list_checkpoints(whole.path))
    for step in (steps[1], steps[-2]):
        assert_same_run(resume_run(copy_killed_at(whole, step)), whole)
    rates = [row["hyper/shaping.count"] for row in rows(whole) if "hyper/shaping.count" in row]
    assert rates[0] > 0.9
    assert 0.5 <= rates[-1] < 0.7
    assert all(row["shaping/late"] <= 0 for row in rows(whole) if "shaping/late" in row)


@pytest.mark.parametrize(
    ("algo", "more", "truncation_ends"),
    [
        ("ppo", {"normalize.reward": "running"}, False),
        ("ppo", {"collect.mode": "overlap"}, False),
        ("reinforce", {"algo.episodes": 2}, True),
    ],
)
def test_the_shaped_return_matches_the_stored_episodes(
    algo: str, more: dict[str, Any], truncation_ends: bool
):
    rollouts, weight = 16, 0.5
    settings = {"env.n_envs": N, "traces.train": "100%", "stop.rollouts": rollouts, **more}
    settings |= {} if algo == "reinforce" else {"algo.n_steps": T}
    run = train_small("Script", settings | own("brightness", weight=weight), algo=algo)
    gamma = resolve("py:tests.scripted:Script", algo=algo).config.algo.gamma
    ended: list[tuple[int, int, float]] = []
    for copy in range(N):
        clock = 0
        for trace in (t for several in traces(run, "train").values() for t in several):
            if trace.env == copy:
                clock += len(trace.reward)
                ended.append((clock, copy, _shaped(trace, weight, gamma, truncation_ends)))
    ended.sort()
    checked = 0
    reported = [
        {},
        *(row for row in rows(run) if "rollout/reward_mean" in row or "collect.mode" in more),
    ]
    for earlier, row in itertools.pairwise(reported):
        if algo == "reinforce":  # its copies wait for each other
            over = _first_of_each(ended, int(row["clock/rollouts"]) * 2)
        else:
            now = (earlier if "collect.mode" in more else row).get("clock/vec_steps", 0)
            over = [episode for episode in ended if episode[0] <= now]
        if over and "shaping/total" in row:
            expected = np.mean([shaped for *_, shaped in over[-100:]])
            assert row["episode/shaped_return"] == pytest.approx(expected, rel=1e-9)
            checked += 1
        else:
            assert "episode/shaped_return" not in row
    assert checked >= rollouts - 3


def _shaped(trace: Trace, weight: float, gamma: float, truncation_ends: bool) -> float:
    """Returns the shaped return of an episode, from the script's observations and the stored rewards."""
    shown = [
        float(obs_of(trace.seed, t).sum(dtype=np.float64)) for t in range(len(trace.reward) + 1)
    ]
    if trace.terminated or truncation_ends:
        shown[-1] = 0.0
    added = sum(gamma * after - before for before, after in itertools.pairwise(shown))
    return float(trace.reward.sum()) + weight * added


def _first_of_each(ended: list[tuple[int, int, float]], count: int) -> list[tuple[int, int, float]]:
    """Returns the first `count` ended episodes of every copy."""
    return [e for copy in range(N) for e in [x for x in ended if x[1] == copy][:count]]


def test_shaped_returns_continue_across_rollouts_and_restart_with_new_copies():
    start = np.array([[1, 0], [0, 0], [0, 1]], dtype=bool)
    reward = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = episode_returns(start, reward, np.array([100.0, 10.0]))
    assert found.tolist() == [[1, 12], [4, 16], [9, 6]]
    unknown = episode_returns(start, reward, np.array([np.nan, np.nan]))
    assert np.isnan(unknown).tolist() == [[False, True], [False, True], [False, False]]


def test_every_visited_state_is_counted_once():
    run = train_small("MountainCar-v0", SMALL | {"shaping.count.weight": 1})
    visits = checkpoint_arrays(run, "learner")["agent/shaping.count.visits"]
    assert visits.sum() == run.info["clocks"]["env_steps"]


def test_a_weight_can_change_live_and_on_resume():
    settings = SMALL | own("fortune", kwargs={"each": 1.0}, weight=2)
    plan = {4: [("set", {"shaping.mine.weight": 7})]}
    run = train_with_commands("CartPole-v1", settings, plan)
    found = [row["shaping/mine"] for row in rows(run) if "shaping/mine" in row]
    assert found == [2.0] * 4 + [7.0] * 4
    assert_same_run(resume_run(copy_killed_at(run, 3 * N * T)), run)


def test_only_weights_may_change_on_resume():
    run = train_small("CartPole-v1", SMALL | {"shaping.centered.weight": 1})
    for change in ({"shaping.late.weight": 1}, {"shaping.centered.term": "late"}):
        with pytest.raises(ConfigError, match="resume cannot change shaping"):
            resume_run(run, {**change, "stop.env_steps": 9 * N * T})
    resume_run(run, {"shaping.centered.weight": 0, "stop.env_steps": 9 * N * T})
    assert [row for row in rows(run) if "shaping/centered" in row][-1]["shaping/centered"] == 0


def test_weight_zero_is_recorded_and_changes_nothing():
    plain = train_small("CartPole-v1", SMALL)
    noted = train_small("CartPole-v1", SMALL | {"shaping.centered.weight": 0})
    assert same_arrays(checkpoint_arrays(plain), checkpoint_arrays(noted))
    assert "shaping/centered" in rows(noted)[0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("misshapen", r"shaping\.mine: returned float64 of shape \(3,\) for steps of \(2, 3\)"),
        ("words", r"shaping\.mine: returned <U4"),
        ("raises", r"shaping\.mine: raised ZeroDivisionError: nothing to divide by"),
        (
            "unknown_name",
            r"the observation has no component altitude \(facts.observations: cart position",
        ),
        ("nowhere", r"shaping\.mine: .* cannot be imported"),
        ("infinite", r"shaping\.mine: it returned a value that is not finite"),
    ],
)
def test_an_invalid_custom_term_is_named(name: str, message: str):
    with pytest.raises(ConfigError, match=message):
        train_small("CartPole-v1", SMALL | own(name))


def test_a_file_that_raises_is_refused_with_the_term_named(tmp_path, monkeypatch):
    (tmp_path / "broken_term.py").write_text("def (:")
    monkeypatch.chdir(tmp_path)
    settings = {"shaping": {"mine": {"term": "py:broken_term:bonus"}}}
    with pytest.raises(ConfigError, match=r"shaping\.mine: .* cannot be imported: SyntaxError"):
        train_small("CartPole-v1", SMALL | settings)


def test_an_invalid_term_is_refused_before_a_run_is_created(runs_dir):
    with pytest.raises(ConfigError):
        train_small("CartPole-v1", SMALL | own("raises"))
    assert not list(runs_dir.glob("*"))


def test_unnamed_components_of_an_observation_are_refused():
    """If an observation is longer than its facts, a name would refer to the wrong number."""
    parts = [{"name": "cart position", "low": -1, "high": 1}]
    settings = {"shaping.centered.weight": 1, "facts.observations": parts}
    with pytest.raises(ConfigError, match="has 3 components, but 1 are named"):
        LearnerHarness.make("Script", settings)


@pytest.mark.parametrize("name", ["total", "a.b", "eval:x"])
def test_a_term_name_that_is_no_valid_metric_name_is_refused(name: str):
    with pytest.raises(ConfigError, match="cannot name a term"):
        resolve("CartPole-v1", {"shaping": {name: {"term": "centered"}}})


def test_percentages_in_a_weight_schedule_need_a_budget():
    settings = {"shaping.centered.weight": "1 -> 0", "stop.env_steps": "off", "stop.minutes": "off"}
    with pytest.raises(ConfigError, match=r"shaping\.centered\.weight.*percentages of a budget"):
        resolve("CartPole-v1", settings)


def test_every_learner_has_its_own_term_instances():
    cfg = resolve("MountainCar-v0").config
    space = LearnerHarness.make("Script", {}).collector.spaces["agent"][0]
    space = replace(space, shape=(2,), low=(-1.2, -0.07), high=(0.6, 0.07))
    one, two = Shaping(cfg, space), Shaping(cfg, space)
    one.terms["count"].memory["visits"][:] = 5  # type: ignore[attr-defined]
    assert not two.state()["shaping.count.visits"].any()
