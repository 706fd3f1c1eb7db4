"""A setting without effect for this environment, algorithm or network is reported, never ignored silently."""

from __future__ import annotations

from typing import Any

import pytest

from gymnast.config import presets
from gymnast.config.applies import Context, ineffective_settings
from gymnast.config.resolve import resolve
from gymnast.training.lifecycle.prepare import prepare
from tests.small_runs import resume_run, train_small, train_with_commands


def warnings(target: str, overrides: dict[str, Any], algo: str | None = None) -> list[str]:
    prepared = prepare(target, overrides, algo=algo)
    try:
        return [text for text in prepared.warnings() if "has no effect" in text]
    finally:
        prepared.collector.close()


@pytest.mark.parametrize(
    ("overrides", "where"),
    [
        ({"policy.cnn": "impala"}, "image observations"),
        ({"policy.precision": "bfloat16"}, "image observations"),
        ({"policy.squash": "on"}, "continuous actions"),
        ({"policy.log_std": -1}, "continuous actions"),
        ({"policy.embedding": 8}, "Discrete"),
        ({"policy.hidden": [], "policy.activation": "relu"}, "policy.hidden"),
        ({"policy.module_kwargs.width": 3}, "policy.module"),
        ({"env.image.size": [10, 10]}, "env.view=image"),
        ({"env.atari.noop_starts": 3}, "Atari"),
        ({"env.workers": 2}, "env.backend=process"),
        ({"env.on_fault": "stop", "env.max_faults": 2}, "env.on_fault=restart"),
        ({"env.noise.idle": 1}, "env.noise.delay"),
        ({"normalize.clip": 5}, "normalize.obs"),
        ({"eval.steps": 100, "eval.episodes": 3}, "eval.steps"),
        ({"eval.every": "off", "stop.plateau": 3}, "eval.every"),
        ({"traces.eval": "off", "traces.film": "on"}, None),
        ({"track.project": "mine"}, "wandb"),
        ({"transaction.max_kl": "off", "transaction.window": 3}, "transaction.max_kl"),
        ({"league.turn": 3}, "multi-agent"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_a_setting_without_effect_is_a_preflight_warning(
    overrides: dict[str, Any], where: str | None
):
    found = warnings("CartPole-v1", overrides)
    if where is None:  # a setting at its default is not reported
        assert found == []
        return
    start = f"{list(overrides)[-1]} has no effect: it applies only "
    (warning,) = [text for text in found if text.startswith(start)]
    assert where in warning


def test_settings_with_an_effect_are_not_listed():
    assert warnings("Pendulum-v1", {"policy.squash": "on", "policy.log_std": -1}) == []
    assert warnings("FrozenLake-v1", {"policy.embedding": 8}) == []
    assert warnings("CartPole-v1", {"env.backend": "process", "env.workers": 1}) == []
    assert warnings("tag", {"league.learning": "alternating", "league.turn": 3}) == []


@pytest.mark.parametrize(
    ("target", "backend", "has_effect"),
    [
        ("ALE/Pong-v5", "vector", True),  # threads of ALE
        ("ALE/Pong-v5", "process", True),
        ("ALE/Pong-v5", "inprocess", False),
        ("CartPole-v1", "vector", False),
    ],
)
def test_workers_are_processes_or_threads_of_ale(target: str, backend: str, has_effect: bool):
    config = resolve(target, {"env.backend": backend, "env.workers": 2}).config
    context = Context(
        config,
        has_images=False,
        has_vectors=True,
        has_embeddings=False,
        has_continuous_actions=False,
    )
    assert (ineffective_settings(["env.workers"], context) == []) is has_effect


def test_critic_settings_have_no_effect_for_algorithms_without_a_critic():
    given = {"algo.baseline": "batch", "algo.value_coef": 1, "normalize.value": "popart"}
    assert len(warnings("CartPole-v1", given, algo="reinforce")) == 2
    assert len(warnings("CartPole-v1", {"transaction.max_kl": 1}, algo="dqn")) == 1


def test_settings_of_a_role_are_checked_for_that_role():
    (warning,) = warnings("tag", {"roles.seeker.set": {"policy.cnn": "impala"}})
    assert warning.startswith("roles.seeker.set.policy.cnn has no effect")


def test_settings_inherited_by_a_variant_are_not_listed():
    assert "policy.activation" in resolve("ALE/Pong-v5:ppo").explicit_keys
    assert "policy.activation" not in resolve("ALE/Pong-v5:pixels").explicit_keys


@pytest.mark.parametrize(
    "name", [n for n in presets.all_presets() if not n.startswith(("ALE", "Vizdoom", "MinAtar"))]
)
def test_no_built_in_variant_has_a_setting_without_effect(name: str):
    for variant in presets.all_presets()[name].own_variants:
        assert warnings(f"{name}:{variant}", {}) == []


def test_settings_without_effect_are_recorded_at_the_start_on_live_changes_and_on_resume():
    settings = {"policy.squash": "on", "env.n_envs": 2, "algo.n_steps": 16, "eval.every": "off"}
    settings["stop.eval_return"] = "off"
    plan = {1: [("set", {"stop.plateau": 4})]}
    run = train_with_commands("CartPole-v1", settings | {"stop.rollouts": 3}, plan)
    found = [event for event in run.events() if event["kind"] == "setting without effect"]
    assert [event["key"] for event in found] == ["policy.squash", "stop.plateau"]
    assert "continuous actions" in found[0]["why"]
    resume_run(run, {"stop.rollouts": 4, "track.project": "mine", "traces.film": "off"})
    keys = [e["key"] for e in run.events() if e["kind"] == "setting without effect"]
    assert keys == ["policy.squash", "stop.plateau", "traces.film"]


def test_a_run_whose_settings_all_have_an_effect_has_no_such_event():
    run = train_small("CartPole-v1", {"env.n_envs": 2, "algo.n_steps": 16, "stop.rollouts": 1})
    assert not [event for event in run.events() if event["kind"] == "setting without effect"]
