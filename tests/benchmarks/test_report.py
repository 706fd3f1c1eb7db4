"""The page on speed says what the stored samples say."""

from __future__ import annotations

import json
from statistics import median

from benchmarks import report
from benchmarks.tasks import TASKS

FOUND = json.loads(report.SOURCE.read_text())
BACKENDS = json.loads(report.BACKENDS.read_text())


def test_the_page_is_what_the_stored_samples_make():
    assert report.PAGE.read_text() == report.page(FOUND, BACKENDS), (
        "run `python -m benchmarks.report`"
    )


def test_every_task_is_measured_at_least_three_times_with_equal_work():
    assert set(FOUND["tasks"]) == set(TASKS)
    for samples in FOUND["tasks"].values():
        assert min(len(samples[who]) for who in ("ours", "sb3", "alone")) >= 3
        for ours, sb3 in zip(samples["ours"], samples["sb3"], strict=True):
            assert ours["env_steps"] == sb3["env_steps"]
            assert ours["updates"] == sb3["updates"]


def test_ratios_are_of_cpu_seconds_for_the_same_steps():
    for samples in FOUND["tasks"].values():
        seconds = [
            s["learning"] / o["learning"]
            for o, s in zip(samples["ours"], samples["sb3"], strict=True)
        ]
        assert abs(median(report.ratios(samples)) - median(seconds)) < 1e-9


def test_training_is_at_least_a_fifth_faster_than_sb3_on_every_task():
    for letter, samples in FOUND["tasks"].items():
        assert median(report.ratios(samples)) >= 1.2, letter


def test_every_backend_is_measured_at_least_five_times_beside_gymnasiums_vectors():
    for task in BACKENDS["tasks"]:
        assert {"inprocess", "process", "SyncVectorEnv", "AsyncVectorEnv"} <= set(task["samples"])
        assert min(map(len, task["samples"].values())) >= 5


def test_workers_cost_less_than_gymnasiums_and_copies_here_hardly_more_than_there():
    for task in BACKENDS["tasks"]:
        samples = task["samples"]
        assert median(report.backend_ratios(samples, "process", "AsyncVectorEnv")) >= 2.0
        assert median(report.backend_ratios(samples, "inprocess", "SyncVectorEnv")) >= 0.8


def test_workers_step_cartpole_more_than_30_thousand_times_a_second():
    (task,) = [t for t in BACKENDS["tasks"] if (t["env"], t["n_envs"]) == ("CartPole-v1", 16)]
    assert max(report.speed(one, "wall") for one in task["samples"]["process"]) > 30_000
