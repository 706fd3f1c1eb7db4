"""Frames of stored episodes."""

from __future__ import annotations

from gymnast.errors import UsageError
from gymnast.film.record import FrameReport
from gymnast.runs import store
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.store import RunsDir
from gymnast.tasks import Task, start


def frames(
    ref: str = "@last",
    *,
    episode: str = "best",
    kind: Kind = "eval",
    first: int = 0,
    last: int | None = None,
    every: int = 1,
    overlay: bool = False,
    out: str | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[FrameReport]:
    """Renders frames of a stored episode or match as PNGs, by replaying it. `episode`: `best`, `last` or a
    number from 0; `first`, `last`, `every`: which steps, from 0 (the first observation) to the length of
    the episode; `overlay`: draw the band with actions and rewards below each frame; `out`: a directory for
    the files `step-NNNNNN.png`. Without `out`, the PNGs are returned in base64, up to 8 MB in total."""
    if first < 0 or every < 1 or (last is not None and last < first):
        raise UsageError(f"there are no steps from {first} to {last} with every {every}")
    arguments = {"ref": ref, "episode": episode, "kind": kind, "first": first, "last": last}
    arguments |= {"every": every, "overlay": overlay, "out": out}
    return start(
        "gymnast.film.task:frames",
        arguments | {"runs_dir": store.runs_dir(runs_dir)},
        FrameReport,
        title=f"render frames of {ref}",
        deadline=deadline,
    )
