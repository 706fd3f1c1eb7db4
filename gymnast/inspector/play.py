"""Games that a person plays from a page: the functions of a worker, which keeps the environment open.

Nothing here waits: the page sets the pace, by asking for one or several steps with the keys that are
pressed. A game that is over, or stopped, is stored as an episode of kind `played`.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from gymnast.config.families import is_multi_agent
from gymnast.envs.build.defaults import resolve_for_spaces
from gymnast.errors import RunError, UsageError
from gymnast.evaluation.rescore import load_policy
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.env_overrides import with_env_overrides
from gymnast.inspector.game import EpisodeGame, Game
from gymnast.inspector.match_game import MatchGame, open_match
from gymnast.inspector.open_episodes import AT_END
from gymnast.inspector.pictures import encode, fit
from gymnast.inspector.play_record import PlayedEpisode, PlayEnd, PlayKey, PlayStart, PlayState
from gymnast.inspector.played_runs import played_run
from gymnast.runs import checkpoint
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.episodes import find_episode
from gymnast.runs.requested_episodes import EpisodeSettings, store_episode
from gymnast.runs.run import Run

MAX_LENGTH = 20_000
"""Number of steps after which a game is stopped, because its steps are kept in memory."""


class Session:
    """A game that is being played."""

    def __init__(
        self,
        id: str,
        game: Game,
        settings: EpisodeSettings,
        find_run: Callable[[], Run],
        width: int,
    ) -> None:
        """`find_run`: returns the run with which it is stored, which may have to be created; `width`: maximum
        width of pictures, in pixels."""
        self.id, self.game, self.settings = id, game, settings
        self._find_run, self._width = find_run, width

    def step(
        self, keys: Sequence[str], action: float | Sequence[float] | None, steps: int
    ) -> float:
        """Takes up to `steps` steps with the action, or with that of the keys; returns the sum of their
        rewards. Without an action, it takes none."""
        bindings, total = self.game.keys, 0.0
        row = bindings.row(keys) if action is None else bindings.row_of(action)
        if row is not None:
            for _ in range(steps):
                total += self.game.step(row)
                if self.is_over:
                    break
        return total

    @property
    def is_over(self) -> bool:
        return self.game.over or self.game.steps >= MAX_LENGTH

    def state(self, reward: float = 0.0, episode: PlayedEpisode | None = None) -> PlayState:
        """Returns the current state. `reward`: that of the last steps; `episode`: the stored one, if it is
        over."""
        game, picture = self.game, fit(self.game.render(), self._width)
        encoded = encode(picture)
        return PlayState(
            session=self.id,
            step=game.steps,
            reward=reward,
            total=game.total,
            terminated=game.terminated,
            truncated=game.truncated,
            over=self.is_over,
            outcome=game.outcome,
            picture=base64.b64encode(encoded).decode(),
            media_type="image/png" if encoded.startswith(b"\x89PNG") else "image/jpeg",
            width=picture.shape[1],
            height=picture.shape[0],
            episode=episode,
        )

    def end(self) -> PlayedEpisode | None:
        """Stores what was played and closes the environment; returns None if no step was taken."""
        try:
            if not self.game.steps:
                return None
            trace, run = self.game.trace(), self._find_run()
            number = store_episode(run, "played", trace, self.settings)
            return PlayedEpisode(
                run.id,
                EpisodeAddress(str(run.path.resolve()), "played", trace.version, number),
                find_episode(run, "played", trace.version, number),
            )
        finally:
            self.game.close()


_sessions: dict[str, Session] = {}


def play_start(
    _: Run,
    *,
    session: str,
    target: str,
    run_path: str | None,
    which: str | None,
    runs_dir: str,
    seed: int | None,
    role: str,
    sampled: bool | None,
    overrides: Mapping[str, object],
    width: int,
) -> PlayStart:
    """Starts a game, see `api.play_start`. `session`: its id; `run_path`: the run that the target names, with
    the checkpoint `which`; None for an environment. The first argument is not used."""
    if end_all not in AT_END:
        AT_END.append(end_all)
    if run_path is None:
        resolved, saved = resolve_for_spaces(target), None
        config, run_id = with_env_overrides(resolved.config, overrides), ""
        run_of_game = partial(played_run, resolved, Path(runs_dir))
    else:
        run = Run(run_path)
        saved, run_id = _checkpoint(run, which), run.id
        config = with_env_overrides(run.trusted_config(), overrides)
        run_of_game = partial(Run, run.path)
    seed = secrets.randbelow(2**31) if seed is None else seed
    if is_multi_agent(config.env.id):
        sampled = not config.eval.deterministic if sampled is None else sampled
        tournament = None if saved is None else open_match(Run(str(run_path)), config, saved)
        game: Game = MatchGame(config, tournament, seed, role=role, sampled=sampled)
    elif role:
        raise UsageError(f"{config.env.id} has a single agent and no role {role}")
    else:
        policy = None if saved is None else load_policy(saved)
        game = EpisodeGame(config, policy, 0 if saved is None else saved.step, seed)
    settings = EpisodeSettings(dict(overrides), sampled=bool(sampled), role=game.role)
    started = _sessions[session] = Session(session, game, settings, run_of_game, width)
    try:
        return PlayStart(
            session=session,
            run=run_id,
            env=config.env.id,
            version=0 if saved is None else saved.step,
            seed=seed,
            fps=game.fps,
            keys=[PlayKey(key, does) for key, does in game.keys.key_names().items()],
            waits_for_key=game.keys.idle is None,
            role=game.role,
            roles=list(game.cast),
            cast=game.cast,
            state=started.state(),
        )
    except BaseException:
        _sessions.pop(session).game.close()
        raise


def play_step(
    _: Run,
    *,
    session: str,
    keys: Sequence[str],
    action: float | Sequence[float] | None,
    steps: int,
) -> PlayState:
    """Takes steps in a game, see `api.play_step`. A game that is over is stored."""
    playing = _find(session)
    try:
        reward = playing.step(keys, action, steps)
        if not playing.is_over:
            return playing.state(reward)
        shown = playing.state(reward)  # before its environment is closed
    except UsageError:  # of the request: the game continues
        raise
    except BaseException:  # the environment is broken: what was played is kept
        _sessions.pop(session).end()
        raise
    episode = _sessions.pop(session).end()
    return replace(shown, episode=episode)


def play_stop(_: Run, *, session: str) -> PlayEnd:
    """Stops a game and stores what was played."""
    playing = _find(session)
    del _sessions[session]
    return PlayEnd(session, playing.end())


def end_all() -> None:
    """Stops all games, before the process ends."""
    while _sessions:
        _sessions.popitem()[1].end()


def _find(session: str) -> Session:
    if session not in _sessions:
        problem = f"there is no game {session}: it is over, or was stopped after a long pause"
        raise RunError(problem, fix="start a new one; stored games are episodes of kind played")
    return _sessions[session]


def _checkpoint(run: Run, which: str | None) -> Checkpoint | None:
    """Returns the checkpoint that `which` names; without one, the best, else the latest, else None."""
    stored = run.info["checkpoints"]
    if which is None and stored["latest"] is None:
        return None
    default = "latest" if stored["best"] is None else "best"
    return checkpoint.find(run.path, which or default)
