"""Decisions in a stored episode: what if the agent had done or seen something else, and why it decided so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnast.errors import UsageError
from gymnast.inspector import client
from gymnast.inspector.address import resolve_address
from gymnast.inspector.branch_record import ActionValue, BlunderReport, Variation
from gymnast.inspector.decision_record import Attribution, ObsImages, Target, WhatIf
from gymnast.inspector.frames_record import MAX_FRAMES, FrameSet
from gymnast.inspector.stored_blunders import read_blunders
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.store import RunsDir
from gymnast.tasks import Task, start


def branch(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    step: int,
    action: ActionValue,
    hold: int = 1,
    horizon: int | None = None,
    sampled: bool = False,
    runs_dir: RunsDir = None,
) -> Variation:
    """Plays a variation of a stored episode: up to `step` as it was, then `action`, then the policy to the
    end. `action`: the index of a Discrete action, counted from 0, else one number per element; `hold`: number
    of steps for which it is held, except where an action mask forbids it; `horizon`: number of steps after
    which the variation ends; `sampled`: continue with actions sampled from the episode's random numbers, not
    with the most likely ones. Fails if the episode cannot be replayed exactly. The episode is named as in
    `inspect`."""
    arguments = {"step": step, "action": action, "hold": hold}
    arguments |= {"horizon": horizon, "sampled": sampled}
    address = resolve_address(ref, kind, version, number, runs_dir)
    return client.call("branch", address, arguments, Variation)


def what_if(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    step: int,
    changes: Mapping[str, float] | None = None,
    blank: Sequence[float] | None = None,
    role: str = "",
    seat: int = 0,
    runs_dir: RunsDir = None,
) -> WhatIf:
    """Returns what the policy decides for the observation at a step of a stored episode, and for a changed
    one: action, probabilities or mean, and value. `changes`: column of the table (`obs/NAME`) -> value in raw
    units; `blank`: x, y, width and height of a rectangle of the image that becomes 0, as shares of its width
    and height. The episode is named as in `inspect`."""
    arguments = {"step": step, "changes": changes, "blank": blank}
    address = resolve_address(ref, kind, version, number, runs_dir, role, seat)
    return client.call("what_if", address, arguments, WhatIf)


def attribution(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    step: int,
    target: Target = "action",
    role: str = "",
    seat: int = 0,
    runs_dir: RunsDir = None,
) -> Attribution:
    """Returns what a decision of a stored episode was based on: the contribution of each component of the
    observation (integrated gradients; Shapley values for categories), and the importance of the parts of an
    image (perturbation saliency). `target`: explain the action that was played, or the value. The episode is
    named as in `inspect`."""
    address = resolve_address(ref, kind, version, number, runs_dir, role, seat)
    return client.call("attribution", address, {"step": step, "target": target}, Attribution)


def obs_images(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    step: int,
    role: str = "",
    seat: int = 0,
    runs_dir: RunsDir = None,
) -> ObsImages:
    """Returns the image that the policy observed at a step of a stored episode, as the network reads it:
    after all wrappers, with one picture per stacked frame. An observation without an image has no pictures.
    The episode is named as in `inspect`."""
    address = resolve_address(ref, kind, version, number, runs_dir, role, seat)
    return client.call("obs_images", address, {"step": step}, ObsImages)


def blunders(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    budget: int | None = None,
    horizon: int | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[BlunderReport]:
    """Searches the steps of a stored episode at which another action, followed by the policy, would have led
    to a higher return, and stores the result with the run. If something is random, several continuations with
    other random numbers are compared, so that bad luck is not a blunder. `budget`: env steps of the search,
    by default 600,000; `horizon`: maximum number of steps after each action. The episode is named as in
    `inspect`."""
    if (budget is not None and budget < 1) or (horizon is not None and horizon < 1):
        raise UsageError("budget and horizon are at least 1")
    address = resolve_address(ref, kind, version, number, runs_dir)
    arguments = {"run": address.run, "kind": kind, "version": address.version}
    arguments |= {"number": address.number, "budget": budget, "horizon": horizon}
    return start(
        "gymnast.inspector.task:blunders",
        arguments,
        BlunderReport,
        title=f"search blunders in {ref}",
        deadline=deadline,
    )


def stored_blunders(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    runs_dir: RunsDir = None,
) -> BlunderReport | None:
    """Returns the blunders of a stored episode that `blunders` found before; None if it has not been
    searched. The episode is named as in `inspect`."""
    return read_blunders(resolve_address(ref, kind, version, number, runs_dir))


def branch_frames(
    ref: str = "@last",
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    *,
    step: int,
    action: ActionValue,
    hold: int = 1,
    horizon: int | None = None,
    sampled: bool = False,
    first: int = 0,
    last: int | None = None,
    every: int = 1,
    width: int = 1200,
    runs_dir: RunsDir = None,
) -> tuple[FrameSet, bytes]:
    """Renders frames of a variation of a stored episode, which `step`, `action`, `hold`, `horizon` and
    `sampled` name as in `branch`; the frames are chosen and returned as in `episode_frames`."""
    address = resolve_address(ref, kind, version, number, runs_dir)
    last = first + (MAX_FRAMES - 1) * every if last is None else last
    arguments = {"step": step, "action": action, "hold": hold}
    arguments |= {"horizon": horizon, "sampled": sampled}
    arguments |= {"first": first, "last": last, "every": every, "width": width}
    return client.default_pool().call_binary("branch_frames", address, arguments, FrameSet)
