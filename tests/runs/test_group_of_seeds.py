"""Groups of seeds, with a fake `python` that creates a run as the worker of a seed does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.errors import RunError, UsageError
from gymnast.jobs import groups
from gymnast.metrics.score import RunScore
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.summary import RunSummary
from gymnast.training.request import TrainRequest
from tests.waiting import wait_for

PYTHON = sys.executable
CHILD = """#!{python}
import json, pathlib, signal, sys, time
from gymnast.processes.parent import exit_with_parent
from gymnast.runs.run import Run
from gymnast.training.request import TrainRequest
assert sys.argv[1:5] == ["-P", "-m", "gymnast.jobs.worker", "seed"]
request = TrainRequest(**json.loads(sys.argv[6]))
if request.seed == 13:
    sys.exit("error: thirteen is not allowed")
stopped = []
signal.signal(signal.SIGINT, lambda n, _: stopped.append("SIGINT"))
signal.signal(signal.SIGTERM, lambda n, _: stopped.append("SIGTERM"))
signal.signal(signal.SIGHUP, lambda n, _: stopped.append("SIGHUP"))
exit_with_parent()
run = Run.create(pathlib.Path(sys.argv[5]), config_text="", preset=request.target, seed=request.seed,
                 group=request.group, name=request.name, provenance={{}})
deadline = time.monotonic() + request.overrides["work"]
while time.monotonic() < deadline and not stopped:
    time.sleep(0.01)
mean = 100.0 + request.seed
run.update(status="stopped" if stopped else "finished", solved=not stopped, reason=str(stopped),
           score=dict(mean=mean, low=mean - 1, high=mean + 1, episodes=20), ended=time.time())
sys.exit(130 if stopped else 0)
"""


@pytest.fixture(autouse=True)
def fake_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "python"
    script.write_text(CHILD.format(python=sys.executable))
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))


def group(
    runs_dir: Path, seeds: list[int], work: float, jobs: int = 2, report: Any = None
) -> groups.Group:
    request = TrainRequest("A:ppo", {"work": work})
    return groups.train_group(request, seeds=seeds, jobs=jobs, runs_dir=runs_dir, report=report)


def test_every_seed_is_trained_and_found_by_its_group_id(
    runs_dir: Path, make_run: Callable[..., Run]
):
    make_run(group="another")
    done = group(runs_dir, [0, 1, 2], work=0.0)
    assert done.ok
    assert [run.seed for run in done.runs] == [0, 1, 2]
    assert {run.group for run in done.runs} == {done.id}
    assert done.exit_codes == {0: 0, 1: 0, 2: 0}
    assert groups.group_result(done.runs).solved == 3


def test_runs_of_a_named_group_are_named_by_seed(runs_dir: Path):
    request = TrainRequest("A:ppo", {"work": 0.0}, group="wide")
    names = ["a-s3", "a-s4"]
    done = groups.train_group(request, seeds=[3, 4], names=names, jobs=2, runs_dir=runs_dir)
    assert [run.name for run in done.runs] == ["a-s3", "a-s4"]
    assert {run.group for run in done.runs} == {"wide"}
    with pytest.raises(RunError, match="taken by a group of seeds"):
        store.ensure_name_free("wide", runs_dir)


def test_at_most_the_requested_number_of_jobs_run_at_once(runs_dir: Path):
    done = group(runs_dir, [0, 1, 2, 3], work=0.3, jobs=2)
    times = [(run.created, run.updated) for run in done.runs]
    at_once = [sum(a <= start < b for a, b in times) for start, _ in times]
    assert max(at_once) == 2


def test_a_child_that_fails_before_it_has_a_run_is_reported_with_its_error(runs_dir: Path):
    reported: list[str] = []
    done = group(runs_dir, [0, 13], work=0.0, report=reported.append)
    assert {"seed 0: done", "seed 13: failed (exit code 1)"} <= {*reported}
    assert not done.ok
    assert done.exit_codes == {0: 0, 13: 1}
    assert done.errors == {13: "error: thirteen is not allowed"}
    assert [run.seed for run in done.runs] == [0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_forwarded_to_the_children_and_no_further_seed_starts(
    runs_dir: Path, number: int
):
    def interrupt() -> None:
        wait_for(lambda: len(store.list_runs(runs_dir, "status=running")) == 2)
        time.sleep(0.1)
        os.kill(os.getpid(), number)

    before, reported = signal.getsignal(number), list[str]()
    threading.Thread(target=interrupt).start()
    done = group(runs_dir, [0, 1, 2, 3], work=30.0, report=reported.append)
    assert {*reported[2:]} == {"seed 0: interrupted", "seed 1: interrupted"}
    assert done.interrupted
    assert not done.ok
    assert done.exit_codes == {0: 130, 1: 130}
    name = signal.Signals(number).name
    assert [run.reason for run in done.runs] == [f"['{name}']"] * 2  # once, not twice
    assert signal.getsignal(number) is before


LAUNCHER = """
import pathlib, sys
from gymnast.jobs import groups
from gymnast.training.request import TrainRequest
sys.executable = sys.argv[1]
groups.train_group(TrainRequest("A:ppo", {"work": 60.0}), seeds=[0, 1], jobs=2,
                   runs_dir=pathlib.Path(sys.argv[2]))
