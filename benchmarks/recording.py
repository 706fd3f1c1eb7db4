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

        self.on, self.rollouts, self.watched, self._watching = True, 0, 0.0, False
        self.spent: dict[bool, list[float]] = {True: [], False: []}
        """CPU seconds of each turn, with (True) and without recording."""
        self._began = 0.0
        self._around(Recorder, "write", list)
        self._around(Recorder, "settle", list)
        for name in ("rollout_row", "effect_row"):
            self._around(update, name, dict)
        self._around(learner, "network_row", dict)
        self._around(RecentEpisodes, "row", dict)
        iterate, collect = loop.Loop.iterate, VectorCollector.collect

        def counted(this: Any) -> None:
            self._tick()
            iterate(this)

        def traced_in_turns(this: Any, *args: Any, **kwargs: Any) -> Any:
            traced = this.traced
            this.traced = traced if self.on else lambda _: False
            try:
                return collect(this, *args, **kwargs)
            finally:
                this.traced = traced

        loop.Loop.iterate = counted  # type: ignore[method-assign]
        VectorCollector.collect = traced_in_turns  # type: ignore[method-assign]

    def share(self) -> float:
        return self.watched / sum(self.spent[True])

    def _tick(self) -> None:
        if self.rollouts % TURN == 0:
            now = time.process_time()
            if self.rollouts:
                self.spent[self.on].append(now - self._began)
                self.on = not self.on
            self._began = now
        self.rollouts += 1

    def _around(self, owner: Any, name: str, nothing: Any) -> None:
        does = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            if not self.on:
                return nothing()
            if self._watching:  # called by another timed function
                return does(*args, **kwargs)
            self._watching, began = True, time.thread_time()
            try:
                return does(*args, **kwargs)
            finally:
                self._watching, self.watched = False, self.watched + time.thread_time() - began

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
        1.0 - sum(less for _, less in pairs) / sum(whole for whole, _ in pairs)
        for pairs in map(_with_neighbors, samples)
    ]


def _with_neighbors(one: dict[str, Any]) -> list[tuple[float, float]]:
    """Returns, per turn with recording, its seconds and the mean seconds of its neighbors without."""
    less = one["without"]
    around = zip(one["with"][1:], less, less[1:], strict=False)
    return [(whole, (before + after) / 2) for whole, before, after in around]


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
