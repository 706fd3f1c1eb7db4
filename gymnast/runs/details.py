"""Everything that is known about one run, from its files: the record behind `gymnast show`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from gymnast.errors import CheckpointError, RunError, UnknownFormat
from gymnast.metrics.alert import Alert
from gymnast.runs import checkpoint, films
from gymnast.runs.bundle_manifest import BundleManifest, read_manifest
from gymnast.runs.checkpoint import CheckpointInfo
from gymnast.runs.curve import Row, curve_of, learning_so_far, lower_bounds, read_evaluation_rows
from gymnast.runs.events import RunEvent
from gymnast.runs.films import StoredFilm
from gymnast.runs.removal import run_size
from gymnast.runs.run import Run, derived_status
from gymnast.runs.summary import RunSummary, summarize


@dataclass(frozen=True)
class EvaluationPoint:
    """One evaluation of the learning curve."""

    env_steps: float
    """Env steps of the policy that was evaluated."""
    mean_return: float
    low: float
    """Lower end of the 95 % confidence interval."""


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run that are on disk."""

    best: CheckpointInfo | None = None
    latest: CheckpointInfo | None = None
    """The newest that is not damaged."""
    steps: list[int] = field(default_factory=list[int])
    """Env steps of all of them, damaged ones included."""
    damaged: list[str] = field(default_factory=list[str])
    """Messages about damaged ones. Changed files are only noticed if asked for (`verify`)."""


@dataclass(frozen=True)
class RunDetails(RunSummary):
    """Everything about one run."""

    attempts: int = 0
    """How often a process has trained it."""
    engine: str = ""
    revision: str = ""
    """Commit of gymnast's code; empty if it is unknown."""
    versions: dict[str, str] = field(default_factory=dict[str, str])
    """Package -> version that was installed."""
    cpu: str = ""
    """CPU model."""
    parent_step: int | None = None
    parent_kind: str | None = None
    """`branch`, or `weights` if only the weights of the parent were used."""
    live: dict[str, object] = field(default_factory=dict[str, object])
    """Settings changed during training: dotted key -> value."""
    config: dict[str, object] = field(default_factory=dict[str, object])
    """The resolved config as nested values."""
    provenance: dict[str, str] = field(default_factory=dict[str, str])
    """Dotted config key -> where its value came from."""
    events: list[RunEvent] = field(default_factory=list[RunEvent])
    evaluations: list[EvaluationPoint] = field(default_factory=list[EvaluationPoint])
    alerts: list[Alert] = field(default_factory=list[Alert])
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    checkpoint: CheckpointInfo | None = None
    """The checkpoint that the reference names, if it names one."""
    videos: list[StoredFilm] = field(default_factory=list[StoredFilm])
    bundle: BundleManifest | None = None
    """The manifest of the bundle that it was read or unpacked from; None for a run of this machine."""


def describe_run(
    run: Run, which: str | None = None, *, verify: bool = False, sizes: bool = False
) -> RunDetails:
    """Returns everything about a run. `which`: a checkpoint, as in `checkpoint.find`; `verify` compares the
    files of the best and the latest checkpoint with their hashes; `sizes` sums up the disk space."""
    info = run.info
    bundle = read_manifest(run.path)
    rows = _rows(run)
    # Nobody writes what is in a bundle; its status is that of the moment when the bundle was made.
    status = bundle.status if run.bundle and bundle else derived_status(run.path, info)
    summary = summarize(run.path, info, status)
    known = {field.name: getattr(summary, field.name) for field in fields(summary)}
    known |= {
        "learning": learning_so_far(run, rows),
        "bytes": run_size(run.path) if sizes else None,
    }
    details = RunDetails(
        **known,
        attempts=info["attempts"],
        engine=info.get("engine", ""),
        revision=info["revision"],
        versions=info["versions"],
        cpu=info["cpu"]["model"],
        parent_step=info.get("parent_step"),
        parent_kind=info.get("parent_kind"),
        live=info.get("live", {}),
        config=run.config_values(),
        provenance=run.provenance(),
        events=[RunEvent.from_info(event) for event in run.events()],
        evaluations=_evaluations(rows),
        alerts=[Alert.from_stored(alert) for alert in info["alerts"]],
        checkpoints=_checkpoints(run, summary.best_step, verify=verify),
        checkpoint=_named_checkpoint(run, which, verify=verify) if which else None,
        videos=films.list_films(run.path, summary.best_step),
        bundle=bundle,
    )
    return _as_bundled(details, run) if run.bundle else details


def _as_bundled(details: RunDetails, run: Run) -> RunDetails:
    """Replaces the paths of the unpacked files, which are deleted soon, by the bundle and references to its
    checkpoints."""

    def refer(found: CheckpointInfo | None) -> CheckpointInfo | None:
        return None if found is None else replace(found, path=f"{run.bundle}:{found.step}")

    kept = details.checkpoints
    damaged = [text.replace(str(run.path), str(run.bundle)) for text in kept.damaged]
    return replace(
        details,
        path=str(run.bundle),
        checkpoint=refer(details.checkpoint),
        checkpoints=Checkpoints(refer(kept.best), refer(kept.latest), kept.steps, damaged),
    )


def _rows(run: Run) -> list[Row]:
    try:
        return read_evaluation_rows(run)
    except RunError:  # damaged metrics.db: show the run anyway; `gymnast rows` reports the problem
        return []


def _evaluations(rows: list[Row]) -> list[EvaluationPoint]:
    steps, returns = curve_of(rows, "env_steps")
    return [
        EvaluationPoint(*point) for point in zip(steps, returns, lower_bounds(rows), strict=True)
    ]


def _checkpoints(run: Run, best: int | None, *, verify: bool) -> Checkpoints:
    available = checkpoint.list_checkpoints(run.path)
    latest, damaged = _newest(list(available.values()), verify=verify)
    found = None
    # A bundle has one checkpoint, of the user's choice; that it lacks the best one is no damage.
    if best is not None and available and not (run.bundle and best not in available):
        try:
            found = checkpoint.describe(checkpoint.locate(run.path, "best"), verify=verify)
        except CheckpointError as error:
            damaged += [str(error)] if str(error) not in damaged else []
    return Checkpoints(found, latest, list(available), damaged)


def _newest(oldest_first: list[Path], *, verify: bool) -> tuple[CheckpointInfo | None, list[str]]:
    """Returns the newest of these checkpoints that is not damaged, and messages about newer ones."""
    damaged: list[str] = []
    for path in reversed(oldest_first):
        try:
            return checkpoint.describe(path, verify=verify), damaged
        except CheckpointError as error:
            if not path.exists():  # the trainer deleted it in the meantime
                continue
            damaged.append(str(error))
            if isinstance(error, UnknownFormat):
                break  # it may be intact: do not fall back to an older one
    return None, damaged


def _named_checkpoint(run: Run, which: str, *, verify: bool) -> CheckpointInfo:
    """Returns the checkpoint `best`, `latest` or at an env step; raises CheckpointError if there is none."""
    if which != "latest":
        return checkpoint.describe(checkpoint.locate(run.path, which), verify=verify)
    newest, damaged = _newest(list(checkpoint.list_checkpoints(run.path).values()), verify=verify)
    if newest is None:
        raise CheckpointError("\n".join(damaged) or "has no checkpoint yet", at=str(run.path))
    return newest
