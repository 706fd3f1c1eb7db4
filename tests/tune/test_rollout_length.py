"""`gymnast tune envs`: rollouts that hardly contain a reward get a command with longer ones."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from gymnast.cli.tune import _page
from gymnast.config.resolve import parse_assignment, resolve
from gymnast.tune.copies import (
    MAX_ROLLOUT,
    REWARDS_PER_ROLLOUT,
    _signal_text,
    longer_rollouts,
)
from gymnast.tune.record import ProbeResult, SpeedSample, TuningResult


def config(n_steps: int | str = 64, algo: str = "ppo") -> Any:
    settings = {"algo.n_steps": n_steps, "env.n_envs": 8, "algo.batch_size": "50%"}
    return resolve("CartPole-v1", settings, algo=algo).config


@pytest.mark.parametrize("between", [1.0, 7.3, 31.9, 32.1, 100.0, 900.0, 1024.0])
@pytest.mark.parametrize("n_steps", [8, 48, 64, 500])
def test_the_proposal_is_the_first_multiple_that_contains_enough_rewards(
    between: float, n_steps: int
):
    found = longer_rollouts(config(n_steps), between, {})
    fits = [n_steps * 2**k for k in range(12) if n_steps * 2**k >= REWARDS_PER_ROLLOUT * between]
    wanted = fits[0] if n_steps < fits[0] <= MAX_ROLLOUT else None
    assert found == ({} if wanted is None else {"algo": {"n_steps": wanted}})


def test_rewards_that_are_never_seen_or_too_rare_give_no_proposal():
    assert longer_rollouts(config(), None, {}) == {}
    assert longer_rollouts(config(), 1e5, {}) == {}


@pytest.mark.parametrize("algo", ["reinforce", "dqn"])
def test_algorithms_without_rollouts_of_fixed_length_get_none(algo: str):
    cfg = resolve("CartPole-v1", algo=algo).config
    assert longer_rollouts(cfg, 900.0, {}) == {}


def test_the_printed_command_has_the_fastest_backend_and_the_longer_rollout_and_is_valid():
    cfg = config(16)
    patch: dict[str, dict[str, int | str]]
    patch = {"env": {"n_envs": 16, "backend": "process"}, "algo": {"n_steps": 8}}
    longer = longer_rollouts(cfg, 50.0, patch)
    best = SpeedSample("process", 16)
    probe = ProbeResult(50.0, 100, 1.0)
    result = TuningResult("CartPole-v1:ppo", 2, (best,), best, probe, patch, longer, ())
    command = "\n".join(_page(result)).splitlines()[-1]
    words = [word for word in shlex.split(command)[3:] if word != "--set"]
    settings = dict(map(parse_assignment, words))
    assert settings == {"env.n_envs": 16, "env.backend": "process", "algo.n_steps": 128}
    resolve("CartPole-v1", settings)


def test_rewards_that_are_too_rare_for_longer_rollouts_are_reported_with_the_longest_one():
    rare, common = (_signal_text(ProbeResult(n, 4096, 1.0), 128) for n in (1370.0, 89.0))
    assert rare == (
        "1,370 steps between informative rewards (random actions, 4,096 steps): a rollout of 128 steps"
        " contains 0.09 of them; even one of 2,048 steps would contain 1.49"
    )
    assert common.endswith("a rollout of 128 steps contains 1.44 of them")
