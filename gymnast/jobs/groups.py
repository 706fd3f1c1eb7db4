"""Groups of seeds: one child process per seed, a limited number at once, and the result of the group.

A child's run is found by the group id in its run.json. The output of a child is not parsed; its
stderr is only kept to be shown when the child fails.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from gymnast.errors import UsageError
from gymnast.processes import guard
from gymnast.processes.parent import PARENT_PIPE
from gymnast.runs import store
from gymnast.runs.summary import RunScore, RunSummary

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 10_000
"""Number of bootstrap samples for the confidence interval of a group."""
_POLL_SECONDS = 0.05


@dataclass
class Group:
    """The outcome of training a group of seeds."""

    id: str
    runs: list[RunSummary]
    """The runs that the children created, ordered by seed."""
    exit_codes: dict[int, int]
    """Seed -> exit code of its child; seeds that were never started are missing."""
    errors: dict[int, str]
    """Seed -> last lines of stderr, for children that failed."""
    interrupted: bool

    @property
    def ok(self) -> bool:
        return not self.interrupted and not any(self.exit_codes.values())


def train_group(
    target: str,
    *,
    seeds: Sequence[int],
    jobs: int = 1,
    arguments: Sequence[str] = (),
    runs_dir: Path,
    group: str | None = None,
    names: Sequence[str] = (),
    report: Callable[[str], None] | None = None,
) -> Group:
    """Trains `target` once per seed, `jobs` at a time, and waits for all of them.

    `arguments` are further options of `gymnast train`; `group`: id of the group, by default a new one;
    `names`, one per seed, name the runs; `report` is called with a line when a seed starts or ends. SIGINT
    and SIGTERM are forwarded to the children, which save a checkpoint and exit; no further seed is started
    then. Raises UsageError for less than one job, and for no or repeated seeds.
    """
    if jobs < 1 or not seeds or len(set(seeds)) < len(seeds):
        raise UsageError("a group needs at least one job and different seeds")
    group = group or f"g{secrets.token_hex(4)}"
    command = [sys.executable, "-m", "gymnast", "train", target, *arguments]
    command += ["--quiet", "--group", group, "--runs", str(runs_dir)]
    named = dict(zip(seeds, names, strict=True)) if names else {}
    children = _Children(command, report, named)
    with _forwarded(children):
        children.run_all(seeds, jobs)
    return Group(
        group,
        group_runs(runs_dir, group),
        children.exit_codes,
        children.errors,
        children.received is not None,
    )


class SeedRun(Protocol):
    """The run of one seed, as far as the result of its group depends on it."""

    @property
    def id(self) -> str: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def status(self) -> str: ...
    @property
    def solved(self) -> bool | None: ...
    @property
    def score(self) -> RunScore | None: ...


@dataclass(frozen=True)
class SeedScore:
    seed: int | None
    id: str
    status: str
    score: RunScore | None


@dataclass(frozen=True)
class GroupResult:
    """The scores of a group of seeds."""

    runs: int
    """Number of runs."""
    scored: int
    """Number of runs that finished with a score; only these enter the means."""
    solved: int
    scores: list[SeedScore]
    mean: float | None
    iqm: float | None
    """Interquartile mean."""
    low: float | None
    """Lower end of the 95 % confidence interval of the mean over seeds; None for fewer than two."""
    high: float | None


def group_runs(runs_dir: Path, group: str) -> list[RunSummary]:
    """Returns the runs of a group, ordered by seed."""
    return sorted(store.list_runs(runs_dir, f"group={group}"), key=lambda run: run.seed or 0)


def group_result(runs: Sequence[SeedRun]) -> GroupResult:
    """Returns the scores of `runs` by seed, their mean and IQM, and a 95 % confidence interval of the mean
    over seeds.

    The interval is a percentile bootstrap with a fixed random stream, so the same runs give the same
    interval; it is None for fewer than two scored runs. Runs without a score, or that did not finish, are
    counted in `runs` but do not enter mean, IQM and interval, which are None if no run is left.
    """
    import numpy as np

    from gymnast.rl.statistics import interquartile_mean

    means = np.array([score.mean for score in final_scores(runs)], dtype=np.float64)
    low, high = bootstrap_interval(means.tolist()) or (None, None)
    return GroupResult(
        runs=len(runs),
        scored=len(means),
        solved=sum(run.solved is True for run in runs),
        scores=[SeedScore(run.seed, run.id, run.status, run.score) for run in runs],
        mean=float(means.mean()) if len(means) else None,
        iqm=interquartile_mean(means) if len(means) else None,
        low=low,
        high=high,
    )


def final_scores(runs: Sequence[SeedRun]) -> list[RunScore]:
    """Returns the scores of the runs that finished: a partial training would bias the mean."""
    return [run.score for run in runs if run.status == "finished" and run.score is not None]


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Returns a 95 % confidence interval of the mean over seeds; None for fewer than two values.

    It is a percentile bootstrap with a fixed random stream."""
    import numpy as np

    if len(values) < 2:
        return None
    low, high = np.quantile(bootstrap_means(values, "group interval"), [0.025, 0.975])
    return float(low), float(high)


