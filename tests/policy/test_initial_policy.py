"""The initial policy of every shipped preset is close to uniform on real observations."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from gymnast.config import presets
from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.config.resolve import resolve
from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.build.make import make_env
from gymnast.envs.matches.matches import ByRole
from gymnast.envs.matches.open import open_matches
from gymnast.network_report.network import uniformity_report
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.spaces.spaces import (
    Action,
    BoxAction,
    DiscreteAction,
    ImageObs,
    Observation,
    with_declared_ranges,
)
from tests.identity import ACTIONS, OBSERVATIONS, Identity

SHIPPED = [
    f"{name}:{variant}"
    for name, preset in presets.all_presets().items()
    if preset.is_builtin
    for variant in preset.variants
]


@pytest.mark.parametrize("target", SHIPPED)
def test_the_initial_policy_is_close_to_uniform(target: str):
    cfg = resolve(target).config
    for role, (obs, action, shown) in first_shown(cfg).items():
        obs = with_declared_ranges(obs, facts_for_policy_obs(cfg.facts, cfg.env, obs).observations)
        for seed in (0, 1):
            policy = Policy(obs, action, cfg.policy, cfg.normalize)
            policy.initialize(seed, role)
            assert uniformity_report(policy, shown).uniform  # as `gymnast net` reports it
            is_close_to_uniform(policy, shown)


Shown = dict[str, tuple[Observation, Action, np.ndarray]]
"""Role -> its spaces and the first observations of a hundred episodes."""
SHOWN: dict[str, Shown] = {}
"""Environment -> what it has shown; variants of a preset often have the same environment."""


def first_shown(cfg: Config) -> Shown:
    key = repr(cfg.env.model_copy(update={"n_envs": 1, "backend": "inprocess"}))
    if key not in SHOWN:
        SHOWN[key] = _show(cfg)
    return SHOWN[key]


def _show(cfg: Config) -> Shown:
    if is_multi_agent(cfg.env.id):
        with closing(open_matches(cfg, 1)) as matches:
            every = [(matches.reset([0], [i]), _copied(matches.obs))[1] for i in range(100)]
            return {
                name: (role.obs, role.action, np.concatenate([seen[name][0] for seen in every]))
                for name, role in matches.roles.items()
            }
    with closing(InProcessBackend(lambda: make_env(cfg.env), 1, cfg.env.id)) as envs:
        shown = [(envs.reset([0], [i]), envs.obs[0].copy())[1] for i in range(100)]
        return {"agent": (envs.obs_space, envs.action_space, np.stack(shown))}


def _copied(obs: ByRole) -> dict[str, np.ndarray]:
    return {role: seen.copy() for role, seen in obs.items()}


@pytest.mark.parametrize("squash", ["off", "on"])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("obs", OBSERVATIONS)
def test_every_head_and_encoder_starts_close_to_uniform(obs: str, action: str, squash: str):
    space = spaces.convert_obs_space(OBSERVATIONS[obs]())
    taken = spaces.convert_action_space(ACTIONS[action]())
    cfg = PolicyConfig(squash=squash, hidden=() if "image" in obs else (64,))
    policy = Policy(space, taken, cfg, NormalizeConfig(obs="running"))
    policy.initialize(1, "agent")
    rows = spaces.blank_obs(space, 100)
    for i in range(100):
        assert space.put(rows, i, Identity(obs=obs).reset(seed=i)[0]) is None
    if policy.normalizer is not None:
        policy.normalizer.update(policy.features.concat_vectors(rows))
    is_close_to_uniform(policy, rows)


@pytest.mark.parametrize("kind", ["nature", "small", "impala"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_cnn_starts_close_to_uniform_on_images_of_any_brightness(kind: str, seed: int):
    space = ImageObs((48, 48, 3), 255, "last")
    policy = Policy(
        space, DiscreteAction(6, 0), PolicyConfig(cnn=kind, hidden=()), NormalizeConfig()
    )
    policy.initialize(seed, "agent")
    rng = np.random.default_rng(seed)
    rows = rng.integers(256, size=(24, 48, 48, 3)).astype(np.uint8)
    rows[:8], rows[8:16] = 255, rows[8:16] // 32
    is_close_to_uniform(policy, rows)


def is_close_to_uniform(policy: Policy, rows: np.ndarray) -> None:
    for head, dist in policy.head.split(policy.dist(rows, None, policy.initial_state(len(rows)))):
        if isinstance(head.space, BoxAction):
            mean = head.for_env(head.mode(dist)).reshape(len(rows), -1)
            low, high = np.array(head.space.low), np.array(head.space.high)
            assert np.isfinite(low).all()
            assert (np.abs(mean - (low + high) / 2) <= 0.05 * (high - low)).all()
        else:
            assert head.entropy(dist).min() >= 0.99 * head.space.max_entropy


def test_every_shipped_preset_is_measured():
    assert {"CartPole-v1:ppo", "Pendulum-v1:ppo", "LunarLander-v3:continuous"} <= set(SHIPPED)
