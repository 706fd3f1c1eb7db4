"""A human player in a window, simulated by SDL key events; and the mapping from keys to actions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pygame
import pytest
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete

from gymnast.config.facts import Facts
from gymnast.config.resolve import resolve
from gymnast.errors import UsageError
from gymnast.play.human import WindowPlayer
from gymnast.play.keys import KeyBindings
from gymnast.play.request import EpisodeOutcome, PlayRequest
from gymnast.play.session import play
from gymnast.play.window import Window
from gymnast.runs.trace import Trace
from tests.film.film_envs import Swatch, decode_film

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def dummy_display(monkeypatch: pytest.MonkeyPatch):
    """Provides SDL's dummy display, which accepts windows without showing them."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.event.clear()
    yield
    pygame.quit()


def press(name: str) -> None:
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.key.key_code(name)))


def release(name: str) -> None:
    pygame.event.post(pygame.event.Event(pygame.KEYUP, key=pygame.key.key_code(name)))


def human(
    target: str, echo: Callable[[str], None] = lambda _: None, **options
) -> list[EpisodeOutcome]:
    outcomes: list[EpisodeOutcome] = []
    wanted = PlayRequest("", "human", seed=1, fps=100, **options)
    play(resolve(target).config, None, wanted, echo=echo, on_episode_end=outcomes.append)
    return outcomes


def steps_of(env: str, action, max_steps: int = 10_000) -> tuple[float, int]:
    """Returns the return and length of an episode in which one action is repeated."""
    live = gym.make(env)
    live.reset(seed=1)
    total = 0.0
    for t in range(max_steps):
        _, reward, terminated, truncated, _ = live.step(action)
        total += float(reward)
        if terminated or truncated:
            return total, t + 1
    return total, max_steps


@pytest.mark.parametrize(("key", "action"), [("left", 0), ("right", 1)])
def test_a_held_key_is_its_action_at_every_step(key: str, action: int, tmp_path: Path):
    printed: list[str] = []
    press(key)
    (outcome,) = human("CartPole-v1", printed.append, record=str(tmp_path / "me.mp4"))
    assert (outcome.raw_return, outcome.length) == steps_of("CartPole-v1", action)
    assert outcome.ending == "terminated"
    assert printed[0].startswith("keys  left: push left, right: push right")
    frames, _ = decode_film(tmp_path / "me.mp4")
    assert len(frames) == outcome.length + 1 + 100


def test_without_a_held_key_the_idle_action_is_taken():
    (outcome,) = human("LunarLander-v3")
    total, length = steps_of("LunarLander-v3", 0)
    assert outcome.length == length
    assert outcome.raw_return == pytest.approx(total)


class Typed(Swatch):
    """Has the keys 0 to 2. `Typed.script` maps a step to the key events sent after it."""

    script: dict[int, Callable[[], object]] = {}

    def reset(self, *, seed: int | None = None, options: Any = None):
        reset = super().reset(seed=seed)
        Typed.script.get(0, int)()
        return reset

    def step(self, action: int):
        stepped = super().step(action)
        Typed.script.get(self.t, int)()
        return stepped


TYPED = "py:tests.play.test_human:Typed"


def close() -> None:
    pygame.event.post(pygame.event.Event(pygame.QUIT))


def test_a_tap_within_one_frame_is_one_step(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Typed, "script", {0: lambda: (press("1"), release("1")), 1: close})
    (outcome,) = human(TYPED)
    assert (outcome.length, outcome.ending) == (1, "interrupted")


@pytest.mark.parametrize("how", ["escape", "q", "close"])
def test_escape_q_and_closing_the_window_end_the_game_and_keep_the_film_so_far(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    end = close if how == "close" else lambda: press(how)
    monkeypatch.setattr(Typed, "script", {0: lambda: press("1"), 3: end})
    (outcome,) = human(TYPED, record=str(tmp_path / "a.mp4"), episodes=3)
    assert (outcome.length, outcome.ending) == (3, "interrupted")
    frames, _ = decode_film(tmp_path / "a.mp4")
    assert len(frames) == 3


def test_leaving_before_the_first_step_leaves_no_film(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Typed, "script", {0: close})
    (outcome,) = human(TYPED, record=str(tmp_path / "a.mp4"))
    assert (outcome.length, outcome.ending) == (0, "interrupted")
    assert not list(tmp_path.iterdir())


def test_step_by_step_each_key_press_is_one_step():
    facts = Facts.model_validate({"keys": {"a": 1}, "idle": 0})
    window = Window("test", 1000)
    slow, fast = (
        WindowPlayer(KeyBindings(Discrete(2), facts), window, step_by_step=s) for s in (True, False)
    )
    assert fast.decide(None).action == 0
    pygame.time.set_timer(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_a), 30, loops=1)
    assert slow.decide(None).action == 1
    window.tick()
    assert window.pressed_keys() == []  # although the key was never released


