"""The records of the monitor: what the API returns, the pictures are drawn from and the studio shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ChartKind = Literal["lines", "histogram", "stacked shares"]
ChartSubject = Literal["run", "approach"]
Band = Literal["", "95 % interval", "95 % interval of the mean over runs", "lowest to highest run"]
"""The meaning of the band of a series: the recorded interval of a metric, or how much runs differ."""


@dataclass(frozen=True)
class RoleOverview:
    """The result of training one role of a run. Every number is of a window of recent episodes, never of all
    since the start."""

    role: str
    """The role; empty for a single agent."""
    final_return: float | None
    """Mean return of the last window of training episodes (`episode/return`)."""
    best_return: float | None
    """Highest mean return of a full window of training episodes."""
    final_eval_return: float | None
    """Mean return of the last evaluation; None without evaluations. Those of its parent do not count for a
    branch."""
    best_eval_return: float | None
    """Highest mean return of these evaluations."""
    rolling_win_rate: float | None = None
    """Share of the last window of training matches that the role won; matches with an unknown outcome count
    for nobody. None for a single agent."""
    rolling_win_low: float | None = None
    """Lower end of its 95 % interval."""
    rolling_win_high: float | None = None
    """Upper end of its 95 % interval."""
    eval_win_rate: float | None = None
    """Share of the matches of the last evaluation that the role won."""
    eval_win_low: float | None = None
    """Lower end of its 95 % interval."""
    eval_win_high: float | None = None
    """Upper end of its 95 % interval."""


@dataclass(frozen=True)
class OverviewRow:
    """One run in the overview, a line of run_overview.csv."""

    approach: str
    """Tag or variant that the run belongs to."""
    run: str
    """Id of the run."""
    name: str
    env: str
    algo: str
    seed: int | None
    status: str
    env_steps: int
    """Env steps of the last row."""
    episodes: int | None
    """Number of training episodes or matches that ended; None if the source does not count them."""
    roles: list[RoleOverview]
    """One entry per learning role; a single agent has one entry with an empty role."""
    outcomes: dict[str, float]
    """Outcome -> its share in the last window of training matches: tag, timeout, ..., unknown. Empty for a
    single agent."""
    mean_length: float | None
    """Mean number of steps of the last window of training episodes or matches."""
    alerts: int
    """Number of alerts."""
    verdict: str
    """Whether it is solved, in words; empty without a threshold."""
    sources: list[str]
    """Files that it was read from."""


@dataclass(frozen=True)
class SourceColumn:
    """A column that a chart was drawn from."""

    file: str
    """The file, relative to the runs directory or as the user typed it."""
    column: str
    """Name of the column in the monitor: `seeker:policy/kl`."""


@dataclass(frozen=True)
class MonitorSeries:
    """One curve, histogram or share of a chart."""

    label: str
    role: str
    """The role that it is about; empty if it is about none, or about a single agent."""
    approach: str
    """The approach that it is about."""
    x: list[float]
    """Positions of the points on the clock; for a histogram, the edges of the bins, one more than `y`."""
    y: list[float]
    """Values, or shares (0..1) of all matches; for a histogram, the share of the matches in each bin. NaN is
    a gap: rows without a value."""
    low: list[float] = field(default_factory=list[float])
    """Lower edge of the band at each point; empty without a band."""
    high: list[float] = field(default_factory=list[float])
    """Upper edge of the band."""
    band: Band = ""
    """The meaning of the band; empty without a band."""
    n: list[int] = field(default_factory=list[int])
    """Number of runs that have a value at each point; empty in a chart about one run."""


@dataclass(frozen=True)
class MonitorChart:
    """A chart of the monitor as data."""

    name: str
    """Unique name among the charts of a report, and the stem of its picture."""
    title: str
    about: ChartSubject
    """Whether it shows one run, or compares approaches."""
    run: str
    """Id of the run; empty for a comparison of approaches."""
    unit: str
    """Unit of the y axis; empty if it has none."""
    kind: ChartKind
    x_label: str
    series: list[MonitorSeries]
    sources: list[SourceColumn]
    """The columns that it was drawn from."""
    runs: list[str] = field(default_factory=list[str])
    """Ids of the runs that it was drawn from."""
    smooth: int = 1
    """Number of rows that each point is the moving average of; 1 without smoothing."""
    note: str = ""
    """Explains the smoothing and the bands in words."""


@dataclass(frozen=True)
class SkippedRun:
    """A run that `--skip-broken` left out."""

    run: str
    """Id of the run, or the file as the user typed it."""
    at: str
    """The file with the problem."""
    problem: str
    fix: str


@dataclass(frozen=True)
class MonitorReport:
    """The overview and the charts of all selected runs."""

    overview: list[OverviewRow]
    """One row per run, ordered by environment, approach and seed."""
    charts: list[MonitorChart]
    skipped: list[SkippedRun]
    """Runs that were left out because their columns are broken."""
    approaches: list[str]
    """All approaches, in the order of the overview."""
    smooth: int
    """Number of points that a smoothed curve averages."""


@dataclass(frozen=True)
class WrittenMonitor:
    """The files of a report."""

    out: str
    """The directory."""
    files: list[str]
    """The files in it: run_overview.csv, manifest.json and the pictures."""
    overview: list[OverviewRow]
    skipped: list[SkippedRun]
