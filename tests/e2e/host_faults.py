"""Faults of a cluster of two machines, which are network namespaces: what they do to a run.

    python -m tests.e2e.host_faults --store      # needs root; writes docs/studies/host-faults.json

A cut cable, a killed node, a slow host, hosts that stay away, and a killed head. Every run, resumed where it
had to stop, must be identical to one in one process.
"""

from __future__ import annotations

import argparse
import itertools
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import psutil

from gymnast.runs import checkpoint, store
from gymnast.runs.revision import revision
from gymnast.runs.run import Run
from tests.e2e.host_processes import ACTOR
from tests.e2e.namespaces import Machines, why_not
from tests.e2e.run_differences import differences

STORED = Path(__file__).parents[2] / "docs" / "studies" / "host-faults.json"
TRAIN = ("train", "LunarLander-v3", "--env-steps", "40k", "--quiet")
SETTINGS = (
    *("stop.solved=off", "env.n_envs=8", "algo.n_steps=64", "eval.every=off"),
    *("eval.confirm_episodes=2", "eval.max_episode_steps=100", "checkpoint.every=1 rollouts"),
    *("checkpoint.keep=999", "traces.film=off"),
)
PATIENCE = 180.0
"""Seconds that a run may take to get anywhere."""


@dataclass
class Outcome:
    """The consequences of a fault for a run."""

    fault: str
    exit_code: int
    """Exit code of the training."""
    status: str
    """Status of the run after the fault, before it was resumed."""
    reason_kind: str
    events: list[str]
    """Kinds of the events about hosts."""
    alerts: list[str] = field(default_factory=list[str])
    seconds: float = 0.0
    """Time from the fault to the first event about it, or to the end of training."""
    resumed: str = ""
    """The settings with which the run was resumed, if it had to be."""
    exact_claim: bool = True
    differs: list[str] = field(default_factory=list[str])
    """Differences from a run in one process."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--store", action="store_true", help=f"write {STORED.name}")
    parser.add_argument("--only", action="append", choices=list(FAULTS))
    options = parser.parse_args()
    if reason := why_not():
        sys.exit(reason)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        found = outcomes(Path(folder), options.only or list(FAULTS))
    result = {
        "command": f"python -m tests.e2e.host_faults {' '.join(sys.argv[1:])}".rstrip(),
        "revision": revision(),
        "date": date.today().isoformat(),
        "seconds": round(time.monotonic() - began),
        "faults": [asdict(one) for one in found],
    }
    text = json.dumps(result, indent=1)
    print(text)
    if options.store:
        STORED.write_text(text + "\n")
    sys.exit(1 if any(one.differs or not one.exact_claim for one in found) else 0)


def outcomes(runs_dir: Path, names: list[str]) -> list[Outcome]:
    """Returns what happened to a run with each of these faults."""
    words = [*TRAIN, *_set(*SETTINGS), "--name", "plain", "--runs", str(runs_dir)]
    subprocess.run([sys.executable, "-m", "gymnast", *words], check=True, capture_output=True)
    plain, _ = store.resolve("plain", runs_dir)
    found: list[Outcome] = []
    with Machines((2, 1)) as machines:
        for name in names:
            found.append(Trial(machines, runs_dir, plain, name).run())
            print(json.dumps(asdict(found[-1])), flush=True)
            if name != names[-1]:
                machines.repair()
    return found


class Trial:
    """A run on the cluster that a fault happens to."""

    def __init__(self, machines: Machines, runs_dir: Path, plain: Run, name: str) -> None:
        self.machines, self.runs_dir, self.plain = machines, runs_dir, plain
        self.name = name.replace(" ", "-")
        self.fault, self.hosts = name, 3 if name == "hosts away" else 2
        on = (f"collect.address={machines.address}", f"collect.hosts={self.hosts}")
        waits = ("collect.on=ray", "collect.wait=20", "collect.timeout=60")
        words = [*TRAIN, *_set(*SETTINGS, *on, *waits), "--name", self.name]
        command = [sys.executable, "-m", "gymnast", *words, "--runs", str(runs_dir)]
        self.printed = tempfile.TemporaryFile()  # noqa: SIM115
        self.child = subprocess.Popen(
            machines.command(0, *command),
            env=machines.env,
            stdout=subprocess.DEVNULL,
            stderr=self.printed,
        )

    def run(self) -> Outcome:
        """Lets the fault happen in the middle of the run, and waits for the end."""
        self._wait(lambda: self._rollouts() >= 5)
        assert self.child.poll() is None, f"{self.name} ended before the fault: {self._printed()}"
        began = time.monotonic()
        FAULTS[self.fault](self)
        self._wait(lambda: bool(self._host_events()))
        seconds = time.monotonic() - began
        code = self.child.wait(PATIENCE)
        run, _ = store.resolve(self.name, self.runs_dir)
        outcome = Outcome(
            self.fault,
            code,
            run.info["status"],
            run.info.get("reason_kind", ""),
            sorted({event["kind"] for event in self._host_events()}),
            [alert["id"] for alert in run.info["alerts"]],
            round(seconds, 1),
        )
        if outcome.status != "finished":
            where = ("collect.on=local", "collect.hosts=3")
            words = ["resume", self.name, "--quiet", *_set(*where), "--runs", str(self.runs_dir)]
            subprocess.run([sys.executable, "-m", "gymnast", *words], check=True)
            outcome.resumed = " ".join(where)
        claims = [event for event in run.recorded_events() if "bit_exact" in event]
        outcome.exact_claim = all(event["bit_exact"] for event in claims)  # type: ignore[typeddict-item]
        outcome.differs = differences(self.plain, run)
        return outcome

    def slow_down(self) -> None:
        """Lets the host on the second machine run a tenth of the time, until that was noticed."""
        (host,) = [p for p in self.machines.processes(1) if _title(p).startswith(ACTOR)]
        deadline = time.monotonic() + PATIENCE
        for turn in itertools.count():
            # reading the events is slow itself
            if turn % 100 == 0 and ("host slow" in self._kinds() or self.child.poll() is not None):
                break
            assert time.monotonic() < deadline, "a slow host was not noticed"
            with suppress(psutil.Error):
                host.send_signal(signal.SIGSTOP)
                time.sleep(0.03)
                host.send_signal(signal.SIGCONT)
                time.sleep(0.003)

    def _wait(self, until: Callable[[], bool]) -> None:
        """Waits until something is true, or the training has ended."""
        deadline = time.monotonic() + PATIENCE
        while self.child.poll() is None and not until():
            if time.monotonic() > deadline:
                self.child.kill()
                raise AssertionError(f"{self.name}: nothing happened")
            time.sleep(0.05)

    def _printed(self) -> str:
        self.printed.seek(0)
        return self.printed.read().decode(errors="replace")

    def _found(self) -> Run | None:
        named = [run for run in store.list_runs(self.runs_dir) if run.name == self.name]
        return Run(Path(named[0].path)) if named else None

    def _rollouts(self) -> int:
        run = self._found()
        return 0 if run is None else len(checkpoint.list_checkpoints(run.path))

    def _host_events(self) -> list[Any]:
        run = self._found()
        events = [] if run is None else list(run.recorded_events())
        return [event for event in events if event["kind"].startswith("host ")]

    def _kinds(self) -> set[str]:
        return {event["kind"] for event in self._host_events()}


FAULTS: dict[str, Callable[[Trial], None]] = {
    "slow host": lambda trial: trial.slow_down(),
    "cable cut": lambda trial: trial.machines.cut(),
    "node killed": lambda trial: trial.machines.kill_ray(1, "raylet"),
    "hosts away": lambda trial: trial.machines.kill_ray(1, "raylet"),
    "head killed": lambda trial: trial.machines.kill_ray(0, "gcs_server", "raylet"),
}
"""Fault -> the function that causes it."""


def _set(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def _title(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return (process.cmdline() or [""])[0]
    return ""


if __name__ == "__main__":
    main()
