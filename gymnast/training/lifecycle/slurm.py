"""Putting a training back into SLURM's queue when its time is over.

`#SBATCH --signal=USR1@60` sends SIGUSR1 a minute before the time of the job is over. The run saves a
checkpoint, stops, and has the job requeued if the same command then continues the run. SIGTERM requeues
nothing: that is what `scancel` sends.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from gymnast.runs.run import Run

SIGNAL = "SIGUSR1"
PATIENCE = 10.0
"""Seconds that `scontrol` may take."""


def requeue(
    run: Run, counters: Mapping[str, int | float], received: str | None, *, continues: bool
) -> None:
    """After all is saved: SLURM ends the job's processes at once. `continues`: the same command, given
    again, continues this run."""
    job = _job()
    if job is None or received != SIGNAL:
        return
    if not continues:
        why = "the same command would begin another run; give --name NAME --requeue"
        run.event("not requeued", counters, job=job, why=why)
        return
    run.event("requeued", counters, job=job)
    command = ["scontrol", "requeue", job]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError) as problem:
        said = getattr(problem, "stderr", None) or problem
        why = f"{' '.join(command)}: {said}".strip()
        run.event("not requeued", counters, job=job, why=why)


def _job() -> str | None:
    """As `scontrol` names it; None outside of SLURM."""
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID")
