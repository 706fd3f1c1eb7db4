"""The command-line arguments of every peer."""

from __future__ import annotations

import sys

from benchmarks.tasks import Task, task_of


def parse_arguments() -> tuple[Task, int, int]:
    """Returns task, env steps and threads."""
    letter, env_steps, threads = sys.argv[1:]
    return task_of(letter), int(env_steps), int(threads)
