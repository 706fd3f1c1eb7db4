"""A person at the window, by key events as SDL delivers them; and what keys mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pygame
import pytest
from gymnasium.spaces import Box, Discrete

from gymnast.config.facts import Facts
from gymnast.config.resolve import resolve
from gymnast.errors import UsageError
from gymnast.play.human import WindowPlayer
from gymnast.play.keys import Keys
from gymnast.play.play import Outcome
from gymnast.play.session import Wish, play
from gymnast.play.window import Window
from tests.film.seen import Swatch, decoded


@pytest.fixture(autouse=True)
def dummy_display(monkeypatch: pytest.MonkeyPatch):
    """A display that accepts windows and shows them to nobody."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.event.clear()
    yield
    pygame.quit()


def press(name: str) -> None:
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.key.key_code(name)))


def release(name: str) -> None:
    pygame.event.post(pygame.event.Event(pygame.KEYUP, key=pygame.key.key_code(name)))


def human(target: str, told: Callable[[str], None] = lambda _: None, **wish) -> list[Outcome]:
    outcomes: list[Outcome] = []
    wanted = Wish("human", seed=1, fps=100, **wish)
    play(resolve(target).config, None, wanted, tell=told, ended=outcomes.append)
    return outcomes


def steps_of(env: str, action, most: int = 10_000) -> tuple[float, int]:
    """Return and length when one action is repeated."""
    live = gym.make(env)
    live.reset(seed=1)
    total = 0.0
    for t in range(most):
        _, reward, terminated, truncated, _ = live.step(action)
        total += float(reward)
        if terminated or truncated:
            return total, t + 1
    return total, most


@pytest.mark.parametrize(("key", "action"), [("left", 0), ("right", 1)])
def test_a_key_held_down_is_its_action_every_step(key: str, action: int, tmp_path: Path):
    told: list[str] = []
    press(key)
    (outcome,) = human("CartPole-v1", told.append, record=tmp_path / "me.mp4")
    assert (outcome.total, outcome.length) == steps_of("CartPole-v1", action)
    assert outcome.ending == "terminated"
    assert told[0].startswith("keys  left: push left, right: push right")
    frames, _ = decoded(tmp_path / "me.mp4")
    assert len(frames) == outcome.length + 1 + 100


def test_nothing_held_is_the_idle_action():
    (outcome,) = human("LunarLander-v3")
    total, length = steps_of("LunarLander-v3", 0)
    assert outcome.length == length
    assert outcome.total == pytest.approx(total)


class Typed(Swatch):
    """Digits 0 to 2 are its keys. What is typed at which step is said by `Typed.script`."""

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
    assert (outcome.length, outcome.ending) == (1, "left")


@pytest.mark.parametrize("how", ["escape", "q", "close"])
def test_escape_q_and_closing_the_window_end_it_with_a_film_up_to_there(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    end = close if how == "close" else lambda: press(how)
    monkeypatch.setattr(Typed, "script", {0: lambda: press("1"), 3: end})
    (outcome,) = human(TYPED, record=tmp_path / "a.mp4", episodes=3)
    assert (outcome.length, outcome.ending) == (3, "left")
    frames, _ = decoded(tmp_path / "a.mp4")
    assert len(frames) == 3


def test_leaving_at_once_leaves_no_film(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Typed, "script", {0: close})
    (outcome,) = human(TYPED, record=tmp_path / "a.mp4")
    assert (outcome.length, outcome.ending) == (0, "left")
    assert not list(tmp_path.iterdir())


def test_step_by_step_each_press_is_one_step_and_nothing_happens_without_one():
    facts = Facts.model_validate({"keys": {"a": 1}, "idle": 0})
    window = Window("test", 1000)
    slow, fast = (
        WindowPlayer(Keys(Discrete(2), facts), window, step_by_step=s) for s in (True, False)
    )
    assert fast.decide(None).action == 0
    pygame.time.set_timer(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_a), 30, loops=1)
    assert slow.decide(None).action == 1
    window.tick()
    assert window.pressed() == []  # though the key was never let go


def test_a_policy_is_shown_in_a_window_too():
    outcomes: list[Outcome] = []
    wish = Wish("random", seed=5, fps=100)
    play(resolve("CartPole-v1").config, None, wish, ended=outcomes.append)
    assert outcomes[0].ending == "terminated"


def test_amounts_of_keys_held_together_are_added_and_kept_in_range():
    cfg = resolve("LunarLander-v3:continuous").config
    space = gym.make(cfg.env.id, **cfg.env.kwargs).action_space
    keys = Keys(space, cfg.facts)
    assert keys.action(["up", "left"]).tolist() == [1.0, -1.0]
    assert keys.action(["left", "right"]).tolist() == [0.0, 0.0]
    assert keys.action([]).tolist() == [0.0, 0.0]
    assert keys.action(["up", "up"]).tolist() == [1.0, 0.0]
    assert space.contains(keys.action(["up"]))


def test_of_several_choices_the_latest_key_counts_and_unknown_keys_do_not():
    keys = Keys(Discrete(2), Facts.model_validate({"keys": {"a": 0, "b": 1}}))
    assert keys.action(["a", "b", "x"]) == 1
    assert keys.action(["x"]) is None


def test_without_facts_digits_are_the_actions():
    keys = Keys(Discrete(3, start=4), Facts())
    assert [keys.action([str(i)]) for i in range(3)] == [4, 5, 6]
    for space in (Discrete(11), Box(-1, 1, (2,), np.float32)):
        with pytest.raises(UsageError, match="no keys are known"):
            Keys(space, Facts())


def test_a_key_for_an_action_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match="left stand for no action"):
        Keys(Discrete(2), Facts.model_validate({"keys": {"left": 2, "right": 1}}))
