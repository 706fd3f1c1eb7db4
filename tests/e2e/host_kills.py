"""Kills hosts and trainings that collect on hosts, at random moments, and compares the results.

    python -m tests.e2e.host_kills --kills 100 --learner-kills 20 --store  # the gate: host-kills.json
    python -m tests.e2e.host_kills --kills 4 --learner-kills 2 --only LunarLander-v3

Every environment is trained once in one process, undisturbed. All other runs of it must be identical
(weights, optimizer, running episodes, exact metrics, scores and traces): on 1, 2, 4 and 8 hosts, local and on
Ray, while hosts get `kill -9`; and runs whose training process gets `kill -9`, resumed elsewhere on another
number of hosts. After each kill of a training process no process and no file of its hosts may be left.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import psutil

from gymnast.runs import checkpoint, store
from gymnast.runs.revision import revision
from gymnast.runs.run import Run
from tests.e2e.host_processes import descendants, host_processes, left_folders, still_running
from tests.e2e.killed_process import Training
from tests.e2e.kills import checkpoint_errors, claims_exact
from tests.e2e.run_differences import differences

STORED = Path(__file__).parents[2] / "docs" / "studies" / "host-kills.json"
COMMON = (
    "stop.solved=off",
    "stop.eval_return=off",
    "env.n_envs=8",
    "eval.every=8 rollouts",
    "eval.episodes=2",
    "eval.confirm_episodes=2",
    "eval.n_envs=2",
    "eval.max_episode_steps=100",
    "checkpoint.every=1 rollouts",
    "traces.train=30%",
    "traces.film=off",  # the film process is meant to outlive training
)
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "LunarLander-v3": ("20k", ("algo.n_steps=64",)),
    "HalfCheetah-v5": ("20k", ("algo.n_steps=64",)),
    "ALE/Pong-v5:pixels": ("1k", ("algo.n_steps=16", "algo.batch_size=50%")),
    "CartPole-v1:memory": ("20k", ("algo.n_steps=64",)),
}
"""Preset -> env steps and settings."""
REJECTED = "tag"
HOSTS = (1, 2, 4, 8)
Place = tuple[str, int]
"""Carrier (`collect.on`) and number of hosts."""
PLACES: tuple[Place, ...] = tuple((on, hosts) for hosts in HOSTS for on in ("local", "ray"))
JOURNEYS: tuple[tuple[Place, ...], ...] = (
    (("ray", 2), ("local", 4), ("here", 1), ("ray", 8)),
    (("local", 8), ("ray", 1), ("local", 3), ("here", 1)),
    (("here", 1), ("ray", 4), ("here", 1), ("local", 2)),
)
"""Places at which a run continues after each kill of its training process."""
MOST = 4
"""Maximum number of hosts killed in a run: one more with the same orders would stop it."""
PAUSE = 0.6
"""Longest time in seconds between two kills of hosts."""
LATEST = 1.5
"""Longest time in seconds between the start of an attempt and the kill of its training process."""


@dataclass
class CaseResult:
    """The results of one environment."""

    preset: str
    sha256: dict[str, str]
    """File of the last checkpoint -> its hash, the same for all runs."""
    runs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The places of each run, the number of kills, and the differences."""
    kills: int = 0
    """Kills of hosts."""
    learner_kills: int = 0
    lost: int = 0
    """Losses of hosts that were recorded as events."""
    exact_claims: int = 0
    """Resumed runs all of whose resumes claimed to be exact."""
    resumed_runs: int = 0
    problems: list[str] = field(default_factory=list[str])
    """Differences, damaged checkpoints, and what kills have left behind."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100, help="kills of hosts, over all cases")
    parser.add_argument("--learner-kills", type=int, default=20, help="kills of training processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(CASES), help="a preset")
    parser.add_argument("--store", action="store_true", help=f"write {STORED.name}")
    options = parser.parse_args()
    began, found = time.monotonic(), list[CaseResult]()
    chosen = [name for name in CASES if not options.only or name in options.only]
    for number, preset in enumerate(chosen):
        left = len(chosen) - number  # what earlier cases could not use up is left to the later ones
        kills = (options.kills - sum(one.kills for one in found)) // left
        learner_kills = (options.learner_kills - sum(one.learner_kills for one in found)) // left
        with tempfile.TemporaryDirectory() as folder:
            case = Case(Path(folder), preset, random.Random(options.seed + number))
            case.kill_hosts(kills)
            case.kill_learners(learner_kills)
            found.append(case.result)
    command = f"python -m tests.e2e.host_kills {' '.join(sys.argv[1:])}".rstrip()
    result = report(found, command, time.monotonic() - began)
    text = json.dumps(result, indent=1)
    print(text)
    if options.store:
        STORED.write_text(text + "\n")
    sys.exit(1 if any(one.problems for one in found) else 0)


def report(found: Sequence[CaseResult], command: str, seconds: float) -> dict[str, Any]:
    totals = ("kills", "learner_kills", "lost", "resumed_runs", "exact_claims")
    sums = {name: sum(getattr(one, name) for one in found) for name in totals}
    return {
        "command": command,
        "revision": revision(),
        "date": date.today().isoformat(),
        "seconds": round(seconds),
        **sums,
        "runs": sum(len(one.runs) for one in found),
        "identical_runs": sum(not run["differs"] for one in found for run in one.runs),
        "problems": sum(len(one.problems) for one in found),
        "rejected": {REJECTED: rejection()},
        "cases": [asdict(one) for one in found],
    }


def rejection() -> str:
    """Returns the message with which a multi-agent environment is rejected."""
    words = ["train", REJECTED, "--env-steps", "1k", "--set", "collect.on=local"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "gymnast", *words, "--runs", folder],
            capture_output=True,
            text=True,
        )
    assert done.returncode, f"{REJECTED} was not rejected"
    return done.stderr.strip()


class Case:
    """The runs of one environment."""

    def __init__(self, runs_dir: Path, preset: str, chance: random.Random) -> None:
        """Trains the run in one process that all others are compared with."""
        self.runs_dir, self.chance = runs_dir, chance
        env_steps, settings = CASES[preset]
        self.train = ["train", preset, "--env-steps", env_steps, "--quiet"]
        self.train += _assignments((*COMMON, *settings))
        Training(runs_dir, "untouched", *self.train, "--name", "untouched").finish()
        self.untouched, _ = store.resolve("untouched", runs_dir)
        self.result = CaseResult(preset, checkpoint_hashes(self.untouched))

    def kill_hosts(self, kills: int, places: Sequence[Place] = PLACES) -> None:
        """Trains once at every place, or more often until `kills` hosts were killed meanwhile."""
        for number, place in enumerate([*places] * 4):
            left = kills - self.result.kills
            if number >= len(places) and not left:
                break
            share = -(-left // max(len(places) - number, 1))
            name = f"{place[0]}-{place[1]}-{number}"
            training = Training(self.runs_dir, name, *self.train, "--name", name, *_at(place))
            killed = self._kill_hosts_of(training, min(share, MOST))
            pid = training.child.pid
            training.finish()
            self._expect_nothing_left(name, training, pid, [])
            run = training.find_run()
            assert run is not None
            lost = sum(event["kind"] == "host lost" for event in run.recorded_events())
            self.result.kills += killed
            self.result.lost += lost
            self._compare(name, run, [place], killed, 0)
            if lost < killed:  # a host that dies after its last answer is not missed
                print(f"{name}: {killed} kills, {lost} recorded", flush=True)

    def _kill_hosts_of(self, training: Training, most: int) -> int:
        """Kills up to `most` hosts of a training at random moments. Returns their number."""
        killed, child = 0, training.child
        while child.poll() is None and training.find_run() is None:
            time.sleep(0.05)
        while killed < most and child.poll() is None and not _is_over(training):
            time.sleep(self.chance.uniform(0.0, PAUSE))
            hosts = host_processes(child.pid)
            if hosts:
                with suppress(psutil.Error):
                    self.chance.choice(hosts).send_signal(signal.SIGKILL)
                    killed += 1
        return killed

    def kill_learners(self, kills: int, among: Sequence[Sequence[Place]] = JOURNEYS) -> None:
        """Kills `kills` training processes; the run continues elsewhere after each."""
        journeys = [*among]
        self.chance.shuffle(journeys)
        for number in range(4 * kills):
            if self.result.learner_kills >= kills:
                break
            self._travel(f"journey-{number}", journeys[number % len(journeys)], kills)

    def _travel(self, name: str, places: Sequence[Place], kills: int) -> None:
        """Trains a run whose training process is killed at all places but the last."""
        first = [*self.train, "--name", name, *_at(places[0])]
        training, visited, killed = Training(self.runs_dir, name, *first), [places[0]], 0
        for place in places[1:]:
            if self.result.learner_kills + killed >= kills:
                break
            pid, seen = training.child.pid, list[psutil.Process]()
            if not self._kill(training, seen):
                break
            killed += 1
            self._expect_nothing_left(name, training, pid, seen)
            run = training.find_run()
            if run is None:  # killed before it had a directory: start it again
                training = Training(self.runs_dir, name, *first)
                continue
            self.result.problems += [f"{name}: {error}" for error in checkpoint_errors(run)]
            if run.info["status"] == "finished":
                break
            resume = ["resume", name, "--quiet", *_at(place)]
            training = Training(self.runs_dir, name, *resume)
            visited.append(place)
        if training.child.poll() is None or training.child.returncode != -signal.SIGKILL:
            training.finish()
        self.result.learner_kills += killed
        run = training.find_run()
        assert run is not None
        self.result.resumed_runs += 1
        self.result.exact_claims += claims_exact(run)
        self._compare(name, run, visited, 0, killed)
        if not claims_exact(run):
            self.result.problems.append(f"{name}: a resume did not claim to be exact")

    def _kill(self, training: Training, seen: list[psutil.Process]) -> bool:
        """Kills a training process at a random moment of its attempt; False if it ended before. `seen`: gets
        the processes that it had started."""
        if not training.wait_for_attempt():
            return False
        deadline = time.monotonic() + self.chance.uniform(0.0, LATEST)
        while training.child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        if training.child.poll() is not None:
            return False
        training.child.send_signal(signal.SIGSTOP)  # so that no process is started unseen
        seen += descendants(training.child.pid)
        training.child.send_signal(signal.SIGKILL)
        training.child.wait()
        return True

    def _expect_nothing_left(
        self, name: str, training: Training, pid: int, seen: Sequence[psutil.Process]
    ) -> None:
        """Records the processes and files that a training has left behind."""
        left = [*training.leaked_processes(), *still_running(seen), *left_folders(pid)]
        self.result.problems += [f"{name}: left behind: {one}" for one in left]

    def _compare(
        self, name: str, run: Run, places: Sequence[Place], kills: int, learner_kills: int
    ) -> None:
        """Records a finished run, and what differs from the one in one process."""
        differs = differences(self.untouched, run)
        if checkpoint_hashes(run) != self.result.sha256:
            differs.append("hashes differ")
        where = [on if on == "here" else f"{on} x {hosts}" for on, hosts in places]
        row = {"where": where, "kills": kills, "learner_kills": learner_kills, "differs": differs}
        self.result.runs.append(row)
        self.result.problems += [f"{name}: {one}" for one in differs]
        print(f"{self.result.preset} {json.dumps(row)}", flush=True)


def checkpoint_hashes(run: Run) -> dict[str, str]:
    """Returns file -> sha256 of the arrays in the last checkpoint, computed from the files themselves."""
    last = checkpoint.latest(run.path)
    files = sorted(last.path.glob("*.safetensors"))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _assignments(settings: Sequence[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def _at(place: Place) -> list[str]:
    on, hosts = place
    return _assignments([f"collect.on={on}", *([f"collect.hosts={hosts}"] * (on != "here"))])


def _is_over(training: Training) -> bool:
    """True if a training does not collect any more."""
    run = training.find_run()
    return run is not None and any(event["kind"] == "stopping" for event in run.recorded_events())


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
