"""Kills one of the actors of a training, and measures the time lost and the episodes cut."""

from __future__ import annotations

import itertools
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.distributed.measure import EVERY, START_SECONDS, Training, environ
from benchmarks.distributed.processes import ProcessTree, adopting_orphans, poll

BEFORE, AFTER = 10, 20
"""Rollouts before and after the kill."""
PATIENCE = 120.0
"""Seconds that a training may take for the rollouts after the kill before it counts as stopped."""


@dataclass(frozen=True)
class KillReport:
    continues: bool
    """Whether training continued."""
    lost_seconds: float | None
    """The longest rollout after the kill minus the median one before it."""
    cut_episodes: int
    """Running episodes of the killed process."""
    continued_episodes: int
    """The cut episodes that another process has continued: it starts them again with the same seed and
    repeats their actions."""
    output: str
    """The last lines of the output if training stopped."""


def kill_actor(training: Training, words: str, log: Path) -> KillReport:
    """Runs a training on the environment `Logged`, kills one of the processes whose command line contains
    `words` with SIGKILL, and returns what happened. `log`: the file of the environment."""
    with adopting_orphans():
        tree = ProcessTree(training.command, training.folder, environ())
        try:
            if (
                poll(tree, EVERY, START_SECONDS, lambda _: len(training.history()) >= BEFORE)
                is not None
            ):
                raise RuntimeError(f"it ended before the kill:\n{tree.output()[-3000:]}")
            victims = tree.pids(words)
            if not victims:
                raise RuntimeError(f"no process with {words!r} in its command line")
            before = training.history()
            os.kill(victims[0], signal.SIGKILL)
            target = len(before) + AFTER
            try:
                code = poll(tree, EVERY, PATIENCE, lambda _: len(training.history()) >= target)
            except TimeoutError:
                code = -1
            history, output = training.history(), tree.output()
        finally:
            tree.end()
    usual = _gaps(before)
    late = _gaps(history[len(before) - 1 :])
    cut, continued = cut_episodes(log.read_text(), victims[0])
    return KillReport(
        continues=code is None,
        lost_seconds=max(late) - median(usual) if late and usual else None,
        cut_episodes=cut,
        continued_episodes=continued,
        output="" if code is None else output[-1000:],
    )


def cut_episodes(log: str, pid: int) -> tuple[int, int]:
    """Returns how many episodes of a process have a start and no end, and how many of these another process
    has started again with the same seed. A seed of -1 is none."""
    running: dict[str, tuple[int, int]] = {}
    lines = [line.split() for line in log.splitlines() if len(line.split()) == 4]
    for number, (what, owner, env, seed) in enumerate(lines):
        if int(owner) == pid:
            if what == "start":
                running[env] = number, int(seed)
            else:
                running.pop(env, None)
    again = {
        (number, int(seed))
        for number, (what, owner, _, seed) in enumerate(lines)
        if what == "start" and int(owner) != pid
    }
    continued = sum(
        any(later > number and other == seed != -1 for later, other in again)
        for number, seed in running.values()
    )
    return len(running), continued


def _gaps(history: list[tuple[float, int]]) -> list[float]:
    """Returns the seconds between consecutive rollouts."""
    return [after[0] - before[0] for before, after in itertools.pairwise(history)]
