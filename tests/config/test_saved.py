from __future__ import annotations

import pickle
import string

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import configs

from gymnast.config.config import CONFIGS
from gymnast.config.fmt import format_config
from gymnast.config.numbers import Share
from gymnast.config.resolve import diff, load, resolve, save
from gymnast.errors import ConfigError


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(configs)
def test_a_config_survives_a_round_trip_through_the_stored_yaml(data):
    config = CONFIGS["ppo"].model_validate(data)
    text = save(config)
    assert load(text) == config
    assert save(load(text)) == text
    assert format_config(text) == text


@pytest.mark.parametrize("sign", string.punctuation)
def test_text_that_begins_with_a_sign_of_yaml_is_stored_as_text(sign: str):
    texts = [f"{sign}b", f"{sign} b", sign]
    given = {"a": [dict.fromkeys(texts, 1), texts, {"c": sign}], sign: {f"{sign}b": texts}}
    config = resolve("CartPole-v1", {"env.kwargs": given}).config
    assert load(save(config)).env.kwargs == given


def test_a_config_survives_pickling_into_another_process():
    config = resolve("CartPole-v1").config
    assert pickle.loads(pickle.dumps(config)) == config


def test_schedules_survive_saving_and_revising():  # trap 18
    config = resolve("CartPole-v1", {"algo.entropy_coef": {"0%": 0.02, "30%": 0.01, "100%": 0}})
    stored = load(save(config.config))
    assert stored.algo.lr == config.config.algo.lr
    assert str(stored.algo.lr) == "0.001 -> 0"
    assert str(stored.algo.entropy_coef) == "{0%: 0.02, 30%: 0.01, 100%: 0}"


def test_a_batch_of_the_whole_rollout_does_not_come_back_as_a_batch_of_one():  # trap 37
    whole = resolve("CartPole-v1", {"algo.batch_size": "100%"}).config
    assert isinstance(load(save(whole)).algo.batch_size, Share)
    one = resolve("CartPole-v1", {"algo.batch_size": 1, "algo.advantage_norm": "off"}).config
    assert load(save(one)).initial_hyperparameters().minibatch_size(256) == 1


def test_mistakes_in_a_stored_config_are_reported_with_their_lines():
    text = save(resolve("CartPole-v1").config)
    broken = text.replace("n_steps: 64", "n_steps: some").replace("gamma:", "gama:")
    with pytest.raises(ConfigError) as refused:
        load(broken, at="config.yaml")
    lines = text.splitlines()
    steps, gamma = (next(i for i, x in enumerate(lines, 1) if k in x) for k in ("n_steps", "gamma"))
    assert f"config.yaml:{steps}: algo.n_steps: some is not a number" in str(refused.value)
    assert f"config.yaml:{gamma}: algo.gama: unknown key; did you mean algo.gamma?" in str(
        refused.value
    )


@pytest.mark.parametrize("text", ["", "algo: 3", "algo: {name: magic}", "- 1", "a: [", "a: {b: 1"])
def test_text_that_is_not_a_config_is_rejected(text):
    with pytest.raises(ConfigError):
        load(text, at="config.yaml")


def test_a_difference_has_the_key_and_both_values():
    a = resolve("LunarLander-v3:ppo").config
    b = resolve("LunarLander-v3:continuous", {"algo.clip": "0.3 -> 0"}).config
    found = {key: (left, right) for key, left, right in diff(a, b)}
    assert found["algo.clip"] == (0.2, "0.3 -> 0")
    assert found["env.kwargs.continuous"] == (None, True)
    assert not diff(a, a)