def test_random_actions_are_shown_in_a_window():
    outcomes: list[EpisodeOutcome] = []
    options = PlayRequest("", "random", seed=5, fps=100)
    play(resolve("CartPole-v1").config, None, options, on_episode_end=outcomes.append)
    assert outcomes[0].ending == "terminated"


def test_box_actions_of_keys_held_together_are_added_and_clipped():
    cfg = resolve("LunarLander-v3:continuous").config
    space = gym.make(cfg.env.id, **cfg.env.kwargs).action_space
    keys = KeyBindings(space, cfg.facts)
    assert keys.action(["up", "left"]).tolist() == [1.0, -1.0]
    assert keys.action(["left", "right"]).tolist() == [0.0, 0.0]
    assert keys.action([]).tolist() == [0.0, 0.0]
    assert keys.action(["up", "up"]).tolist() == [1.0, 0.0]
    assert space.contains(keys.action(["up"]))


def test_for_discrete_actions_the_latest_known_key_counts():
    keys = KeyBindings(Discrete(2), Facts.model_validate({"keys": {"a": 0, "b": 1}}))
    assert keys.action(["a", "b", "x"]) == 1
    assert keys.action(["x"]) is None


def test_without_facts_digits_are_the_keys_of_discrete_actions():
    keys = KeyBindings(Discrete(3, start=4), Facts())
    assert [keys.action([str(i)]) for i in range(3)] == [4, 5, 6]
    assert KeyBindings(Discrete(12), Facts()).action(["b"]) == 11
    for space in (Discrete(99), Box(-1, 1, (7,), np.float32)):
        with pytest.raises(UsageError, match="no keys are defined"):
            KeyBindings(space, Facts())


@pytest.mark.parametrize(
    "space",
    [
        Box(np.array([-1, 0, -np.inf], np.float32), np.array([1, 2, np.inf], np.float32)),
        MultiDiscrete([3, 2, 5], start=[1, 0, 7]),
        MultiBinary(3),
    ],
)
def test_without_facts_two_keys_change_each_element_and_act_together(space: gym.Space[Any]):
    keys = KeyBindings(space, Facts())
    idle = np.asarray(keys.action([]))
    assert space.contains(keys.action([]))
    moved: dict[int, set[float]] = {}
    for key in keys.key_actions:
        action = np.asarray(keys.action([key]))
        assert space.contains(keys.action([key]))
        (element,) = np.flatnonzero(action != idle)  # exactly one
        moved.setdefault(int(element), set()).add(float(action[element]))
    assert all(len(values) in (1, 2) for values in moved.values())
    assert set(moved) == {0, 1, 2}
    first, second = (list(keys.key_actions)[i] for i in (0, -1))
    both = np.asarray(keys.action([first, second]))
    assert both[0] == np.asarray(keys.action([first]))[0]
    assert both[2] == np.asarray(keys.action([second]))[2]


def test_a_key_for_an_action_that_does_not_exist_is_rejected():
    with pytest.raises(UsageError, match="left do not map to an action"):
        KeyBindings(Discrete(2), Facts.model_validate({"keys": {"left": 2, "right": 1}}))


def test_a_person_s_episode_is_recorded_step_by_step(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)  # the terminal
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    typed = iter(["right", "down", "nonsense", "down", "q"])
    traces: list[Trace] = []
    play(
        resolve("FrozenLake-v1").config,
        None,
        PlayRequest("", "human", seed=1, step_by_step=True),
        echo=lambda _: None,
        ask=lambda _: next(typed),
        on_episode_end=lambda _: None,
        on_trace=traces.append,
    )
    (trace,) = traces
    assert trace.action.tolist() == [2, 1, 1]
    assert (trace.seed, trace.terminated, trace.truncated) == (1, False, False)
    env = gym.make("FrozenLake-v1")
    env.reset(seed=1)
    assert trace.reward.tolist() == [env.step(action)[1] for action in (2, 1, 1)]