"""


def test_children_receive_sighup_when_their_launcher_is_killed(runs_dir: Path, tmp_path: Path):
    command = [PYTHON, "-c", LAUNCHER, str(tmp_path / "python"), str(runs_dir)]
    launcher = subprocess.Popen(command)
    try:
        wait_for(lambda: len(store.list_runs(runs_dir, "status=running")) == 2)
    finally:
        launcher.kill()
        launcher.wait()
    wait_for(lambda: len(store.list_runs(runs_dir, "status=stopped")) == 2)
    assert {run.reason for run in store.list_runs(runs_dir)} == {"['SIGHUP']"}


def test_invalid_seeds_and_jobs_are_rejected_before_anything_starts(runs_dir: Path):
    for seeds, jobs in (([], 1), ([1, 1], 1), ([1], 0)):
        with pytest.raises(UsageError):
            group(runs_dir, seeds, 0.0, jobs)
    assert not runs_dir.exists()


def scored(seed: int, mean: float | None, solved: bool | None = None) -> RunSummary:
    score = None if mean is None else RunScore(mean, mean, mean, 9)
    return RunSummary(
        f"r{seed}", f"runs/r{seed}", "finished", 0.0, seed=seed, score=score, solved=solved
    )


def test_a_group_result_has_mean_iqm_and_a_confidence_interval_over_seeds():
    means = [float(x) for x in np.random.default_rng(0).normal(100, 10, size=12)]
    result = groups.group_result([scored(i, m, m > 100) for i, m in enumerate(means)])
    assert result.mean == pytest.approx(sum(means) / 12, rel=1e-12)
    assert result.iqm == pytest.approx(sum(sorted(means)[3:9]) / 6, rel=1e-12)
    error = np.std(means) / 12**0.5
    assert result.high - result.low == pytest.approx(2 * 1.96 * error, rel=0.05)
    assert result.low < result.mean < result.high
    assert result.solved == sum(m > 100 for m in means)
    again = groups.group_result([scored(i, m, m > 100) for i, m in enumerate(means)])
    assert again == result


def test_runs_without_a_score_are_counted_but_do_not_enter_the_mean():
    result = groups.group_result([scored(0, 0.0), scored(1, None), scored(2, 4.0)])
    assert (result.runs, result.scored, result.mean) == (3, 2, 2.0)
    one = groups.group_result([scored(0, 5.0)])
    assert (one.mean, one.low, one.high) == (5.0, None, None)
    none = groups.group_result([scored(0, None)])
    assert (none.mean, none.iqm, none.solved) == (None, None, 0)
