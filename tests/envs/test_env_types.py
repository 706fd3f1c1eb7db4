"""Values of unknown type: observations, actions and infos of environments are converted or refused."""

from __future__ import annotations

import socket
from decimal import Decimal
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends import messages
from gymnast.envs.backends.backend import as_float
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.build.make import make_env
from gymnast.envs.wrappers.discrete_elements import DiscreteElements
from gymnast.spaces.spaces import DiscreteAction, MultiDiscreteAction


class Minimal(gym.Env[Any, Any]):
    """Its `reset` takes nothing but a seed, which is enough for an unwrapped environment."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None) -> Any:  # type: ignore[override]
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.ones(2, np.float32), 0.0, False, False, {}


class NoDict(Minimal):
    """Its space is a Dict, but its observations are not."""

    observation_space = gym.spaces.Dict({"a": Minimal.observation_space})

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=seed)


@pytest.mark.parametrize("settings", [{"stack": 2}, {"previous_actions": 1}])
def test_a_reset_without_options_can_be_wrapped(settings: dict[str, Any]):
    cfg = EnvConfig.model_validate({"id": f"py:{__name__}:Minimal", **settings})
    envs = InProcessBackend(partial(make_env, cfg), 1, cfg.id)
    assert envs.reset([0], [3]) == ()
    assert envs.step(np.array([1])).faults == ()


@pytest.mark.parametrize("settings", [{"keep": ["a"]}, {"noise": {"obs": 0.1}}])
def test_a_dict_observation_that_is_not_a_dict_is_a_fault(settings: dict[str, Any]):
    cfg = EnvConfig.model_validate({"id": f"py:{__name__}:NoDict", **settings})
    (fault,) = InProcessBackend(partial(make_env, cfg), 1, cfg.id).reset([0], [3])
    assert "the observation is a ndarray, not a dict" in fault.message


@pytest.mark.parametrize("like", [3, np.int64(3), np.int32(3)])
def test_a_discrete_action_keeps_its_type(like: object):
    elements = DiscreteElements(DiscreteAction(4, 2))
    action = elements.to_action(elements.to_indices(like), like)
    assert action == like
    assert type(action) is type(like)


def test_an_array_of_discrete_actions_keeps_dtype_and_shape():
    elements = DiscreteElements(MultiDiscreteAction((2, 2), (3, 4, 5, 6), (0, 1, 2, 3)))
    like = np.array([[2, 1], [4, 3]], np.int16)
    action = np.asarray(elements.to_action(elements.to_indices(like), like))
    assert action.dtype == like.dtype
    assert np.array_equal(action, like)


@pytest.mark.parametrize(
    "value",
    [1, True, 2.5, "2.5", Decimal("1.5"), np.float32(0.5), np.int8(3), np.bool_(1), np.array(1.5)],
)
def test_a_number_in_info_is_what_python_converts_to_a_float(value: Any):
    assert as_float(value) == float(value)


@pytest.mark.parametrize("value", [None, "a", {}, [1.0], 1j, np.zeros(2), object()])
def test_anything_else_in_info_is_no_number(value: Any):
    with pytest.raises((TypeError, ValueError)):
        as_float(value)


def test_a_reply_arrives_as_it_was_sent():
    reply = messages.Reply(refused=["message", "fix"], faults=[(1, 2, "what", "text")], infos=[])
    ours, its = socket.socketpair()
    with ours, its:
        messages.send(ours, reply)
        received: messages.Reply = messages.receive(its)
        ours.send(messages.EMPTY_REPLY)
        assert messages.receive(its) is None
    assert received.keys() == reply.keys()
    assert received.get("refused") == reply.get("refused")
    assert [tuple(fault) for fault in received.get("faults", ())] == reply.get("faults")
