"""Reward terms from the `info` of every step, on every backend."""

from __future__ import annotations

import logging
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gymnast.collect.open_vector import open_vector_collector
from gymnast.config.problems import InvalidConfig
from gymnast.config.resolve import resolve
from gymnast.envs.backends.vector import VectorBackend
from gymnast.errors import EnvError
from gymnast.runs import checkpoint
from gymnast.shaping.info import PATIENCE
from gymnast.step_table import step_table
from gymnast.training.python_api import train
from tests.algos.harness import LearnerHarness
from tests.shaping.informative import LENGTH, Informative, energy_of
from tests.small_runs import SMALL as QUICK
from tests.small_runs import assert_same_run, copy_killed_at, resume_run, rows

ENV = "tests.shaping.informative:Informative"
KEYS = ("energy", "parts/double", "rare")
TERMS = {f"shaping.{key[0]}": {"term": "info", "kwargs": {"key": key}} for key in KEYS}
SMALL = {"env.n_envs": 3, "algo.n_steps": 16, "env.workers": 2}
COPIES = pytest.mark.parametrize("backend", ["inprocess", "process"])


def practice(terms: dict[str, Any] = TERMS, algo: str | None = None, **more: Any) -> LearnerHarness:
    return LearnerHarness.make(ENV, SMALL | terms | more, algo)


def expected_of(rollout: Any) -> dict[str, np.ndarray]:
    """Returns the expected values, computed from the observation and action of each step."""
    age = np.rint(rollout.obs[..., 0] * LENGTH).astype(int) + 1
    energy = np.vectorize(energy_of)(age, rollout.action)
    return {"energy": energy, "parts/double": 2 * energy, "rare": np.where(age % 3, np.nan, age)}


@COPIES
@pytest.mark.parametrize("algo", ["ppo", "a2c", "dqn", "reinforce"])
def test_each_step_has_the_values_of_its_own_info(backend: str, algo: str):
    trying = practice(algo=algo, **{"env.backend": backend})
    with closing(trying.collector):
        for _ in range(3):
            rollout = trying.collect()
            keep = rollout.valid
            for key, column in expected_of(rollout).items():
                assert np.array_equal(rollout.info[key][keep], column[keep], equal_nan=True), key
            shaped, row = trying.learner.shaping(rollout, {"e": 0.1, "p": 0.0, "r": 2.0}, 0.99)
            values = {key: np.nan_to_num(column) for key, column in expected_of(rollout).items()}
            added = (0.1 * values["energy"] + 2.0 * values["rare"])[keep]
            assert np.allclose((shaped.reward - rollout.reward)[keep], added)
            assert row["shaping/total"] == pytest.approx(added.mean())
            assert (rollout.reward[keep] == 1.0).all()
            assert all(episode.raw_return == LENGTH for episode in rollout.episodes)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_vector_gives_the_same_info_values_in_every_autoreset_mode(mode: AutoresetMode):
    def make() -> Any:
        return SyncVectorEnv([Informative] * 3, autoreset_mode=mode)

    with closing(VectorBackend(make, "Informative", step_keys=KEYS)) as envs:
        envs.reset(range(3), range(3))
        ended = 0
        for t in range(20):
            ages = np.rint(envs.obs[:, 0] * LENGTH).astype(int) + 1
            action = np.array([t % 2, 0, 1])
            step = envs.step(action)
            real = np.ones(3, dtype=bool) if step.stepped is None else step.stepped
            energy = np.vectorize(energy_of)(ages, action)
            rare = np.where(ages % 3, np.nan, ages)
            found = np.stack([energy, 2 * energy, rare], -1)
            assert np.array_equal(step.info_values[real], found[real], equal_nan=True)
            over = np.flatnonzero(step.terminated | step.truncated).tolist()
            ended += len(over)
            envs.reset(over, over)
        assert ended >= 6


def test_envpool_info_values_are_read():
    pytest.importorskip("envpool")
    terms = {"shaping.lost": {"term": "info", "kwargs": {"key": "elapsed_step"}}}
    settings = {"env.backend": "envpool", "env.n_envs": 2, **terms}
    cfg = resolve("CartPole-v1", settings).config
    with closing(open_vector_collector(cfg)) as collector:
        collector.start_episodes()
        step = collector.envs.step(np.zeros(2, dtype=np.int64))
        assert step.info_values.tolist() == [[1.0], [1.0]]


