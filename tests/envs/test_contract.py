"""What every backend promises, on environments whose every number is known.

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
from gymnast.envs.backends.backend import random_actions
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.vector import VectorBackend
from gymnast.envs.build.open import open_envs
from gymnast.envs.build.seeding import replays_exactly
from gymnast.errors import EnvError
from gymnast.seeds import stream
from tests.envs.backends import OURS, VECTORS, N, begin, goes_as_written, no_action, stepped
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
    seed_in,
)

ours = pytest.mark.parametrize("envs", OURS, indirect=True)

# ---- episodes --------------------------------------------------------------------------------


def test_every_step_is_one_of_the_script_and_shows_the_true_successor_with_both_ends_apart(
    envs: Any,
):
    """Played as a collector does: whatever ended is reset, a step that only began is not counted."""
    assert begin(envs, [10, 11, 12, 13]) == ()
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
                seeds[i], t[i] = seed_in(step.obs[i]), 0
                assert np.array_equal(step.obs[i], obs_of(seeds[i], 0))
                continue
            if t[i] == 0:
                seeds[i] = seed_in(shown[i])  # the vector's own choice, where it chooses
            assert np.array_equal(shown[i], obs_of(seeds[i], t[i]))
            t[i] += 1
            assert goes_as_written(step, i, seeds[i], t[i])
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
def test_nothing_resets_by_itself(envs: Any):
    begin(envs, [1, 8, 15, 22])  # of two steps
    for t in (1, 2, 3, 4):
        envs.step(no_action(envs))
        assert np.array_equal(envs.obs, [obs_of(seed, t) for seed in (1, 8, 15, 22)])


@ours
def test_only_the_copies_named_are_reset_or_stepped(envs: Any):
    begin(envs, [70, 71, 72, 73])
    envs.step(no_action(envs), [1, 3])
    shown = [obs_of(70, 0), obs_of(71, 1), obs_of(72, 0), obs_of(73, 1)]
    assert np.array_equal(envs.obs, shown)
    envs.reset([2], [99])
    shown[2] = obs_of(99, 0)
    assert np.array_equal(envs.obs, shown)


@ours
def test_seeds_reach_the_environment_zero_included(envs: Any):
    seeds = [0, 1, 999, 16_000]
    begin(envs, seeds)
    assert [seed_in(o) for o in envs.obs] == seeds


@pytest.mark.parametrize("envs", VECTORS, indirect=True)
def test_a_vector_refuses_to_step_single_copies(envs: Any):
    begin(envs, [1, 2, 3, 4])
    with pytest.raises(EnvError, match="cannot step single copies"):
        envs.step(no_action(envs), [0])
    assert envs.restore != "replay"


@pytest.mark.parametrize("env", ["CartPole-v1", "Taxi-v4", "Pendulum-v1", "LunarLander-v3"])
def test_the_same_seed_is_the_same_episode_in_any_copy_and_another_is_not(env: str):
    envs = open_envs(EnvConfig(id=env, n_envs=3), limit=EpisodeLimit(), tell=print)
    envs.reset([0, 1, 2], [5, 5, 6])
    actions = random_actions(envs.action_space, (20,), stream(0, "test"))
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


# ---- what is shown and taken -----------------------------------------------------------------


def open_here(make: Callable[[], gym.Env], n_envs: int = 2) -> InProcessBackend:
    return InProcessBackend(make, n_envs, "Scripted-v0")


def test_spaces_that_do_not_begin_at_zero_are_shown_as_they_are():
    envs = open_here(lambda: Choose(n=3, first=5))
    envs.reset([0, 1], [1, 2])
    assert set(envs.obs.tolist()) <= {5, 6, 7}
    step = envs.step(envs.obs.copy())  # the environment asserts that actions are of its space
    assert step.reward.tolist() == [1.0, 1.0]


def test_a_copy_that_never_began_shows_something_of_its_space():
    """Evaluation asks the policy about all copies, also where fewer episodes are wanted."""
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
def test_whether_an_episode_can_be_replayed_is_found_out_by_trying(env: Any, replays: bool):
    """With actions of its space: the scripts assert that."""
    assert replays_exactly(open_here(env), "unknown") is replays


@ours
def test_what_is_declared_about_replaying_is_believed(envs: Any):
    assert replays_exactly(envs, "unknown") is True
    assert replays_exactly(envs, "yes") is True
    assert replays_exactly(envs, "no") is False


@pytest.mark.parametrize("backend", ["inprocess", "process"])
def test_masks_are_those_of_the_state_that_is_shown(backend: str):
    cfg = EnvConfig(id="py:tests.scripted:Masked", n_envs=3, backend=backend, workers=2)
    envs = open_envs(cfg, limit=EpisodeLimit(), tell=print)
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
    """Masked, and without a seed it takes the next one."""

    def reset(self, *, seed: int | None = None, options: Any = None):
        return super().reset(seed=self.seed + 1 if seed is None else seed, options=options)


class Unreasonable(Reasonable):
    """Allows nothing after its third step."""

    def _mask(self) -> dict[str, Any]:
        return {"action_mask": np.zeros(3, bool)} if self.t == 3 else super()._mask()


@pytest.mark.parametrize("mode", VECTORS.values(), ids=VECTORS)
def test_masks_of_a_vector_are_those_of_the_states_that_are_shown(mode: AutoresetMode):
    envs = VectorBackend(lambda: SyncVectorEnv([Reasonable] * N, autoreset_mode=mode), "Masked")
    begin(envs, [3, 4, 5, 6])
    fresh = iter(range(20, 900))
    for _ in range(30):
        shown = [(seed_in(o), round(float(o[0]) * 8)) for o in envs.obs]
        over = np.array([t == length_of(seed) for seed, t in shown])
        assert envs.mask is not None
        for i in np.flatnonzero(~over):
            assert np.array_equal(envs.mask[i], mask_of(*shown[i]))
        step = envs.step(no_action(envs))
        assert step.faults == ()
        ended = np.flatnonzero(step.terminated | step.truncated).tolist()
        envs.reset(ended, [next(fresh) for _ in ended])


@pytest.mark.parametrize("mode", VECTORS.values(), ids=VECTORS)
def test_a_copy_of_a_vector_that_allows_nothing_is_named(mode: AutoresetMode):
    envs = VectorBackend(lambda: SyncVectorEnv([Unreasonable] * N, autoreset_mode=mode), "Masked")
    begin(envs, [9, 10, 11, 13])  # of 3, 4, 5 and 7 steps
    faults = stepped(envs, 3).faults
    assert [f.copy for f in faults if "allows no action" in f.what] == [1, 2, 3]
