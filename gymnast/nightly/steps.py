"""The steps of a night. Adding a check is adding an entry to STEPS, and the function of its jobs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from gymnast.config.presets import all_presets
from gymnast.config.problems import InvalidConfig
from gymnast.insight import results
from gymnast.nightly.step import Job, NightlyStep, StepContext, StepSkipped, rotated
from gymnast.runs.revision import PACKAGE
from gymnast.text.formatting import count_noun, duration

CHUNK = 8
"""Number of presets that one child process checks: starting one takes two seconds, and a preset that hangs
takes the others of its chunk with it."""
PRESET_SECONDS = 30.0
"""Deadline per preset; most take one to three seconds."""
START_SECONDS = 30.0
"""Time to start a child process on a busy machine."""
OVERHEAD_SECONDS = 10.0
"""Time that repeating a result takes besides the training."""
SLOWER = 4.0
"""A training that takes this many times as long as the stored one is ended."""
BENCHMARK_TASKS, BENCHMARK_PEERS = ("a", "b"), ("sb3",)
BENCHMARK_SECONDS = 120.0
"""Time that the benchmarks need at least."""


def _configs(context: StepContext) -> Iterator[Job]:
    deadline = min(START_SECONDS + 300.0, max(context.clock.left, START_SECONDS))
    command = "gymnast config check"
    yield Job("check the configs", "gymnast.nightly.jobs:check_configs", {}, deadline, command)


def _presets(context: StepContext) -> Iterator[Job]:
    targets = rotated(_targets(), context.seed)
    for start in range(0, len(targets), CHUNK):
        chunk = targets[start : start + CHUNK]
        if context.clock.left < START_SECONDS and start:
            left = f"{len(targets) - start} of {count_noun(len(targets), 'preset')}"
            context.left_out.append(f"{left} were not checked, because the time was used up.")
            return
        yield Job(
            f"check {chunk[0]} to {chunk[-1]}",
            "gymnast.nightly.jobs:check_presets",
            {"targets": chunk},
            START_SECONDS + PRESET_SECONDS * len(chunk),
            f"gymnast check --all {shlex.join(chunk)}",
        )


def _targets() -> list[str]:
    """Returns every variant that a preset defines, also of the user's own ones. A preset that cannot be read
    has none: the step before has reported it."""
    targets: list[str] = []
    for name, preset in all_presets().items():
        try:
            targets += [f"{name}:{variant}" for variant in preset.defined_variants]
        except InvalidConfig:
            continue
    return targets


def _results(context: StepContext) -> Iterator[Job]:
    seconds = {r["preset"]: r["seeds"][0]["seconds"] for r in results.all_results() if r["seeds"]}
    if not seconds:
        raise StepSkipped("no results are stored")
    too_long: list[str] = []
    for preset in rotated(sorted(seconds), context.seed):
        expected = OVERHEAD_SECONDS + 2 * seconds[preset]
        if expected > context.clock.left:
            too_long.append(preset)
            continue
        yield Job(
            f"reproduce {preset}",
            "gymnast.nightly.jobs:reproduce_result",
            {"preset": preset},
            min(START_SECONDS + SLOWER * seconds[preset], context.clock.left),
            f"gymnast reproduce {preset} --seeds 1",
        )
    if len(too_long) == len(seconds):
        shortest = duration(min(seconds.values()))
        raise StepSkipped(f"no stored result fits into the time; the shortest takes {shortest}")
    if too_long:
        number = f"{len(too_long)} of {count_noun(len(seconds), 'stored result')}"
        context.left_out.append(
            f"{number} did not fit into the time that was left: {', '.join(too_long)}."
        )


def _benchmarks(context: StepContext) -> Iterator[Job]:
    root = PACKAGE.parent
    if Path.cwd().resolve() != root.resolve() or not (root / "benchmarks" / "drift.py").exists():
        raise StepSkipped("the working directory is not the checkout from which gymnast runs")
    if context.clock.left < BENCHMARK_SECONDS:
        need, left = duration(BENCHMARK_SECONDS), duration(context.clock.left)
        raise StepSkipped(f"it needs {need}, and {left} were left")
    words = ("--tasks", ",".join(BENCHMARK_TASKS), "--peers", ",".join(BENCHMARK_PEERS))
    yield Job(
        "measure the speed",
        "gymnast.nightly.jobs:benchmark_ratios",
        {"root": str(root), "options": words},
        context.clock.left,
        f"python -m benchmarks.drift {' '.join(words)}",
    )


STEPS: dict[str, NightlyStep] = {
    step.name: step
    for step in (
        NightlyStep("config", "every preset is a valid config", 0.05, "preset", _configs),
        NightlyStep("check", "every preset trains, evaluates and replays", 0.4, "preset", _presets),
        NightlyStep(
            "reproduce", "stored results hold", 0.35, "stored result", _results, sample=True
        ),
        NightlyStep("benchmarks", "speed ratios are as stored", 0.2, "ratio", _benchmarks),
    )
}
"""Name -> step, in the order of a night: what is fast and what others depend on comes first."""
