"""Returns, advantages, TD errors and values of an episode's table, against a computation of their own that
follows the definitions step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.inspector import table as table_module
from gymnast.inspector.table import episode_table, table_note
from gymnast.runs.step_columns import column_spec
from tests.inspector.made_episodes import (
    SCALE,
    SHAPING,
    VALUE_MEAN,
    VALUE_STD,
    MadeEpisode,
    Setting,
    make_episode,
    make_setting,
)

GAMMA, LAMBDA, FACTOR = 0.9, 0.8, -3.0
GAE = (("algo.gamma", GAMMA), ("algo.gae_lambda", LAMBDA))
RUNNING = (("normalize.reward", "running"),)
SIGN = (("normalize.reward", "sign"),)
FACTORED = (("normalize.reward_scale", FACTOR),)
POPART = (("normalize.value", "popart"), ("normalize.obs", "running"))
NORMALIZED = (*RUNNING, *FACTORED)
CASES: dict[str, tuple[str, str, tuple[tuple[str, Any], ...]]] = {
    "plain": ("ppo", "choice", GAE),
    "masked": ("ppo", "masked choice", GAE),
    "scaled": ("ppo", "choices", (*GAE, *FACTORED)),
    "running": ("a2c", "switches", (*GAE, *RUNNING)),
    "sign": ("ppo", "amounts", (*GAE, *SIGN)),
    "shaped": ("ppo", "choice", (*GAE, *SHAPING)),
    "everything": ("ppo", "masked dict", (*GAE, *SHAPING, *NORMALIZED, *POPART)),
    "squashed": ("ppo", "amounts", (*GAE, *NORMALIZED, ("policy.squash", "on"))),
    "reinforce": ("reinforce", "tuple", (("algo.gamma", GAMMA), *SHAPING, *NORMALIZED)),
    "no critic": ("reinforce", "choice", (("algo.gamma", GAMMA), ("algo.baseline", "none"))),
    "dqn": ("dqn", "choice", (("algo.gamma", GAMMA), *FACTORED)),
}
FLOATS = st.floats(-5, 5, allow_nan=False, width=32)
EPISODES = st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=12)
ENDS = st.sampled_from(["terminated", "truncated", "stopped"])


def setting_of(case: str, **more: Any) -> Setting:
    algo, action, changes = CASES[case]
    kind = action.removeprefix("masked ")
    kwargs = (("action", kind), ("masked", kind != action), ("obs", more.get("obs", "vector")))
    env = tuple((f"env.kwargs.{key}", value) for key, value in kwargs)
    return make_setting(algo, (*env, *changes))


def made(case: str, steps: list[tuple[float, float]], end: str, seed: int, **more: Any) -> Any:
    """Returns an episode of the case, its setting and its table."""
    setting = setting_of(case, **more)
    reward, value = np.array(steps, np.float64).T
    with_policy = more.get("with_policy", True)
    rng = np.random.default_rng(seed)
    episode = make_episode(setting, rng, reward, value, end, with_policy=with_policy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_module, "learner_state", lambda _: setting.state)
        return episode, setting, episode_table(episode)


def shaping_by_hand(episode: MadeEpisode, t: int, bootstraps: bool) -> dict[str, float]:
    """Returns what each shaping term adds to the reward of step t."""
    trace, last = episode.trace, t == len(episode.trace) - 1
    phi = episode.obs.reshape(len(episode.obs), -1)[:, 0].astype(np.float64)
    # Nothing is worth anything after the end of an episode that is not bootstrapped.
    ended = last and (trace.terminated or (trace.truncated and not bootstraps))
    return {
        "bonus": 0.5 * (0.25 * t + 2.0 * (last and trace.terminated)),
        "height": -2.0 * (GAMMA * (0.0 if ended else phi[t + 1]) - phi[t]),
        "fuel": 3.0 * float(episode.replay.infos[t + 1]["fuel"]),  # pyright: ignore[reportArgumentType]
    }


def learned_by_hand(setting: Setting, episode: MadeEpisode) -> list[float]:
    """Returns the learned reward of every step."""
    cfg, rewards = setting.config, []
    for t, raw in enumerate(episode.trace.reward.tolist()):
        added = shaping_by_hand(episode, t, cfg.algo.bootstraps).values() if cfg.shaping else ()
        reward = (raw + sum(added)) * cfg.normalize.reward_scale
        match cfg.normalize.reward:
            case "running":
                reward /= SCALE
            case "sign":
                reward = float(np.sign(reward))
        rewards.append(reward)
    return rewards


def close(column: np.ndarray, expected: Any) -> None:
    np.testing.assert_allclose(column.astype(np.float64), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=12)
@given(steps=EPISODES, end=ENDS, seed=st.integers(0, 99))
def test_the_table_has_the_numbers_of_the_definitions(
    case: str, steps: list[tuple[float, float]], end: str, seed: int
):
    episode, setting, table = made(case, steps, end, seed)
    cfg, n = setting.config, len(steps)
    raw, value = episode.trace.reward.tolist(), episode.trace.value.tolist()
    assert {len(column) for column in table.values()} == {n}
    # 1. Raw rewards.
    close(table["reward_so_far_raw"], [sum(raw[: t + 1]) for t in range(n)])
    close(table["return_to_go_raw"], [sum(raw[t:]) for t in range(n)])
    assert table["terminated"].tolist() == [end == "terminated" and t == n - 1 for t in range(n)]
    assert table["truncated"].tolist() == [end == "truncated" and t == n - 1 for t in range(n)]
    # 2. Learned rewards.
    reward = learned_by_hand(setting, episode)
    close(table["reward_learned"], reward)
    for name in cfg.shaping:
        by_hand = [shaping_by_hand(episode, t, cfg.algo.bootstraps)[name] for t in range(n)]
        close(table[f"shaping/{name}"], by_hand)
    # 3. The value of the state after each step: that of the policy after a truncation, 0 after a termination.
    final = float(setting.policy.value(episode.obs[-1:])[0])
    no_future = end == "terminated" or (end == "truncated" and not cfg.algo.bootstraps)
    following = [*value[1:], 0.0 if no_future else final]
    if case == "no critic":
        assert not [name for name in table if name.startswith(("value", "td_error", "expected"))]
        returns = [sum(GAMMA**k * r for k, r in enumerate(reward[t:])) for t in range(n)]
        close(table["return_learned"], returns)
        return
    delta = [reward[t] + GAMMA * following[t] - value[t] for t in range(n)]
    close(table["value_learned"], value)
    close(table["td_error_learned"], delta)
    # 4. Advantages: an explicit sum of TD errors, or the discounted return minus the value.
    future = 0.0 if no_future else final
    discounted = [
        sum(GAMMA**k * r for k, r in enumerate(reward[t:])) + GAMMA ** (n - t) * future
        for t in range(n)
    ]
    close(table["value_error_learned"], np.array(value) - discounted)
    match cfg.algo.name:
        case "dqn":
            assert not {"advantage_learned", "return_learned"} & table.keys()
        case "reinforce":
            monte_carlo = [sum(GAMMA**k * r for k, r in enumerate(reward[t:])) for t in range(n)]
            close(table["return_learned"], monte_carlo)
            close(table["advantage_learned"], np.array(monte_carlo) - value)
        case _:
            decay = GAMMA * LAMBDA
            gae = [sum(decay**k * d for k, d in enumerate(delta[t:])) for t in range(n)]
            close(table["advantage_learned"], gae)
            close(table["return_learned"], np.array(gae) + value)
    # 5. Units.
    if cfg.shaping or cfg.normalize.reward == "sign":
        assert "value_raw" not in table
    else:
        scale = SCALE if cfg.normalize.reward == "running" else 1.0
        close(table["value_raw"], np.array(value) * scale / cfg.normalize.reward_scale)
    assert ("value_normalized" in table) == (cfg.normalize.value == "popart")
    if "value_normalized" in table:
        close(table["value_normalized"], (np.array(value) - VALUE_MEAN) / VALUE_STD)


@pytest.mark.parametrize("case", CASES)
def test_actions_and_probabilities_are_those_of_the_trace(case: str):
    steps = [(1.0, 0.5)] * 9
    episode, setting, table = made(case, steps, "truncated", 4)
    head, trace = setting.policy.head, episode.trace
    names = head.space.names(setting.config.facts.actions)
    flat = head.space.flatten(trace.action)
    if head.space.n_choices is not None:
        assert table["action"].tolist() == [names[i] for i in flat[:, 0]]
    else:
        for i, name in enumerate(names):
            close(table[f"action/{name}"], flat[:, i])
    probabilities = head.option_probabilities(trace.dist)
    for i, name in enumerate(head.space.option_names(setting.config.facts)):
        close(table[f"p/{name}"], probabilities[:, i])
        if episode.replay.masks is not None:
            assert table[f"mask/{name}"].tolist() == episode.replay.masks[:9, i].tolist()
    close(table["entropy"], head.entropy(trace.dist))
    # The action is that of the environment, so its probability is recomputed from the policy's own form.
    close(table["logprob"], head.logprob(trace.dist, head.from_env(trace.action)))
    assert (~np.isfinite(table["logprob"])).sum() == 0
    for name in table:
        assert column_spec(name).table != "rollout", name


@pytest.mark.parametrize("case", CASES)
def test_an_action_of_the_environment_is_converted_back(case: str):
    """Only where an action was clipped to its range, the policy's own action is not known."""
    head, rng = setting_of(case).policy.head, np.random.default_rng(5)
    output = 0.3 * rng.standard_normal((50, head.n_outputs)).astype(np.float32)
    dist = setting_of(case).policy.dist_from_output(output, None)
    action = head.sample(dist, head.noise(rng, (50,)))
    rows = head.for_env(action)
    back = head.from_env(rows)
    assert back.shape == action.shape
    assert back.dtype == action.dtype
    close(head.for_env(back), rows)
    flat, limits = head.space.flatten(rows), head.space.elements
    inside = np.stack(
        [(e.n > 0) | ((flat[:, i] > e.low) & (flat[:, i] < e.high)) for i, e in enumerate(limits)],
        -1,
    )
    unclipped = inside.all(-1)
    assert unclipped.any()
    close(back[unclipped], np.float64(action[unclipped]))


