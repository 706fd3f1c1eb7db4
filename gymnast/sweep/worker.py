"""The process that runs a study in the background: python -m gymnast.sweep.worker DIRECTORY"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gymnast.errors import GymnastError
from gymnast.sweep import study as studies
from gymnast.sweep.launch import catch_signals, run_study
from gymnast.sweep.report import summarize


def main() -> int:
    """Returns the exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    study = studies.load(Path(sys.argv[1]))
    reopen = "--reopen" in sys.argv[2:]
    try:
        with catch_signals() as should_stop:
            state = run_study(study, should_stop=should_stop, reopen=reopen)
    except GymnastError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(state.ended or "interrupted", flush=True)
    problem = summarize(study, state).problem
    if problem:
        print(f"error: {problem}", file=sys.stderr)
    return int(bool(problem))


if __name__ == "__main__":
    sys.exit(main())
