"""Fresh episodes: rolled out from a checkpoint on request, or played by a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnast.api.overrides import Overrides, parse_overrides
from gymnast.errors import UsageError
from gymnast.inspector.play_client import default_games
from gymnast.inspector.play_record import PlayEnd, PlayStart, PlayState
from gymnast.runs import store
from gymnast.runs.episodes import EpisodeInfo
from gymnast.runs.reference import split_reference
from gymnast.runs.store import RunsDir
from gymnast.tasks import Task, start

MAX_STEPS = 1000
"""Number of steps of a game in one request."""
MAX_WIDTH = 1920
"""Width of pictures in pixels."""


def roll_out(
    ref: str = "@last",
    *,
    seed: int | None = None,
    sampled: bool = False,
    max_steps: int | None = None,
    overrides: Overrides | None = None,
    roles: Mapping[str, str] | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[EpisodeInfo]:
    """Plays one episode with a checkpoint of a run (the one that `RUN:CHECKPOINT` names, else the best, else
    the latest) and stores it with the run as kind `fresh`; the oldest ones are removed beyond a limit. The
    same seed and settings as those of a stored evaluation give the same episode.

    `seed`: seed of the environment, by default random; `sampled`: sample actions instead of taking the most
    likely ones; `max_steps`: stop after so many steps; `overrides`: settings of the environment for this
    episode (`env.*`), such as kwargs, noise or randomization. In environments with several roles, the run's
    policies play; `roles` (role -> player) chooses others, as in `eval`. The progress counts steps. A
    cancelled task stores nothing."""
    _check_seed(seed)
    if max_steps is not None and max_steps < 1:
        raise UsageError(f"max_steps is {max_steps}, but an episode has at least one step")
    run, checkpoint = store.resolve(ref, store.runs_dir(runs_dir))
    arguments = {
        "run": run.path.resolve(),
        "checkpoint": checkpoint,
        "seed": seed,
        "sampled": sampled,
        "max_steps": max_steps,
        "overrides": parse_overrides(overrides),
        "roles": roles or {},
    }
    return start(
        "gymnast.inspector.task:roll_out",
        arguments,
        EpisodeInfo,
        title=f"roll out {ref}",
        deadline=deadline,
    )


def play_start(
    target: str = "@last",
    *,
    seed: int | None = None,
    role: str = "",
    sampled: bool | None = None,
    overrides: Overrides | None = None,
    width: int = 640,
    runs_dir: RunsDir = None,
) -> PlayStart:
    """Starts a game that a person plays: of a run or `RUN:CHECKPOINT`, or of an environment `ENV[:VARIANT]`.
    Returns its id, its keys and the first frame; `play_step` plays it. When it is over or stopped, it is
    stored as an episode of kind `played`: with the run, or with a run for games of this environment, which
    has the tag `played`. At most two games are open; another one stops the one that was not used for longest.

    `seed`: seed of the environment, by default random; `role`: the role of the person in a match, by default
    the first; the policies of the checkpoint play the others, random players without a run; `sampled`:
    whether they sample their actions, by default as in evaluations; `overrides`: settings of the environment
    (`env.*`); `width`: maximum width of the frames in pixels."""
    _check_seed(seed)
    if not 1 <= width <= MAX_WIDTH:
        raise UsageError(f"width is {width}, not between 1 and {MAX_WIDTH:,} pixels")
    directory = store.runs_dir(runs_dir)
    run = store.find_run(target, directory)
    return default_games().start(
        target,
        run_path=None if run is None else run.path,
        which=None if run is None else split_reference(target)[1],
        runs_dir=directory,
        seed=seed,
        role=role,
        sampled=sampled,
        overrides=parse_overrides(overrides),
        width=width,
    )


def play_step(
    session: str,
    *,
    keys: Sequence[str] = (),
    action: float | list[float] | None = None,
    steps: int = 1,
) -> PlayState:
    """Takes steps in a game that `play_start` has started, and returns the frame after them. `keys`: names of
    the pressed keys, the latest last; without any, the idle action is taken, or no step if the environment
    waits for a key. `action`: the action itself instead of keys, a number or one per element; `steps`:
    repeats it. If the game is over, it is stored, and the answer names the stored episode."""
    if not 1 <= steps <= MAX_STEPS:
        raise UsageError(f"steps is {steps}, not between 1 and {MAX_STEPS:,}")
    return default_games().step(session, keys=keys, action=action, steps=steps)


def play_stop(session: str) -> PlayEnd:
    """Stops a game and stores what was played."""
    return default_games().stop(session)


def _check_seed(seed: int | None) -> None:
    if seed is not None and seed < 0:
        raise UsageError(f"the seed is {seed}, but seeds are not negative")
