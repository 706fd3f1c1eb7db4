"""The name of a stored episode."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from gymnast.errors import RunError
from gymnast.film.choose import files_by_version, select_version, storage_settings
from gymnast.film.requested import find_requested
from gymnast.runs import store
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.episodes import list_episodes
from gymnast.runs.run import Run
from gymnast.runs.store import RunsDir


@dataclass(frozen=True)
class EpisodeAddress:
    """Names a stored episode or match."""

    run: str
    """Path of the run directory."""
    kind: Kind
    """How it was played, as in `EpisodeInfo`."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    number: int
    """Number of the episode, as in `EpisodeInfo`."""
    role: str = ""
    """The role whose agent is inspected, in a match; empty for the first role that learned."""
    seat: int = 0
    """The seat of that role, from 0."""

    @property
    def path(self) -> Path:
        return Path(self.run)

    @property
    def whole(self) -> EpisodeAddress:
        """The address without role and seat: of the match."""
        return replace(self, role="", seat=0)


def find_address(
    run: Run,
    kind: Kind,
    version: int | None = None,
    number: int | None = None,
    *,
    checkpoint: str | None = None,
    role: str = "",
    seat: int = 0,
) -> EpisodeAddress:
    """Returns the address of a stored episode. Without `version`, it is one of the checkpoint with this name,
    by default the best, or of the newest if the best has none; without `number`, the first one. Fresh and
    played episodes are numbered over the whole run; without `number`, it is the newest. `role` and `seat`
    choose the agent of a match. Raises RunError if none is stored; whether the episode with this number is,
    shows when it is read."""
    if version is None and (kind == "fresh" or kind == "played"):
        found = find_requested(run, kind, "last" if number is None else str(number), checkpoint)
        return EpisodeAddress(
            str(run.path.resolve()), kind, found.version, found.number, role, seat
        )
    if version is None:
        files = files_by_version(run.traces, kind) | files_by_version(run.matches, kind)
        if not files:
            fix = f"what is stored is set by {storage_settings(kind)}"
            raise RunError(f"no {kind} episodes are stored", at=str(run.path), fix=fix)
        version = select_version(run, kind, files, "", checkpoint)
    if number is None:
        first = next(list_episodes(run, kind, version), None)
        if first is None:
            problem = f"{run.id} has no stored {kind} episodes of version {version}"
            raise RunError(problem, fix="list the stored ones with `episodes`")
        number = first.number
    return EpisodeAddress(str(run.path.resolve()), kind, version, number, role, seat)


def resolve_address(
    ref: str,
    kind: Kind,
    version: int | None,
    number: int | None,
    runs_dir: RunsDir,
    role: str = "",
    seat: int = 0,
) -> EpisodeAddress:
    """Returns the address of the episode that the arguments of an operation name, as `find_address` does for
    the run and the checkpoint that `ref` refers to."""
    run, checkpoint = store.resolve(ref, store.runs_dir(runs_dir))
    return find_address(run, kind, version, number, checkpoint=checkpoint, role=role, seat=seat)
