"""Groups of seeds: one child process per seed, a limited number at once, and the result of the group.

A child's run is found by the group id in its run.json. The output of a child is not parsed; its
stderr is only kept to be shown when the child fails.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from gymnast.errors import UsageError
from gymnast.jobs.children import Children, forward_signals
from gymnast.metrics.score import RunScore, comparable
from gymnast.runs import store
from gymnast.runs.summary import RunSummary
from gymnast.training.request import TrainRequest


@dataclass(frozen=True)
class SeedScore:
    """One run of a group."""

    seed: int | None
    id: str
    status: str
    score: RunScore | None


@dataclass(frozen=True)
class GroupResult:
    """The scores of a group of seeds. Runs without a score, or that did not finish, do not enter mean, IQM
    and interval, which are None if no run is left. Nor do unconfirmed scores, and scores over too few
    episodes, unless there are no others."""

    runs: int
    """Number of runs."""
    scored: int
    """Number of runs whose score enters the mean."""
    solved: int
    scores: tuple[SeedScore, ...]
    """All runs, by seed."""
    mean: float | None
    """Mean score over seeds."""
    iqm: float | None
    """Interquartile mean over seeds, as in rliable."""
    low: float | None
    """Lower bound of the 95 % confidence interval of the mean over seeds; None for fewer than two scores."""
    high: float | None
    caveat: str = ""
    """The reason why the mean is not comparable with that of confirmed scores; empty if it is."""


@dataclass(frozen=True)
class TrainedGroup:
    """The result of training a group of seeds."""

    group: str
    """Id of the group."""
    result: GroupResult
    errors: Mapping[int, str]
    """Seed -> error message, for seeds that failed."""
    interrupted: bool
    """Whether a signal ended the training."""
    ok: bool
    """Whether every seed was trained to its end."""


@dataclass(frozen=True)
class Group:
    """The outcome of training a group of seeds."""

    id: str
    runs: list[RunSummary]
    """The runs that the children created, ordered by seed."""
    exit_codes: dict[int, int]
    """Seed -> exit code of its child; seeds that were never started are missing."""
    errors: dict[int, str]
    """Seed -> last lines of stderr, for children that failed."""
    interrupted: bool

    @property
    def ok(self) -> bool:
        return not self.interrupted and not any(self.exit_codes.values())

    def summary(self) -> TrainedGroup:
        result = group_result(self.runs)
        return TrainedGroup(self.id, result, self.errors, self.interrupted, self.ok)


def train_group(
    request: TrainRequest,
    *,
    seeds: Sequence[int],
    jobs: int = 1,
    runs_dir: Path,
    names: Sequence[str] = (),
    report: Callable[[str], None] | None = None,
) -> Group:
    """Trains a request once per seed, `jobs` at a time, and waits for all of them.

    `request.group`: id of the group, by default a new one; `names`, one per seed, name the runs; `report` is
    called with a line when a seed starts or ends. SIGINT and SIGTERM are forwarded to the children, which
    save a checkpoint and exit; no further seed is started then. Raises UsageError for less than one job, and
    for no or repeated seeds.
    """
    if jobs < 1 or not seeds or len(set(seeds)) < len(seeds):
        raise UsageError("a group needs at least one job and different seeds")
    request = with_fixed_source(request, runs_dir)
    group = request.group or new_group_id()
    named = dict(zip(seeds, names, strict=True)) if names else {}
    requests = {
        seed: replace(request, seed=seed, group=group, name=named.get(seed, "")) for seed in seeds
    }
    children = Children(requests, runs_dir, report)
    with forward_signals(children):
        children.run_all(jobs)
    return Group(
        group,
        group_runs(runs_dir, group),
        children.exit_codes,
        children.errors,
        children.received is not None,
    )


class SeedRun(Protocol):
    """The run of one seed, as far as the result of its group depends on it."""

    @property
    def id(self) -> str: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def status(self) -> str: ...
    @property
    def solved(self) -> bool | None: ...
    @property
    def score(self) -> RunScore | None: ...


def with_fixed_source(request: TrainRequest, runs_dir: Path) -> TrainRequest:
    """Returns the request with the path of its source: `@last` must not become another run before it is
    read, such as the first seed of the same group."""
    if request.source is None:
        return request
    run, checkpoint = store.resolve(request.source, runs_dir)
    path = str(run.path.resolve())
    return replace(request, source=f"{path}:{checkpoint}" if checkpoint else path)


def new_group_id() -> str:
    return f"g{secrets.token_hex(4)}"


def group_runs(runs_dir: Path, group: str) -> list[RunSummary]:
    """Returns the runs of a group, ordered by seed."""
    return sorted(store.list_runs(runs_dir, f"group={group}"), key=lambda run: run.seed or 0)


def group_result(runs: Sequence[SeedRun]) -> GroupResult:
    """Returns the scores of `runs` by seed, their mean and IQM, and a 95 % confidence interval of the mean
    over seeds.

    The interval is a percentile bootstrap with a fixed random stream, so the same runs give the same
    interval, in any order.
    """
    from gymnast.rl.seed_statistics import as_sample, bootstrap_interval, iqm, mean

    counted = final_scores(runs)
    means = sorted(score.mean for score in counted)
    sample = as_sample([means])
    low, high = bootstrap_interval(mean, [means]) if len(means) > 1 else (None, None)
    return GroupResult(
        runs=len(runs),
        scored=len(means),
        solved=sum(run.solved is True for run in runs),
        scores=tuple(SeedScore(run.seed, run.id, run.status, run.score) for run in runs),
        mean=float(mean(sample)) if means else None,
        iqm=float(iqm(sample)) if means else None,
        low=low,
        high=high,
        caveat=max((score.caveat for score in counted), key=len, default=""),
    )


def final_scores(runs: Sequence[SeedRun]) -> list[RunScore]:
    """Returns the scores of the runs that finished, since a partial training would bias the mean; if not all
    are comparable, only the comparable ones."""
    return comparable(
        run.score for run in runs if run.status == "finished" and run.score is not None
    )
