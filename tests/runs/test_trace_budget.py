"""Stored episodes stay within their disk budget, and the most interesting ones are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gymnast.errors import CheckpointError, UsageError
from gymnast.film.choose import choose_episode
from gymnast.film.learning import choose_clips
from gymnast.runs.trace import Trace, read_meta, read_traces, write_traces
from gymnast.runs.trace_budget import trim_to_budget
from tests.small_runs import train_small

STEPS = 100


def episode(seed: int, value: float) -> Trace:
    reward = np.full(STEPS, value / STEPS)
    action, dist = np.zeros(STEPS, np.int64), np.zeros((STEPS, 2), np.float32)
    estimate = np.zeros(STEPS, np.float32)
    return Trace(seed, action, reward, estimate, dist, None, True, False, value, 0, 0)


def stored(folder: Path, kind: str, version: int, returns: list[float]) -> Path:
    file = folder / f"{kind}-{version:012d}.safetensors"
    write_traces(file, [episode(i, value) for i, value in enumerate(returns)], {"kind": kind})
    return file


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*.safetensors"))


def names(folder: Path) -> list[str]:
    return sorted(file.stem.replace("0" * 9, "") for file in folder.glob("*.safetensors"))


RETURNS = [5.0, 1.0, 9.0, 4.0, 6.0, 3.0, 7.0, 2.0, 8.0, 10.0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six evaluations of ten episodes, three files of training episodes, one confirmation."""
    found = tmp_path / "traces"
    for version in (100, 200, 300, 400, 500, 600):
        stored(found, "eval", version, RETURNS)
    for version in (200, 400, 600):
        stored(found, "train", version, [1.0, 2.0])
    stored(found, "confirm", 300, RETURNS)
    return found


def test_traces_within_the_budget_are_unchanged(folder: Path):
    before = size(folder)
    trim_to_budget(folder, before, {300})
    assert size(folder) == before


def test_older_evaluations_keep_their_first_best_worst_and_median_episode(folder: Path):
    one = (folder / f"eval-{100:012d}.safetensors").stat().st_size
    budget = size(folder) - int(0.9 * one)  # more than thinning one saves, less than two
    trim_to_budget(folder, budget, {300})
    assert size(folder) <= budget
    assert len(names(folder)) == 10
    counts = {
        file.stem: len(read_traces(file)) for file in sorted(folder.glob("eval-*.safetensors"))
    }
    assert list(counts.values()) == [4, 4, 10, 10, 10, 10]
    thinned = folder / f"eval-{100:012d}.safetensors"
    assert [(t.seed, t.raw_return) for t in read_traces(thinned)] == [
        (0, 5.0),
        (1, 1.0),
        (4, 6.0),
        (9, 10.0),
    ]
    meta = read_meta(thinned)
    assert (meta["kept"], meta["episodes"], meta["mean"]) == ([0, 1, 4, 9], 10, 5.5)


def test_the_best_the_newest_and_confirmations_are_kept_whatever_the_budget(folder: Path):
    trim_to_budget(folder, 1, {300})
    assert names(folder) == ["confirm-300", "eval-300", "eval-600", "train-600"]
    assert all(len(read_traces(file)) == 10 for file in folder.glob("[ec]*.safetensors"))
    removed = (folder / "removed.txt").read_text().split()
    assert f"eval-{100:012d}.safetensors" in removed
    assert len(removed) == 6


def test_evaluations_that_remain_are_spread_over_the_run(tmp_path: Path):
    folder = tmp_path / "traces"
    for version in (100, 110, 120, 130, 400, 500, 900):
        stored(folder, "eval", version, RETURNS)
    complete = (folder / f"eval-{900:012d}.safetensors").stat().st_size
    trim_to_budget(folder, 3 * complete, {400})
    kept = [int(name.removeprefix("eval-")) for name in names(folder)]
    assert {100, 400, 900} <= set(kept)
    assert 120 not in kept


def test_a_run_with_removed_traces_can_be_filmed_and_reports_what_was_removed():
    settings = {"env.n_envs": 2, "algo.n_steps": 8, "stop.rollouts": 12, "traces.train": "100%"}
    settings |= {"eval.every": "1 rollouts", "eval.episodes": 12, "checkpoint.every": "1 rollouts"}
    complete = train_small("Script", settings)
    budget = size(complete.traces) // 4
    run = train_small("Script", settings | {"traces.disk": budget})
    assert size(run.traces) <= budget
    best = run.info["checkpoints"]["best"]
    expected, found = choose_episode(complete), choose_episode(run)
    assert (found.version, found.trace.seed) == (best, expected.trace.seed)
    assert choose_episode(run, "last").index == 0
    assert [(p.mean, p.episodes) for p in choose_clips(run)][-1] == (
        pytest.approx(choose_clips(complete)[-1].mean),
        12,
    )
    removed = [int(line[5:17]) for line in (run.traces / "removed.txt").read_text().split()]
    evaluated = [v for v in removed if not (run.traces / f"eval-{v:012d}.safetensors").exists()]
    with pytest.raises(CheckpointError, match=r"removed to stay within traces\.disk"):
        choose_episode(run, checkpoint=str(evaluated[0]))


def test_an_episode_that_was_removed_is_rejected():
    settings = {"env.n_envs": 2, "algo.n_steps": 8, "stop.rollouts": 4, "eval.every": "1 rollouts"}
    run = train_small("Script", settings | {"eval.episodes": 12})
    oldest = min(run.traces.glob("eval-*"))
    trim_to_budget(run.traces, size(run.traces) - 1, ())
    kept = read_meta(oldest)["kept"]
    at = str(int(oldest.stem.rpartition("-")[2]))
    assert (
        choose_episode(run, str(kept[-1]), checkpoint=at).trace.seed == read_traces(oldest)[-1].seed
    )
    missing = next(place for place in range(12) if place not in kept)
    with pytest.raises(UsageError, match="no longer stored"):
        choose_episode(run, str(missing), checkpoint=at)
