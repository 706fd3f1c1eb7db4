"""Every config key, given wrong types, extreme values and values without effect, the way a user gives
them: a clear error or a warning, never a traceback, never silence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gymnast.config.applies import Applies
from gymnast.config.config import CONFIGS
from gymnast.config.resolve import parse_assignment, resolve
from gymnast.config.section import Section
from gymnast.config.serialize import flat_values, load, save
from gymnast.errors import GymnastError
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.lifecycle.start import validate_before_start
from gymnast.training.lifecycle.summary import preflight_text

NAMES = {
    "shaping": "count",
    "rules": "slower",
    "roles": "seeker",
    "metrics": "env/mine",
    "env.tasks": "easy",
    "env.randomize": "gravity",
}
"""Name of the entry in every mapping with user-chosen names."""
VALUES = (
    *("-1", "0", "1", "2", "-0", "0.5", "1e-300", "1e18", "1e30", "1e308", "1e400", "-1e400"),
    *("99999999999999999999", "nan", ".nan", "inf", "-.inf", "1k", "5%", "-5%", "200%", "1e400%"),
    *("", "''", "{}", "[]", "null", "~", "true", "false", "on", "off", "auto", "nonsense"),
    *(
        "[1, 2]",
        "[nonsense]",
        "[[]]",
        "[0, 0]",
        "[-1, 2, 3, 4]",
        "[1e18]",
        "{a: 1}",
        "{0%: 1, 100%: off}",
    ),
    *("1 -> 0", "1 -> ", "-> 1", "1 -> 0 clock days", "1e400 -> 0", "1 -> nan", "1 warmup 5%"),
    *("10 minutes", "0 rollouts", "1e400 seconds", "5 %%", "ünïcödé ☃", "\\x00", "x" * 300, "{"),
    *("uniform(1, 0)", "normal(0, -1)", "py:nowhere:Nothing", "a:b", "2020-01-01", "0x10", "1_000"),
)
"""Values as typed after `KEY=`."""

QUICK = {"env.n_envs": 2, "facts.deterministic": "yes"}
"""Settings that make creating the environments fast."""


def keys_of(section: type[Section], path: str = "") -> Iterator[str]:
    """Yields every dotted key of a section, sections included, with one entry in each open mapping."""
    for name, field in section.model_fields.items():
        key, kind = f"{path}{name}", field.annotation
        yield key
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from keys_of(kind, f"{key}.")
        elif get_origin(kind) is dict:
            entry = f"{key}.{NAMES.get(key, 'anything')}"
            yield entry
            inner = get_args(kind)[1]
            if isinstance(inner, type) and issubclass(inner, Section):
                yield from keys_of(inner, f"{entry}.")


KEYS = {name: list(keys_of(config)) for name, config in CONFIGS.items()}
OF_ALGORITHMS = [(name, key) for name in KEYS for key in KEYS[name] if key.startswith("algo")]
OF_ALL = [("ppo", key) for key in KEYS["ppo"] if not key.startswith("algo")]


def try_setting(algo: str, key: str, written: str) -> str:
    """Returns the output of `gymnast train CartPole-v1 --algo ALGO --set KEY=VALUE --dry-run`."""
    try:
        name, value = parse_assignment(f"{key}={written}")
        prepared = prepare("CartPole-v1", QUICK | {name: value}, algo)
    except GymnastError as refused:
        return _checked(str(refused))
    cfg = prepared.resolved.config
    with closing(prepared.collector):
        assert load(save(cfg)) == cfg
        # a silent failure would be: not rejected, and not among the settings that are printed
        reported = [
            k for k in prepared.resolved.explicit_keys if k == key or k.startswith(f"{key}.")
        ]
        assert reported, f"{key}={written} is ignored"
        try:
            validate_before_start(cfg, prepared.collector, None)
            return preflight_text(prepared.preflight())
        except GymnastError as refused:
            return _checked(str(refused))


def _checked(message: str) -> str:
    assert len(message) > 10
    assert "Traceback" not in message
    assert "validation error" not in message.lower()
    assert "pydantic" not in message
    return message


KEYS_OF_CONFIGS = [*OF_ALL, *OF_ALGORITHMS]


@pytest.mark.slow
def test_every_key_rejects_or_reports_some_values_of_every_kind():
    for number, (algo, key) in enumerate(KEYS_OF_CONFIGS):
        for written in VALUES[number % 19 :: 19]:  # different values for every key
            try_setting(algo, key, written)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(KEYS_OF_CONFIGS),
    st.sampled_from(VALUES)
    | st.integers().map(str)
    | st.floats().map(str)
    | st.text(st.characters(codec="utf-8"), max_size=20)
    | st.lists(st.floats().map(str) | st.text("abc-> ,:{}%", max_size=5), max_size=4).map(str),
)
def test_any_value_of_any_key_is_rejected_or_reported(which: tuple[str, str], written: str):
    try_setting(*which, written)


@pytest.mark.slow
@pytest.mark.parametrize(("algo", "key"), KEYS_OF_CONFIGS, ids="-".join)
def test_every_key_rejects_or_reports_every_value(algo: str, key: str):
    for written in VALUES:
        try_setting(algo, key, written)


APPLY_TO_CARTPOLE = {
    *("policy.hidden", "policy.activation", "policy.shared", "policy.layer_norm", "policy.memory"),
    *("normalize.obs", "normalize.value", "env.max_faults", "traces.film", "traces.trajectories"),
    *("eval.episodes", "eval.warmup", "eval.start_at", "eval.wait"),
    *("stop.solved", "stop.eval_return", "stop.plateau", "collect.inference"),
    *("transaction.max_kl", "transaction.kl_factor", "transaction.window"),
}
"""Conditional keys that do have an effect on CartPole with PPO."""


def conditional_keys(section: type[Section], path: str = "", *, inside: bool = False) -> set[str]:
    """Returns the keys that declare where they apply, or whose section does."""
    found: set[str] = set()
    for name, field in section.model_fields.items():
        applies = inside or any(isinstance(one, Applies) for one in field.metadata)
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            found |= conditional_keys(field.annotation, f"{path}{name}.", inside=applies)
        elif applies and get_origin(field.annotation) is not dict:
            found.add(f"{path}{name}")
    return found


@pytest.mark.slow
def test_a_value_without_effect_is_a_warning_whatever_the_key():
    """Tries the first accepted value other than the default."""
    default = flat_values(resolve("CartPole-v1", QUICK).config)
    warned: dict[str, bool] = {}
    for key in sorted(conditional_keys(CONFIGS["ppo"])):
        for written in ("on", "1", "2", "[2, 2]", "[1%, 99%]", "[1, 1, 1, 1]", "5%", *LITERALS):
            with suppress(GymnastError):
                assignment = dict([parse_assignment(f"{key}={written}")])
                if (
                    flat_values(resolve("CartPole-v1", QUICK | assignment).config)[key]
                    == default[key]
                ):
                    continue
                warned[key] = f"{key} has no effect" in try_setting("ppo", key, written)
                break
    assert {key for key, is_warned in warned.items() if not is_warned} <= APPLY_TO_CARTPOLE
    assert warned.keys() == conditional_keys(CONFIGS["ppo"])
    assert sum(warned.values()) > 30


LITERALS = (
    *("relu", "impala", "bfloat16", "first", "rgb", "life", "offline", "alternating", "recent"),
    *("running", "popart", "off", "[alone]", "[weak]", "2 rollouts", "gru:8", "central"),
)


@pytest.mark.parametrize(
    ("algo", "setting", "problem"),
    [
        ("ppo", {"policy.hidden": [65_536, 65_536]}, "parameters needs"),
        ("ppo", {"algo.n_steps": 10**12, "stop.env_steps": 10**15}, "a rollout of"),
        ("ppo", {"algo.n_steps": "16 -> 1e12", "stop.env_steps": 10**15}, "a rollout of"),
        ("dqn", {"algo.replay": 10**15}, "a replay of"),
    ],
)
def test_settings_that_exceed_the_memory_are_rejected_before_a_run_is_created(
    algo: str, setting: dict[str, Any], problem: str
):
    prepared = prepare("CartPole-v1", QUICK | setting, algo)
    with closing(prepared.collector), pytest.raises(GymnastError, match=problem):
        validate_before_start(prepared.resolved.config, prepared.collector, None)
