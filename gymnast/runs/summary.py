"""The summary of a run: what `gymnast runs` lists, made from run.json."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gymnast.clock import budget_share, remaining_seconds
from gymnast.config.target import split_target
from gymnast.errors import ConfigError
from gymnast.metrics.score import RunScore, best_mean
from gymnast.runs.doubts import doubt_texts
from gymnast.runs.info import LearningInfo, RunInfo, branch_point
from gymnast.runs.run import ACTIVE
from gymnast.text.formatting import Verdict, solved_label

UNREADABLE = "unreadable"
"""Status of a run whose run.json cannot be read."""
PLAYED_TAG = "played"
"""Tag of runs without training, which only have games of people."""


@dataclass(frozen=True)
class Learning:
    """A summary of how well a run trained, from its evaluation curve."""

    area: float | None
    """Normalized area under the curve: 1 if the run was at the threshold from the start. None without a
    threshold, or if the first return already reaches it."""
    unused: float
    """Fraction of the budget that was not used."""
    mean_return: float
    steps_to_threshold: int | None
    """Env steps until the lower bound of an evaluation reached the threshold; None if none did."""
    seconds_to_threshold: float | None

    @staticmethod
    def from_info(stored: LearningInfo) -> Learning:
        return Learning(
            stored["area"],
            stored.get("unused", 0.0),  # missing in runs of older versions
            stored["mean_return"],
            stored["steps_to_threshold"],
            stored["seconds_to_threshold"],
        )


@dataclass(frozen=True)
class RunSummary:
    """One run of a list. If its run.json cannot be read, only `id`, `path`, `created` and `problem` are
    known."""

    id: str
    path: str
    status: str
    """running, paused, stalled, finished, stopped, failed, lost (its process died) or unreadable."""
    created: float
    """Seconds since the epoch."""
    problem: str = ""
    """The reason why it cannot be read."""
    name: str = ""
    preset: str = ""
    env: str = ""
    variant: str = ""
    """The variant of the preset; empty if it has none."""
    algo: str = ""
    seed: int | None = None
    reason: str = ""
    """The reason why training ended."""
    solved: bool | None = None
    """None if there is no threshold."""
    confirmed: bool = True
    """Whether the score is confirmed (`score.kind`)."""
    score: RunScore | None = None
    """The score of its best version: confirmed on held-out seeds when training has ended, until then of the
    evaluation that selected the version."""
    best_score: float | None = None
    """Highest mean return of an evaluation, or win rate of the worst role; the score if that is higher. The
    evaluations of its parent do not count for a branch. None without evaluations."""
    start_score: RunScore | None = None
    """Score of the version that it started with: the untrained policy, received weights, or the parent of a
    branch; None without one."""
    doubts: list[str] = field(default_factory=list[str])
    """Reasons why the score may not show that the task was learned, one clause each."""
    threshold: float | None = None
    curve: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Env steps and mean return of at most 32 evaluations; the first, the last, the lowest and the highest
    are among them."""
    progress: float | None = None
    """Used share of the budget, 0..1; None without a budget."""
    remaining_seconds: float | None = None
    """Estimated wall time until the budget is spent, at the speed and the time of `updated`; None unless the
    run is active."""
    steps_per_second: float | None = None
    """Env steps per second: of the last half minute of training if the run is active, else of the whole
    run."""
    clocks: dict[str, int | float] = field(default_factory=dict[str, int | float])
    """Clock -> count: env_steps, vec_steps, updates, seconds, ...; empty before the first rollout."""
    learning: Learning | None = None
    """None while the run is active, and without evaluations."""
    best_step: int | None = None
    """Env steps of the best checkpoint."""
    latest_step: int | None = None
    n_alerts: int = 0
    parent: str | None = None
    """Id of the run whose weights it started from."""
    group: str | None = None
    """Id of its group of seeds."""
    group_name: str = ""
    """The group of seeds in words: its name, or the preset and the id of a group without a name; empty
    without a group."""
    tags: list[str] = field(default_factory=list[str])
    note: str = ""
    host: str = ""
    updated: float = 0.0
    bytes: int | None = None
    """Disk space; None unless sizes were asked for."""

    @property
    def is_untrained(self) -> bool:
        """True if it only has games of people, of an environment that has no run of its own."""
        return PLAYED_TAG in self.tags and self.latest_step is None and not self.clocks

    @property
    def is_readable(self) -> bool:
        return self.status != UNREADABLE

    @property
    def verdict(self) -> Verdict:
        """Whether it is solved; without a threshold, whether its score is doubtful, else empty."""
        low = self.score.low if self.score else None
        label = solved_label(self.solved, low, self.threshold, self.confirmed)
        return label or ("doubtful" if self.doubts else "")

    @property
    def rank(self) -> tuple[float, ...]:
        """The sort key of runs by their score: that of the score, then no doubts about it, then fewer env
        steps; without a score the lowest. The highest is the best."""
        rank = (-1,) if self.score is None else self.score.rank
        return (*rank, not self.doubts, -self.clocks.get("env_steps", 0))


