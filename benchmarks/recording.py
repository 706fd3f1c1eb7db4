"""The cost of metrics, alerts and traces, measured in one process in two ways: with alternating turns of a
few rollouts with and without them, and with a stopwatch around them.

python -m benchmarks.recording                  # about 4 minutes; writes JSON and the page
python -m benchmarks.recording sample TASK ENGINE ENV_STEPS RUNS_DIR

gymnast has no setting that disables them, so the functions are patched: rows are not computed, checked,
stored, logged or shown, and no episode is traced. Values that the update computes anyway (KL, clip
fraction) remain; checkpoints, which would fall into some of the turns only, are off. Both variants run in
one process because two identical processes differ by more than the cost to be measured.
"""

from __future__ import annotations

import sys
import tempfile
import time
from statistics import median
from typing import Any

from benchmarks import measurement, sample
from benchmarks.tables import table
from benchmarks.tasks import TASKS

REPETITIONS = 7
CASES = ("a native", "b native", "b torch")
"""Cases: task and engine."""
SHORTER = {"native": 1.0, "torch": 3.0}
"""Engine -> factor by which its sample is shorter than one of the comparison, to take about as long."""
TURN = 4
"""Number of rollouts per turn."""


def main() -> None:
    if sys.argv[1:2] == ["sample"]:
        letter, engine, env_steps, runs_dir = sys.argv[2:]
        _sample(letter, engine, int(env_steps), runs_dir)
        return
    options = measurement.parse_options(__doc__, REPETITIONS)
    entry = measurement.new_entry("recording") | {"tasks": {case: [] for case in CASES}}
    for number in range(options.repetitions):
        for case, samples in entry["tasks"].items():
            samples.append(_measure(case, options.quick))
            print(f"{number + 1} {case}: {samples[-1]['stopwatch']:.1%}", flush=True)
    measurement.save_entry("recording", entry, options.quick)


def _measure(case: str, quick: bool) -> dict[str, Any]:
    letter, engine = case.split()
    task = TASKS[letter]
    env_steps = task.scaled_budget(task.budget_factor / (SHORTER[engine] * (5 if quick else 1)))
    with tempfile.TemporaryDirectory() as runs, sample.pin_to_cores({measurement.benchmark_core()}):
        words = ["sample", letter, engine, str(env_steps), runs]
        one = sample.run_json([sample.OURS, "-m", "benchmarks.recording", *words])
    return {key: one[key] for key in ("env_steps", "cpu", "stopwatch", "with", "without")}


def _sample(letter: str, engine: str, env_steps: int, runs_dir: str) -> None:
    from benchmarks.ours import overrides, train
    from benchmarks.timing import measure_time, print_sample

    task = TASKS[letter]
    settings, warm_up = (
        overrides(of, steps) | {"engine": engine, "checkpoint": {"every": "off"}}
        for of, steps in ((task, env_steps), (task.warm_up, task.warm_up.env_steps))
    )
    train(task, warm_up, runs_dir)
    turns = _Turns()
    with measure_time() as spent:
        train(task, settings, runs_dir)
    times = {"with": turns.spent[True], "without": turns.spent[False], "stopwatch": turns.share()}
    print_sample("gymnast", env_steps, spent, **times)


