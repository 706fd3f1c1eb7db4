"""Every backend and wrapper with Dict and Tuple actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gymnast.collect.replay import restore
from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.backend import Backend
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.process import ProcessBackend
from gymnast.envs.backends.vector import VectorBackend
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError
from gymnast.seeds import stream
from tests.identity import Identity

N, STEPS = 4, 20
KWARGS: dict[str, Any] = {"action": "dict", "masked": True, "length": 50}
ID = "py:tests.identity:Identity"


def make() -> Identity:
    return Identity(**KWARGS)


def vector(mode: AutoresetMode) -> VectorBackend:
    return VectorBackend(lambda: SyncVectorEnv([make] * N, autoreset_mode=mode), "Identity")


def workers() -> ProcessBackend:
    return ProcessBackend(EnvConfig(id=ID, n_envs=N, workers=2, kwargs=KWARGS), on_output=print)


BACKENDS: dict[str, Callable[[], Backend]] = {
    "in workers": workers,
    "vector": lambda: vector(AutoresetMode.DISABLED),
    "autoreset": lambda: vector(AutoresetMode.NEXT_STEP),
}


def played(envs: Backend) -> list[np.ndarray]:
    """Returns the observations, rewards and masks of some steps. The environment asserts that each action is
    in its space and allowed by its mask."""
    assert envs.reset(range(N), list(range(N))) == ()
    rng, seen = stream(0, "actions"), list[np.ndarray]()
    for _ in range(STEPS):
        assert envs.mask is not None
        step = envs.step(envs.action_space.random((N,), rng, envs.mask))
        assert step.faults == ()
        seen += [step.obs.copy(), step.reward.copy(), envs.mask.copy()]
    return seen


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_passes_the_same_actions_and_masks(backend: str):
    here = InProcessBackend(make, N, "Identity")
    envs = BACKENDS[backend]()
    try:
        ours, theirs = played(here), played(envs)
    finally:
        envs.close()
    if backend != "autoreset":  # a vector with autoreset has one seed for all copies
        assert all(map(np.array_equal, ours, theirs))
    assert here.action_space == envs.action_space


@pytest.mark.parametrize("mode", [AutoresetMode.DISABLED, AutoresetMode.NEXT_STEP])
def test_a_vector_is_restored_from_the_stored_rows(mode: AutoresetMode):
    envs, again = vector(mode), vector(mode)
    played(envs)
    history = envs.history.arrays()
    assert history is not None
    assert history["action"].shape == (STEPS, N, len(envs.action_space.elements))
    assert history["action"].dtype == np.float32
    assert restore(again, RunningEpisodes(N), envs.obs, history) == {}
    assert np.array_equal(again.obs, envs.obs)
    assert again.mask is not None
    assert np.array_equal(again.mask, envs.mask)


def wrapped(**settings: Any) -> Any:
    cfg = EnvConfig(id=ID, kwargs=settings.pop("kwargs", KWARGS), **settings)
    return make_env(cfg, limit=EpisodeLimit())


@pytest.mark.parametrize(
    "settings",
    [
        {"noise": {"sticky": "50%"}},
        {"noise": {"delay": 2}, "action_mask": False, "kwargs": KWARGS | {"masked": False}},
        {"kwargs": KWARGS | {"masked": False}, "noise": {"sticky": "50%", "drop": "20%"}},
    ],
)
def test_actions_may_be_sticky_delayed_or_dropped(settings: dict[str, Any]):
    envs = InProcessBackend(lambda: wrapped(**settings), 2, "Identity")
    envs.reset([0, 1], [3, 4])
    rng = stream(0, "actions")
    for _ in range(30):
        assert envs.step(envs.action_space.random((2,), rng, envs.mask)).faults == ()


def test_previous_actions_are_one_hot_where_they_are_options():
    env = make_env(
        EnvConfig(id="py:tests.envs.echo:Echo", previous_actions=1, kwargs={"takes": "dict"}),
        limit=EpisodeLimit(),
    )
    env.reset(seed=1)
    obs, *_ = env.step({"aim": np.float32([2, -1]), "gear": 3, "on": np.int8([1, 0])})
    assert obs[3:].tolist() == [2, -1, *(0, 0, 1, 0), *(0, 1), *(1, 0)]
    assert env.observation_space.contains(obs)


def test_noise_on_composite_actions_is_refused():
    with pytest.raises(EnvError, match="noise on Dict actions is not supported"):
        wrapped(noise={"action": "5%"})