def stored_learning(info: RunInfo) -> Learning | None:
    """Returns `learning` from run.json; None while the run is active, and for old runs without it."""
    stored = info.get("learning") if info["status"] in ("finished", "stopped") else None
    return Learning.from_info(stored) if stored else None


def run_score(info: RunInfo) -> RunScore | None:
    """Returns the score in run.json; None before the first one."""
    score = info["score"]
    # Older versions do not store the kind of a score; those of a training that has not ended are evaluations.
    confirmed = info["status"] in ("finished", "stopped") and info.get("confirmed", True)
    return score and RunScore.from_info(score, "confirmed" if confirmed else "evaluated")


def summarize(path: Path, info: RunInfo, status: str) -> RunSummary:
    """Returns the summary of the run in the directory `path`. `info`: its run.json; `status`: the derived
    one."""
    score, start, branched_at = run_score(info), info.get("start_score"), branch_point(info)
    doubts = doubt_texts(info)
    points = info.get("curve")
    curve = list(zip(points["env_steps"], points["mean_return"], strict=True)) if points else []
    limits = info.get("limits", {})
    rates = info.get("rates", {}) if status in ACTIVE else {}
    return RunSummary(
        id=info["id"],
        path=str(path),
        status=status,
        created=info["created"],
        name=info["name"],
        preset=info["preset"],
        env=info["env"],
        variant=_variant(info["preset"]),
        algo=info["algo"],
        seed=info["seed"],
        reason=info["reason"],
        solved=info["solved"] and not doubts,
        confirmed=score is None or score.kind == "confirmed",
        score=score,
        best_score=best_mean(
            (mean for steps, mean in curve if branched_at is None or steps > branched_at), score
        ),
        start_score=None if start is None else RunScore.from_info(start, "evaluated"),
        doubts=doubts,
        threshold=info["threshold"],
        curve=curve,
        progress=budget_share(info["clocks"], limits),
        remaining_seconds=remaining_seconds(info["clocks"], limits, rates) if rates else None,
        steps_per_second=rates.get("env_steps", _mean_speed(info)),
        clocks=info["clocks"],
        learning=stored_learning(info),
        best_step=info["checkpoints"]["best"],
        latest_step=info["checkpoints"]["latest"],
        n_alerts=len(info["alerts"]),
        parent=info["parent"],
        group=info["group"],
        group_name=_group_name(info),
        tags=info["tags"],
        note=info["note"],
        host=info["host"],
        updated=info["updated"],
    )


def _variant(preset: str) -> str:
    try:
        return split_target(preset)[1] or ""
    except ConfigError:  # written by hand
        return ""


def _mean_speed(info: RunInfo) -> float | None:
    """Returns the env steps per second over the whole run; None before the first rollout."""
    steps, seconds = (info["clocks"].get(clock, 0) for clock in ("env_steps", "seconds"))
    return steps / seconds if seconds > 0 else None


def _group_name(info: RunInfo) -> str:
    if info["group"] is None:
        return ""
    # The runs of a group with a name are called after it.
    return info["group"] if info["name"] else f"{info['preset']} {info['group']}"


def summarize_unreadable(path: Path, problem: str, created: float) -> RunSummary:
    return RunSummary(path.name, str(path), UNREADABLE, created, problem=problem)
