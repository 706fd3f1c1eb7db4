"""Plays episodes as requested: combines environment, player, window and film."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gymnast.config.config import Config
from gymnast.config.facts import Facts
from gymnast.film.actions import ActionLabels
from gymnast.film.encode import FilmWriter
from gymnast.film.renderer import EnvRenderer, headless_rendering
from gymnast.play.human import TerminalPlayer, WindowPlayer
from gymnast.play.keys import KeyBindings
from gymnast.play.play import EpisodeOutcome, Viewer, play_episode
from gymnast.play.players import Player, RandomPlayer, TrainedPlayer
from gymnast.play.window import Window, has_display, no_display_error
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces
from gymnast.spaces.policy_facts import facts_for_policy_obs

PlayerKind = Literal["policy", "random", "human"]


@dataclass(frozen=True)
class PlayOptions:
    """Options of `gymnast play`."""

    player: PlayerKind
    sampled: bool = False
    """Whether the policy samples its actions instead of taking the most likely ones."""
    episodes: int = 1
    seed: int | None = None
    """Seed of the first episode, plus one for each further episode; None: random."""
    fps: float | None = None
    record: Path | None = None
    step_by_step: bool = False


def play(
    cfg: Config,
    policy: Policy | None,
    options: PlayOptions,
    *,
    echo: Callable[[str], None] = print,
    ask: Callable[[str], str] = input,
    on_episode_end: Callable[[EpisodeOutcome], None],
) -> None:
    """Plays the episodes and calls `on_episode_end` after each. Ctrl-C stops and keeps the film so
    far. `policy` is needed only if the player is a policy; `echo` prints a line, `ask` shows a
    prompt and returns a typed line. Raises UsageError without a display, unless steps are printed
    or a policy or random actions are recorded."""
    opens_window, is_human = has_display(), options.player == "human"
    if not opens_window and not options.step_by_step and (is_human or options.record is None):
        raise no_display_error(is_human=is_human)
    with ExitStack() as stack:
        stack.enter_context(nullcontext() if opens_window else headless_rendering())
        # In this order: the exit stack first completes the film, then closes window and environment.
        needs_frames = opens_window or options.record is not None
        renderer = stack.enter_context(closing(EnvRenderer(cfg, render=needs_frames)))
        fps = options.fps or renderer.fps
        window = stack.enter_context(closing(Window(cfg.env.id, fps))) if opens_window else None
        film = FilmWriter(options.record, fps) if options.record else None
        viewer = Viewer(
            ActionLabels(renderer.action_space, cfg.facts.actions),
            _declared_facts(cfg, renderer) if options.step_by_step else cfg.facts,
            window,
            stack.enter_context(film or nullcontext()),
            step_by_step=options.step_by_step,
            is_human=is_human,
            echo=echo,
            ask=ask,
        )
        player = _player(cfg, policy, options, renderer, viewer)
        first_seed = secrets.randbelow(2**31) if options.seed is None else options.seed
        with suppress(
            KeyboardInterrupt
        ):  # between two episodes; within one, play_episode handles it
            for i in range(options.episodes):
                outcome = play_episode(renderer, player, first_seed + i, viewer)
                on_episode_end(outcome)
                if outcome.ending == "interrupted":
                    break


def _player(
    cfg: Config,
    policy: Policy | None,
    options: PlayOptions,
    renderer: EnvRenderer,
    viewer: Viewer,
) -> Player:
    """Returns the player that the options name; for a human, prints which keys do what. `policy` is
    None unless the player is a policy."""
    space = renderer.env.action_space
    if options.player == "random":
        return RandomPlayer(space)
    if options.player == "policy":
        assert policy is not None
        return TrainedPlayer(policy, sampled=options.sampled)
    keys = KeyBindings(space, cfg.facts)
    viewer.echo(f"keys  {keys.legend()}; escape or q ends")
    if viewer.window is None:
        return TerminalPlayer(keys, viewer.ask)
    return WindowPlayer(keys, viewer.window, step_by_step=options.step_by_step)


def _declared_facts(cfg: Config, renderer: EnvRenderer) -> Facts:
    """Returns the facts with names for the observation after our wrappers, such as stacked frames."""
    return facts_for_policy_obs(
        cfg.facts, cfg.env, spaces.convert_obs_space(renderer.env.observation_space)
    )
