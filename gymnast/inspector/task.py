"""The search for blunders as a task."""

from __future__ import annotations

from contextlib import closing
from typing import cast

from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.blunders import BUDGET, find_blunders
from gymnast.inspector.branch_record import BlunderReport
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.stored_blunders import write_blunders
from gymnast.progress import ProgressCallback
from gymnast.runs.episode_kinds import Kind


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
