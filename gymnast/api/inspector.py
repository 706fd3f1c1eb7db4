"""The episode inspector: what an agent did in a stored episode, and why."""

from __future__ import annotations

from gymnast.inspector import client
from gymnast.inspector.address import EpisodeAddress, resolve_address
from gymnast.inspector.frames_record import MAX_FRAMES, FrameSet
from gymnast.inspector.record import EpisodeInspection
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.episodes import find_episode as stored_episode
from gymnast.runs.run import Run
from gymnast.runs.store import RunsDir


def find_episode(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    role: str = "",
    seat: int = 0,
    runs_dir: RunsDir = None,
) -> EpisodeAddress:
    """Returns the address of the stored episode that `inspect` returns for these arguments, without reading
    its steps. Raises RunError if it is not stored."""
    address = resolve_address(ref, kind, version, number, runs_dir, role, seat)
    stored_episode(Run(address.path), kind, address.version, address.number)
    return address


def inspect(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    role: str = "",
    seat: int = 0,
    runs_dir: RunsDir = None,
) -> EpisodeInspection:
    """Returns a stored episode or match with all its steps: observations, actions, the policy's decisions,
    rewards and values, and whether a replay of its seed and actions gives the same episode. `kind`, `version`
    and `number` name it as in `episodes`. Without `version`, it is one of the checkpoint that `ref` names, by
    default the best; without `number`, the first one. The steps of a match are those of one agent: `role`, by
    default the first one that learned, and its `seat`, from 0. The environment runs in a process that stays
    for further questions."""
    address = resolve_address(ref, kind, version, number, runs_dir, role, seat)
    return client.call("inspect", address, {}, EpisodeInspection)


def episode_frames(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    first: int = 0,
    last: int | None = None,
    every: int = 1,
    width: int = 1200,
    runs_dir: RunsDir = None,
) -> tuple[FrameSet, bytes]:
    """Renders frames of a stored episode or match by replaying it. `kind`, `version` and `number` name it as
    in `inspect`; `first`, `last`, `every`: which steps, from 0 (the first observation) to the length of the
    episode, at most 300; `width`: width in pixels at most. The bytes have the number of frames (uint32,
    little-endian) and, for each, its step (uint32), its length (uint32) and a PNG or a JPEG. There are no
    frames after the first step at which the replay differs from the episode."""
    address = resolve_address(ref, kind, version, number, runs_dir)
    last = first + (MAX_FRAMES - 1) * every if last is None else last
    arguments = {"first": first, "last": last, "every": every, "width": width}
    return client.default_pool().call_binary("frames", address, arguments, FrameSet)
