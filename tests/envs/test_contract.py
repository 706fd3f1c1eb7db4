"""The guarantees of every backend, tested on environments whose every number is known.

A new backend joins by adding itself to `tests/envs/backends.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.vector import VectorBackend
from gymnast.envs.build.open import open_envs
from gymnast.envs.build.seeding import replays_exactly
from gymnast.errors import EnvError
from gymnast.seeds import stream
from tests.envs.backends import (
    OURS,
    VECTORS,
    N,
    follows_script,
    no_action,
    reset_all,
    step_repeatedly,
)
from tests.scripted import (
    ENDS,
    Choose,
    Forgetful,
    Masked,
    Script,
    end_of,
    length_of,
    mask_of,
    obs_of,
    seed_from_obs,
)

ours = pytest.mark.parametrize("envs", OURS, indirect=True)

# ---- episodes --------------------------------------------------------------------------------


def test_every_step_returns_the_true_next_observation_and_separate_end_flags(
    envs: Any,
):
    """Plays like a collector: ended copies are reset, and steps that only start an episode do not count."""
    assert reset_all(envs, [10, 11, 12, 13]) == ()
    seeds, t, given = [10, 11, 12, 13], [0] * N, iter(range(100, 900))
    assert np.array_equal(envs.obs, [obs_of(seed, 0) for seed in seeds])
    endings = {(end, length == 1): 0 for end in ENDS for length in (1, 2)}
    for _ in range(120):
        shown = envs.obs.copy()
        step = envs.step(no_action(envs))
        assert step.faults == ()
        counts = np.ones(N, dtype=bool) if step.stepped is None else step.stepped
        for i in range(N):
            if not counts[i]:
                seeds[i], t[i] = seed_from_obs(step.obs[i]), 0
                assert np.array_equal(step.obs[i], obs_of(seeds[i], 0))
                continue
            if t[i] == 0:
                seeds[i] = seed_from_obs(shown[i])  # with autoreset the vector chooses the seed
            assert np.array_equal(shown[i], obs_of(seeds[i], t[i]))
            t[i] += 1
            assert follows_script(step, i, seeds[i], t[i])
            end = end_of(seeds[i]) if t[i] == length_of(seeds[i]) else None
            assert step.terminated[i] == (end in ("terminated", "both"))
            assert step.truncated[i] == (end in ("truncated", "both"))
            if end is not None:
                endings[end, t[i] == 1] += 1
                assert step.infos[i]["steps"] == t[i]
                t[i] = 0
        ended = np.flatnonzero((step.terminated | step.truncated) & counts).tolist()
        assert envs.reset(ended, [next(given) for _ in ended]) == ()
    assert all(endings.values()), endings


@ours
def test_no_copy_resets_by_itself(envs: Any):
    reset_all(envs, [1, 8, 15, 22])  # episodes of two steps
    for t in (1, 2, 3, 4):
        envs.step(no_action(envs))
        assert np.array_equal(envs.obs, [obs_of(seed, t) for seed in (1, 8, 15, 22)])


@ours
def test_only_the_given_copies_are_reset_or_stepped(envs: Any):
    reset_all(envs, [70, 71, 72, 73])
    envs.step(no_action(envs), [1, 3])
    shown = [obs_of(70, 0), obs_of(71, 1), obs_of(72, 0), obs_of(73, 1)]
    assert np.array_equal(envs.obs, shown)
    envs.reset([2], [99])
    shown[2] = obs_of(99, 0)
    assert np.array_equal(envs.obs, shown)


@ours
def test_seeds_reach_the_environment_including_zero(envs: Any):
    seeds = [0, 1, 999, 16_000]
    reset_all(envs, seeds)
    assert [seed_from_obs(o) for o in envs.obs] == seeds


@pytest.mark.parametrize("envs", VECTORS, indirect=True)
def test_a_vector_refuses_to_step_single_copies(envs: Any):
    reset_all(envs, [1, 2, 3, 4])
    with pytest.raises(EnvError, match="cannot step single copies"):
        envs.step(no_action(envs), [0])
    assert envs.restore_mode != "replay"


@pytest.mark.parametrize("env", ["CartPole-v1", "Taxi-v4", "Pendulum-v1", "LunarLander-v3"])
def test_the_same_seed_gives_the_same_episode_in_any_copy_and_another_seed_a_different_one(
    env: str,
):
    envs = open_envs(EnvConfig(id=env, n_envs=3), limit=EpisodeLimit(), on_output=print)
    envs.reset([0, 1, 2], [5, 5, 6])
    actions = envs.action_space.random((20,), stream(0, "test"))
    differs = not np.array_equal(envs.obs[0], envs.obs[2])
    for action in actions:
        step = envs.step(np.array([action, action, action]))
        assert np.array_equal(step.obs[0], step.obs[1])
        assert step.reward[0] == step.reward[1]
        differs = differs or not np.array_equal(step.obs[0], step.obs[2])
        if step.terminated.any():
            break
    assert differs
    envs.close()


# ---- spaces and masks ------------------------------------------------------------------------


def open_here(make: Callable[[], gym.Env], n_envs: int = 2) -> InProcessBackend:
    return InProcessBackend(make, n_envs, "Scripted-v0")


def test_discrete_spaces_that_do_not_start_at_zero_keep_their_values():
    envs = open_here(lambda: Choose(n=3, first=5))
    envs.reset([0, 1], [1, 2])
    assert set(envs.obs.tolist()) <= {5, 6, 7}
    step = envs.step(envs.obs.copy())  # the environment asserts that actions are inside its space
    assert step.reward.tolist() == [1.0, 1.0]


def test_a_copy_that_was_never_reset_has_an_observation_inside_its_space():
    """Evaluation queries the policy for all copies, even if fewer episodes are wanted."""
    envs = open_here(lambda: Choose(n=3, first=5))
    envs.reset([0], [1])
    assert all(5 <= o < 8 for o in envs.obs.tolist())


TRIED = {
    "script": (Script, True),
    "forgetful": (Forgetful, False),
    "choose": (Choose, True),
    "late categories": (lambda: Choose(first=7), True),
    "amounts": (lambda: Script(box=True), True),
    "amounts above 1": (lambda: Script(box=True, low=3.0, high=5.0), True),
    "amounts below -1": (lambda: Script(box=True, low=-9.0, high=-4.0), True),
    "unbounded amounts": (lambda: Script(box=True, low=-np.inf, high=np.inf), True),
}


@pytest.mark.parametrize(("env", "replays"), TRIED.values(), ids=TRIED)
def test_whether_episodes_replay_is_found_by_playing_them(env: Any, replays: bool):
    """The actions are inside the space: the scripts assert that."""
    assert replays_exactly(open_here(env), "unknown") is replays


@ours
def test_a_declaration_about_replaying_is_trusted(envs: Any):
    assert replays_exactly(envs, "unknown") is True
    assert replays_exactly(envs, "yes") is True
    assert replays_exactly(envs, "no") is False


@pytest.mark.parametrize("backend", ["inprocess", "process"])
def test_masks_belong_to_the_current_observation(backend: str):
    cfg = EnvConfig(id="py:tests.scripted:Masked", n_envs=3, backend=backend, workers=2)
    envs = open_envs(cfg, limit=EpisodeLimit(), on_output=print)
    seeds, t = [3, 4, 5], [0, 0, 0]
    envs.reset(range(3), seeds)
    for _ in range(20):
        assert np.array_equal(envs.mask, [mask_of(s, k) for s, k in zip(seeds, t, strict=True)])
        step = envs.step(no_action(envs))
        t = [k + 1 for k in t]
        for i in np.flatnonzero(step.terminated | step.truncated).tolist():
            seeds[i], t[i] = seeds[i] + 1, 0
            envs.reset([i], [seeds[i]])
    envs.close()


class Reasonable(Masked):
    """Has action masks; a reset without a seed uses the next seed."""

    def reset(self, *, seed: int | None = None, options: Any = None):
        return super().reset(seed=self.seed + 1 if seed is None else seed, options=options)


class Unreasonable(Reasonable):
    """Allows no action after its third step."""

    def _mask(self) -> dict[str, Any]:
        return {"action_mask": np.zeros(3, bool)} if self.t == 3 else super()._mask()


@pytest.mark.parametrize("mode", VECTORS.values(), ids=VECTORS)
def test_masks_of_a_vector_belong_to_the_current_observations(mode: AutoresetMode):
    envs = VectorBackend(lambda: SyncVectorEnv([Reasonable] * N, autoreset_mode=mode), "Masked")
    reset_all(envs, [3, 4, 5, 6])
    fresh = iter(range(20, 900))
    for _ in range(30):
        shown = [(seed_from_obs(o), round(float(o[0]) * 8)) for o in envs.obs]
        over = np.array([t == length_of(seed) for seed, t in shown])
        assert envs.mask is not None
        for i in np.flatnonzero(~over):
            assert np.array_equal(envs.mask[i], mask_of(*shown[i]))
        step = envs.step(no_action(envs))
        assert step.faults == ()
        ended = np.flatnonzero(step.terminated | step.truncated).tolist()
        envs.reset(ended, [next(fresh) for _ in ended])


@pytest.mark.parametrize("mode", VECTORS.values(), ids=VECTORS)
def test_a_copy_of_a_vector_that_allows_no_action_is_named(mode: AutoresetMode):
    envs = VectorBackend(lambda: SyncVectorEnv([Unreasonable] * N, autoreset_mode=mode), "Masked")
    reset_all(envs, [9, 10, 11, 13])  # episodes of 3, 4, 5 and 7 steps
    faults = step_repeatedly(envs, 3).faults
    assert [f.copy for f in faults if "allows no action" in f.message] == [1, 2, 3]
