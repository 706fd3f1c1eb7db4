"""Kills training at random moments on every backend and engine, resumes it, and compares the results.

    python -m tests.e2e.kills --kills 200 --store            # the gate: writes docs/studies/kills.json
    python -m tests.e2e.kills --kills 6 --only vector/native

After each kill every checkpoint must load and no process of the training may be left. After several
kills a run is resumed to its end. It is compared with a run that was never killed (weights, optimizer,
running episodes, exact metrics, scores and traces), and so is the claim of each resume to be exact.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gymnast.errors import CheckpointError
from gymnast.runs import checkpoint, store
from gymnast.runs.revision import revision
from gymnast.runs.run import Run
from tests.e2e.killed_process import Training
from tests.e2e.run_differences import differences

STORED = Path(__file__).parents[2] / "docs" / "studies" / "kills.json"
PER_RUN = 5
"""Number of kills per run before it may finish."""
LATEST = 1.2
"""Maximum number of seconds between the start of an attempt and its kill."""
SETTINGS = (
    "stop.solved=off",
    "checkpoint.every=1 rollouts",
    "eval.every=8 rollouts",
    "eval.episodes=4",
    "eval.confirm_episodes=8",
    "traces.train=30%",
    "traces.film=off",  # the film process is meant to outlive training
)
CARTPOLE = ("normalize.obs=running", "normalize.reward=running", "env.n_envs=16", "env.workers=2")
TAG = (
    *("env.n_envs=8", "algo.n_steps=32", "algo.batch_size=25%", "policy.hidden=[16]"),
    *("env.kwargs.time_limit=40", "eval.n_envs=4", "league.snapshot=10%"),
)


@dataclass(frozen=True)
class Case:
    backend: str
    engine: str
    target: str
    env_steps: str
    settings: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.backend}/{self.engine}"


@dataclass
class CaseResult:
    """The results of the kills of one case."""

    backend: str
    engine: str
    seed: int
    kills: int = 0
    while_saving: int = 0
    runs: int = 0
    resumes: int = 0
    exact_claims: int = 0
    """Number of runs all of whose resumes claimed to be exact."""
    exact_runs: int = 0
    """Number of runs that are identical to the run that was never killed."""
    unloadable: list[str] = field(default_factory=list)
    false_claims: list[str] = field(default_factory=list)
    """Runs that claimed to be exact and were not, with what differs."""
    understated: list[str] = field(default_factory=list)
    """Runs that are identical although a resume claimed that it was not exact."""
    leaked: list[str] = field(default_factory=list)
    """Processes of a training that outlived its kill."""

    @property
    def is_clean(self) -> bool:
        return not (self.unloadable or self.false_claims or self.leaked)


def cases() -> list[Case]:
    backends = ["inprocess", "process", "vector", *(["envpool"] if find_spec("envpool") else [])]
    return [
        Case(backend, engine, *what, settings=(f"engine={engine}", *more))
        for engine in ("native", "torch")
        for backend, what, more in (
            *((b, ("CartPole-v1", "12k"), (f"env.backend={b}", *CARTPOLE)) for b in backends),
            ("tag", ("tag", "8k"), TAG),
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200, help="number of kills, over all cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="BACKEND/ENGINE, such as vector/native")
    parser.add_argument("--store", action="store_true", help=f"write {STORED.name}")
    options = parser.parse_args()
    chosen = [case for case in cases() if not options.only or case.name in options.only]
    if not chosen:
        parser.error(f"no such case (known: {', '.join(case.name for case in cases())})")
    share, rest = divmod(options.kills, len(chosen))
    found: list[CaseResult] = []
    for number, case in enumerate(chosen):
        kills = share + (number < rest)
        with tempfile.TemporaryDirectory() as folder:
            found.append(kill_and_compare(Path(folder), case, kills, options.seed + number))
    result = report(found, f"python -m tests.e2e.kills {' '.join(sys.argv[1:])}")
    text = json.dumps(result, indent=1)
    print(text)
    if options.store:
        STORED.write_text(text + "\n")
    sys.exit(0 if all(one.is_clean for one in found) else 1)


def report(found: Sequence[CaseResult], command: str) -> dict[str, Any]:
    totals = ("kills", "while_saving", "runs", "resumes", "exact_claims", "exact_runs")
    lists = ("unloadable", "false_claims", "understated", "leaked")
    about = {"command": command, "revision": revision(), "date": date.today().isoformat()}
    sums = {name: sum(getattr(one, name) for one in found) for name in totals}
    counts = {name: sum(len(getattr(one, name)) for one in found) for name in lists}
    return {**about, **sums, **counts, "cases": [asdict(one) for one in found]}


def kill_and_compare(runs_dir: Path, case: Case, kills: int, seed: int) -> CaseResult:
    """Kills runs until `kills` are used up, and compares each with a run that was never killed."""
    train = ["train", case.target, "--env-steps", case.env_steps, "--quiet"]
    train += [word for setting in (*SETTINGS, *case.settings) for word in ("--set", setting)]
    Training(runs_dir, "untouched", *train, "--name", "untouched").finish()
    untouched, _ = store.resolve("untouched", runs_dir)
    chance, found = random.Random(seed), CaseResult(case.backend, case.engine, seed)
    while found.kills < kills:
        name = f"killed-{found.runs}"
        most = min(PER_RUN, kills - found.kills)
        run = _killed(runs_dir, train, name, most, chance, found)
        found.runs += 1
        check_claims(found, name, claims_exact(run), differences(untouched, run))
    return found


def _killed(
    runs_dir: Path,
    train: Sequence[str],
    name: str,
    most: int,
    chance: random.Random,
    found: CaseResult,
) -> Run:
    """Returns a finished run that was killed up to `most` times on the way."""
    training = Training(runs_dir, name, *train, "--name", name)
    for _ in range(most):
        moment = chance.uniform(0.0, LATEST)
        if not training.kill(moment):
            break
        found.kills += 1
        found.leaked += training.leaked_processes()
        run = training.find_run()
        progress = f"{found.backend}/{found.engine}: kill {found.kills}, {name}"
        print(f"{progress}, {moment:.2f} s after its start", flush=True)
        if run is None:  # killed before it had a directory: start it again
            training = Training(runs_dir, name, *train, "--name", name)
            continue
        found.while_saving += any(run.checkpoints.glob(".draft-*"))
        found.unloadable += checkpoint_errors(run)
        if run.info["status"] == "finished":  # killed after it had recorded its end
            return run
        found.resumes += 1
        training = Training(runs_dir, name, "resume", name, "--quiet")
    training.finish()
    found.leaked += training.leaked_processes()
    run = training.find_run()
    assert run is not None
    found.unloadable += checkpoint_errors(run)
    return run


def check_claims(found: CaseResult, name: str, claimed: bool, differs: Sequence[str]) -> None:
    """Compares the claims of a run's resumes to be exact with the actual differences."""
    found.exact_claims += claimed
    found.exact_runs += not differs
    if claimed and differs:
        found.false_claims.append(f"{name}: {'; '.join(differs)}")
    if not claimed and not differs:
        found.understated.append(name)


def claims_exact(run: Run) -> bool:
    """True if every resume of a run claimed to be exact."""
    return all(event["bit_exact"] for event in run.recorded_events() if "bit_exact" in event)


def checkpoint_errors(run: Run) -> list[str]:
    """Returns the errors of all checkpoints that do not load."""
    found: list[str] = []
    for path in checkpoint.list_checkpoints(run.path).values():
        try:
            checkpoint.read(path)
        except CheckpointError as error:
            found.append(str(error))
    return found


if __name__ == "__main__":
    main()
