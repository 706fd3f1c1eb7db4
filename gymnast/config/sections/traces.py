"""Traces: episodes that are stored step by step, and the disk space they may take."""

from __future__ import annotations

from typing import Annotated

from gymnast.config.applies import WITH_EVALUATIONS, Applies
from gymnast.config.numbers import Count, Maybe, Share, Switch
from gymnast.config.section import Section

WITH_TRACES = Applies(
    "where evaluation episodes are stored (traces.eval)", lambda on: on.config.traces.eval
)


class TracesConfig(Section):
    LIVE = ("disk",)
    eval: Switch = True
    """Store every evaluation episode."""
    train: Share = Share(0.01)
    """Share of training episodes that are stored."""
    disk: Maybe[Count] = 200_000_000
    """Bytes (such as 200M) that the traces of a run may take. Beyond that, older evaluations keep only their
    first, best, worst and median episode; then older training episodes and evaluations are removed. Those of
    the best and of the newest policy version are always kept. off: no limit."""
    film: Annotated[Switch, WITH_EVALUATIONS, WITH_TRACES] = True
    """Record videos of the best and the last evaluation when training ends, in a separate process."""
    trajectories: Annotated[Switch, WITH_EVALUATIONS, WITH_TRACES] = False
    """Write the trajectories of all evaluations as JSON lines to the data directory when training ends, in
    the process that makes videos. Evaluations of several roles then store all of their matches instead of the
    first few of each pairing."""
    data: str = ""
    """The data directory, for trajectories. Empty: GYMNAST_DATA, or `data` next to the runs directory. The
    directory is resolved when training starts and stored with the run."""
