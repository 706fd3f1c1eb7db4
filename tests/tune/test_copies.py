"""`gymnast tune envs`: measured for real, chosen by rules that do not depend on the machine."""

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
    best_of,
    look,
    per_copy,
    steps_between_rewards,
    tune_copies,
)
from gymnast.tune.sampling import Sample


def invoke(*words: str) -> Any:
    return CliRunner().invoke(tune, ["envs", *words], standalone_mode=False)


def measured(backend: str, n: int, speed: float, cpu: float = 1.0, restores: bool = True) -> Sample:
    return Sample(backend, n, speed, cpu, restores=restores)


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    words = ("CartPole-v1", "--copies", "2", "--seconds", "0.2", "--json")
    return json.loads(invoke(*words).stdout)


def test_every_backend_is_measured_with_every_number_of_copies_and_those_configured(answer):
    cells = [(one["backend"], one["n_envs"]) for one in answer["samples"]]
    assert cells == [(backend, n) for backend in BACKENDS for n in (2, 16)]
    for one in answer["samples"]:
        assert one["refused"] or (one["per_second"] > 0 and one["per_cpu_second"] > 0)
        assert one["refused"] or 0 < one["env_share"] < 1
    restoring = {one["backend"]: one["restores"] for one in answer["samples"]}
    assert restoring["inprocess"]
    assert not restoring["vector"]


def test_the_best_restores_episodes_and_is_what_the_patch_says(answer):
    best = answer["best"]
    assert best["restores"]
    assert answer["patch"]["env"] == {"n_envs": best["n_envs"], "backend": best["backend"]}
    overrides = {f"env.{key}": value for key, value in answer["patch"]["env"].items()}
    assert resolve("CartPole-v1", overrides).config.env.n_envs == best["n_envs"]


def test_the_page_has_a_patch_to_paste_and_a_command_to_type():
    page = invoke("FrozenLake-v1", "--copies", "2", "--backends", "inprocess", "--seconds", "0.1")
    text = page.stdout
    (patch,) = re.findall(r"for a preset:\n\n(.*?)\n\nor on", text, re.S)
    assert Source.read(patch).data["env"]["backend"] == "inprocess"
    assert "gymnast train FrozenLake-v1:ppo --set env.n_envs=" in text
    assert "<- best" in text
    assert "diversity" in text


def test_a_backend_that_cannot_be_had_is_named_once_with_its_reason():
    cfg = resolve("py:tests.scripted:Script").config
    found = tune_copies("script", cfg, backends=["inprocess", "vector"], copies=[2], seconds=0.1)
    refused = [one for one in found.samples if one.refused]
    assert [one.backend for one in refused] == ["vector"]
    assert "no vector implementation" in refused[0].refused
    assert found.best is not None
    assert found.best.backend == "inprocess"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["CartPole-v1", "--backends", "thread"], "unknown backend thread"),
        (["CartPole-v1", "--copies", "4,x"], "no numbers of copies"),
        (["CartPol-v1"], "did you mean CartPole-v1"),
    ],
)
def test_a_mistake_is_refused_with_a_hint(words: list[str], said: str):
    assert said in str(invoke(*words).exception)


def test_the_fewest_copies_that_are_as_fast_win_and_less_cpu_breaks_ties():
    samples = [
        measured("inprocess", 4, 50),
        measured("inprocess", 8, 98),
        measured("process", 8, 99, cpu=0.5),
        measured("inprocess", 32, 100),
    ]
    assert best_of(samples) == samples[1]
    assert best_of(samples, ("inprocess", 32)) == samples[3]  # no change without a gain
    assert best_of(samples, ("inprocess", 4)) == samples[1]


def test_what_cannot_restore_episodes_is_chosen_only_where_nothing_else_can_be_had():
    fast, slow = measured("vector", 8, 300, restores=False), measured("inprocess", 8, 100)
    assert best_of([fast, slow]) == slow
    assert best_of([fast, Sample("inprocess", 8, refused="no")]) == fast
    assert best_of([Sample("inprocess", 8, refused="no")]) is None


def test_a_reward_tells_something_where_it_is_not_the_commonest_or_ends_the_episode():
    reward, never = np.full((100, 4), -1.0), np.zeros((100, 4), dtype=bool)
    assert steps_between_rewards(reward, never) is None
    reward[9::10] = 0.0
    assert steps_between_rewards(reward, never) == 10
    ends = never.copy()
    ends[4::10] = True
    assert steps_between_rewards(reward, ends) == 5
    assert steps_between_rewards(np.random.default_rng(0).normal(size=(100, 4)), never) < 1.01


@pytest.mark.parametrize("algo", ["ppo", "a2c", "reinforce", "dqn"])
def test_an_update_learns_from_as_much_whatever_the_number_of_copies(algo: str):
    cfg = resolve("CartPole-v1", {"env.n_envs": 8}, algo=algo).config
    before = per_copy(cfg, 8)
    assert before is not None
    assert before[1] == getattr(cfg.algo, before[0])
    for n_envs in (1, 2, 4):
        assert per_copy(cfg, n_envs) == (before[0], before[1] * 8 // n_envs)
    assert per_copy(cfg, 8 * before[1] + 1) is None, "not divisible"


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


def test_copies_of_an_environment_with_one_start_and_no_luck_are_alike_until_actions_differ():
    chain = look(resolve("py:tests.scripted:Chain").config)  # the same, whatever is done
    assert chain.diversity == 0
    assert chain.between == pytest.approx(5, abs=0.1)  # only its end tells anything
    choose = look(resolve("py:tests.scripted:Choose").config)
    assert choose.diversity == pytest.approx(1, abs=0.05)
