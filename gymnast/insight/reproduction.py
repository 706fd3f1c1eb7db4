"""Trains a preset again and compares the result with the stored one, or stores it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gymnast.config.resolve import ResolvedConfig, resolve
from gymnast.errors import UsageError
from gymnast.insight import envelope, results
from gymnast.insight.verdict import ResultVerdict, verdict
from gymnast.jobs.groups import Group, GroupResult, group_result, train_group
from gymnast.metrics.tracking import require_packages
from gymnast.runs.curve import read_rows
from gymnast.runs.run import Run
from gymnast.training.request import TrainRequest


@dataclass(frozen=True)
class Reproduction:
    """The outcome of training a preset again."""

    preset: str
    seeds: tuple[int, ...]
    """The seeds that were trained."""
    now: GroupResult
    comparison: ResultVerdict | None
    """None if a seed failed, or if the new result was stored."""
    stored_in: str | None = None
    """The file of the new result, if it was stored."""
    errors: dict[int, str] = field(default_factory=dict[int, str])
    """Seed -> error message, for seeds that failed."""
    interrupted: bool = False
    ok: bool = True
    """Whether every seed was trained to its end."""


def reproduce(
    preset: str,
    *,
    seeds: int | None,
    jobs: int,
    store_result: bool,
    trackers: Sequence[str],
    report: Callable[[str], None] | None,
    runs_dir: Path,
) -> Reproduction:
    """Trains a preset with the seeds of its stored result, `jobs` at a time, and compares. With
    `store_result`, the new result replaces the stored one instead.

    `seeds`: number of seeds, by default all of the stored result; `trackers`: also log to these; `report` is
    called with a line when a seed starts or ends. Raises UsageError if there is no stored result, if the code
    is not committed, and for a result over fewer seeds than the stored one.
    """
    overrides: dict[str, object] = {"track.to": list(trackers)} if trackers else {}
    resolved = resolve(preset, overrides)
    require_packages(resolved.config.track.to)
    chosen = _seeds(resolved.preset, seeds, store_result=store_result)
    if store_result:
        results.require_committed_code()  # before hours of training, not after
    group = train_group(
        TrainRequest(resolved.preset, overrides),
        seeds=chosen,
        jobs=jobs,
        runs_dir=runs_dir,
        report=report,
    )
    stored_in = comparison = None
    if group.ok and store_result:
        stored_in = str(_store(resolved, group))
    elif group.ok:
        stored = results.load_result(resolved.preset)
        comparison = verdict(stored, group.runs)
    return Reproduction(
        resolved.preset,
        tuple(chosen),
        group_result(group.runs),
        comparison,
        stored_in,
        dict(group.errors),
        group.interrupted,
        group.ok,
    )


def _seeds(preset: str, count: int | None, *, store_result: bool) -> list[int]:
    """Returns the seeds to train. Raises UsageError for fewer than a stored result has, if it is to be
    replaced: better evidence would be lost."""
    if not store_result:
        stored = [entry["seed"] for entry in results.load_result(preset)["seeds"]]
        return stored[: count or len(stored)]
    n_stored = results.n_seeds(preset)
    n_new = count or n_stored or 1
    if n_new < n_stored:
        problem = f"the stored result of {preset} has {n_stored} seeds, this one would have {n_new}"
        raise UsageError(problem, fix=f"--seeds {n_stored} or more, or omit --store")
    return [*range(n_new)]


def _store(resolved: ResolvedConfig, group: Group) -> Path:
    """Stores the result of a group, and the envelope of its metrics; returns the file of the result."""
    result = results.build_result(resolved.preset, group.runs, resolved.config.facts.threshold)
    file = results.save_result(result)
    if len(group.runs) > 1:  # an envelope needs several runs
        rows = [read_rows(Run(Path(run.path))) for run in group.runs]
        envelope.save_envelope(envelope.build_envelope(resolved.preset, rows))
    return file
