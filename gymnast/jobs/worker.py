"""The process that trains one seed of a group, or one background job.

python -m gymnast.jobs.worker seed RUNS_DIR REQUEST    trains at once; REQUEST is a TrainRequest as JSON
python -m gymnast.jobs.worker job RUNS_DIR ID FD       waits for its turn, then does what its record says
python -m gymnast.jobs.worker remote RUNS_DIR ID       does what its record says; a scheduler has started it

FD is the inherited descriptor of the job's place in the queue. All print the result, or an error message to
stderr, and exit as `gymnast train` does. The last one can be started again: it then continues the run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gymnast.errors import GymnastError
from gymnast.import_object import import_frozen
from gymnast.jobs import record
from gymnast.jobs.detach import run_job, run_queued_job
from gymnast.jobs.remote.arrival import enter_job, read_visible, was_started
from gymnast.records import from_json
from gymnast.runs import document, store, trust
from gymnast.runs.run import Run
from gymnast.training.request import ResumeRequest, TrainRequest

if TYPE_CHECKING:
    from gymnast.training.foreground import TrainResult

INTERRUPTED = 130
"""Exit code after Ctrl-C or another signal."""


def main() -> int:
    """Returns the exit code."""
    # OpenBLAS starts a thread per core, which takes time at startup; the config key `threads` adds them
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    kind, runs_dir, *rest = sys.argv[1:]
    try:
        if kind == "job":
            return run_queued_job(Path(runs_dir), rest[0], int(rest[1]), _run_job)
        if kind == "remote":
            return run_job(Path(runs_dir), read_visible(Path(runs_dir), rest[0]), _run_job)
        request = from_json(TrainRequest, document.loads(rest[0]))
        return _train(request, Path(runs_dir)).exit_code
    except GymnastError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _run_job(job: record.JobRecord, path: Path) -> tuple[int, str]:
    """Trains or resumes in the claimed directory `path`; returns the exit code and why training ended."""
    remote = job.get("remote")
    if remote is not None:
        enter_job(remote, path)
        if was_started(job, path):
            return _continue(path, job)
    if job["kind"] == "train":
        request = from_json(TrainRequest, job["request"])
        requeue = remote is not None and remote["requeue"]
        result = _train(request, path.parent, claimed=path, rerun_resumes=requeue)
    else:
        request = from_json(ResumeRequest, job["request"])
        if remote is not None:  # the machine that submitted the job trusts the run
            run, _ = store.resolve(request.run, path.parent)
            trust.sign_code(run.path, run.config_code())
        result = _resume(request, path)
    return result.exit_code, result.reason


def _continue(path: Path, job: record.JobRecord) -> tuple[int, str]:
    """Continues the run of a job that was started before; returns the exit code and why training ended."""
    info = Run(path).info
    if info["status"] == "finished":  # a scheduler may start a job once more after its end
        return 0, info["reason"]
    pause_at = cast("int | None", job["request"].get("pause_at"))
    result = _resume(ResumeRequest(str(path), pause_at=pause_at), path)
    return result.exit_code, result.reason


def _resume(request: ResumeRequest, path: Path) -> TrainResult:
    """Resumes in this process, into the claimed directory `path`."""
    # Imports torch: hundreds of MB that a queued job must not hold while it waits.
    training = import_frozen("gymnast.training.foreground")
    return training.resume_here(request, runs_dir=path.parent, show="ending", claimed=path)


def _train(
    request: TrainRequest,
    runs_dir: Path,
    claimed: Path | None = None,
    *,
    rerun_resumes: bool = False,
) -> TrainResult:
    """Trains in this process, in the directory `claimed` if given. `rerun_resumes`: starting this process
    again would continue the run."""
    training = import_frozen("gymnast.training.foreground")
    return training.train_here(
        request, runs_dir=runs_dir, show="ending", claimed=claimed, rerun_resumes=rerun_resumes
    )


if __name__ == "__main__":
    sys.exit(main())
