"""What metrics, alerts and traces cost, in one process: in turns of a few rollouts with them and without,
and by a stopwatch around them.

python -m benchmarks.recording                  # about 4 minutes; writes JSON and the page
python -m benchmarks.recording sample TASK ENGINE ENV_STEPS RUNS_DIR

The product has no switch for its record, so it is taken out of the code: rows are not made, judged,
stored, logged or shown, and no episode is traced. What the update computes on its way (KL, clipped
share) stays in; checkpoints, which would fall into some of the turns, are off. Two processes that do the
same differ by more than what is looked for.
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
"""Task and engine."""
SHORTER = {"native": 1.0, "torch": 3.0}
"""Than a sample of the comparison, so that all take about as long."""
TURN = 4
"""Rollouts with the record, then as many without."""


def main() -> None:
    if sys.argv[1:2] == ["sample"]:
        letter, engine, env_steps, runs_dir = sys.argv[2:]
        _sample(letter, engine, int(env_steps), runs_dir)
        return
    options = measurement.options(__doc__, REPETITIONS)
    entry = measurement.begin("recording") | {"tasks": {case: [] for case in CASES}}
    for number in range(options.repetitions):
        for case, samples in entry["tasks"].items():
            samples.append(_measure(case, options.quick))
            print(f"{number + 1} {case}: {samples[-1]['stopwatch']:.1%}", flush=True)
    measurement.end("recording", entry, options.quick)


def _measure(case: str, quick: bool) -> dict[str, Any]:
    letter, engine = case.split()
    task = TASKS[letter]
    env_steps = task.scaled(task.ours / (SHORTER[engine] * (5 if quick else 1)))
    with tempfile.TemporaryDirectory() as runs, sample.on_cores({measurement.core()}):
        words = ["sample", letter, engine, str(env_steps), runs]
        one = sample.told([sample.OURS, "-m", "benchmarks.recording", *words])
    return {key: one[key] for key in ("env_steps", "cpu", "stopwatch", "with", "without")}


def _sample(letter: str, engine: str, env_steps: int, runs_dir: str) -> None:
    from benchmarks.child import measured, tell
    from benchmarks.ours import overrides, train

    task = TASKS[letter]
    settings, warm_up = (
        overrides(of, steps) | {"engine": engine, "checkpoint": {"every": "off"}}
        for of, steps in ((task, env_steps), (task.warm_up, task.warm_up.env_steps))
    )
    train(task, warm_up, runs_dir)
    turns = _Turns()
    with measured() as spent:
        train(task, settings, runs_dir)
    told = {"with": turns.spent[True], "without": turns.spent[False], "stopwatch": turns.share()}
    tell("gymnast", env_steps, spent, **told)


class _Turns:
    """Takes the record out of every other turn of rollouts, and times it where it is in."""

    def __init__(self) -> None:
        from gymnast.collect.vector import VectorCollector
        from gymnast.measure.recent import RecentEpisodes
        from gymnast.metrics.recorder import Recorder
        from gymnast.training import learner, loop, update

        self.on, self.rollouts, self.watched, self._watching = True, 0, 0.0, False
        self.spent: dict[bool, list[float]] = {True: [], False: []}
        """CPU seconds of each turn, with and without."""
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

        def traced_in_turns(this: Any, *given: Any, **named: Any) -> Any:
            traced = this.traced
            this.traced = traced if self.on else lambda _: False
            try:
                return collect(this, *given, **named)
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

        def timed(*given: Any, **named: Any) -> Any:
            if not self.on:
                return nothing()
            if self._watching:  # one of these within another
                return does(*given, **named)
            self._watching, began = True, time.thread_time()
            try:
                return does(*given, **named)
            finally:
                self._watching, self.watched = False, self.watched + time.thread_time() - began

        setattr(owner, name, timed)


def stopwatch(samples: list[dict[str, Any]]) -> list[float]:
    """Of the CPU time of the turns with the record, per process."""
    return [one["stopwatch"] for one in samples]


def shares(samples: list[dict[str, Any]]) -> list[float]:
    """The same by the turns with the record beside the mean of the turns without it before and after
    each, so that a drift of the whole does not count; summed, since rows are judged and shown in some
    of the turns for several."""
    return [
        1.0 - sum(less for _, less in pairs) / sum(whole for whole, _ in pairs)
        for pairs in map(_beside, samples)
    ]


def _beside(one: dict[str, Any]) -> list[tuple[float, float]]:
    """Seconds of each turn with the record, and of its neighbours."""
    less = one["without"]
    around = zip(one["with"][1:], less, less[1:], strict=False)
    return [(whole, (before + after) / 2) for whole, before, after in around]


def section(found: dict[str, Any]) -> str:
    rows = []
    for case, samples in found["tasks"].items():
        pairs = sum(len(_beside(one)) for one in samples)
        cells = (
            f"**{median(c):.1%}** ({min(c):.1%} to {max(c):.1%})"
            for c in (stopwatch(samples), shares(samples))
        )
        rows.append([*case.split(), len(samples), pairs, *cells])
    head = ("task", "engine", "processes", "stretches", "by stopwatch", "by alternation")
    return _SECTION.format(
        table=table(head, rows), turn=TURN, surroundings=measurement.surroundings_text(found)
    )


_SECTION = """\
Share of the CPU time of training that is spent on computing, checking, storing, logging and displaying rows
and on tracing episodes. It is measured in two ways: by a stopwatch around each of these, and by alternating
{turn} rollouts with them and {turn} without in one process, where each stretch with them is compared with the
mean of its two neighbors (summed over the stretches of a process; median and range over processes). Metrics
that are by-products of the update (KL, clip fraction) are included in both.

{table}

{surroundings}"""


if __name__ == "__main__":
    main()
