"""What-if and attribution, against policies whose dependence on the observation is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gymnast.errors import UsageError
from gymnast.inspector.attribution import attribution
from gymnast.inspector.contributions import integrated_gradients, shapley_values
from gymnast.inspector.obs_parts import component_places, image_part
from gymnast.inspector.saliency import saliency
from gymnast.inspector.what_if import what_if
from tests.identity import ACTIONS, OBSERVATIONS
from tests.inspector.made_episodes import MadeEpisode, Setting, make_episode, make_setting

Array = np.ndarray


def setting_of(
    obs: str = "vector", action: str = "choice", algo: str = "ppo", **more: Any
) -> Setting:
    settings = {"env.kwargs.obs": obs, "env.kwargs.action": action} | more
    return make_setting(algo, tuple(settings.items()))


def episode_of(setting: Setting, steps: int = 9) -> MadeEpisode:
    rng = np.random.default_rng(5)
    episode = make_episode(
        setting, rng, rng.normal(size=steps), rng.normal(size=steps), "terminated"
    )
    values = np.ones(steps)
    episode.__dict__["table"] = {"value_learned": values, "value_raw": 2 * values}
    return episode


def test_the_contributions_of_a_linear_function_are_its_terms():
    rng = np.random.default_rng(0)
    weight, x, baseline = rng.normal(size=(3, 7))
    baseline[2] = x[2]
    found = integrated_gradients(lambda rows: rows @ weight, x, baseline)
    assert found == pytest.approx(weight * (x - baseline))
    assert found[2] == 0


@pytest.mark.parametrize("seed", range(5))
def test_contributions_sum_to_the_difference_for_curved_and_kinked_functions(seed: int):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(6, 16)), rng.normal(size=16)
    x, baseline = rng.normal(size=(2, 6)) * 3
    for bend in (np.tanh, lambda y: np.maximum(y, 0), np.square):

        def network(rows: Array, bend: Any = bend) -> Array:
            return bend(rows @ first) @ second

        total = np.diff(network(np.stack([baseline, x])))[0]
        found = integrated_gradients(network, x, baseline)
        assert found.sum() == pytest.approx(total, rel=0.02, abs=1e-3)
    # A product of two: each of them gets half, by symmetry.
    halves = integrated_gradients(lambda r: r[:, 0] * r[:, 1], np.ones(2), np.zeros(2))
    assert halves == pytest.approx([0.5, 0.5])


def test_shapley_values_are_those_of_the_definition():
    def worth(present: Array) -> Array:  # a term alone, a pair, and one that does nothing
        return 3.0 * present[:, 0] + 4.0 * (present[:, 1] & present[:, 2])

    assert shapley_values(worth, 4) == pytest.approx([3, 2, 2, 0])
    assert shapley_values(lambda p: 5.0 * p[:, 0], 1) == pytest.approx([5])


def test_saliency_is_where_the_network_looks():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (84, 84, 4), np.uint8)

    def patch(images: Array) -> Array:
        return images[:, 50:60, 20:30].reshape(len(images), -1).astype(np.float32) / 255

    found = saliency(patch, image)
    assert found.shape == (17, 17)
    row, column = np.unravel_index(found.argmax(), found.shape)
    assert abs(int(row) * 5 + 2 - 55) <= 5
    assert abs(int(column) * 5 + 2 - 25) <= 5
    far = np.ones_like(found, bool)
    far[7:16, 1:10] = False
    assert found[far].max() < 1e-3 * found.max()


@pytest.mark.parametrize("obs", OBSERVATIONS)
@pytest.mark.parametrize("target", ["action", "value"])
def test_the_contributions_of_every_observation_space_are_complete(obs: str, target: Any):
    episode = episode_of(setting_of(obs))
    for step in (0, 4, 9):
        found = attribution(episode, step=step, target=target)
        if found.components is not None:
            total = sum(found.components.values())
            assert total == pytest.approx(found.output - found.baseline, rel=0.02, abs=2e-3)
            assert list(found.components) == list(columns(episode))
        part = image_part(episode.policy.obs_space)  # pyright: ignore[reportOptionalMemberAccess]
        assert (found.image is None) == (part is None)
        assert found.components is not None or found.image is not None
        if found.image is not None:
            assert len(found.image.values) == found.image.width * found.image.height
            assert (found.image.image_width, found.image.image_height) == (8, 6)
            assert min(found.image.values) >= 0 < max(found.image.values)


def columns(episode: MadeEpisode) -> dict[str, Any]:
    assert episode.policy is not None
    return component_places(episode, episode.policy.obs_space)


@pytest.mark.parametrize("action", ACTIONS)
def test_the_contributions_of_every_action_space_are_complete(action: str):
    found = attribution(episode_of(setting_of(action=action)), step=3)
    assert found.components is not None
    total = sum(found.components.values())
    assert total == pytest.approx(found.output - found.baseline, rel=0.02, abs=2e-3)


def test_q_values_are_explained_by_themselves():
    episode = episode_of(setting_of(algo="dqn"))
    policy, step = episode.policy, 2
    assert policy is not None
    found = attribution(episode, step=step)
    q = policy.inference.actor(policy.features(episode.replay.obs[step : step + 1]))[0]
    assert found.output == pytest.approx(q[int(episode.trace.action[step]) - 2])
    assert "Q-value" in found.target


@pytest.mark.parametrize("obs", OBSERVATIONS)
def test_a_changed_component_gives_the_decision_of_the_changed_observation(obs: str):
    episode = episode_of(setting_of(obs))
    policy = episode.policy
    assert policy is not None
    for step in (1, 9):
        row = episode.replay.obs[step : step + 1]
        for column, place in columns(episode).items():
            new = float(place.values(episode.replay.obs)[(step + 3) % 9])
            found = what_if(episode, step=step, changes={column: new})
            changed = row.copy()
            entry = changed[place.field] if place.field else changed
            entry.reshape(1, -1)[0, place.index] = new
            for decision, seen in ((found.original, row), (found.changed, changed)):
                p = policy.head.option_probabilities(policy.dist(seen))[0]
                assert decision.probabilities == pytest.approx(p.tolist())
                assert decision.action == int(p.argmax())
                assert decision.value == pytest.approx(float(policy.value(seen)[0]))
                assert decision.value_raw == pytest.approx(2 * float(policy.value(seen)[0]))


def test_the_decision_about_a_continuous_action_has_mean_and_deviation_in_its_units():
    episode = episode_of(setting_of(action="amounts"))
    policy = episode.policy
    assert policy is not None
    found = what_if(episode, step=2).original
    dist = policy.dist(episode.replay.obs[2:3])
    assert found.probabilities is None
    assert found.mean == pytest.approx(policy.head.for_env(dist[:, :2])[0].tolist())
    assert found.std == pytest.approx((np.exp(dist[0, 2:]) * [4, 0.5]).tolist())
    assert found.action == found.mean


@pytest.mark.parametrize("obs", ["image", "grey image", "parts"])
def test_a_blank_rectangle_is_black_in_all_channels(obs: str):
    episode = episode_of(setting_of(obs))
    policy = episode.policy
    assert policy is not None
    part = image_part(policy.obs_space)
    assert part is not None
    assert part.space.planes[1:] == (6, 8)
    areas = {
        (5 / 8, 1 / 6, 3 / 8, 3 / 6): np.s_[:, 1:4, 5:8],
        (0.5, 0.5, 1, 1): np.s_[:, 3:, 4:],  # clipped at the border
        (0, 0, 1e-9, 1): np.s_[:, :, :1],  # at least one pixel
        (1, 1, 0.1, 0.1): np.s_[:, 5:, 7:],
        (0.1 + 0.2, 0, 0.2, 0.5): np.s_[:, :3, 2:4],
    }
    for blank, area in areas.items():
        changed = episode.replay.obs[4:5].copy()
        part.pixels(changed)[area] = 0
        found = what_if(episode, step=4, blank=blank)
        p = policy.head.option_probabilities(policy.dist(changed))[0]
        assert found.changed.probabilities == pytest.approx(p.tolist())
        assert found.changed != found.original
    nan = float("nan")
    for blank in ([1.1, 0, 1, 1], [0, 0, 0, 1], [-0.1, 0, 1, 1], [0, nan, 1, 1], [1, 0, 0.5]):
        with pytest.raises(UsageError, match="rectangle") as raised:
            what_if(episode, step=4, blank=blank)
        assert raised.value.at == "blank"


def test_changes_that_do_not_fit_are_errors():
    vector, category = episode_of(setting_of()), episode_of(setting_of("category"))
    column = next(iter(columns(category)))
    wrong = [
        (vector, 0, {"obs/nonsense": 1.0}, "has no component obs/nonsense"),
        (vector, 0, {next(iter(columns(vector))): float("nan")}, "not finite"),
        (category, 0, {column: 3.0}, "not a category from -1 to 2"),
        (category, 0, {column: 0.5}, "not a category"),
        (vector, 10, {}, "no step 10"),
        (vector, -1, {}, "no step -1"),
    ]
    for episode, step, changes, message in wrong:
        with pytest.raises(UsageError, match=message):
            what_if(episode, step=step, changes=changes)
    with pytest.raises(UsageError, match="has no image"):
        what_if(vector, step=0, blank=[0, 0, 1, 1])
    vector.__dict__["policy"] = None
    for ask in (what_if, attribution):
        with pytest.raises(UsageError, match="was removed"):
            ask(vector, step=0)
