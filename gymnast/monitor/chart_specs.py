"""The charts of the monitor: which columns each draws, for runs with roles and for single agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gymnast.metrics.specs import METRICS, split_key
from gymnast.monitor.monitored_run import (
    UNKNOWN,
    MonitoredRun,
    evaluation_column,
    role_column,
)

OUTCOMES = "outcomes"
"""Name of the chart of the outcomes of matches."""
OPPONENTS_DIFFER = (
    "Approaches may have different opponents in training: compare evaluations instead."
)


@dataclass(frozen=True)
class CurveSpec:
    """A chart with one line per role, or one line for a single agent or for whole matches."""

    name: str
    title: str
    metric: str
    """The metric without its scope."""
    runs: Literal["all", "with roles", "single agent"] = "all"
    """The runs that have this chart."""
    evaluation: bool = False
    """Whether the metric is that of evaluations."""
    of_match: bool = False
    """Whether the metric is about whole matches, and not about a role."""
    interval: tuple[str, str] | None = None
    """Metrics with the ends of the 95 % interval, if they are recorded."""
    smoothed: bool = False
    """Whether the curve is smoothed. Evaluations are not, and neither are metrics that are recorded over a
    window of matches, like win rates."""
    caution: str = ""
    """A warning for readers who compare approaches."""

    @property
    def unit(self) -> str:
        return METRICS[self.metric].unit if self.metric in METRICS else ""

    def applies_to(self, run: MonitoredRun) -> bool:
        return self.runs == "all" or (self.runs == "with roles") == bool(run.roles)

    def column(self, role: str, metric: str = "") -> str:
        """Returns the column for a role; empty for a single agent and for whole matches. `metric`: another
        metric of the same scope."""
        column = evaluation_column if self.evaluation else role_column
        return column(metric or self.metric, role)

    def roles(self, run: MonitoredRun) -> list[str]:
        """Returns the roles for which a run has the chart; an empty role for a single agent and for whole
        matches; nothing if the run has no value."""
        if not self.applies_to(run):
            return []
        roles = ("",) if self.of_match or not run.roles else run.roles
        return [role for role in roles if run.has(self.column(role))]

    def interval_columns(self, run: MonitoredRun, role: str) -> list[str]:
        """Returns the columns with both ends of the interval; empty if the run does not have both."""
        columns = [self.column(role, metric) for metric in self.interval or ()]
        return columns if all(map(run.has, columns)) else []


REWARDS = (
    CurveSpec(
        "reward",
        "Return per episode in training",
        "episode/return",
        runs="single agent",
        smoothed=True,
    ),
    CurveSpec(
        "role-rewards",
        "Return per match of each role in training",
        "episode/return",
        runs="with roles",
        smoothed=True,
        caution=OPPONENTS_DIFFER,
    ),
    CurveSpec(
        "evaluation-reward",
        "Return in evaluations",
        "episode/return",
        evaluation=True,
        interval=("episode/low", "episode/high"),
    ),
)
WINS = (
    CurveSpec(
        "win-rate",
        "Rolling win rate in training matches",
        "league/win_rate",
        runs="with roles",
        interval=("league/win_low", "league/win_high"),
        caution=OPPONENTS_DIFFER,
    ),
    CurveSpec(
        "evaluation-win-rate",
        "Win rate in evaluations, against scripted opponents",
        "match/win_rate",
        runs="with roles",
        evaluation=True,
        interval=("match/win_low", "match/win_high"),
    ),
    CurveSpec(
        "rating",
        "Rating from evaluations (scripted:medium is 1000)",
        "league/rating",
        runs="with roles",
        evaluation=True,
        interval=("league/rating_low", "league/rating_high"),
    ),
)
STEPS = (
    CurveSpec(
        "match-length",
        "Steps per match in training",
        "match/duration",
        runs="with roles",
        of_match=True,
    ),
    CurveSpec(
        "episode-length",
        "Steps per episode in training",
        "episode/length",
        runs="single agent",
        smoothed=True,
    ),
)
HEALTH = (
    CurveSpec("policy-loss", "Policy loss", "policy/loss", smoothed=True),
    CurveSpec("value-loss", "Value loss", "value/loss", smoothed=True),
    CurveSpec("kl", "KL divergence of an update", "policy/kl", smoothed=True),
    CurveSpec("entropy", "Entropy of the policy", "policy/entropy", smoothed=True),
    CurveSpec(
        "clip-fraction", "Samples outside the clip range", "policy/clip_fraction", smoothed=True
    ),
)
"""Health of PPO; an algorithm without one of these metrics has no such chart."""


def curve_specs(runs: Sequence[MonitoredRun]) -> list[CurveSpec]:
    """Returns the charts with lines, in the order of every view; among them one per number that the
    environments report themselves (`env/distance`)."""
    return [*REWARDS, *WINS, *_env_specs(runs), *STEPS, *HEALTH]


def outcome_columns(run: MonitoredRun) -> list[str]:
    """Returns the columns with the shares of the outcomes of training matches; the unknown ones last. Empty
    for a single agent."""
    if not run.roles:
        return []
    shares = [
        name
        for name in run.columns
        if name.startswith("match/") and name.endswith("_share") and run.has(name)
    ]
    return sorted(shares, key=lambda name: (outcome_label(name) == UNKNOWN, name))


def outcome_label(column: str) -> str:
    """Returns the outcome of a column: `match/tag_share` -> `tag`."""
    return column.removeprefix("match/").removesuffix("_share")


def _env_specs(runs: Sequence[MonitoredRun]) -> Iterator[CurveSpec]:
    names = {
        name
        for run in runs
        for name in run.columns
        if not split_key(name)[0] and name.startswith("env/") and run.has(name)
    }
    for name in sorted(names):
        word = name.removeprefix("env/")
        title = f"{word.replace('_', ' ').capitalize()} in training ({name})"
        slug = word.replace("/", "-").replace("_", "-")
        yield CurveSpec(f"env-{slug}", title, name, of_match=True, smoothed=True)
