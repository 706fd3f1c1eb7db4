from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from gymnast import api


@pytest.fixture(autouse=True)
def end_jobs(runs_dir: Path) -> Iterator[None]:
    """Kills the background jobs that a test has left."""
    yield
    for job in api.jobs(runs_dir=runs_dir):
        if job.is_live and job.pid is not None:
            os.kill(job.pid, signal.SIGKILL)