@pytest.mark.parametrize("obs", ["vector", "category", "categories", "image", "parts", "tuple"])
def test_every_kind_of_observation_has_its_columns(obs: str):
    episode, setting, table = made("plain", [(1.0, 0.0)] * 4, "terminated", 1, obs=obs)
    columns = {name: column for name, column in table.items() if name.startswith("obs")}
    rows = episode.obs[:4]
    if obs == "image":
        assert columns == {}
    elif rows.dtype.names is None:
        flat = rows.reshape(4, -1)
        assert [*columns] == [f"obs/{i}" for i in range(flat.shape[1])]
        for i, column in enumerate(columns.values()):
            assert column.tolist() == flat[:, i].tolist()
    else:
        names = [name for name in rows.dtype.names if rows.dtype[name].base != np.uint8]
        assert {name.split("/")[1] for name in columns} == set(names)
    assert setting.policy.head.n_outputs == 4


def test_the_input_of_the_network_is_normalized_and_clipped():
    episode, setting, table = made("everything", [(1.0, 0.0)] * 5, "stopped", 2)
    flat = episode.obs[:5].reshape(5, -1)
    expected = np.clip((flat - 0.5) / 2.0, -setting.config.normalize.clip, None)
    inputs = [column for name, column in table.items() if name.startswith("input/")]
    close(np.stack(inputs, -1), expected)
    _, _, plain = made("plain", [(1.0, 0.0)] * 5, "stopped", 2)
    assert not [name for name in plain if name.startswith("input/")]


