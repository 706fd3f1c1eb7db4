"""Requeues a training job in SLURM before its time limit.

`#SBATCH --signal=USR1@60` sends SIGUSR1 one minute before the job's time limit. The run then saves a
checkpoint, stops, and requeues the job if the same command would continue the run. SIGTERM requeues
nothing, since `scancel` sends it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping

from gymnast.runs.run import Run

REQUEUE_SIGNAL = "SIGUSR1"
SCONTROL_TIMEOUT = 10.0
"""Timeout of `scontrol`, in seconds."""


def requeue(
    run: Run, counters: Mapping[str, int | float], received: str | None, *, rerun_resumes: bool
) -> None:
    """Requeues the SLURM job if SIGUSR1 was received. Must be called after everything is saved, since SLURM
    kills the processes of the job at once. `counters`: the clocks, for the event; `received`: name of the
    signal, or None; `rerun_resumes`: running the same command again would continue this run."""
    job = _job()
    if job is None or received != REQUEUE_SIGNAL:
        return
    if not rerun_resumes:
        why = "the same command would start another run; give --name NAME --requeue"
        run.record_event("not requeued", counters, job=job, why=why)
        return
    # The event comes first: a successful requeue ends this process. SLURM sends SIGTERM to all processes of
    # the job, and SIGKILL half a minute later. Here it would count as a second signal of the user.
    run.record_event("requeued", counters, job=job)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    command = ["scontrol", "requeue", job]
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=SCONTROL_TIMEOUT
        )
    except (OSError, subprocess.SubprocessError) as problem:
        if getattr(problem, "returncode", None) == -signal.SIGTERM:
            return  # `scontrol` is one of the processes that SLURM ends
        error = getattr(problem, "stderr", None) or problem
        why = f"{' '.join(command)}: {error}".strip()
        run.record_event("not requeued", counters, job=job, why=why)


def _job() -> str | None:
    """Returns the id of this job as `scontrol` expects it; None outside of SLURM."""
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID")