class _Turns:
    """Disables recording in every other turn of rollouts, and times it in the others."""

    def __init__(self) -> None:
        from gymnast.collect.vector import VectorCollector
        from gymnast.measure.recent import RecentEpisodes
        from gymnast.metrics.recorder import Recorder
        from gymnast.training import learner, loop, update

        self.recording_on, self.rollouts = True, 0
        self.stopwatch, self._is_timing = 0.0, False
        self.spent: dict[bool, list[float]] = {True: [], False: []}
        """CPU seconds of each turn, with (True) and without recording."""
        self._turn_started = 0.0
        # Every function that records is replaced, where it is looked up, by one that can be switched off.
        self._patch(Recorder, "write", list)
        self._patch(Recorder, "process_pending", list)
        for name in ("rollout_row", "effect_row"):
            self._patch(update, name, dict)
        self._patch(learner, "network_row", dict)
        self._patch(RecentEpisodes, "row", dict)
        iterate, collect = loop.Loop.iterate, VectorCollector.collect

        def iterate_and_count(this: Any) -> None:
            self._count_rollout()
            iterate(this)

        def collect_with_traces_in_turns(this: Any, *args: Any, **kwargs: Any) -> Any:
            should_trace = this.should_trace
            this.should_trace = should_trace if self.recording_on else lambda _: False
            try:
                return collect(this, *args, **kwargs)
            finally:
                this.should_trace = should_trace

        loop.Loop.iterate = iterate_and_count  # type: ignore[method-assign]
        VectorCollector.collect = collect_with_traces_in_turns  # type: ignore[method-assign]

    def share(self) -> float:
        """Returns the fraction of the CPU time of turns with recording that the stopwatch measured."""
        return self.stopwatch / sum(self.spent[True])

    def _count_rollout(self) -> None:
        """Counts a rollout; after TURN of them, notes the time of the turn and starts the other kind."""
        if self.rollouts % TURN == 0:
            now = time.process_time()
            if self.rollouts:
                self.spent[self.recording_on].append(now - self._turn_started)
                self.recording_on = not self.recording_on
            self._turn_started = now
        self.rollouts += 1

    def _patch(self, owner: Any, name: str, empty: Any) -> None:
        """Replaces a function: it is timed in turns with recording, and returns `empty()` in the others."""
        original = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            if not self.recording_on:
                return empty()
            if self._is_timing:  # called by another timed function, whose time includes this call
                return original(*args, **kwargs)
            self._is_timing, started = True, time.thread_time()
            try:
                return original(*args, **kwargs)
            finally:
                self._is_timing = False
                self.stopwatch += time.thread_time() - started

        setattr(owner, name, timed)


def stopwatch_shares(samples: list[dict[str, Any]]) -> list[float]:
    """Returns the fraction of CPU time spent recording, by stopwatch, per process."""
    return [one["stopwatch"] for one in samples]


def turn_shares(samples: list[dict[str, Any]]) -> list[float]:
    """Returns the fraction of CPU time spent recording, by comparing turns, per process.

    Each turn with recording is compared with the mean of the turns without it before and after, which
    cancels drift. Times are summed over turns, since some rows are checked and shown once for several
    turns."""
    return [
        1.0 - sum(without for _, without in pairs) / sum(recorded for recorded, _ in pairs)
        for pairs in map(_with_neighbors, samples)
    ]


def _with_neighbors(one: dict[str, Any]) -> list[tuple[float, float]]:
    """Returns, per turn with recording, its seconds and the mean seconds of its neighbors without."""
    without = one["without"]
    # The first turn with recording is dropped: it has no turn before it.
    turns = zip(one["with"][1:], without, without[1:], strict=False)
    return [(recorded, (before + after) / 2) for recorded, before, after in turns]


def section(found: dict[str, Any]) -> str:
    rows = []
    for case, samples in found["tasks"].items():
        pairs = sum(len(_with_neighbors(one)) for one in samples)
        cells = (
            f"**{median(c):.1%}** ({min(c):.1%} to {max(c):.1%})"
            for c in (stopwatch_shares(samples), turn_shares(samples))
        )
        rows.append([*case.split(), len(samples), pairs, *cells])
    head = ("task", "engine", "processes", "turns", "by stopwatch", "in turns")
    return _SECTION.format(
        table=table(head, rows), turn=TURN, surroundings=measurement.info_text(found)
    )


_SECTION = """\
Fraction of the CPU time of training that is spent on computing, checking, storing, logging and showing
metric rows and on tracing episodes. It is measured by a stopwatch around each of these, and by
alternating turns of {turn} rollouts with and {turn} without them in one process, where each turn is
compared with the mean of its two neighbors (summed over turns; median and range over processes). Values
that the update computes anyway (KL, clip fraction) are included in both.

{table}

{surroundings}"""


if __name__ == "__main__":
    main()