def difference_interval(
    first: Sequence[float], second: Sequence[float]
) -> tuple[float, float] | None:
    """Returns the 95 % interval of mean(first) - mean(second), the two resampled independently; None if
    either has fewer than two values."""
    import numpy as np

    if len(first) < 2 or len(second) < 2:
        return None
    sides = (bootstrap_means(first, "first group"), bootstrap_means(second, "second group"))
    low, high = np.quantile(sides[0] - sides[1], [0.025, 0.975])
    return float(low), float(high)


def bootstrap_means(values: Sequence[float], purpose: str) -> np.ndarray:
    """Returns the means of bootstrap samples of `values`, [RESAMPLES]. `purpose` names the random stream:
    different purposes give independent samples."""
    import numpy as np

    from gymnast.seeds import stream

    observed = np.array(values, dtype=np.float64)
    # A fixed seed, so that the same scores always give the same interval. [RESAMPLES, n] indices.
    draws = stream(0, purpose).integers(len(observed), size=(RESAMPLES, len(observed)))
    return observed[draws].mean(axis=1)


@dataclass
class _Children:
    """The child processes of a group: starts, watches and signals them."""

    command: list[str]
    report: Callable[[str], None] | None
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    """Seed -> name of the run; may be missing."""
    exit_codes: dict[int, int] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    parent_pipe: tuple[int, int] = field(default_factory=os.pipe)
    """A pipe that closes when this process ends, however it ends; the children then stop as well."""
    received: int | None = None
    """The last SIGINT or SIGTERM received, if any."""
    alive: dict[int, tuple[subprocess.Popen[bytes], IO[bytes]]] = field(default_factory=dict)

    def run_all(self, seeds: Sequence[int], jobs: int) -> None:
        """Trains all seeds, `jobs` at a time, until all children have ended. After a signal, no further
        one is started."""
        waiting = list(seeds)
        try:
            while self.alive or (waiting and self.received is None):
                while waiting and len(self.alive) < jobs and self.received is None:
                    self._start(waiting.pop(0))
                for seed in [s for s, (child, _) in self.alive.items() if child.poll() is not None]:
                    self._finish(seed)
                time.sleep(_POLL_SECONDS)
        except BaseException:
            self.signal(signal.SIGTERM)
            raise
        finally:
            for end in self.parent_pipe:
                os.close(end)

    def signal(self, number: int) -> None:
        """Sends a signal to all children. Called by a signal handler, at any point of `run_all`."""
        self.received = number
        for child, _ in list(self.alive.values()):
            child.send_signal(number)

    def _start(self, seed: int) -> None:
        """Starts the child process that trains a seed, under its name if it has one. A signal that this
        process received meanwhile is passed on to it."""
        # A file and not a pipe: nobody reads while the child runs, and a full pipe would block it.
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the child ends)
        name = ["--name", self.names[seed]] if self.names.get(seed) else []
        child = subprocess.Popen(
            [*self.command, *name, "--seed", str(seed)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            # so that Ctrl-C reaches the child once (forwarded by us) and not twice
            start_new_session=True,
            pass_fds=[self.parent_pipe[0]],
            env={**guard.detached_environ(), PARENT_PIPE: str(self.parent_pipe[0])},
        )
        self.alive[seed] = (child, stderr)
        if self.received is not None:  # it arrived while this child was being started
            child.send_signal(self.received)
        self._report(f"seed {seed}: started")

    def _finish(self, seed: int) -> None:
        """Records the exit code of a child that has ended and, if it failed, the end of its stderr."""
        child, stderr = self.alive.pop(seed)
        self.exit_codes[seed] = child.returncode
        with stderr:
            stderr.seek(0)
            message = stderr.read()[-4000:].decode(errors="replace").strip()
        if child.returncode:
            self.errors[seed] = message
        self._report(f"seed {seed}: {_outcome(child.returncode)}")

    def _report(self, line: str) -> None:
        if self.report is not None:
            self.report(line)


def _outcome(code: int) -> str:
    """Returns how a child ended, in words, from its exit code."""
    if code in (0, 130):
        return "interrupted" if code else "done"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"failed (exit code {code})"


@contextmanager
def _forwarded(children: _Children) -> Iterator[None]:
    """Forwards SIGINT and SIGTERM to the children; a second signal, also forwarded, ends them at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set signal handlers
        return
    before = {
        number: signal.signal(number, lambda n, _: children.signal(n))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
