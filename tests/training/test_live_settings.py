"""Every setting declared live is read at every rollout, by every algorithm."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from gymnast.config.live import (
    apply_assignments,
    live_keys,
    overridden_live_keys,
    with_live_changes,
)
from gymnast.config.resolve import resolve
from gymnast.config.sections import ALGORITHMS
from gymnast.config.serialize import flat_values as plain_values
from gymnast.errors import ConfigError
from gymnast.training.live.settings import Schedules
from gymnast.training.python_api import train
from tests.small_runs import SMALL


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_live_setting_of_an_algorithm_is_read_at_every_rollout(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    section, _ = ALGORITHMS[name]
    read: set[str] = set()
    real = Schedules.hyperparameters

    def watched(self: Schedules, clock: Any) -> Any:
        values = real(self, clock)

        class Watched(type(values)):  # type: ignore[misc]
            def __getattribute__(self, field: str) -> Any:
                read.add(field)
                return super().__getattribute__(field)

        return Watched(**asdict(values))

    monkeypatch.setattr(Schedules, "hyperparameters", watched)
    settings = {key: value for key, value in SMALL.items() if not key.startswith("algo.")}
    settings |= {"stop.rollouts": 1, "eval.every": "off", "policy.hidden": [16]}
    if "warmup" in section.model_fields:
        settings["algo.warmup"] = 8  # learning begins in the first rollout
    train("CartPole-v1", algo=name, overrides=settings, quiet=True)
    assert {*section.LIVE, *section.schedulable_fields()} <= read


def test_hyperparameters_are_resolved_once_per_rollout(monkeypatch: pytest.MonkeyPatch):
    real, clocks = Schedules.hyperparameters, []

    def counted(self: Schedules, clock: Any) -> Any:
        clocks.append(clock.rollouts)
        return real(self, clock)

    monkeypatch.setattr(Schedules, "hyperparameters", counted)
    settings = SMALL | {"stop.rollouts": 3, "eval.every": "off", "checkpoint.every": "1 rollouts"}
    train("CartPole-v1", overrides=settings, quiet=True)
    assert clocks == [0, 1, 2]


def test_every_field_declared_live_exists():
    config = resolve("CartPole-v1").config
    for _, section in config:
        for field in getattr(section, "LIVE", ()):
            assert field in type(section).model_fields, (type(section), field)
    keys = live_keys(config)
    assert {"algo.lr", "algo.epochs", "stop.env_steps", "eval.every"} <= {*keys}
    assert not {"seed", "env.n_envs", "algo.name", "algo.replay", "policy.hidden"} & {*keys}


@pytest.mark.parametrize(
    ("assignments", "said"),
    [
        ({"algo.lrr": 1}, "did you mean algo.lr"),
        ({"algo.lr": "fast"}, "algo.lr"),
        ({"algo.lr": -1}, "algo.lr"),
        ({"algo.lr": float("nan")}, "algo.lr"),
        ({"seed": 3}, "seed cannot change"),
        ({"normalize.clip": 5.0}, "normalize.clip cannot change"),
        ({"algo": {"lr": 1e-4}}, "algo"),
        ({"algo.batch_size": 1_000_000}, "more than a rollout holds"),
        ({"algo.lr": 1e-4, "env.id": "Taxi-v4"}, "env.id cannot change"),
    ],
)
def test_a_fixed_setting_is_refused_by_name(assignments: dict[str, Any], said: str):
    with pytest.raises(ConfigError, match=said):
        apply_assignments(resolve("CartPole-v1").config, assignments)


def test_a_live_change_is_validated_like_set_and_can_be_applied_to_another_config():
    config = resolve("CartPole-v1").config
    after = apply_assignments(config, {"stop.minutes": 5})
    assert after.stop.limits() == {"seconds": 300}, "a budget replaces the others"
    before, now = plain_values(config), plain_values(after)
    live = {key: now[key] for key in now if now[key] != before[key]}
    assert with_live_changes(config, live) == after
    assert with_live_changes(config, {}) is config
    assert overridden_live_keys(["stop.env_steps"]) >= live.keys()
    assert overridden_live_keys(["algo.lr"]) == {"algo.lr"}
