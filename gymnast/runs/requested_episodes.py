"""Episodes that were asked for outside of training: rolled out from a checkpoint, or played by a person.

Each has a file of its own in `episodes/`, which training neither reads nor counts, so that any process may
add one while the run trains. Numbers count up over the whole run and are never used twice; beyond a limit,
the oldest episodes of the same kind are removed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gymnast.config.families import is_multi_agent
from gymnast.errors import RunError
from gymnast.records import from_json, to_json
from gymnast.runs import durable, layout, lock
from gymnast.runs.episode_kinds import REQUESTED, RequestedKind
from gymnast.runs.match_trace import MatchTrace, read_match_meta, write_matches
from gymnast.runs.run import Run
from gymnast.runs.trace import KEPT_INDICES, Trace, read_meta, write_traces

if TYPE_CHECKING:
    from gymnast.config.config import Config

MAX_EPISODES: Mapping[RequestedKind, int] = {"fresh": 50, "played": 200}
"""Number of episodes of each kind that a run keeps, the newest ones."""
MAX_BYTES = 500_000_000
"""Size of the files of each kind that a run keeps. The newest episode is kept whatever its size."""
PERSON = "person"
"""Name of the player of a person's role in the cast of a match."""
_NAME = re.compile(rf"({'|'.join(REQUESTED)})-(\d+)-(\d+)\.safetensors")
_LOCK = ".episodes-lock"


@dataclass(frozen=True)
class EpisodeSettings:
    """The settings with which an episode outside of training was played, and with which it is replayed."""

    overrides: dict[str, object] = field(default_factory=dict[str, object])
    """Dotted config key -> value: settings of the environment that replace those of the run."""
    sampled: bool = False
    """Whether the policy sampled its actions instead of taking the most likely ones."""
    max_steps: int | None = None
    """Number of steps after which it was to be stopped; None if it was played to its end."""
    role: str = ""
    """The role that a person played in a match; empty otherwise."""


@dataclass(frozen=True)
class EpisodeFile:
    """The file of one episode."""

    kind: RequestedKind
    version: int
    """Env steps of the policy; 0 without a policy."""
    number: int
    path: Path


def requested_files(run: Run) -> list[EpisodeFile]:
    """Returns the files of a run, oldest first."""
    try:
        names = [path.name for path in layout.EPISODES.path(run.path).iterdir()]
    except OSError:
        return []  # nothing has been asked for yet
    found = [match for name in names if (match := _NAME.fullmatch(name))]
    files = [
        EpisodeFile(
            cast("RequestedKind", match[1]),
            int(match[2]),
            int(match[3]),
            layout.EPISODES.path(run.path) / match[0],
        )
        for match in found
    ]
    return sorted(files, key=lambda file: (file.kind, file.number))


def store_episode(
    run: Run, kind: RequestedKind, episode: Trace | MatchTrace, settings: EpisodeSettings
) -> int:
    """Stores an episode and returns its number; removes the oldest ones of its kind beyond the limits. Safe
    if several processes store episodes at the same time. Raises RunError if the run was deleted."""
    folder = layout.EPISODES.path(run.path)
    with durable.explain_os_errors(folder):
        try:
            folder.mkdir(exist_ok=True)  # not its parents: a deleted run must not come back
        except FileNotFoundError:
            problem = "the run was deleted; the episode is not stored"
            raise RunError(problem, at=str(run.path)) from None
    with durable.explain_os_errors(folder), lock.exclusive(run.path / _LOCK):
        earlier = [file for file in requested_files(run) if file.kind == kind]
        number = earlier[-1].number + 1 if earlier else 0
        path = folder / f"{kind}-{episode.version:012d}-{number:06d}.safetensors"
        meta = {"kind": kind, "version": episode.version, KEPT_INDICES: [number]}
        meta["settings"] = to_json(settings)
        if isinstance(episode, MatchTrace):
            write_matches(path, [episode], meta)
        else:
            write_traces(path, [episode], meta)
        _remove_oldest(earlier, kind, path.stat().st_size)
        for draft in folder.glob(".*"):  # of a process that was killed: the lock is ours
            draft.unlink(missing_ok=True)
    return number


def read_settings(file: Path, *, is_match: bool) -> EpisodeSettings:
    """Returns the settings that were stored with an episode."""
    meta = read_match_meta(file) if is_match else read_meta(file)
    return from_json(EpisodeSettings, meta.get("settings", {}))


def has_matches(run: Run) -> bool:
    """Returns whether the episodes of a run are matches between roles."""
    return is_multi_agent(run.info["env"])


def config_with(run: Run, settings: EpisodeSettings | None) -> Config:
    """Returns the config of a run with the settings of an episode; None: of an episode of training."""
    from gymnast.config.resolve import apply_overrides

    config = run.trusted_config()
    if settings is None or not settings.overrides:
        return config
    return apply_overrides(config, settings.overrides)[0]


def _remove_oldest(earlier: list[EpisodeFile], kind: RequestedKind, size: int) -> None:
    """Removes the oldest of the `earlier` episodes until, with a new one of `size` bytes, the kind is within
    its limits."""
    sizes = {file.path: file.path.stat().st_size for file in earlier}
    total = sum(sizes.values()) + size
    excess = len(earlier) + 1 - MAX_EPISODES[kind]
    for index, file in enumerate(earlier):
        if index >= excess and total <= MAX_BYTES:
            return
        with durable.explain_os_errors(file.path):
            file.path.unlink(missing_ok=True)
        total -= sizes[file.path]
