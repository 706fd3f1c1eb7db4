"""Kills the process of a study and the processes of its trials at random moments, resumes the study, and
compares it with one that was never killed.

    python -m tests.e2e.sweep_kills --kills 20 --store       # the gate: writes docs/studies/sweep-kills.json
    python -m tests.e2e.sweep_kills --kills 5

Both must have made the same proposals and decisions in the same order, with the same evaluation curves, and
no result that was recorded before a kill may be missing after it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from gymnast.jobs import status
from gymnast.runs import store
from gymnast.runs.revision import revision
from gymnast.sweep import study as studies
from gymnast.sweep.launch import start_in_background
from gymnast.sweep.space_file import parse_space
from gymnast.sweep.study import Study

STORED = Path(__file__).parents[2] / "docs" / "studies" / "sweep-kills.json"
BUDGET = 1_600
LATEST = 1.5
"""Maximum number of seconds between the start of a process of the study and its kill."""
PATIENCE = 300.0
"""Seconds after which a study that is not over will not be."""
SPACE = f"""
target: CartPole-v1:ppo
settings:
  stop.env_steps: {BUDGET}
  stop.eval_return: off
  env.n_envs: 4
  algo.n_steps: 16
  algo.batch_size: 50%
  policy.hidden: [8]
  eval.every: 25%
  eval.episodes: 4
  eval.n_envs: 4
  checkpoint.every: 1 rollouts
parameters:
  algo.lr:
    value: "{{peak}} -> 0"
    parts:
      peak: {{low: 1e-4, high: 1e-1, log: true}}
  algo.gamma: {{choices: [0.5, 0.9, 0.99]}}
"""


@dataclass
class KillReport:
    """The results of the kills."""

    kills_of_parent: int = 0
    kills_of_trials: int = 0
    resumes: int = 0
    units: int = 0
    """Decisions of the study."""
    lost_results: list[str] = field(default_factory=list[str])
    """Results that were recorded before a kill and missing after it."""
    different_decisions: list[str] = field(default_factory=list[str])
    different_curves: list[str] = field(default_factory=list[str])
    repeated_runs: list[str] = field(default_factory=list[str])
    """Seeds of trials that have several runs."""

    @property
    def holds(self) -> bool:
        return not (
            self.lost_results
            or self.different_decisions
            or self.different_curves
            or self.repeated_runs
        )


def new_study(folder: Path, trials: int) -> Study:
    """Returns a new study of tiny runs in a folder."""
    file = parse_space(SPACE)
    options = file.options(
        trials=trials, seeds=2, rungs=2, lookahead=2, confirm_seeds=0, sampler="tpe"
    )
    plan = studies.make_plan(file.space, options, file.objective, BUDGET)
    os.environ.pop("GYMNAST_DATA", None)
    runs_dir = folder / "runs"
    return studies.create("kills", file.space, plan, runs_dir=runs_dir, jobs=2)


def kill_and_compare(kills: int, *, seed: int, folder: Path, trials: int = 6) -> KillReport:
    """Runs a study without and with kills, in two folders, and returns what differs."""
    chance, report = random.Random(seed), KillReport()
    calm = new_study(folder / "calm", trials)
    start_in_background(calm)
    _wait_until_over(calm)
    killed = new_study(folder / "killed", trials)
    _run_with_kills(killed, kills, chance, report)
    _compare(calm, killed, report)
    return report


def _run_with_kills(study: Study, kills: int, chance: random.Random, report: KillReport) -> None:
    """Runs a study to its end, with up to `kills` kills on the way: the last one may come too late."""
    pid, known = start_in_background(study), _results(study)
    for _ in range(kills):
        trial = _live_trial(study, chance) if chance.random() < 0.5 else None
        time.sleep(chance.uniform(0.0, LATEST if trial is None else LATEST / 3))
        if study.state().confirmed:
            break
        with suppress(ProcessLookupError):
            os.kill(pid if trial is None else trial, signal.SIGKILL)
        if trial is not None:
            report.kills_of_trials += 1
            continue
        report.kills_of_parent += 1
        _reap(pid)
        now = _results(study)
        report.lost_results += [key for key in known if now.get(key) != known[key]]
        known = now
        report.resumes += 1
        pid = start_in_background(study)
    _wait_until_over(study)
    now = _results(study)
    report.lost_results += [key for key in known if now.get(key) != known[key]]


def _live_trial(study: Study, chance: random.Random) -> int | None:
    """Returns the process of a random trial that is live; None if there is none for a while."""
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline and not study.state().confirmed:
        if pids := [job.pid for job in status.live_jobs(study.runs_dir) if job.pid]:
            return chance.choice(pids)
        time.sleep(0.05)
    return None


def _compare(calm: Study, killed: Study, report: KillReport) -> None:
    for expected, found in zip(_decisions(calm), _decisions(killed), strict=False):
        if expected != found:
            report.different_decisions.append(f"{found}, not {expected}")
    counts = [len(list(_decisions(study))) for study in (calm, killed)]
    report.units = counts[0]
    if counts[0] != counts[1]:
        report.different_decisions.append(f"{counts[1]} decisions, not {counts[0]}")
    expected, found = _results(calm), _results(killed)
    report.different_curves += [key for key in expected if found.get(key) != expected[key]]
    names = [run.name for run in store.list_runs(killed.runs_dir)]
    report.repeated_runs += sorted({name for name in names if names.count(name) > 1})


def _decisions(study: Study) -> Iterator[dict[str, Any]]:
    for event in study.journal.events():
        if event["event"] == "unit":
            yield {key: value for key, value in event.items() if key not in ("v", "seconds")}


def _results(study: Study) -> dict[str, Any]:
    """Returns unit -> how it ended, its evaluation curve and its env steps."""
    return {
        f"unit {event['unit']}": (event["ended"], event["points"], event["steps"])
        for event in study.journal.events()
        if event["event"] == "result"
    }


def _wait_until_over(study: Study) -> None:
    deadline = time.monotonic() + PATIENCE
    while not study.state().confirmed:
        assert time.monotonic() < deadline, (study.path / "log.txt").read_text()
        assert study.is_running or study.state().confirmed or _is_starting(study)
        time.sleep(0.05)
    while study.is_running:
        time.sleep(0.01)


def _is_starting(study: Study) -> bool:
    """Waits a moment for the process of a study to take its lock."""
    deadline = time.monotonic() + 30.0
    while time.monotonic() < deadline:
        if study.is_running or study.state().confirmed:
            return True
        time.sleep(0.02)
    print((study.path / "log.txt").read_text(), file=sys.stderr)
    return False


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = kill_and_compare(asked.kills, seed=asked.seed, folder=Path(folder), trials=12)
    result = {
        "command": f"python -m tests.e2e.sweep_kills {' '.join(sys.argv[1:])}",
        "revision": revision(),
        "date": date.today().isoformat(),
        "holds": report.holds,
        **asdict(report),
    }
    print(json.dumps(result, indent=1))
    if asked.store:
        STORED.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(0 if report.holds else 1)


if __name__ == "__main__":
    main()
