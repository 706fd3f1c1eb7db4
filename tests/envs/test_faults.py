"""A failing copy is named with its step and cause, the others continue, and its next reset repairs it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.errors import EnvError
from tests.envs.backends import (
    OURS,
    VECTORS,
    N,
    follows_script,
    no_action,
    reset_all,
    step_repeatedly,
    vector_backend,
)
from tests.scripted import Broken, faulty_seeds, seed_from_obs

ours = pytest.mark.parametrize("envs", OURS, indirect=True)

BREAKAGES = {
    "nan reward": "the reward is nan",
    "inf reward": "the reward is inf",
    "text reward": "the reward is 'a lot', not a number",
    "nan obs": "not finite at index [1]",
    "inf obs": "not finite at index [2]",
    "shape": "shape (4,), its space says (3,)",
    "list": "is a list, not an array",
    "text obs": "not numbers",
    "raises": "raised ZeroDivisionError: the physics went wrong",
    "sys.exit": "raised SystemExit: enough",
    "ends": "terminated is array([ True, False])",
}


@ours
@pytest.mark.parametrize("at", [0, 3])
@pytest.mark.parametrize("how", BREAKAGES)
def test_a_failure_of_one_copy_is_a_fault_of_that_copy_only(envs: Any, how: str, at: int):
    if at == 0 and ("reward" in how or how == "ends"):
        return  # a reset has no reward and no end flags
    seeds = faulty_seeds(how, at)
    faults = reset_all(envs, seeds)
    if at:
        assert faults == ()
        step = step_repeatedly(envs, at)
        faults = step.faults
        assert (step.reward[2], step.terminated[2], step.truncated[2]) == (0.0, False, False)
        assert all(follows_script(step, i, seeds[i], at) for i in (0, 1, 3))
    assert [(fault.copy, fault.step) for fault in faults] == [(2, at)]
    assert BREAKAGES[how] in faults[0].message
    assert ("scripted.py" in faults[0].traceback) == ("raise" in faults[0].message)
    assert np.isfinite(envs.obs).all()
    assert envs.reset([2], [44]) == ()
    step = envs.step(no_action(envs))
    assert step.faults == ()
    assert follows_script(step, 2, 44, 1)
    assert all(follows_script(step, i, seeds[i], at + 1) for i in (0, 1, 3))


@pytest.mark.parametrize(
    ("how", "cause"),
    {
        "category": "the observation is 4, not one of 4 categories",
        "fraction": "the observation is 1.5, not one of 4 categories",
        "no category": "the observation is None, not one of 4 categories",
    }.items(),
)
def test_an_invalid_discrete_observation_is_a_fault(how: str, cause: str):
    envs = InProcessBackend(lambda: Broken(how), 2, "Shaky-v0")
    envs.reset([0, 1], [1, 2])
    (fault,) = step_repeatedly(envs, 3).faults
    with pytest.raises(EnvError, match=f"Shaky-v0, copy 1, step 3 of its episode: {cause}"):
        raise_fault(envs.name, [fault])
    with pytest.raises(EnvError) as raised:
        raise_fault(envs.name, [fault])
    assert "`gymnast check Shaky-v0` shows what is wrong" in str(raised.value)


def test_nan_inside_a_dict_observation_is_a_fault():
    def broken() -> Any:
        env = Broken("nan obs")
        entries = gym.spaces.Dict({"position": env.observation_space})
        return gym.wrappers.TransformObservation(env, lambda obs: {"position": obs}, entries)

    envs = InProcessBackend(broken, 2, "Shaky-v0")
    assert envs.reset([0, 1], [1, 2]) == ()
    (fault,) = step_repeatedly(envs, 3).faults
    assert (fault.copy, fault.step) == (1, 3)
    assert "not finite at index [1] of entry position" in fault.message
    assert np.isfinite(envs.obs["position"]).all()


# ---- vector implementations ------------------------------------------------------------------


@pytest.mark.parametrize("mode", VECTORS.values(), ids=VECTORS)
@pytest.mark.parametrize("how", ["nan reward", "nan obs"])
def test_a_number_that_is_not_finite_is_a_fault_in_a_vector(mode: AutoresetMode, how: str):
    """All copies are restarted where single copies cannot be reset."""
    envs = vector_backend(mode)
    assert reset_all(envs, faulty_seeds(how, 3)) == ()
    faults = step_repeatedly(envs, 3).faults
    alone = mode is AutoresetMode.DISABLED
    assert [fault.copy for fault in faults] == ([2] if alone else [0, 1, 2, 3])
    guilty, others = faults[len(faults) // 2], [f for f in faults if f.copy != 2]
    assert (guilty.copy, guilty.step) == (2, 3)
    assert ("not finite" if how == "nan obs" else "the reward is nan") in guilty.message
    assert all("created again because of copy 2" in fault.message for fault in others)
    works_again(envs, [fault.copy for fault in faults])


class Reshaped(SyncVectorEnv):
    """Fails for all copies from the third step on."""

    how = "rewards"
    count = 0

    def step(self, actions: Any) -> Any:
        obs, reward, *rest = super().step(actions)
        Reshaped.count += 1
        if Reshaped.count == 3:
            match Reshaped.how:
                case "rewards":
                    reward = reward[:2]
                case "observations":
                    obs = obs[:, :2]
                case "text":
                    obs = obs.astype(str).astype(object)
                    obs[:] = "a"
                case "raises":
                    raise ZeroDivisionError("the physics went wrong")
        return obs, reward, *rest


@pytest.mark.parametrize("mode", VECTORS.values(), ids=VECTORS)
@pytest.mark.parametrize(
    ("how", "cause"),
    {
        "rewards": "reward has shape (2,), not (4,)",
        "observations": "shape (2,), its space says (3,)",
        "text": "have the dtype object",
        "raises": "step of the whole vector raised ZeroDivisionError: the physics",
    }.items(),
)
def test_a_failure_of_the_whole_vector_is_a_fault_of_every_copy(
    mode: AutoresetMode, how: str, cause: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Reshaped, "how", how)
    monkeypatch.setattr(Reshaped, "count", 0)
    envs = vector_backend(mode, Reshaped)
    reset_all(envs, faulty_seeds("slow", 40))
    faults = step_repeatedly(envs, 3).faults
    assert [(fault.copy, fault.step) for fault in faults] == [(i, 3) for i in range(N)]
    assert all(cause in fault.message for fault in faults)
    assert all(("ZeroDivision" in fault.traceback) == (how == "raises") for fault in faults)
    works_again(envs, range(N))


def test_a_failed_reset_of_one_copy_ends_all_episodes_with_a_fault_each():
    envs = vector_backend(AutoresetMode.DISABLED)
    reset_all(envs, [13, 20, 27, 34])
    envs.step(no_action(envs))
    (fault,) = envs.reset([2], [faulty_seeds("raises", 0)[2]])
    assert (fault.copy, fault.step) == (2, 0)
    assert "reset of the whole vector raised ZeroDivisionError" in fault.message
    assert envs.reset([2], [22]) == ()
    step = envs.step(no_action(envs))
    assert [fault.copy for fault in step.faults] == [0, 1, 3]
    assert step.stepped is not None
    assert not step.stepped.any()  # the others could have continued without copy 2
    assert envs.reset([0, 1, 3], [20, 21, 23]) == ()
    step = envs.step(no_action(envs))
    assert step.faults == ()
    assert all(follows_script(step, copy, 20 + copy, 1) for copy in range(N))


def works_again(envs: Any, copies: Any) -> None:
    assert np.isfinite(envs.obs).all()
    assert envs.reset(copies, [20 + copy for copy in copies]) == ()
    assert [seed_from_obs(envs.obs[copy]) for copy in copies] == [20 + copy for copy in copies]
    step = envs.step(no_action(envs))
    assert step.faults == ()
    assert all(follows_script(step, copy, 20 + copy, 1) for copy in copies)
