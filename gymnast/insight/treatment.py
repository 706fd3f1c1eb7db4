"""Trains a run again with the patch of its diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gymnast.insight.doctor import differing_settings
from gymnast.jobs.groups import train_group
from gymnast.runs.details import describe_run
from gymnast.runs.run import Run
from gymnast.runs.summary import Learning
from gymnast.training.request import TrainRequest


@dataclass(frozen=True)
class Treatment:
    """A run that was trained again with the patch of its diagnosis."""

    ok: bool
    """Whether training succeeded."""
    run: str | None = None
    """Id of the new run."""
    before: Learning | None = None
    """Learning of the diagnosed run; None without evaluations."""
    after: Learning | None = None
    """Learning of the new run."""
    errors: tuple[str, ...] = ()
    """Error messages, if training failed."""


def treat(
    run: Run,
    changes: Mapping[str, object],
    runs_dir: Path,
    report: Callable[[str], None] | None = None,
) -> Treatment:
    """Trains a run again with its seed, budget and settings, changed by the patch of its diagnosis
    (`changes`: dotted key -> value). `report` is called with a line when training starts and ends."""
    if not changes:
        problem = f"the diagnosis of {run.id} proposes no change of a setting: nothing to apply"
        return Treatment(ok=False, errors=(problem,))
    run.trusted_config()
    # In a child process, like every seed of a group: this process has not imported torch.
    group = train_group(
        # tagged, so that `gymnast runs tag=...` finds the pair
        TrainRequest(
            run.info["preset"], differing_settings(run, changes), tags=(f"treats-{run.id}",)
        ),
        seeds=[run.info["seed"]],
        runs_dir=runs_dir,
        report=report,
    )
    if not group.ok or not group.runs:
        return Treatment(ok=False, errors=tuple(group.errors.values()))
    new = Run(Path(group.runs[0].path))
    return Treatment(True, new.id, describe_run(run).learning, describe_run(new).learning)
