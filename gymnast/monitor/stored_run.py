"""Reads a run for the monitor from its run directory: run.json, the metric store and the stored matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gymnast.config.families import is_multi_agent
from gymnast.errors import RunError
from gymnast.metrics.specs import split_key
from gymnast.monitor.monitored_run import (
    ENV_STEPS,
    UNKNOWN,
    Array,
    MatchEntry,
    MatchTable,
    MonitoredRun,
)
from gymnast.runs import layout
from gymnast.runs.info import branch_point
from gymnast.runs.match_trace import read_matches
from gymnast.runs.run import Run
from gymnast.runs.summary import RunSummary
from gymnast.runs.trace import read_episode_table
from gymnast.runs.trace_budget import version_from_name

KINDS = ("train", "eval", "confirm")
"""Kinds of stored episodes that belong to the training of a run."""


def approach_of(run: RunSummary, wanted: Sequence[str] = ()) -> str:
    """Returns the approach of a run: its tag if it has exactly one, else the variant of its preset, else its
    algorithm. `wanted`: the approaches that were asked for; the first one that is a tag or the variant of the
    run comes before these."""
    names = [*run.tags, run.variant]
    asked = next((approach for approach in wanted if approach in names), "")
    return asked or (run.tags[0] if len(run.tags) == 1 else run.variant or run.algo)


def read_stored_run(summary: RunSummary, runs_dir: Path, approach: str) -> MonitoredRun:
    """Returns a run of the runs directory with the columns of all its rows. Raises RunError if a file cannot
    be read or the run has no rows."""
    run = Run(Path(summary.path))
    try:
        alerts = run.info["alerts"]
    except RunError as error:
        fix = f"restore the file, or delete the run: gymnast runs rm {summary.id}"
        file = _name(layout.RUN.path(run.path), runs_dir)
        raise RunError(error.message, at=file, fix=error.fix or fix) from error
    metrics_file = _name(layout.METRICS.path(run.path), runs_dir)
    columns = _read_columns(run)
    if ENV_STEPS not in columns or not len(columns[ENV_STEPS]):
        raise RunError(
            f"the run has no rows (expected a row per rollout with {ENV_STEPS!r})",
            at=metrics_file,
            fix="wait for its first rollout",
        )
    matches, files = _read_matches(run)
    return MonitoredRun(
        approach=approach,
        run=summary.id,
        name=summary.name,
        env=summary.env,
        algo=summary.algo,
        seed=summary.seed,
        status=summary.status,
        roles=_roles(columns) if is_multi_agent(summary.env) else (),
        sources=(metrics_file, *(_name(file, runs_dir) for file in files)),
        env_steps=columns[ENV_STEPS],
        columns=columns,
        matches=matches,
        alerts=tuple(alert["message"] for alert in alerts),
        verdict=summary.verdict,
        branched_at=branch_point(run.info),
    )


def _read_columns(run: Run) -> dict[str, Array]:
    """Returns the columns of all rows, without those of single dimensions (`rollout/obs_mean.3`)."""
    with run.metrics() as store:
        names = [name for name in store.names() if "." not in split_key(name)[1]]
        return store.read(names)


def _roles(columns: Iterable[str]) -> tuple[str, ...]:
    """Returns the roles that learn, in the order of the columns. A scripted role has only columns of the
    league, such as the opponent that it plays (`hider:league/rung`)."""
    keys = (split_key(name) for name in columns)
    learning = (
        scopes[0]
        for scopes, metric in keys
        if scopes and scopes[0] != "eval" and not metric.startswith("league/")
    )
    return tuple(dict.fromkeys(learning))


def _read_matches(run: Run) -> tuple[MatchTable | None, list[Path]]:
    """Returns the stored matches or episodes of the training and the evaluations, None if there are none, and
    the files that they were read from."""
    stored = [
        (version_from_name(file), kind, file)
        for folder in (run.matches, run.traces)
        for kind in KINDS
        for file in folder.glob(f"{kind}-*.safetensors")
    ]
    # by version, and of one version in the order of KINDS
    stored.sort(key=lambda entry: (entry[0], KINDS.index(entry[1])))
    entries = [
        entry
        for version, kind, file in stored
        for entry in _read_file(file, kind, version, is_match=file.parent == run.matches)
    ]
    return (MatchTable.from_entries(entries) if entries else None), [file for *_, file in stored]


def _read_file(file: Path, kind: str, version: int, *, is_match: bool) -> Iterator[MatchEntry]:
    """Yields the matches or episodes of a file that were played to their end."""
    if is_match:
        for match in read_matches(file):
            if match.ended:
                returns = {role: float(r.sum(0).mean()) for role, r in match.rewards.items()}
                yield MatchEntry(
                    version, kind, len(match), match.outcome or UNKNOWN, returns, match.cast
                )
        return
    table = read_episode_table(file)
    for i, length in enumerate(table.length):
        if table.terminated[i] or table.truncated[i]:
            outcome = "terminated" if table.terminated[i] else "truncated"
            returns = {"": float(table.raw_return[i])}
            yield MatchEntry(version, kind, length, outcome, returns, {})


def _name(file: Path, runs_dir: Path) -> str:
    """Returns the path of a file relative to the runs directory; the path itself if it is elsewhere."""
    return file.relative_to(runs_dir).as_posix() if file.is_relative_to(runs_dir) else str(file)
