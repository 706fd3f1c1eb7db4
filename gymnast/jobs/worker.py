"""The process that trains one seed of a group, or one background job.

python -m gymnast.jobs.worker seed RUNS_DIR REQUEST    trains at once; REQUEST is a TrainRequest as JSON
python -m gymnast.jobs.worker job RUNS_DIR ID FD       waits for its turn, then does what its record says

FD is the inherited descriptor of the job's place in the queue. Both print the result, or an error
message to stderr, and exit as `gymnast train` does.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gymnast.errors import GymnastError
from gymnast.import_object import import_frozen
from gymnast.jobs import record
from gymnast.jobs.detach import run_queued_job
from gymnast.records import from_json
from gymnast.runs import document
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
        request = from_json(TrainRequest, document.loads(rest[0]))
        return _exit_code(_train(request, Path(runs_dir)))
    except GymnastError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _run_job(job: record.JobRecord, path: Path) -> tuple[int, str]:
    """Trains or resumes in the claimed directory `path`; returns the exit code and why training ended."""
    if job["kind"] == "train":
        result = _train(from_json(TrainRequest, job["request"]), path.parent, claimed=path)
    else:
        # Imports torch: hundreds of MB that a queued job must not hold while it waits.
        training = import_frozen("gymnast.training.foreground")
        request = from_json(ResumeRequest, job["request"])
        result = training.resume_here(request, runs_dir=path.parent, show="ending", claimed=path)
    return _exit_code(result), result.reason


def _train(request: TrainRequest, runs_dir: Path, claimed: Path | None = None) -> TrainResult:
    """Trains in this process, in the directory `claimed` if given."""
    training = import_frozen("gymnast.training.foreground")
    return training.train_here(request, runs_dir=runs_dir, show="ending", claimed=claimed)


def _exit_code(result: TrainResult) -> int:
    return INTERRUPTED if result.interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
