"""The comparison of a repetition of a preset with its stored result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gymnast.insight.stored_result import StoredResult
from gymnast.jobs.groups import GroupResult, group_result
from gymnast.metrics.score import RunScore
from gymnast.runs.summary import RunSummary


@dataclass(frozen=True)
class MeanScore:
    """The score of a group of seeds."""

    mean: float | None
    low: float | None
    high: float | None
    iqm: float | None
    solved: int


@dataclass(frozen=True)
class ResultVerdict:
    """The result of comparing a repetition with a stored result."""

    preset: str
    holds: bool
    identical: bool
    """Whether every score is the same to the last digit."""
    seeds: list[int | None]
    """The seeds that were repeated."""
    stored_seeds: int
    """Number of seeds of the stored result."""
    stored_same_seeds: float | None
    """Stored mean over the same seeds."""
    stored: MeanScore
    now: MeanScore
    floor: float
    """The mean must not be below this."""
    seeds_no_longer_solved: list[int]


def verdict(stored_result: StoredResult, runs: Sequence[RunSummary]) -> ResultVerdict:
    """Returns whether a repetition confirms the stored result, with the numbers.

    It does if its mean is not below the stored interval (of the mean over seeds, or of the episodes of a
    single seed), and if every seed that was solved is still solved.
    """
    now = group_result(runs)
    by_seed = {entry["seed"]: entry for entry in stored_result["seeds"]}
    same = [by_seed[run.seed] for run in runs if run.seed is not None and run.seed in by_seed]
    # The interval over seeds does not exist for one seed; the lower of all bounds is the fairest floor.
    floor = min(
        [e["score"]["low"] for e in same] + [x for x in (stored_result["low"],) if x is not None]
    )
    solved_before = {entry["seed"] for entry in stored_result["seeds"] if entry["solved"]}
    no_longer_solved = [
        run.seed for run in runs if run.seed in solved_before and not _reached_threshold(run)
    ]
    scores = [RunScore.from_info(entry["score"]) for entry in same]
    stored = MeanScore(
        stored_result["mean"],
        stored_result["low"],
        stored_result["high"],
        stored_result["iqm"],
        stored_result["solved"],
    )
    return ResultVerdict(
        preset=stored_result["preset"],
        holds=now.mean is not None and now.mean >= floor and not no_longer_solved,
        identical=bool(same)
        and list(map(_measured, scores)) == [_measured(run.score) for run in runs],
        seeds=[run.seed for run in runs],
        stored_seeds=len(stored_result["seeds"]),
        stored_same_seeds=_mean([score.mean for score in scores]),
        stored=stored,
        now=_mean_score(now),
        floor=floor,
        seeds_no_longer_solved=no_longer_solved,
    )


def _reached_threshold(run: RunSummary) -> bool:
    """Returns whether a run reached its threshold as the stored result did, which knows no doubts: the
    untrained policy of a seed may be optimal by luck."""
    if not run.doubts or run.score is None or run.threshold is None:
        return run.solved is True
    return run.score.low >= run.threshold


def _measured(score: RunScore | None) -> tuple[float | None, ...]:
    """Returns the numbers of a score that do not depend on how its interval is computed."""
    return () if score is None else (score.mean, score.iqm, score.episodes, score.env_steps)


def _mean_score(group: GroupResult) -> MeanScore:
    return MeanScore(group.mean, group.low, group.high, group.iqm, group.solved)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
