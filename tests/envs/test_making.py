"""Creating environments from an id or a class: every failure is an error with a fix."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.defaults import default_settings
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError
from gymnast.spaces.spaces import BoxAction, BoxObs, DiscreteAction, DiscreteObs


def made(id: str, limit: int | None = None, **kwargs) -> gym.Env:
    return make_env(EnvConfig(id=id, kwargs=kwargs), limit=EpisodeLimit(limit))


def truncated_after(env: gym.Env) -> int:
    env.reset(seed=0)
    for t in range(1, 1000):
        if env.step(env.action_space.sample())[3]:
            return t
    raise AssertionError("never")


def test_a_registered_id_is_created_with_its_kwargs():
    env = made("FrozenLake-v1", map_name="8x8", is_slippery=False)
    assert env.observation_space.n == 64


def test_a_class_is_created_with_its_kwargs():
    assert made("py:tests.scripted:Script", n_actions=5).action_space.n == 5


@pytest.mark.parametrize("id", ["Pendulum-v1", "py:tests.scripted:Script"])
def test_a_time_limit_replaces_the_environments_own(id: str):
    kwargs = {} if id == "Pendulum-v1" else {"length": 500}
    assert truncated_after(made(id, 17, **kwargs)) == 17


def test_without_a_limit_the_environments_own_applies():
    assert truncated_after(made("Pendulum-v1")) == 200


@pytest.mark.parametrize(
    ("id", "kwargs", "message"),
    [
        ("CartPole-v2", {}, "CartPole-v1"),
        ("CartPol-v1", {}, "did you mean CartPole-v1"),
        ("Taxi-v1", {}, "Taxi-v4"),
        ("CartPole-v1", {"color": "red"}, "does not accept env.kwargs"),
        ("py:tests.scripted:Script", {"color": "red"}, "does not accept env.kwargs"),
        ("py:tests.scripted", {}, "py:package.module:Class"),
        ("py:tests.scripted:Nobody", {}, "cannot be imported"),
        ("py:tests.nowhere:Script", {}, "cannot be imported"),
    ],
)
def test_a_wrong_id_or_argument_is_refused_with_a_hint(id: str, kwargs: dict, message: str):
    with pytest.raises(EnvError) as refused:
        made(id, **kwargs)
    assert message in str(refused.value)


class Buggy(gym.Env):
    """Its constructor raises by a bug of its own; with `color`, it passes that on to `object`."""

    def __init__(self, bug: str = "", **more) -> None:
        if bug == "attribute":
            self.not_set_yet  # noqa: B018
        if bug == "type":
            len(3)
        if bug == "import":
            raise ImportError("no such library")
        (lambda: None)(**more)


gym.register("Buggy-v0", entry_point=Buggy)
BUGGY = ("py:tests.envs.test_making:Buggy", "Buggy-v0")


@pytest.mark.parametrize("id", BUGGY)
@pytest.mark.parametrize(
    ("bug", "cause"),
    [
        ("attribute", "AttributeError: 'Buggy' object has no attribute 'not_set_yet'"),
        ("type", "TypeError: object of type 'int' has no len()"),
        ("import", "ImportError: no such library"),
    ],
)
def test_a_bug_in_a_constructor_is_reported_as_such(id: str, bug: str, cause: str):
    with pytest.raises(EnvError) as failed:
        made(id, bug=bug)
    assert f"{id} cannot be created: {cause}" in str(failed.value)
    assert type(failed.value.__cause__).__name__ == cause.partition(":")[0]


@pytest.mark.parametrize("id", BUGGY)
def test_a_keyword_that_a_base_class_rejects_is_not_accepted(id: str):
    with pytest.raises(EnvError, match=r"does not accept env.kwargs .*'color'"):
        made(id, color="red")


def test_a_module_that_raises_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "broken_module.py").write_text("def (:")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EnvError, match="cannot be imported: SyntaxError") as failed:
        made("py:broken_module:Env")
    assert isinstance(failed.value.__cause__, SyntaxError)  # `gymnast check` shows its traceback


def test_defaults_depend_on_the_observation_and_action_spaces():
    vector = BoxObs((2,), (-1.0,) * 2, (1.0,) * 2)
    assert default_settings(vector, DiscreteAction(2, 0), "ppo")["normalize"]["obs"] == "running"
    assert "normalize" not in default_settings(DiscreteObs(4, 0), DiscreteAction(2, 0), "ppo")
    both = (DiscreteAction(2, 0), BoxAction((1,), (-1.0,), (1.0,)))
    discrete, continuous = (default_settings(vector, action, "ppo")["algo"] for action in both)
    assert discrete != continuous
