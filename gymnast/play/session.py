"""Plays episodes as requested: combines environment, player, window and film."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from gymnast.config import families
from gymnast.config.config import Config
from gymnast.config.facts import Facts
from gymnast.envs.build.defaults import resolve_for_spaces
from gymnast.errors import UsageError
from gymnast.evaluation.rescore import find_checkpoint, load_policy
from gymnast.film.actions import ActionLabels
from gymnast.film.encode import FilmWriter
from gymnast.film.headless import headless_rendering
from gymnast.film.renderer import EnvRenderer
from gymnast.play.human import TerminalPlayer, WindowPlayer
from gymnast.play.keys import KeyBindings
from gymnast.play.play import Viewer, play_episode
from gymnast.play.players import Player, RandomPlayer, TrainedPlayer
from gymnast.play.recording import EpisodeRecording
from gymnast.play.request import EpisodeOutcome, PlayerKind, PlayRequest, PlayResult
from gymnast.play.window import Window, has_display, no_display_error
from gymnast.policy.policy import Policy
from gymnast.processes.env_output import separate_env_output
from gymnast.runs.reference import split_reference
from gymnast.runs.requested_episodes import EpisodeSettings, store_episode
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace
from gymnast.spaces import spaces
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.text.formatting import count_noun


def play_target(
    request: PlayRequest, run: Run | None, *, echo: Callable[[str], None] | None = None
) -> PlayResult:
    """Plays the episodes of a request and prints the outcome of each. `run`: the run that the target names,
    None for an environment; `echo`: prints a line, by default to stdout. Raises UsageError for options that
    contradict each other, and as `play` does."""
    cfg, policy, version = _load(request, run)
    player = _player_kind(request, trained=policy is not None)
    outcomes: list[EpisodeOutcome] = []
    with separate_env_output() as out:

        def print_line(text: str) -> None:
            print(text, file=out, flush=True)

        def report_episode(outcome: EpisodeOutcome) -> None:
            outcomes.append(outcome)
            steps = count_noun(outcome.length, "step")
            result = f"{outcome.raw_return:.6g} in {steps}, {outcome.ending}"
            (echo or print_line)(f"episode {len(outcomes)}: return {result} (seed {outcome.seed})")

        def store(trace: Trace) -> None:
            assert run is not None
            number = store_episode(run, "played", trace, EpisodeSettings())
            (echo or print_line)(f"stored with {run.id} as played episode {number}")

        play(
            cfg,
            policy,
            replace(request, player=player),
            echo=echo or print_line,
            on_episode_end=report_episode,
            on_trace=store if player == "human" and run is not None else None,
            version=version,
        )
    recorded = request.record is not None and Path(request.record).exists()
    return PlayResult(player, tuple(outcomes), request.record if recorded else None)


def play(
    cfg: Config,
    policy: Policy | None,
    request: PlayRequest,
    *,
    echo: Callable[[str], None] = print,
    ask: Callable[[str], str] = input,
    on_episode_end: Callable[[EpisodeOutcome], None],
    on_trace: Callable[[Trace], None] | None = None,
    version: int = 0,
) -> None:
    """Plays the episodes and calls `on_episode_end` after each, and `on_trace` with its steps. Ctrl-C stops
    and keeps the film so far. `policy` is needed only if the player of the request is a policy, or for its
    decisions in traces; `version`: its env steps; `echo` prints a line, `ask` shows a prompt and returns a
    typed line. Raises UsageError without a display, unless steps are printed or a policy or random actions
    are recorded."""
    opens_window, is_human = has_display(), request.player == "human"
    if not opens_window and not request.step_by_step and (is_human or request.record is None):
        raise no_display_error(is_human=is_human)
    with ExitStack() as stack:
        stack.enter_context(nullcontext() if opens_window else headless_rendering())
        # In this order: the exit stack first completes the film, then closes window and environment.
        needs_frames = opens_window or request.record is not None
        renderer = stack.enter_context(closing(EnvRenderer(cfg, render=needs_frames)))
        fps = request.fps or renderer.fps
        window = stack.enter_context(closing(Window(cfg.env.id, fps))) if opens_window else None
        film = FilmWriter(Path(request.record), fps) if request.record else None
        viewer = Viewer(
            ActionLabels(renderer.action_space, cfg.facts),
            _declared_facts(cfg, renderer) if request.step_by_step else cfg.facts,
            window,
            stack.enter_context(film or nullcontext()),
            step_by_step=request.step_by_step,
            is_human=is_human,
            echo=echo,
            ask=ask,
        )
        player = _player(cfg, policy, request, renderer, viewer)
        first_seed = secrets.randbelow(2**31) if request.seed is None else request.seed
        with suppress(
            KeyboardInterrupt
        ):  # between two episodes; within one, play_episode handles it
            for i in range(request.episodes):
                recording = None
                if on_trace is not None:
                    recording = EpisodeRecording(cfg, renderer, policy, version)
                outcome = play_episode(renderer, player, first_seed + i, viewer, recording)
                on_episode_end(outcome)
                if on_trace is not None and recording:
                    ends = {end: outcome.ending == end for end in ("terminated", "truncated")}
                    on_trace(recording.trace(outcome.seed, **ends))
                if outcome.ending == "interrupted":
                    break


def _player(
    cfg: Config,
    policy: Policy | None,
    request: PlayRequest,
    renderer: EnvRenderer,
    viewer: Viewer,
) -> Player:
    """Returns the player that the request names; for a human, prints which keys do what. `policy` is
    None unless the player is a policy."""
    space = renderer.env.action_space
    if request.player == "random":
        return RandomPlayer(space)
    if request.player == "policy":
        assert policy is not None
        return TrainedPlayer(policy, sampled=request.sampled)
    keys = KeyBindings(space, cfg.facts)
    viewer.echo(f"keys  {keys.legend()}; escape or q ends")
    if viewer.window is None:
        return TerminalPlayer(keys, viewer.ask)
    return WindowPlayer(keys, viewer.window, step_by_step=request.step_by_step)


def _declared_facts(cfg: Config, renderer: EnvRenderer) -> Facts:
    """Returns the facts with names for the observation after our wrappers, such as stacked frames."""
    return facts_for_policy_obs(
        cfg.facts, cfg.env, spaces.convert_obs_space(renderer.env.observation_space)
    )


def _load(request: PlayRequest, run: Run | None) -> tuple[Config, Policy | None, int]:
    """Returns the config and, for a run, the policy and its env steps."""
    target, checkpoint = request.target, request.checkpoint
    if run is None:
        if checkpoint is not None:
            raise UsageError(f"{target} is not a run, so it has no checkpoint {checkpoint}")
        cfg = resolve_for_spaces(target).config
        _refuse_roles(cfg, f"gymnast train {target}, then gymnast video @last")
        return cfg, None, 0
    cfg = run.trusted_config()
    _refuse_roles(
        cfg, f"gymnast video {run.id} films its matches; gymnast eval {run.id} scores them"
    )
    # By path, because the target itself may already name a checkpoint.
    named = split_reference(target)[1] if checkpoint is None else checkpoint
    ref = f"{run.path.resolve()}:{named}" if named else str(run.path.resolve())
    saved = find_checkpoint(ref, run.path.parent)[1]
    return cfg, load_policy(saved), saved.step


def _refuse_roles(cfg: Config, fix: str) -> None:
    if families.is_multi_agent(cfg.env.id):
        raise UsageError(f"{cfg.env.id} has several roles, which one player cannot play", fix=fix)


def _player_kind(request: PlayRequest, *, trained: bool) -> PlayerKind:
    """Returns who plays: by default the policy if the target is a run (`trained`), else random actions."""
    player = request.player or ("policy" if trained else "random")
    if player == "policy" and not trained:
        raise UsageError(f"{request.target} is not a run, so it has no policy")
    if request.sampled and player != "policy":
        raise UsageError("--sample needs the policy of a run")
    return player
