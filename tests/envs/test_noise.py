"""Noise between policy and environment has the configured rate and size, depends only on the seed, and is
absent by default."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.build.open import open_envs
from gymnast.envs.wrappers import LAYERS, enabled_wrappers
from gymnast.errors import EnvError
from tests.envs.echo import ACTION_SPACES, OBSERVATIONS

ALL = {"obs": 0.1, "action": "20%", "sticky": "20%", "delay": 2, "drop": "20%"}
"""Every kind of noise."""
STEPS = 4000


def config(noise: dict[str, Any], id: str = "py:tests.envs.echo:Echo", **more: Any) -> EnvConfig:
    kwargs = {key: more.pop(key) for key in ("shows", "takes", "masked", "counts") if key in more}
    return EnvConfig.model_validate({"id": id, "kwargs": kwargs, "noise": noise, **more})


def noisy(noise: dict[str, Any], **more: Any) -> Any:
    return make_env(config(noise, **more))


def chosen(space: Any, n: int, seed: int = 0) -> list[Any]:
    space.seed(seed)
    return [space.sample() for _ in range(n)]


def played(
    env: Any, seed: int | None, actions: list[Any]
) -> tuple[list[Any], list[Any], list[float]]:
    """Returns the observations, the applied actions and the rewards."""
    seen = [env.reset(seed=seed)[0]]
    for action in actions:
        obs, _, _, _, info = env.step(action)
        assert np.array_equal(info.get("applied_action", action), env.unwrapped.done[-1])
        seen.append(obs)
    return seen, env.unwrapped.done, env.unwrapped.luck


def share(flags: Any) -> float:
    return float(np.mean(flags))


def close_to(share: float, n: int = STEPS) -> Any:
    """Returns a tolerance of four standard deviations around a share of n samples."""
    return pytest.approx(share, abs=4 * (share * (1 - share) / n) ** 0.5)


# ---- effects ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scales", "deviation"),
    [
        (0.1, [0.1, 0.1, 0.1]),
        ([0.2, 3, 0], [0.2, 3.0, 0.0]),
        (["10%", 0.5, "2%"], [0.2, 0.5, 0.16]),
    ],
)
def test_observation_noise_has_the_configured_standard_deviation(
    scales: Any, deviation: list[float]
):
    seen, _, _ = played(noisy({"obs": scales}), 1, [np.int64(1)] * STEPS)
    rows = np.array(seen)
    assert rows.dtype == np.float32
    assert rows.std(0) == pytest.approx(deviation, rel=0.06)
    assert rows.mean(0) == pytest.approx([0, 5, 4], abs=0.15)
    steps = (rows - rows.mean(0))[:, 0]
    assert abs(np.corrcoef(steps[1:], steps[:-1])[0, 1]) < 0.07, "of each step by itself"


def test_noisy_values_stay_inside_the_space():
    env = noisy({"obs": 3.0, "action": 3.0}, takes="amounts")
    seen, done, _ = played(env, 1, chosen(env.action_space, 200))
    assert all(env.observation_space.contains(obs) for obs in seen)
    assert all(env.action_space.contains(action) for action in done)
    first = np.array(seen)[:, 0]
    assert {-1.0, 1.0} < set(first.tolist()), "it is cut off there"


def test_noisy_images_and_integers_keep_their_dtype():
    for shows, deviation in (("image", 10.0), ("whole", 1.5)):
        rows = np.array(played(noisy({"obs": deviation}, shows=shows), 1, [np.int64(1)] * 300)[0])
        assert rows.dtype == OBSERVATIONS[shows][0].dtype
        assert rows.std(0).mean() == pytest.approx(deviation, rel=0.1)


@pytest.mark.parametrize("shows", ["dict", "tuple"])
def test_the_boxes_of_a_dict_or_tuple_are_noisy(shows: str):
    env = noisy({"obs": "5%"}, shows=shows)
    seen, _, _ = played(env, 1, [np.int64(1)] * 500)
    assert all(env.observation_space.contains(obs) for obs in seen)
    parts = [obs["a"]["x"] if shows == "dict" else obs[1] for obs in seen]
    assert np.array(parts).std() == pytest.approx(0.4, rel=0.1)
    rest = [(obs["a"]["y"], obs["z"]) if shows == "dict" else obs[0] for obs in seen]
    assert set(rest) == ({(1, 0)} if shows == "dict" else {2})


@pytest.mark.parametrize(
    ("noise", "more", "message"),
    [
        ({"obs": 0.1}, {"shows": "state"}, "no Box"),
        ({"obs": 0.1}, {"shows": "states"}, "no Box"),
        ({"obs": 0.1}, {"shows": "flags"}, "no Box"),
        ({"obs": 0.1}, {"shows": "indices"}, "no Box"),
        ({"obs": [0.1, 0.2]}, {"shows": "dict"}, "list of standard deviations"),
        ({"obs": [0.1, 0.2]}, {}, "2 standard deviations for 3 components"),
        ({"obs": "5%"}, {}, "component 1"),
        ({"action": [0.1, 0.1]}, {}, "one probability for all"),
        ({"action": 3}, {}, "one probability for all"),
        ({"action": [0.1]}, {"takes": "amounts"}, "1 standard deviations for 2"),
        ({"delay": 1, "idle": 7}, {}, "7 is not an action"),
        ({"delay": 1, "idle": [1, 2]}, {}, "not an action"),
        ({"delay": 1, "idle": 0}, {"takes": "amounts"}, "0 is not an action"),
        ({"delay": 1, "idle": [0, 99]}, {"takes": "amounts"}, "not an action"),
    ],
)
def test_impossible_noise_settings_are_refused_with_their_key(
    noise: dict[str, Any], more: Any, message: str
):
    with pytest.raises(EnvError) as refused:
        noisy(noise, **more)
    assert message in refused.value.message
    assert refused.value.at.startswith("env.noise.")
    assert refused.value.fix


def test_frames_of_every_observation_space_can_be_dropped():
    for shows, (space, shown) in OBSERVATIONS.items():
        seen, _, _ = played(noisy({"drop": "50%"}, shows=shows), 1, [np.int64(1)] * 5)
        assert all(space.contains(obs) for obs in seen)
        assert str(seen[-1]) == str(shown)


def test_a_dropped_frame_repeats_the_last_observation():
    seen, _, _ = played(noisy({"drop": "30%"}, counts=True), 1, [np.int64(1)] * STEPS)
    steps = np.array(seen)[:, 1].astype(int)
    again = steps[1:] == steps[:-1]
    assert share(again) == close_to(0.3)
    assert (steps[1:][~again] == np.arange(1, STEPS + 1)[~again]).all(), "else it is the newest"


@pytest.mark.parametrize("takes", ["choice", "choices", "switches"])
def test_discrete_actions_are_replaced_with_the_configured_probability(takes: str):
    env = noisy({"action": "25%"}, takes=takes)
    asked = chosen(env.action_space, STEPS)
    _, done, _ = played(env, 1, asked)
    other = np.array(asked) != np.array(done)
    assert np.mean(other, axis=0) == close_to(0.25)
    if takes == "choice":
        those = [int(d) for a, d in zip(asked, done, strict=True) if a == 2 and d != 2]
        counts = np.bincount(those, minlength=5)[[1, 3, 4]]
        assert counts.min() > 0.25 * counts.sum(), "each of the others as likely"


def test_continuous_action_noise_has_the_configured_standard_deviation():
    env = noisy({"action": ["5%", 0.5]}, takes="amounts")
    asked = [np.array([0, 5], np.float32)] * STEPS
    _, done, _ = played(env, 1, asked)
    assert np.std(done, axis=0) == pytest.approx([0.2, 0.5], rel=0.06)
    assert done[0].dtype == np.float32


@pytest.mark.parametrize("takes", ACTION_SPACES)
def test_a_sticky_action_repeats_the_last_applied_action(takes: str):
    env = noisy({"sticky": "25%"}, takes=takes)
    asked = chosen(env.action_space, STEPS)
    _, done, _ = played(env, 1, asked)
    assert np.array_equal(done[0], asked[0])
    pairs = zip(asked[1:], done[1:], done[:-1], strict=True)
    kept = [(np.array_equal(d, a), np.array_equal(d, before)) for a, d, before in pairs]
    assert all(as_asked or as_before for as_asked, as_before in kept)
    if takes == "amounts":  # almost never equal by chance
        assert share([not as_asked for as_asked, _ in kept]) == close_to(0.25)


@pytest.mark.parametrize("takes", ACTION_SPACES)
def test_a_delayed_action_is_applied_after_the_configured_number_of_steps(takes: str):
    env = noisy({"delay": 3}, takes=takes)
    asked = chosen(env.action_space, 20)
    _, done, _ = played(env, 1, asked)
    assert np.array_equal(done[3:], asked[:-3])
    idle = {"choice": 1, "switches": [0] * 3, "amounts": [0, 0]}
    idle |= {"choices": [1, 0], "integers": [-1, 0]}
    assert np.array_equal(done[:3], [idle[takes]] * 3)
    delayed = noisy({"delay": 2, "idle": [1, 4]}, takes="amounts")
    assert played(delayed, 1, chosen(delayed.action_space, 2))[1][0].tolist() == [1, 4]


def test_masked_actions_are_never_applied():
    """Echo asserts it. Its masks change at every step, and actions are sticky or replaced."""
    for noise in ({"sticky": "60%"}, {"action": "60%"}, {"sticky": "40%", "action": "40%"}):
        env = noisy(noise, masked=True)
        _, info = env.reset(seed=1)
        for _ in range(300):
            allowed = np.flatnonzero(info["action_mask"])
            *_, info = env.step(np.int64(1 + allowed[0]))
        assert len({int(a) for a in env.unwrapped.done}) > 1


def test_delay_and_masks_exclude_each_other_unless_masks_are_off():
    with pytest.raises(EnvError) as refused:
        noisy({"delay": 1}, masked=True).reset(seed=1)
    assert refused.value.at == "env.noise.delay"
    noisy({"delay": 1}, masked=True, action_mask=False).reset(seed=1)


# ---- seeds and wrappers ----------------------------------------------------------------------


def summary(env: Any, seed: int | None, n: int = 60) -> str:
    actions = chosen(env.action_space, n)
    return "\n".join(str(part) for part in played(env, seed, actions))


@pytest.mark.parametrize("key", [*ALL, "all"])
def test_the_same_seed_gives_the_same_noise_in_any_copy_and_another_seed_different_noise(key: str):
    noise = ALL if key == "all" else {key: ALL[key]}
    one, two = (noisy(noise, takes="amounts", counts=True) for _ in range(2))
    first = summary(one, 5)
    summary(one, 9, n=7)  # earlier episodes must not matter
    assert summary(one, 5) == first == summary(two, 5)
    assert summary(two, 6) != first
    assert summary(one, None) != summary(one, None)


def test_every_kind_of_noise_has_a_random_stream_of_its_own():
    alone = played(noisy({"obs": 0.1}), 3, [np.int64(1)] * 50)
    both = played(noisy({"obs": 0.1, "sticky": "50%"}), 3, [np.int64(1)] * 50)
    none = played(noisy({}), 3, [np.int64(1)] * 50)
    assert np.array_equal(alone[0], both[0])
    assert alone[2] == both[2] == none[2]


@pytest.mark.parametrize("off", [{}, {"sticky": 0, "drop": "0%", "delay": 0}, {"obs": 0}])
def test_no_wrapper_is_added_when_all_noise_is_off(off: dict[str, Any]):
    for id in ("CartPole-v1", "LunarLander-v3"):
        cfg = config(off, id)
        assert enabled_wrappers(cfg) == []
        here, plain = make_env(cfg), make_env(EnvConfig(id=id))
        assert [type(e) for e in _around(here)] == [type(e) for e in _around(plain)]


def _around(env: Any) -> list[Any]:
    layers = [env]
    while hasattr(layers[-1], "env"):
        layers.append(layers[-1].env)
    return layers


def test_a_native_vector_refuses_each_kind_of_noise_with_its_key():
    kinds = {f"env.noise.{key}": {"noise": {key: ALL[key]}} for key in ALL}
    kinds["env.randomize"] = {"randomize": {"gravity": 9.8}}
    assert set(kinds) >= {layer.key for layer in LAYERS if "noise" in layer.key}
    for key, asks in kinds.items():
        cfg = EnvConfig.model_validate({"id": "CartPole-v1", "backend": "vector", **asks})
        with pytest.raises(EnvError) as refused:
            open_envs(cfg, limit=EpisodeLimit(), on_output=print)
        assert refused.value.at == key
        assert "env.backend" in refused.value.fix


def test_the_time_limit_stays_the_outermost_wrapper():
    env = make_env(config(ALL, "Pendulum-v1"), limit=EpisodeLimit(9))
    env.reset(seed=1)
    ends = [env.step(env.action_space.sample())[3] for _ in range(9)]
    assert ends == [False] * 8 + [True]
