"""Tasks: work that needs an environment or a network, in a child process of its owner.

The owner (a command, a server, a notebook) imports neither torch nor gymnasium: the function of a task is
named by a string, which the child imports (`worker.py`). Arguments and results travel as JSON. A task has
progress, a log, a result or an error as a value, can be cancelled, may have a deadline, and ends with its
owner, however that ends. Trainings are no tasks but jobs (`gymnast.jobs`), which outlive their owner.
"""

from __future__ import annotations

from gymnast.tasks.runner import TaskRunner, default_runner, start
from gymnast.tasks.task import Task, TaskInfo, TaskProgress, TaskState

__all__ = [
    "Task",
    "TaskInfo",
    "TaskProgress",
    "TaskRunner",
    "TaskState",
    "default_runner",
    "start",
]
