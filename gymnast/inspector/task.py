"""Tasks of the inspector: the search for blunders, and fresh episodes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import cast

from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.blunders import BUDGET, find_blunders
from gymnast.inspector.branch_record import BlunderReport
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.roll_out import roll_out as play_and_store
from gymnast.inspector.stored_blunders import write_blunders
from gymnast.progress import ProgressCallback
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.episodes import EpisodeInfo
from gymnast.runs.run import Run


def blunders(
    run: str,
    kind: str,
    version: int,
    number: int,
    budget: int | None,
    horizon: int | None,
    progress: ProgressCallback,
) -> BlunderReport:
    """Returns the blunders of a stored episode and stores them with its run. `run`: path of the run
    directory; `budget`: env steps of the search, None for the default; `horizon`: as in `find_blunders`. The
    result is stored unless the lines end at a horizon."""
    address = EpisodeAddress(run, cast("Kind", kind), version, number)
    with closing(OpenEpisode(address)) as episode:
        report = find_blunders(episode, budget=budget or BUDGET, horizon=horizon, progress=progress)
        if horizon is None:
            write_blunders(address, episode.trace, report)
    return report


def roll_out(
    run: str,
    checkpoint: str | None,
    seed: int | None,
    sampled: bool,
    max_steps: int | None,
    overrides: Mapping[str, object],
    roles: Mapping[str, str],
    progress: ProgressCallback,
) -> EpisodeInfo:
    """Plays a fresh episode, stores it with its run and returns its description, see `api.roll_out`. `run`:
    path of the run directory."""
    return play_and_store(
        Run(run),
        checkpoint=checkpoint,
        seed=seed,
        sampled=sampled,
        max_steps=max_steps,
        overrides=overrides,
        roles=roles,
        progress=progress,
    )
