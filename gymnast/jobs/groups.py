"""Training as child processes: a group of seeds, at most so many at once, and its result.

A child is found again by the group's id in its run.json. What it prints is never read, except to be
passed on when it failed before it had a run.
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from gymnast.errors import UsageError
from gymnast.processes import guard
from gymnast.runs import store

RESAMPLES = 10_000
"""Bootstrap samples behind the interval of a group."""
_PAUSE = 0.05
LEASH = "GYMNAST_LEASH"
"""Names, for a child of a group, the pipe that closes when its launcher is gone."""


def end_with_parent() -> None:
    """As a child of a group: be asked to stop, as by a terminal that closes, once the launcher is
    gone, even by kill -9."""
    if not (given := os.environ.pop(LEASH, "")).isdigit():
        return

    def watch() -> None:
        with suppress(OSError):
            os.read(int(given), 1)  # nothing is ever written: this returns at the end of the pipe
            os.kill(os.getpid(), signal.SIGHUP)

    threading.Thread(target=watch, name="leash", daemon=True).start()


@dataclass
class Group:
    """What became of a group of seeds."""

    id: str
    runs: list[dict[str, Any]]
    """run.json of each child that got as far as having one, in order of seed."""
    exit_codes: dict[int, int]
    """By seed; a seed that was never started has none."""
    errors: dict[int, str]
    """By seed, the last words of children that failed."""
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
    """Train `target` once per seed, `jobs` at a time, and wait for all of them.

    `arguments` are further options of `gymnast train`; `names`, one per seed, name the runs. SIGINT
    and SIGTERM are passed on to the children, which save and end; no further seed is begun then.
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
        members(runs_dir, group),
        children.exit_codes,
        children.errors,
        children.received is not None,
    )


def members(runs_dir: Path, group: str) -> list[dict[str, Any]]:
    """The runs of a group, in order of seed."""
    return sorted(store.list_runs(runs_dir, f"group={group}"), key=lambda run: run["seed"])


def group_result(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Scores by seed, their mean and IQM, and a 95 % interval of the mean over seeds.

    The interval is a percentile bootstrap from a fixed stream: the same runs, the same interval. It
    is None for fewer than two scored runs. Runs without a score are counted, never as zero.
    """
    import numpy as np

    from gymnast.rl.statistics import interquartile_mean

    scored = scored_runs(runs)
    means = np.array([run["score"]["mean"] for run in scored], dtype=np.float64)
    low, high = interval(means.tolist()) or (None, None)
    return {
        "runs": len(runs),
        "scored": len(scored),
        "solved": sum(run.get("solved") is True for run in runs),
        "scores": [
            {"seed": run["seed"], "id": run["id"], "status": run["status"], "score": run["score"]}
            for run in runs
        ],
        "mean": float(means.mean()) if len(means) else None,
        "iqm": interquartile_mean(means) if len(means) else None,
        "low": low,
        "high": high,
    }


def scored_runs(runs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [run for run in runs if run["status"] == "finished" and run.get("score") is not None]


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of the mean over seeds: a percentile bootstrap from a fixed stream. None for fewer
    than two values."""
    import numpy as np

    if len(values) < 2:
        return None
    low, high = np.quantile(resampled_means(values, "group interval"), [0.025, 0.975])
    return float(low), float(high)


def difference_interval(
    first: Sequence[float], second: Sequence[float]
) -> tuple[float, float] | None:
    """The same of the mean of the first values less that of the second, drawn independently."""
    import numpy as np

    if len(first) < 2 or len(second) < 2:
        return None
    sides = (resampled_means(first, "first group"), resampled_means(second, "second group"))
    low, high = np.quantile(sides[0] - sides[1], [0.025, 0.975])
    return float(low), float(high)


def resampled_means(values: Sequence[float], purpose: str) -> Any:
    """Means of as many values drawn with replacement, [RESAMPLES]."""
    import numpy as np

    from gymnast.seeds import stream

    known = np.array(values, dtype=np.float64)
    draws = stream(0, purpose).integers(len(known), size=(RESAMPLES, len(known)))
    return known[draws].mean(axis=1)


@dataclass
class _Children:
    """Processes of one group: started, watched, signalled."""

    command: list[str]
    report: Callable[[str], None] | None
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    """By seed; a run may have none."""
    exit_codes: dict[int, int] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    leash: tuple[int, int] = field(default_factory=os.pipe)
    """A pipe that closes with this process, however that ends: then the children end too."""
    received: int | None = None
    """The last signal that asked for the end."""
    alive: dict[int, tuple[subprocess.Popen[bytes], IO[bytes]]] = field(default_factory=dict)

    def run_all(self, seeds: Sequence[int], jobs: int) -> None:
        waiting = list(seeds)
        try:
            while self.alive or (waiting and self.received is None):
                while waiting and len(self.alive) < jobs and self.received is None:
                    self._start(waiting.pop(0))
                for seed in [s for s, (child, _) in self.alive.items() if child.poll() is not None]:
                    self._finish(seed)
                time.sleep(_PAUSE)
        except BaseException:
            self.signal(signal.SIGTERM)
            raise
        finally:
            for end in self.leash:
                os.close(end)

    def signal(self, number: int) -> None:
        self.received = number
        for child, _ in list(self.alive.values()):
            child.send_signal(number)

    def _start(self, seed: int) -> None:
        words = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the child ends)
        # their own session: a Ctrl-C in the terminal reaches them through us, once and not twice
        name = ["--name", self.names[seed]] if self.names.get(seed) else []
        child = subprocess.Popen(
            [*self.command, *name, "--seed", str(seed)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=words,
            start_new_session=True,
            pass_fds=[self.leash[0]],
            env={**guard.detached(), LEASH: str(self.leash[0])},
        )
        self.alive[seed] = (child, words)
        if self.received is not None:  # it came while this one was being started
            child.send_signal(self.received)
        self._tell(f"seed {seed}: started")

    def _finish(self, seed: int) -> None:
        child, words = self.alive.pop(seed)
        self.exit_codes[seed] = child.returncode
        with words:
            words.seek(0)
            told = words.read()[-4000:].decode(errors="replace").strip()
        if child.returncode:
            self.errors[seed] = told
        self._tell(f"seed {seed}: {_outcome(child.returncode)}")

    def _tell(self, line: str) -> None:
        if self.report is not None:
            self.report(line)


def _outcome(code: int) -> str:
    """What became of a child, by its exit code."""
    if code in (0, 130):
        return "interrupted" if code else "done"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"failed (exit code {code})"


@contextmanager
def _forwarded(children: _Children) -> Iterator[None]:
    """SIGINT and SIGTERM go to the children while inside; a second one too, which ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread
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
