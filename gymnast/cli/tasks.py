"""Waiting for tasks in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from gymnast.cli.progress import progress

if TYPE_CHECKING:
    from gymnast.tasks import Task, TaskProgress

T = TypeVar("T")


def wait_for(
    task: Task[T], label: str = "", on_progress: Callable[[TaskProgress], None] = lambda _: None
) -> T:
    """Waits for a task and returns its result, or raises the GymnastError that ended it. Shows a progress bar
    with this label, if there is one; what environments print goes to standard error. Ctrl-C cancels the
    task, and everything that it started has ended before the command does."""
    with progress(label) as bar:

        def show(update: TaskProgress) -> None:
            on_progress(update)
            if update.total:
                bar(update.done, update.total)

        return task.finish(show, lambda text: click.echo(text, err=True, nl=False))
