"""`gymnast tune envs`: real measurements, and the machine-independent rules that choose the best."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gymnast.cli.tune import tune
from gymnast.config.resolve import resolve
from gymnast.config.source import Source
from gymnast.tune.copies import (
    BACKENDS,
    amount_per_copy,
    best_sample,
    probe_env,
    steps_between_rewards,
    tune_copies,
)
from gymnast.tune.sampling import SpeedSample

pytestmark = pytest.mark.slow


def invoke(*words: str) -> Any:
    return CliRunner().invoke(tune, ["envs", *words], standalone_mode=False)


def measured(
    backend: str, n: int, speed: float, cpu: float = 1.0, restores: bool = True
) -> SpeedSample:
    return SpeedSample(backend, n, speed, cpu, restores=restores)


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    words = ("CartPole-v1", "--copies", "2", "--seconds", "0.2", "--json")
    return json.loads(invoke(*words).stdout)


def test_every_backend_is_measured_with_every_number_of_copies_and_the_configured_one(answer):
    cells = [(one["backend"], one["n_envs"]) for one in answer["samples"]]
    assert cells == [(backend, n) for backend in BACKENDS for n in (2, 16)]
    for one in answer["samples"]:
        assert one["refused"] or (one["per_second"] > 0 and one["per_cpu_second"] > 0)
        assert one["refused"] or 0 < one["env_share"] < 1
    restoring = {one["backend"]: one["restores"] for one in answer["samples"]}
    assert restoring["inprocess"]
    assert not restoring["vector"]


def test_the_best_sample_restores_episodes_and_is_in_the_patch(answer):
    best = answer["best"]
    assert best["restores"]
    assert answer["patch"]["env"] == {"n_envs": best["n_envs"], "backend": best["backend"]}
    overrides = {f"env.{key}": value for key, value in answer["patch"]["env"].items()}
    assert resolve("CartPole-v1", overrides).config.env.n_envs == best["n_envs"]


def test_the_output_has_a_patch_for_a_preset_and_a_command():
    page = invoke("FrozenLake-v1", "--copies", "2", "--backends", "inprocess", "--seconds", "0.1")
    text = page.stdout
    (patch,) = re.findall(r"for a preset:\n\n(.*?)\n\nor on", text, re.S)
    assert Source.parse(patch).data["env"]["backend"] == "inprocess"
    assert "gymnast train FrozenLake-v1:ppo --set env.n_envs=" in text
    assert "<- best" in text
    assert "diversity" in text


def test_an_unavailable_backend_is_reported_once_with_its_reason():
    cfg = resolve("py:tests.scripted:Script").config
    found = tune_copies("script", cfg, backends=["inprocess", "vector"], copies=[2], seconds=0.1)
    rejected = [one for one in found.samples if one.refused]
    assert [one.backend for one in rejected] == ["vector"]
    assert "no vector implementation" in rejected[0].refused
    assert found.best is not None
    assert found.best.backend == "inprocess"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["CartPole-v1", "--backends", "thread"], "unknown backend thread"),
        (["CartPole-v1", "--copies", "4,x"], "is not a list of numbers"),
        (["CartPol-v1"], "did you mean CartPole-v1"),
    ],
)
def test_invalid_arguments_are_rejected_with_a_hint(words: list[str], message: str):
    assert message in str(invoke(*words).exception)


def test_the_best_of_equally_fast_samples_has_the_fewest_copies_and_the_least_cpu():
    samples = [
        measured("inprocess", 4, 50),
        measured("inprocess", 8, 98),
        measured("process", 8, 99, cpu=0.5),
        measured("inprocess", 32, 100),
    ]
    assert best_sample(samples) == samples[1]
    assert best_sample(samples, ("inprocess", 32)) == samples[3]  # no change without a gain
    assert best_sample(samples, ("inprocess", 4)) == samples[1]


def test_a_backend_that_cannot_restore_episodes_is_chosen_only_if_there_is_no_other():
    fast, slow = measured("vector", 8, 300, restores=False), measured("inprocess", 8, 100)
    assert best_sample([fast, slow]) == slow
    assert best_sample([fast, SpeedSample("inprocess", 8, refused="no")]) == fast
    assert best_sample([SpeedSample("inprocess", 8, refused="no")]) is None


def test_rewards_are_informative_if_uncommon_or_at_a_termination():
    reward, never = np.full((100, 4), -1.0), np.zeros((100, 4), dtype=bool)
    assert steps_between_rewards(reward, never) is None
    reward[9::10] = 0.0
    assert steps_between_rewards(reward, never) == 10
    ends = never.copy()
    ends[4::10] = True
    assert steps_between_rewards(reward, ends) == 5
    assert steps_between_rewards(np.random.default_rng(0).normal(size=(100, 4)), never) < 1.01


@pytest.mark.parametrize("algo", ["ppo", "a2c", "reinforce", "dqn"])
def test_the_data_per_update_does_not_depend_on_the_number_of_copies(algo: str):
    cfg = resolve("CartPole-v1", {"env.n_envs": 8}, algo=algo).config
    before = amount_per_copy(cfg, 8)
    assert before is not None
    assert before[1] == getattr(cfg.algo, before[0])
    for n_envs in (1, 2, 4):
        assert amount_per_copy(cfg, n_envs) == (before[0], before[1] * 8 // n_envs)
    assert amount_per_copy(cfg, 8 * before[1] + 1) is None, "not divisible"


@pytest.mark.parametrize("env", ["Acrobot-v1", "CartPole-v1"])
def test_the_patch_does_not_change_the_size_of_a_rollout(env: str):
    cfg = resolve(env).config
    fewer = cfg.env.n_envs // 4
    found = tune_copies(env, cfg, backends=["inprocess"], copies=[fewer, 7], seconds=0.05)
    assert found.best is not None
    assert found.best.n_envs in (fewer, cfg.env.n_envs), "7 copies do not divide the rollout"
    after = resolve(
        env, {f"{s}.{k}": v for s, part in found.patch.items() for k, v in part.items()}
    )
    assert _rollout(after.config) == _rollout(cfg)


def _rollout(cfg: Any) -> int:
    return cfg.env.n_envs * cfg.algo.n_steps


def test_diversity_is_0_in_a_deterministic_environment_until_actions_matter():
    chain = probe_env(resolve("py:tests.scripted:Chain").config)  # the same for all actions
    assert chain.diversity == 0
    assert chain.between == pytest.approx(5, abs=0.1)  # only its termination is informative
    choose = probe_env(resolve("py:tests.scripted:Choose").config)
    assert choose.diversity == pytest.approx(1, abs=0.05)
