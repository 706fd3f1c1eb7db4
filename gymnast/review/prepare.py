"""Prepares a review: finds the run, the episode and the command, and makes the bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gymnast.inspector import client
from gymnast.inspector.address import EpisodeAddress, find_address
from gymnast.inspector.record import EpisodeInspection
from gymnast.privacy.sanitize import Sanitizer, this_identity
from gymnast.progress import ProgressCallback, no_progress
from gymnast.review.bundle import Bundle, check_budget, make_bundle
from gymnast.review.episode_parts import episode_parts, largest_moments
from gymnast.review.frames import choose_frames, render_frames
from gymnast.review.run_parts import run_parts
from gymnast.runs import checkpoint, store
from gymnast.runs.episodes import EpisodeInfo, Kind, find_episode
from gymnast.runs.run import Run
from gymnast.settings import Frames, ReviewCommand, load_settings


@dataclass(frozen=True)
class ReviewRequest:
    """The subject of a review, and the command that reads the bundle."""

    ref: str
    """The run, with or without a checkpoint."""
    kind: Kind
    """Kind of the episode."""
    version: int | None
    """Env steps of the policy of the episode; None: those of the checkpoint in `ref`, else of the best."""
    number: int | None
    """Number of the episode; None: the review is about the run only."""
    command: str | None
    """Name of a command in the settings file; None: the bundle is written to a file."""
    budget: int
    """Maximum size of the bundle in characters."""
    runs_dir: str
    """The runs directory."""


@dataclass(frozen=True)
class Subject:
    """The run, checkpoint and episode under review, and the command."""

    run: Run
    checkpoint: str | None
    """The checkpoint that the reference names, unless the review is about an episode."""
    step: int | None
    """Env steps of the checkpoint or of the policy of the episode; None if none is named."""
    address: EpisodeAddress | None
    episode: EpisodeInfo | None
    command: tuple[str, ReviewCommand] | None
    """Name and settings of the command; None if the bundle is written to a file."""

    @property
    def frames(self) -> Frames:
        """How frames are passed; to a file they are written next to it."""
        return "files" if self.command is None else self.command[1].frames


def choose_command(name: str | None) -> str | None:
    """Returns the name of the command to use: this one, else the first in the settings file, else None.
    Raises UsageError if the settings file has no command with this name."""
    found = load_settings().review_command(name)
    return None if found is None else found[0]


def find_subject(request: ReviewRequest) -> Subject:
    """Returns what a request names. Raises GymnastError if something does not exist."""
    # The settings first: nothing that a run contains is read before the command is known.
    named = request.command is not None
    command = load_settings().review_command(request.command) if named else None
    check_budget(request.budget)
    run, which = store.resolve(request.ref, store.runs_dir(request.runs_dir))
    if request.number is None and request.version is None:
        step = None if which is None else checkpoint.find(run.path, which).step
        return Subject(run, which, step, None, None, command)
    # Episodes stay when the checkpoint of the policy that played them is deleted.
    address = find_address(run, request.kind, request.version, request.number, checkpoint=which)
    episode = find_episode(run, address.kind, address.version, address.number)
    return Subject(run, None, address.version, address, episode, command)


def sanitizer_for(runs: Sequence[Run]) -> Sanitizer:
    """Returns the sanitizer for texts about these runs: it knows their directories and hosts."""
    hosts = [str(run.info.get("host", "")) for run in runs]
    folders = {Path(run.path).resolve().parent for run in runs}
    identities = [this_identity(folder, hosts) for folder in sorted(folders)]
    paths = {path: name for identity in identities for path, name in identity.paths.items()}
    return Sanitizer(replace(identities[0], paths=paths))


def bundle_of(subject: Subject, budget: int, progress: ProgressCallback = no_progress) -> Bundle:
    """Makes the bundle of a review."""
    progress(0, 4, "reading the run")
    sanitizer = sanitizer_for([subject.run])
    parts = run_parts(subject.run, subject.checkpoint, sanitizer)
    pictures: dict[int, bytes] = {}
    note = ""
    if subject.address is not None:
        progress(1, 4, "replaying the episode")
        inspection = client.call("inspect", subject.address, {}, EpisodeInspection)
        at = next(i for i, part in enumerate(parts) if part.name == "alerts") + 1
        parts[at:at] = episode_parts(sanitizer.record(inspection))
        if inspection.has_frames and subject.frames == "none":
            note = "There are none, because the command takes no frames (`frames` in its settings)."
        elif inspection.has_frames:
            progress(2, 4, "rendering frames")
            moments = [moment.step for moment in largest_moments(inspection)]
            steps = choose_frames(inspection.info.length, moments)
            pictures, missing = render_frames(subject.address, steps)
            note = f"Some frames are missing: {missing}." if missing else ""
    return make_bundle(
        parts,
        budget=budget,
        sanitizer=sanitizer,
        frames=subject.frames,
        pictures=pictures,
        frames_note=note,
    )