@COPIES
@pytest.mark.parametrize(
    ("extra", "message"),
    [("far", r"'far' of type str"), ([1, 2], r"of type list"), ("nan", "of type float")],
)
def test_an_info_value_that_is_not_a_number_is_an_error_that_names_it(
    backend: str, extra: Any, message: str
):
    terms = {"shaping.odd": {"term": "info", "kwargs": {"key": "extra"}}}
    more = {"env.backend": backend, "env.kwargs": {"extra": extra}}
    with pytest.raises(EnvError, match=rf"Informative: info\['extra'\] is .*{message}"):
        practice(terms, **more).collect()


def test_a_missing_key_is_warned_about_once(caplog: pytest.LogCaptureFixture):
    terms = {"shaping.gone": {"term": "info", "kwargs": {"key": "nowhere"}}}
    trying = practice(terms, **{"algo.n_steps": PATIENCE // 3})
    with closing(trying.collector), caplog.at_level(logging.WARNING, "gymnast"):
        for _ in range(4):
            trying.learner.shaping(trying.collect(), {"gone": 1.0}, 0.99)
    warnings = [record.getMessage() for record in caplog.records if record.name == "gymnast"]
    assert len(warnings) == 1
    assert "info['nowhere']" in warnings[0]


def test_a_key_that_appears_late_causes_no_warning(caplog: pytest.LogCaptureFixture):
    terms = {"shaping.rare": {"term": "info", "kwargs": {"key": "rare"}}}
    trying = practice(terms, **{"algo.n_steps": PATIENCE})
    with closing(trying.collector), caplog.at_level(logging.WARNING, "gymnast"):
        trying.learner.shaping(trying.collect(), {"rare": 1.0}, 0.99)
    assert not [record for record in caplog.records if record.name == "gymnast"]


@pytest.mark.parametrize("kwargs", [{}, {"key": ""}, {"key": 3}])
def test_a_term_without_a_key_is_refused(kwargs: dict[str, Any]):
    with pytest.raises(InvalidConfig, match=r"shaping.x.kwargs.key: .* \(expected a key of"):
        resolve("CartPole-v1", {"shaping.x": {"term": "info", "kwargs": kwargs}})


def test_match_environments_refuse_info_terms():
    term = {"term": "info", "kwargs": {"key": "k"}}
    with pytest.raises(InvalidConfig, match=r"shaping: tag is a multi-agent environment"):
        resolve("tag", {"shaping.x": term})


def test_the_step_table_has_a_column_for_the_info_value():
    trying = practice()
    with closing(trying.collector):
        rollout = trying.collect()
    table = step_table(rollout, trying.learner.policy.head, trying.cfg.facts, None)
    assert np.allclose(table["info/energy"], expected_of(rollout)["energy"].T.ravel())


@COPIES
@pytest.mark.parametrize("algo", ["ppo", "reinforce"])
def test_a_run_with_info_terms_resumes_bit_for_bit(backend: str, algo: str):
    settings = {
        "env.backend": backend,
        "env.n_envs": 3,
        "env.workers": 2,
        "stop.env_steps": 6 * 48,
        "eval.every": "2 rollouts",
        "checkpoint.every": "2 rollouts",
        "checkpoint.keep": 20,
        "traces.train": "100%",
        "shaping.p": TERMS["shaping.p"],
        "shaping.e": {"term": "info", "kwargs": {"key": "energy"}, "weight": "0.1 -> 0.05"},
    }
    settings |= {"algo.n_steps": 16} if algo == "ppo" else {}
    quick = {key: value for key, value in QUICK.items() if algo == "ppo" or "algo" not in key}
    run = train(f"py:{ENV}", overrides=quick | settings, algo=algo, quiet=True)
    assert [row for row in rows(run) if "shaping/p" in row][-1]["shaping/p"] > 0
    early = sorted(checkpoint.list_checkpoints(run.path))[1]
    again = resume_run(copy_killed_at(run, early))
    assert_same_run(again, run)


def test_half_cheetah_rewards_are_the_sum_of_two_info_values():
    pytest.importorskip("mujoco")
    keys = {"f": "reward_forward", "c": "reward_ctrl"}
    terms = {f"shaping.{n}": {"term": "info", "kwargs": {"key": k}} for n, k in keys.items()}
    settings = {"env.n_envs": 2, "env.backend": "inprocess", **terms}
    cfg = resolve("HalfCheetah-v5", settings).config
    with closing(open_vector_collector(cfg)) as collector:
        collector.start_episodes()
        rng = np.random.default_rng(0)
        for _ in range(20):
            step = collector.envs.step(rng.uniform(-1, 1, (2, 6)).astype(np.float32))
            assert np.allclose(step.info_values.sum(-1), step.reward)