def test_q_values_are_those_of_the_policy():
    episode, setting, table = made("dqn", [(1.0, 0.0)] * 5, "terminated", 3)
    q = setting.policy.inference.actor(setting.policy.features(episode.obs[:5]))
    close(np.stack([table[f"q/{i}"] for i in range(4)], -1), q)


def test_without_the_policy_what_depends_on_it_is_missing():
    kept = {"reward_learned", "value_learned", "td_error_learned"}
    for end, expected in (("terminated", True), ("truncated", False)):
        _, _, table = made("plain", [(1.0, 0.5)] * 3, end, 1, with_policy=False)
        assert kept <= table.keys()
        assert ("advantage_learned" in table) == expected
        assert np.isnan(table["td_error_learned"]).tolist() == [False, False, not expected]
    _, _, table = made("everything", [(1.0, 0.5)] * 3, "terminated", 1, with_policy=False)
    assert not [name for name in table if name.startswith(("input/", "value_normalized"))]


def test_observations_after_a_difference_are_unknown():
    setting = setting_of("shaped")
    reward = np.ones(6)
    episode = make_episode(setting, np.random.default_rng(1), reward, reward, "terminated")
    replay = episode.replay
    short = type(replay)(replay.obs[:3], replay.infos[:3], None, 2, "the replay differs")
    episode.__dict__["replay"] = short
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_module, "learner_state", lambda _: setting.state)
        table = episode_table(episode)
    assert np.isnan(table["obs/0"]).tolist() == [False] * 3 + [True] * 3
    assert np.isnan(table["info/fuel"]).tolist() == [False] * 2 + [True] * 4
    # Shaping terms read observations, so learned rewards are not known.
    assert "reward_learned" not in table
    assert table["value_learned"].tolist() == [1.0] * 6
    episode.__dict__["table"] = table
    assert "the replay does not reproduce all observations" in table_note(episode)
