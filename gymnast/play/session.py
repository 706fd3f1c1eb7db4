"""From what was typed to episodes played: environment, player, window and film put together."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gymnast.config.config import Config
from gymnast.config.facts import Facts
from gymnast.film.actions import Actions
from gymnast.film.encode import FilmWriter
from gymnast.film.stage import Stage, without_screen
from gymnast.play.human import TerminalPlayer, WindowPlayer
from gymnast.play.keys import Keys
from gymnast.play.play import Audience, Outcome, play_episode
from gymnast.play.players import Player, RandomPlayer, TrainedPlayer
from gymnast.play.window import Window, has_display, no_display
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces
from gymnast.spaces.declared import facts_for_policy_obs

Who = Literal["policy", "random", "human"]


@dataclass(frozen=True)
class Wish:
    """What someone wants to see."""

    who: Who
    sampled: bool = False
    """The policy draws its actions instead of taking the most likely."""
    episodes: int = 1
    seed: int | None = None
    """Of the first episode, one more for each that follows; None draws one."""
    fps: float | None = None
    record: Path | None = None
    step_by_step: bool = False


def play(
    cfg: Config[Any],
    policy: Policy | None,
    wish: Wish,
    *,
    tell: Callable[[str], None] = print,
    ask: Callable[[str], str] = input,
    ended: Callable[[Outcome], None],
) -> None:
    """`ended` is told each outcome. Ctrl-C ends it too, and leaves the film up to there."""
    opens, by_hand = has_display(), wish.who == "human"
    if not opens and not wish.step_by_step and (by_hand or wish.record is None):
        raise no_display(by_hand=by_hand)
    with ExitStack() as stack:
        stack.enter_context(nullcontext() if opens else without_screen())
        draws = opens or wish.record is not None
        stage = stack.enter_context(closing(Stage(cfg, draws=draws)))
        fps = wish.fps or stage.fps
        window = stack.enter_context(closing(Window(cfg.env.id, fps))) if opens else None
        film = FilmWriter(wish.record, fps) if wish.record else None
        audience = Audience(
            Actions(stage.env.action_space, cfg.facts.actions),
            _told(cfg, stage) if wish.step_by_step else cfg.facts,
            window,
            stack.enter_context(film or nullcontext()),
            step_by_step=wish.step_by_step,
            by_hand=by_hand,
            tell=tell,
            ask=ask,
        )
        player = _player(cfg, policy, wish, stage, audience)
        first = secrets.randbelow(2**31) if wish.seed is None else wish.seed
        with suppress(KeyboardInterrupt):
            for i in range(wish.episodes):
                outcome = play_episode(stage, player, first + i, audience)
                ended(outcome)
                if outcome.ending == "left":
                    break


def _player(
    cfg: Config[Any], policy: Policy | None, wish: Wish, stage: Stage, audience: Audience
) -> Player:
    space = stage.env.action_space
    if wish.who == "random":
        return RandomPlayer(space)
    if wish.who == "policy":
        assert policy is not None
        return TrainedPlayer(policy, sampled=wish.sampled)
    keys = Keys(space, cfg.facts)
    audience.tell(f"keys  {keys.legend()}; escape or q ends")
    if audience.window is None:
        return TerminalPlayer(keys, audience.ask)
    return WindowPlayer(keys, audience.window, step_by_step=wish.step_by_step)


def _told(cfg: Config[Any], stage: Stage) -> Facts:
    return facts_for_policy_obs(cfg.facts, cfg.env, spaces.observation(stage.env.observation_space))
