"""The summary of a run: what `gymnast runs` lists, made from run.json."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gymnast.runs.info import LearningInfo, RunInfo
from gymnast.text.formatting import Verdict, solved_label

if TYPE_CHECKING:
    from gymnast.metrics.recorder import Score

UNREADABLE = "unreadable"
"""Status of a run whose run.json cannot be read."""


@dataclass(frozen=True)
class RunScore:
    """Mean raw return of an evaluation, or win rate of the worst role, with its 95 % confidence interval."""

    mean: float
    low: float
    """Lower end of the interval; -inf for a single episode."""
    high: float
    episodes: int
    iqm: float | None = None
    env_steps: int | None = None
    """Env steps of the policy that was evaluated."""
    role: str = ""
    """The role that the score is about, in a run with several roles."""
    planned: int | None = None
    """Number of episodes that were planned, if some are missing."""
    missing: str = ""
    """The reason why they are missing, as a clause."""

    @staticmethod
    def from_info(score: Score) -> RunScore:
        return RunScore(
            score["mean"],
            score["low"],
            score["high"],
            score["episodes"],
            score.get("iqm"),
            score.get("env_steps"),
            score.get("role", ""),
            score.get("planned"),
            score.get("missing", ""),
        )


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
    algo: str = ""
    seed: int | None = None
    reason: str = ""
    """The reason why training ended."""
    solved: bool | None = None
    """None if there is no threshold."""
    confirmed: bool = True
    """Whether the score was measured on held-out seeds, at the end."""
    score: RunScore | None = None
    threshold: float | None = None
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
    tags: list[str] = field(default_factory=list[str])
    note: str = ""
    host: str = ""
    updated: float = 0.0
    bytes: int | None = None
    """Disk space; None unless sizes were asked for."""

    @property
    def is_readable(self) -> bool:
        return self.status != UNREADABLE

    @property
    def verdict(self) -> Verdict:
        """Whether it is solved; empty if there is no threshold."""
        low = self.score.low if self.score else None
        return solved_label(self.solved, low, self.threshold, self.confirmed)


def stored_learning(info: RunInfo) -> Learning | None:
    """Returns `learning` from run.json; None while the run is active, and for old runs without it."""
    stored = info.get("learning") if info["status"] in ("finished", "stopped") else None
    return Learning.from_info(stored) if stored else None


def summarize(path: Path, info: RunInfo, status: str) -> RunSummary:
    """Returns the summary of the run in the directory `path`. `info`: its run.json; `status`: the derived
    one."""
    score = info["score"]
    return RunSummary(
        id=info["id"],
        path=str(path),
        status=status,
        created=info["created"],
        name=info["name"],
        preset=info["preset"],
        env=info["env"],
        algo=info["algo"],
        seed=info["seed"],
        reason=info["reason"],
        solved=info["solved"],
        confirmed=info.get("confirmed", True),
        score=None if score is None else RunScore.from_info(score),
        threshold=info["threshold"],
        clocks=info["clocks"],
        learning=stored_learning(info),
        best_step=info["checkpoints"]["best"],
        latest_step=info["checkpoints"]["latest"],
        n_alerts=len(info["alerts"]),
        parent=info["parent"],
        group=info["group"],
        tags=info["tags"],
        note=info["note"],
        host=info["host"],
        updated=info["updated"],
    )


def summarize_unreadable(path: Path, problem: str, created: float) -> RunSummary:
    return RunSummary(path.name, str(path), UNREADABLE, created, problem=problem)
