"""docs/benchmarks.md agrees with the stored samples."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from statistics import median
from typing import Any

import pytest

from benchmarks import chart, goals, recording, recurrent, report
from benchmarks.libraries import LABELS, PEERS
from benchmarks.results import ratios, speed
from benchmarks.tasks import TASKS

FOUND = report.load()
ENTRIES = FOUND["tasks"]
BACKENDS = FOUND["backends"]


def test_the_page_is_generated_from_the_stored_samples():
    assert report.PAGE.read_text() == report.page(FOUND), "run `python -m benchmarks.report`"
    assert report.CHART.read_text() == chart.draw(ENTRIES), "run `python -m benchmarks.report`"


def is_short_look(entry: dict[str, Any]) -> bool:
    """True for a preliminary measurement, which the page shows until the complete one is stored."""
    return any(word in entry["command"] for word in ("--scale", "--quick"))


def test_every_task_has_every_library_that_supports_it_or_the_reason_for_its_absence():
    if not any(map(is_short_look, ENTRIES.values())):
        assert set(ENTRIES) == set(TASKS)
    for letter, entry in ENTRIES.items():
        if is_short_look(entry):
            continue
        known = {name for name, peer in PEERS.items() if letter in peer.tasks}
        assert {"ours", "alone"} | known == set(entry["samples"]) | set(entry["absent"])


def test_all_libraries_take_the_same_number_of_updates_per_env_step():
    for letter, entry in ENTRIES.items():
        task = TASKS[letter]
        for who, samples in entry["samples"].items():
            for one in samples if who != "alone" else ():
                expected = one["env_steps"] // task.rollout * task.updates_per_rollout
                # Autoreset steps are not learned from, so the budget may end with a shorter rollout.
                assert expected <= one["updates"] <= 1.15 * expected, (letter, who)


def test_every_round_has_one_sample_of_each_library():
    for entry in ENTRIES.values():
        assert len({len(samples) for samples in entry["samples"].values()}) == 1


def test_ratios_are_of_steps_per_second_in_the_same_round():
    for entry in ENTRIES.values():
        ours, alone = entry["samples"]["ours"], entry["samples"]["alone"]
        expected = [
            (o["env_steps"] / o["cpu"]) / (a["env_steps"] / a["cpu"])
            for o, a in zip(ours, alone, strict=True)
        ]
        assert ratios(entry["samples"], "alone") == pytest.approx(expected)


@pytest.mark.parametrize("letter", TASKS)
def test_training_is_faster_than_sb3_on_every_task_in_three_rounds_or_more(letter: str):
    entry = ENTRIES.get(letter)
    if entry is None or is_short_look(entry):
        pytest.skip(f"not completely measured yet: {entry and entry['command']}")
    assert len(entry["samples"]["ours"]) >= 3
    if "sb3" in entry["samples"]:
        assert median(ratios(entry["samples"], "sb3")) >= 1.2


def test_the_chart_names_every_library_and_draws_nothing_outside_its_bounds():
    drawn = ElementTree.fromstring(chart.draw(ENTRIES))
    words = [text.text or "" for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    for who in {who for entry in ENTRIES.values() for who in entry["samples"]} - {"alone"}:
        assert LABELS[who] in words
    width, height = float(drawn.get("width", 0)), float(drawn.get("height", 0))
    for bar in drawn.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(bar.get("x", 0)) + float(bar.get("width", 0)) <= width
        assert float(bar.get("y", 0)) + float(bar.get("height", 0)) <= height


def test_goals_are_judged_by_the_numbers_and_left_out_if_nothing_was_measured():
    sample = {"env_steps": 100, "wall": 1.0}
    samples = {"ours": [{**sample, "cpu": 1.0}], "alone": [{**sample, "cpu": 0.1}]}
    for seconds, met in ((8.1, True), (7.9, False)):
        found = {"tasks": {"a": {"samples": samples | {"sb3": [{**sample, "cpu": seconds}]}}}}
        met_by_target = {goal.target: goal.met for goal in goals.goals(found)}
        assert met_by_target["8 times SB3"] is met
        assert not any("PufferLib" in target or "solved" in target for target in met_by_target)


def test_the_cost_of_recording_is_reported_for_both_engines_by_stopwatch_and_in_turns():
    without = {"a native": 0.96, "b native": 0.97, "b torch": 0.93}
    assert set(without) == set(recording.CASES)
    tasks = {
        case: [{"stopwatch": 0.02, "with": [9.0, 1.0, 1.0, 1.0], "without": [less] * 4}]
        for case, less in without.items()
    }
    about = {"hardware": {"cores": 2, "model": "X"}, "command": "", "date": "", "revision": ""}
    section = recording.section({"tasks": tasks} | about)
    assert "| b | native | 1 | 3 | **2.0%** (2.0% to 2.0%) | **3.0%** (3.0% to 3.0%) |" in section
    assert "| b | torch | 1 | 3 | **2.0%** (2.0% to 2.0%) | **7.0%** (7.0% to 7.0%) |" in section
    found = goals.goals({"tasks": {}, "recording": {"tasks": tasks}})
    _, native, torch = (goal for goal in found if "5%" in goal.target)
    assert (native.met, native.reached) == (True, "2.0% by stopwatch, 3.0% in turns")
    assert (torch.met, torch.reached) == (False, "2.0% by stopwatch, 7.0% in turns")


def test_policies_with_memory_are_compared_with_both_engines_and_recurrent_ppo():
    def samples(seconds: dict[str, float]) -> dict[str, Any]:
        return {
            who: [{"env_steps": 1000, "cpu": cpu, "episode_return": 20.0}]
            for who, cpu in seconds.items()
        }

    about = {"hardware": {"cores": 2, "model": "X"}, "command": "", "date": "", "revision": ""}
    tasks = {"r": samples({"ours": 0.1, "torch": 0.3, recurrent.PEER: 0.5})}
    found = {"tasks": tasks, "absent": None} | about
    row = (
        "| 8 x 32, 20 epochs | RecurrentPPO of sb3-contrib | 2,000 | **5.00** (5.00 to 5.00) | 20 |"
    )
    assert row in recurrent.section(found)
    for torch, met in ((0.21, True), (0.19, False)):
        tasks["r"] = samples({"ours": 0.1, "torch": torch})
        fast, faster = goals.goals({"tasks": {}, "recurrent": found})
        assert (fast.met, fast.reached) == (True, "10,000")
        assert faster.met is met


def test_every_backend_is_measured_at_least_five_times_together_with_gymnasiums_vectors():
    for task in BACKENDS["tasks"]:
        assert {"inprocess", "process", "SyncVectorEnv", "AsyncVectorEnv"} <= set(task["samples"])
        assert min(map(len, task["samples"].values())) >= 5


def test_workers_are_twice_as_fast_as_gymnasiums_and_inprocess_copies_nearly_as_fast():
    for task in BACKENDS["tasks"]:
        samples = task["samples"]
        assert median(ratios(samples, "AsyncVectorEnv", "process")) >= 2.0
        assert median(ratios(samples, "SyncVectorEnv", "inprocess")) >= 0.8


def test_workers_take_more_than_30_thousand_cartpole_steps_per_second():
    (task,) = [t for t in BACKENDS["tasks"] if (t["env"], t["n_envs"]) == ("CartPole-v1", 16)]
    assert max(speed(one, "wall") for one in task["samples"]["process"]) > 30_000


def test_stored_results_are_json_and_name_their_command_and_revision():
    for name in report.FURTHER:
        if FOUND[name] is not None:
            assert FOUND[name]["command"].startswith(f"python -m benchmarks.{name}")
            assert len(FOUND[name]["revision"]) >= 40
    json.dumps(FOUND)
