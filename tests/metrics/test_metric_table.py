"""The metric table: complete declarations, and formatted values."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import ClassVar

import pytest

from gymnast.clock import CLOCKS
from gymnast.config.config import CONFIGS, Config
from gymnast.config.schedule import Schedule
from gymnast.config.section import AlgoSection
from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.metric import MetricConfig
from gymnast.config.sections.ppo import PPOConfig
from gymnast.errors import ConfigError
from gymnast.metrics.explain import catalog
from gymnast.metrics.metric import ANY, Dimension, Limits, Metric
from gymnast.metrics.specs import (
    METRICS,
    SECTIONS,
    metric_for_key,
    run_metrics,
    section,
    sort_keys,
    split_key,
)

KNOWN = Limits(
    n_actions=4,
    obs_low=-1.0,
    obs_high=3.0,
    reward=(-1.0, 1.0),
    returns=(0.0, 500.0),
    episode_steps=500,
    epochs=4,
)
EVERY = pytest.mark.parametrize("metric", catalog().values(), ids=lambda m: m.name)


@EVERY
def test_every_metric_states_its_bounds_or_why_it_has_none(metric: Metric):
    if metric.bounds is None:
        assert len(metric.no_bounds_reason) > 10
        return
    if callable(metric.bounds):
        assert metric.bounds.__doc__, "its bounds have no description"
        assert metric.bounds_for(KNOWN) != ANY
    if metric.bounds_for(Limits()) == ANY:
        assert metric.no_bounds_reason, "gives no reason for tasks where its bounds are open"
    low, high = metric.bounds_for(KNOWN)
    assert low < high


@EVERY
def test_every_metric_has_description_section_and_priority(metric: Metric):
    assert metric.description.endswith(".")
    assert metric.section in SECTIONS
    assert metric.label
    assert metric.window
    assert 1 <= metric.priority <= 9


@EVERY
def test_every_healthy_range_lies_within_bounds_and_comes_with_advice(metric: Metric):
    low, high = metric.healthy_for(KNOWN)
    least, most = metric.bounds_for(KNOWN)
    assert low < high
    assert low == -math.inf or low <= least or metric.if_low
    assert high == math.inf or high >= most or metric.if_high


def test_every_clock_is_a_metric():
    assert {f"clock/{clock}" for clock in CLOCKS} <= set(METRICS)


def test_metrics_that_read_a_wall_clock_are_not_exact():
    for metric in METRICS.values():
        timed = metric.section in ("time", "speed", "system") or metric.name == "clock/seconds"
        if timed:
            assert not metric.exact, metric.name


def test_entropy_of_n_discrete_actions_is_at_most_ln_n():
    assert METRICS["policy/entropy"].bounds_for(Limits(n_actions=6)) == (0.0, math.log(6))
    assert METRICS["policy/entropy"].bounds_for(Limits(action_low=-1, action_high=1)) == ANY


def test_bounds_follow_spaces_and_facts():
    def bounds(name: str, **limits):
        return METRICS[name].bounds_for(Limits(**limits))

    assert bounds("rollout/action_mean", n_actions=3) == (0, 2)
    assert bounds("rollout/action_mean", action_low=-2.0, action_high=2.0) == (-2, 2)
    assert bounds("rollout/action_std", action_low=-2.0, action_high=2.0) == (0, 2)
    assert bounds("rollout/reward_max", reward=(-16.3, 0.0)) == (-16.3, 0)
    assert bounds("episode/return", returns=(0.0, 1.0)) == (0, 1)
    assert bounds("episode/length", episode_steps=200) == (1, 200)
    assert bounds("rollout/obs_mean", obs_low=-math.inf, obs_high=math.inf) == ANY


def test_joined_limits_hold_for_both_roles():
    wide = Limits(
        n_actions=4,
        obs_low=-2.0,
        obs_high=1.0,
        entropy=1.0,
        action_labels=("up", "down", "fire"),
        obs_dims=(Dimension("x", -2.0, 0.0), Dimension("y", 0.0, 1.0)),
    )
    narrow = Limits(
        n_actions=3,
        obs_low=-1.0,
        obs_high=3.0,
        action_labels=("up", "left"),
        obs_dims=(Dimension("x", -1.0, 3.0),),
    )
    for joined in (wide.joined(narrow), narrow.joined(wide)):
        assert (joined.obs_low, joined.obs_high) == (-2.0, 3.0)
        assert joined.obs_dims == (Dimension("x", -2.0, 3.0), Dimension("y", 0.0, 1.0))
        assert joined.action_labels == ("up", "", "")
        # unknown for one of them, or different, so unknown for both
        assert (joined.entropy, joined.action_low, joined.n_actions) == (None, None, None)
    assert wide.joined(wide) == wide


def test_split_separates_scopes_from_the_metric_name():
    assert split_key("policy/entropy") == ((), "policy/entropy")
    assert split_key("eval:episode/return") == (("eval",), "episode/return")
    assert split_key("eval/seeker:episode/return") == (("eval", "seeker"), "episode/return")
    assert metric_for_key("eval/seeker:episode/return") is METRICS["episode/return"]
    assert section("eval/seeker:episode/return") == "eval/seeker"


def test_keys_are_ordered_by_section_then_priority():
    keys = [
        "system/memory",
        "policy/loss",
        "eval:episode/return",
        "policy/entropy",
        "episode/length",
    ]
    assert sort_keys(keys) == [
        "episode/length", "eval:episode/return", "policy/entropy", "policy/loss", "system/memory"
    ]  # fmt: skip


def config(**more) -> Config:
    sections = {"env": {"id": "CartPole-v1"}, "algo": {}, "stop": {"env_steps": 1000}}
    return CONFIGS["ppo"].model_validate({**sections, **more})


def test_declared_adds_a_hyper_metric_per_scheduled_field_with_its_docstring():
    metrics = run_metrics(config(), KNOWN)
    assert metrics["hyper/clip"].description == PPOConfig.field_docs()["clip"]
    assert "hyper/value_clip" in metrics, "a schedule that is off may be switched on"
    assert "hyper/gamma" in metrics, "a constant may become a schedule"
    assert "hyper/value_loss" not in metrics
    assert metrics["policy/entropy"].bounds == (0.0, math.log(4))


def test_a_preset_declares_its_own_metrics():
    success = MetricConfig(source="success", description="Goal reached.", better="higher")
    metric = run_metrics(config(metrics={"env/success": success}))["env/success"]
    assert (metric.description, metric.better) == ("Goal reached.", "higher")


@pytest.mark.parametrize("name", ["policy/entropy", "hyper/lr"])
def test_declaring_a_name_twice_is_an_error(name: str):
    with pytest.raises(ConfigError, match=f"'{name}' is declared twice"):
        run_metrics(config(metrics={name: MetricConfig(source="x", description="Mine.")}))


@pytest.mark.parametrize("name", ["success", "eval:env/success", "env/"])
def test_a_metric_of_a_preset_must_be_named_family_slash_name(name: str):
    with pytest.raises(ConfigError, match="family/name"):
        run_metrics(config(metrics={name: MetricConfig(source="x", description="Mine.")}))


def test_an_algorithm_declares_its_own_metrics_in_its_config_section():
    class Own(AlgoSection):
        name: str = "own"
        METRICS: ClassVar = {"own/novelty": {"description": "Mean bonus.", "bounds": (0, 1)}}
        speed: Schedule = Schedule.parse("0.1")

    env = EnvConfig(id="CartPole-v1")
    metrics = run_metrics(SimpleNamespace(algo=Own(), metrics={}, shaping={}, env=env))
    assert metrics["own/novelty"].bounds == (0, 1)
    assert "hyper/speed" in metrics


@pytest.mark.parametrize(
    ("unit", "digits", "value", "text"),
    [
        ("", 4, 5e-4, "0.0005"),
        ("", 4, 2.5e-5, "2.5e-05"),
        ("", 2, 0.0, "0.00"),
        ("", 2, -0.0, "0.00"),
        ("", 0, 71680.0, "71,680"),
        ("", 0, 4.0, "4"),
        ("nats", 3, 0.6931, "0.693 nats"),
        ("share", 1, 0.1234, "12.3%"),
        ("s", 1, 8.25, "8.2 s"),
        ("s", 1, 200.0, "3 min 20 s"),
        ("", 2, math.nan, "nan"),
        ("s", 2, math.inf, "inf s"),
        ("", 2, 5e-324, "4.94e-324"),
        ("", 2, 1e300, "1.00e+300"),
    ],
)
def test_format_rounds_but_never_displays_zero_for_a_nonzero_value(unit, digits, value, text):
    assert Metric("a/b", "X.", unit=unit, digits=digits).format(value) == text


@pytest.mark.parametrize("value", [1.84e-28, 1e-12, 9e-6, -1e-9])
def test_a_tiny_share_has_no_exponent(value: float):
    text = Metric("a/b", "", unit="share", digits=1).format(value)
    assert text == ("<0.001%" if value > 0 else ">-0.001%")


def test_a_change_is_formatted_with_the_digits_of_the_value():
    metric = Metric("a/b", "X.", digits=2)
    assert metric.format_change(1.5, 201.0) == "+1.50"
    assert metric.format_change(-0.001, 201.0) == ""
    assert metric.format_change(-1e-5, 3e-5) == "-1.00e-05"


def test_an_improvement_is_a_change_in_the_better_direction():
    assert METRICS["value/loss"].is_improvement(+1.0) is False
    assert METRICS["value/loss"].is_improvement(-1.0) is True
    assert METRICS["episode/return"].is_improvement(+1.0) is True
    assert METRICS["policy/entropy"].is_improvement(+1.0) is None
    assert METRICS["episode/return"].is_improvement(0.0) is None
