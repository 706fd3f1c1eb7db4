"""A fresh episode is the one that an evaluation with the same seed and settings plays."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast import api
from gymnast.collect.matchmaking import LEARNER
from gymnast.config.resolve import apply_overrides
from gymnast.errors import CheckpointError, ConfigError, UsageError
from gymnast.evaluation.evaluate import Evaluator
from gymnast.evaluation.rescore import load_policy
from gymnast.film.matches.replay import MatchRenderer, replay_match
from gymnast.inspector.address import EpisodeAddress, find_address
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.roll_out import roll_out
from gymnast.runs import checkpoint, layout
from gymnast.runs.episodes import EpisodeInfo, list_episodes, read_episode
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace
from tests.inspector.conftest import copied
from tests.small_runs import copy_killed_at, resume_run, train_small
from tests.waiting import PATIENCE


def fresh(run: Run, **options: Any) -> EpisodeInfo:
    """Rolls out an episode, by default greedily from the best checkpoint to its end."""
    given: dict[str, Any] = {
        "checkpoint": None,
        "seed": 3,
        "sampled": False,
        "max_steps": None,
        "overrides": {},
        "roles": {},
    }
    return roll_out(run, **(given | options))


def stored(run: Run, info: EpisodeInfo) -> Trace:
    trace = read_episode(run, info.kind, info.version, info.number)
    assert isinstance(trace, Trace)
    return trace


def assert_same_steps(a: Trace, b: Trace) -> None:
    """Asserts that two episodes have the same steps and the same end, bit for bit."""
    for name in ("action", "reward", "value", "dist"):
        one, two = getattr(a, name), getattr(b, name)
        assert one.dtype == two.dtype
        assert one.tobytes() == two.tobytes(), name
    ends = [(t.seed, t.terminated, t.truncated, t.raw_return, t.version) for t in (a, b)]
    assert ends[0] == ends[1]
    assert (a.obs is None) == (b.obs is None)


@pytest.fixture
def run(cartpole: Run, tmp_path: Path) -> Run:
    return copied(cartpole, tmp_path)


def test_the_same_seed_repeats_every_stored_evaluation_episode(run: Run):
    evaluated = list(list_episodes(run, "eval"))
    steps = checkpoint.list_checkpoints(run.path)
    repeated = 0
    for info in evaluated:
        if info.version in steps:
            again = fresh(run, checkpoint=str(info.version), seed=info.seed)
            assert_same_steps(stored(run, again), stored(run, info))
            assert (again.length, again.outcome) == (info.length, info.outcome)
            repeated += 1
    assert repeated >= 4


def test_sampled_actions_are_those_of_a_sampled_evaluation(run: Run):
    config = apply_overrides(run.config(), {"eval.deterministic": False})[0]
    saved = checkpoint.find(run.path, "latest")
    with closing(Evaluator(config)) as evaluator:
        plan = evaluator.plan("eval")
        _, expected = evaluator.evaluate(load_policy(saved), saved.step, plan)
    for seed, trace in zip(plan.seeds, expected, strict=True):
        again = fresh(run, checkpoint="latest", seed=seed, sampled=True)
        assert_same_steps(stored(run, again), trace)
    greedy = stored(run, fresh(run, checkpoint="latest", seed=plan.seeds[0]))
    assert greedy.action.tolist() != expected[0].action.tolist()


def test_an_episode_that_is_stopped_is_the_beginning_of_the_whole_one(run: Run):
    whole = stored(run, fresh(run))
    for steps in (1, len(whole) - 1, len(whole), len(whole) + 5):
        info = fresh(run, max_steps=steps)
        part = stored(run, info)
        n = min(steps, len(whole))
        assert len(part) == n
        assert part.action.tobytes() == whole.action[:n].tobytes()
        assert part.dist.tobytes() == whole.dist[:n].tobytes()
        is_whole = steps >= len(whole)
        assert (part.terminated, part.truncated) == (
            (whole.terminated, whole.truncated) if is_whole else (False, False)
        )
        assert (info.outcome == "stopped") == (not is_whole)


@pytest.mark.parametrize(
    "overrides",
    [
        {"env.noise.obs": 0.1},
        {"env.noise.sticky": 0.3},
        {"env.randomize": {"length": "uniform(0.3, 0.9)"}},
        {"env.kwargs": {"sutton_barto_reward": True}},
    ],
    ids=str,
)
def test_a_replay_recreates_the_environment_with_the_settings(
    run: Run, overrides: dict[str, object]
):
    plain = stored(run, fresh(run))
    info = fresh(run, overrides=overrides)
    address = EpisodeAddress(str(run.path), "fresh", info.version, info.number)
    with closing(OpenEpisode(address)) as episode:
        assert episode.replay.is_exact
        assert episode.config != run.config()
    changed = stored(run, info)
    assert (changed.dist.tobytes(), changed.reward.tobytes()) != (
        plain.dist.tobytes(),
        plain.reward.tobytes(),
    )
    assert info.settings is not None
    assert info.settings.overrides == overrides


def test_only_settings_of_the_environment_can_be_changed(run: Run):
    for key in (
        "algo.lr",
        "env.id",
        "eval.n_envs",
        "facts.deterministic",
        "env",
        "env.max_episode_steps",
    ):
        with pytest.raises(UsageError, match=f"^{key} cannot be changed"):
            fresh(run, overrides={key: 1})
    with pytest.raises(ConfigError, match=r"another observation space.*\(8,\) instead of \(4,\)"):
        fresh(run, overrides={"env.stack": 2})
    with pytest.raises(ConfigError, match="nois"):
        fresh(run, overrides={"env.nois.obs": 1})
    with pytest.raises(UsageError, match="no roles"):
        fresh(run, roles={"seeker": "random"})
    with pytest.raises(CheckpointError):
        fresh(run, checkpoint="77")
    assert not list(list_episodes(run, "fresh"))


def test_observations_are_stored_if_a_replay_could_differ(run: Run):
    config = layout.CONFIG.path(run.path)
    before = config.read_text()
    assert "deterministic: yes" in before
    assert stored(run, fresh(run)).obs is None
    config.write_text(before.replace("deterministic: yes", "deterministic: no"))
    trace = stored(run, fresh(run))
    assert trace.obs is not None
    assert len(trace.obs) == len(trace) + 1


def test_the_progress_counts_the_steps(run: Run):
    reports: list[tuple[int, int]] = []
    length = fresh(run, progress=lambda done, total, _="": reports.append((done, total))).length
    assert reports == [(step, 0) for step in range(length)]
    reports.clear()
    fresh(run, max_steps=3, progress=lambda done, total, _="": reports.append((done, total)))
    assert reports == [(0, 3), (1, 3), (2, 3)]


def test_a_cancelled_one_is_not_stored(run: Run):
    task = api.roll_out(run.id, runs_dir=run.path.parent)
    task.cancel()
    assert task.wait(PATIENCE)
    assert task.state == "cancelled"
    assert not list(list_episodes(run, "fresh"))
    assert api.roll_out(run.id, runs_dir=run.path.parent).result().number == 0


def test_without_a_seed_each_episode_has_another(run: Run):
    assert len({fresh(run, seed=None, max_steps=1).seed for _ in range(3)}) == 3


def test_the_newest_one_is_inspected_by_default(run: Run):
    numbers = [fresh(run, max_steps=2).number for _ in range(2)]
    assert find_address(run, "fresh").number == numbers[-1]
    assert find_address(run, "fresh", number=0).number == 0


@pytest.mark.slow
def test_resuming_a_run_keeps_them(cartpole: Run, runs_dir: Path):
    run = copied(cartpole, runs_dir)
    info = fresh(run, checkpoint="latest")
    killed = copy_killed_at(run, min(checkpoint.list_checkpoints(run.path)))
    resumed = resume_run(killed)
    assert list(list_episodes(resumed, "fresh")) == [info]


TAG = {"stop.env_steps": 512, "env.n_envs": 4, "algo.n_steps": 64, "algo.batch_size": 64}


@pytest.mark.slow
def test_matches_repeat_those_of_evaluations():
    run = train_small("tag", {**TAG, "env.kwargs.time_limit": 20, "policy.hidden": [16]})
    evaluated = [e for e in list_episodes(run, "confirm") if e.version in _steps(run)]
    assert evaluated
    for info in evaluated:
        roles = {role: name for role, name in info.cast.items() if name != LEARNER}
        again = fresh(run, checkpoint=str(info.version), seed=info.seed, roles=roles, sampled=True)
        one, two = (read_episode(run, e.kind, e.version, e.number) for e in (again, info))
        assert isinstance(one, MatchTrace)
        assert isinstance(two, MatchTrace)
        for role in one.actions:
            assert np.array_equal(one.actions[role], two.actions[role])
            assert np.array_equal(one.rewards[role], two.rewards[role])
        assert (one.cast, one.outcome, one.numbers) == (two.cast, two.outcome, two.numbers)
    short = fresh(run, max_steps=5)
    trace = read_episode(run, "fresh", short.version, short.number)
    assert isinstance(trace, MatchTrace)
    assert (len(trace), short.outcome) == (5, "stopped")
    with closing(MatchRenderer(run.config())) as renderer:
        replay_match(renderer, trace)  # raises where it differs
    with pytest.raises(UsageError, match="no role nobody"):
        fresh(run, roles={"nobody": "random"})


def _steps(run: Run) -> set[int]:
    return set(checkpoint.list_checkpoints(run.path))
