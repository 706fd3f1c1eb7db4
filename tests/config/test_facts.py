"""Facts declared in presets match the live environments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pygame
import pytest

from gymnast.config.config import Config
from gymnast.config.families import family_of, is_multi_agent
from gymnast.config.presets import BUILTIN_DIR, Preset
from gymnast.config.resolve import resolve
from gymnast.config.sections.env import is_atari
from gymnast.envs.build.make import make_env
from gymnast.envs.matches.tag import arena, rules
from gymnast.play.keys import KeyBindings
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.spaces.spaces import convert_obs_space

ROOT = Path(__file__).parents[2]
DESCRIBED = 30
"""Observations with at most this many numbers must have all components described."""


def targets() -> dict[str, str]:
    """Returns environment and facts -> the first variant that has them."""
    found: dict[str, str] = {}
    for path in sorted(BUILTIN_DIR.glob("*.yaml")):
        preset = Preset(path.stem.replace("__", "/"), path)
        for variant in preset.variants:
            config = resolve(f"{preset.name}:{variant}").config
            if is_multi_agent(config.env.id):  # these facts are about a single agent
                continue
            env = config.env.model_copy(update={"n_envs": 1, "backend": "inprocess"})
            found.setdefault(repr((env, config.facts)), f"{preset.name}:{variant}")
    return found


@pytest.fixture(params=targets().values(), scope="module")
def config(request: pytest.FixtureRequest) -> Config:
    return resolve(request.param).config


def made(config: Config, **more: object) -> gym.Env:
    """Creates the environment as in evaluation; of several tasks, one."""
    whole = config.env.for_evaluation()
    kwargs = whole.kwargs | more
    alone = whole.model_copy(update={"kwargs": kwargs, "tasks": {}})
    return make_env(alone, limit=config.evaluation_limit())


@pytest.fixture(scope="module")
def env(config: Config) -> Iterator[gym.Env]:
    live = made(config)
    yield live
    live.close()


def seeds(config: Config, n: int) -> range:
    """Returns n seeds, or fewer for Atari games, whose episodes take a thousand steps of four frames."""
    return range(1 if is_atari(config.env.id) else n)


Episode = tuple[list, list[float], bool]
"""Observations, rewards and whether it was terminated."""


def episode(env: gym.Env, seed: int, most: float = np.inf) -> Episode:
    """Plays random actions until the end of the episode, or for at most as many steps."""
    env.action_space.seed(seed)
    obs, _ = env.reset(seed=seed)
    seen, rewards, terminated, truncated = [obs], [], False, False
    while not (terminated or truncated or len(rewards) == most):
        obs, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        seen.append(obs)
        rewards.append(float(reward))
    return seen, rewards, terminated


@pytest.fixture(scope="module")
def played(config: Config, env: gym.Env) -> list[Episode]:
    """The episodes of the first seeds."""
    return [episode(env, seed) for seed in seeds(config, 5)]


def test_there_is_a_label_for_every_action(config, env):
    space = env.action_space
    n = space.n if isinstance(space, gym.spaces.Discrete) else int(np.prod(space.shape))
    assert len(config.facts.actions) == n
    assert len(set(config.facts.actions)) == n


def test_keyboard_keys_reach_every_action(config, env):
    if not config.facts.keys:  # nobody can play three torques by hand, or see a bandit
        assert not env.metadata.get("render_modes") or env.action_space.shape[0] > 2
        return
    keys = KeyBindings(env.action_space, config.facts)  # raises for actions outside of the space
    for key in config.facts.keys:
        assert hasattr(pygame, f"K_{key.upper() if len(key) > 1 else key}")
    if isinstance(env.action_space, gym.spaces.Discrete):
        reached = {keys.action([key]) for key in config.facts.keys} | {config.facts.idle}
        assert reached >= set(range(env.action_space.n))
    elif config.facts.idle is not None:
        assert env.action_space.contains(keys.action([]))


def test_observation_ranges_match_the_environment(config, env):
    space = env.observation_space
    facts = facts_for_policy_obs(config.facts, config.env, convert_obs_space(space))
    components = facts.observations
    if space.dtype == np.uint8 and not components:
        return  # images or RAM have no named components
    if isinstance(space, gym.spaces.Discrete):
        (state,) = components
        assert (state.low, state.high) == (space.start, space.start + space.n - 1)
        return
    if int(np.prod(space.shape)) > DESCRIBED:
        assert not components
        return
    assert len(components) == int(np.prod(space.shape))
    own = {"low": space.low.ravel(), "high": space.high.ravel()}
    for end, bounds in own.items():  # declared infinite: a step can leave the bounds of the space
        declared = np.array([getattr(c, end) for c in components])
        assert (np.isclose(declared, bounds, rtol=1e-6) | np.isinf(declared)).all()
    assert len({c.name for c in components}) == len(components)


def test_no_reward_and_no_return_leaves_the_declared_range(config, played):
    (low, high), (worst, best) = config.facts.reward, config.facts.returns
    for _, rewards, _ in played:
        assert low <= min(rewards) <= max(rewards) <= high
        assert worst <= sum(rewards) <= best


def test_declared_returns_match_the_reward_range_times_the_longest_episode(config, played):
    low, high = config.facts.reward
    steps = gym.spec(config.env.id).max_episode_steps
    if steps is None:  # it ends episodes itself, after an unknown number of steps
        steps = len(played[0][1]) if np.isfinite(config.facts.returns).all() else np.inf
    with np.errstate(invalid="ignore"):  # 0 * inf counts as 0
        lowest, highest = np.nan_to_num(
            [low * steps, high * steps], nan=0, posinf=np.inf, neginf=-np.inf
        )
    assert config.facts.returns[0] >= min(lowest, low) - 0.01
    assert config.facts.returns[1] <= max(highest, high)


def test_the_same_seed_and_actions_give_the_same_episode(config, played):
    assert config.facts.deterministic == "yes"
    other = made(config, **config.facts.deterministic_settings)
    episode(other, 99, most=100)  # what was played before must make no difference
    for seed in seeds(config, 2):
        seen, rewards, terminated = played[seed]
        seen_again, rewards_again, terminated_again = episode(other, seed)
        assert all(map(np.array_equal, seen, seen_again))
        assert rewards == rewards_again
        assert terminated == terminated_again
    other.close()


def test_frames_per_second_match_the_environment(config, env):
    own = env.metadata.get("render_fps")
    atari = is_atari(config.env.id)  # rendered at 60 frames per second, whatever the metadata says
    assert config.facts.fps == (60 / config.env.frames_per_step if atari else own)


def test_the_threshold_matches_the_environment_unless_the_optimum_is_below_it(config, env):
    own = env.spec.reward_threshold
    assert config.facts.threshold is not None or own is None
    if own is not None and own <= (config.facts.optimum or np.inf):
        assert config.facts.threshold == own


def test_the_source_documents_this_environment(config):
    source = config.facts.source
    if source.startswith("docs/"):
        page, _, section = source.partition("#")
        assert f"## {section}" in (ROOT / page).read_text().lower()
        return
    assert source.startswith("https://")
    if source.startswith("https://gymnasium.farama.org/environments/"):
        page = source.rstrip("/").rsplit("/", 1)[-1].replace("_", "")
        assert page == config.env.id.rsplit("-v", 1)[0].lower()
    elif is_atari(config.env.id):
        name = config.env.id.removeprefix("ALE/").rsplit("-v", 1)[0]
        assert source == f"https://ale.farama.org/environments/{name.lower()}/"
    else:
        assert family_of(config.env.id).name.lower() in source.lower()


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Taxi-v4"])
def test_the_optimum_matches_dynamic_programming(name):
    config = resolve(name).config
    env = gym.make(config.env.id, **config.env.kwargs)
    table, starts = env.unwrapped.P, env.unwrapped.initial_state_distrib
    value = np.zeros(len(table))
    for _ in range(env.spec.max_episode_steps):
        value = np.array([max(_worth(table[s][a], value) for a in table[s]) for s in table])
    assert config.facts.optimum == pytest.approx(value @ starts, abs=5e-4)
    assert value[starts > 0].max() <= config.facts.returns[1]


def _worth(outcomes: list, value: np.ndarray) -> float:
    return sum(p * (r + (0 if done else value[s])) for p, s, r, done in outcomes)


def test_no_landing_returns_more_than_the_declared_range_allows():
    config = resolve("LunarLander-v3").config
    env = gym.make("LunarLander-v3")
    for seed in range(200):  # a return is at most 100 + 20 - the shaping at the start
        x, y, vx, vy, angle, *_ = env.reset(seed=seed)[0]
        start = -100 * (np.hypot(x, y) + np.hypot(vx, vy) + abs(angle))
        assert 120 - start <= config.facts.returns[1]


def test_the_options_of_tag_are_those_of_its_rules():
    facts = resolve("tag").config.facts
    assert [len(facts.options[name]) for name in facts.actions] == list(arena.ACTION.n)
    assert facts.actions == arena.ACTION_NAMES
    named = {"turn": (rules.LEFT, rules.STRAIGHT, rules.RIGHT)}
    named["move"] = (rules.BACK, rules.COAST, rules.FORWARD)
    words = {"turn": ("left", "straight", "right"), "move": ("back", "coast", "forward")}
    for name, numbers in named.items():
        assert [facts.options[name][number] for number in numbers] == list(words[name])


def test_options_of_elements_that_are_renamed_are_not_used():
    # Mappings are merged key by key, so that the options of the preset cannot be removed.
    facts = resolve("tag", {"facts.actions": ["rotate", "move", "dash"]}).config.facts
    names = arena.ACTION.option_names(facts)
    assert names[:3] == ("rotate.0", "rotate.1", "rotate.2")
    assert names[3:6] == ("move.back", "move.coast", "move.forward")
