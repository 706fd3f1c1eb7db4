"""What metrics, alerts, traces and checkpoints cost: trainings with and without, in turn.

python -m benchmarks.recording                  # about 5 minutes; writes JSON and the page
python -m benchmarks.recording sample TASK ENGINE VARIANT ENV_STEPS RUNS_DIR

The product has no switch for its record, so the process without it takes the code out: rows are
not made, judged, stored, logged or shown, and no episode is traced. What the update computes on its
way (KL, clipped share) stays in both.
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
CASES = ("a native", "b native", "b torch", "c native")
"""Task and engine."""
SHORTER = {"native": 1.5, "torch": 6.0}
"""Than a sample of the comparison, so that all take about as long."""
VARIANTS = {
    "on": "everything on",
    "bare": "without metrics, alerts and traces",
    "nothing": "without these and checkpoints",
    "timed": "everything on, with a stopwatch around what is taken out",
}


def main() -> None:
    if sys.argv[1:2] == ["sample"]:
        letter, engine, variant, env_steps, runs_dir = sys.argv[2:]
        _sample(letter, engine, variant, int(env_steps), runs_dir)
        return
    options = measurement.options(__doc__, REPETITIONS)
    entry = measurement.begin("recording") | {"tasks": {case: {} for case in CASES}}
    for number in range(options.repetitions):
        for case, samples in entry["tasks"].items():
            for variant in VARIANTS:
                one = _measure(case, variant, options.quick)
                samples.setdefault(variant, []).append(one)
                print(f"{number + 1} {case} {variant}: {one['cpu']:.2f} s", flush=True)
    measurement.end("recording", entry, options.quick)


def _measure(case: str, variant: str, quick: bool) -> dict[str, Any]:
    letter, engine = case.split()
    task = TASKS[letter]
    env_steps = task.scaled(task.ours / (SHORTER[engine] * (5 if quick else 1)))
    with tempfile.TemporaryDirectory() as runs, sample.on_cores({measurement.core()}):
        words = ["sample", letter, engine, variant, str(env_steps), runs]
        one = sample.told([sample.OURS, "-m", "benchmarks.recording", *words])
    return {key: one[key] for key in ("env_steps", "cpu", "wall", "share") if key in one}


def _sample(letter: str, engine: str, variant: str, env_steps: int, runs_dir: str) -> None:
    from benchmarks.child import measured, tell
    from benchmarks.ours import overrides, train

    task = TASKS[letter]
    settings, warm_up = (
        overrides(of, steps) | {"engine": engine}
        for of, steps in ((task, env_steps), (task.warm_up, task.warm_up.env_steps))
    )
    if variant in ("bare", "nothing"):
        _take_the_record_out()
        settings["traces"] = {"train": 0, "eval": "off", "film": "off"}
    if variant == "nothing":
        settings["checkpoint"] = {"every": "off"}
    train(task, warm_up, runs_dir)
    watch = _Watch() if variant == "timed" else None
    with measured() as spent:
        train(task, settings, runs_dir)
    share = {} if watch is None else {"share": watch.seconds / spent.cpu}
    tell("gymnast", env_steps, spent, **share)


class _Watch:
    """CPU seconds of whatever the process without the record lacks. Unlike a pair, it sees no noise
    between two processes; what is slower elsewhere because of the record, it does not see."""

    def __init__(self) -> None:
        from gymnast.collect import vector
        from gymnast.metrics.recorder import Recorder
        from gymnast.training import learner, learning, loop, saving

        self.seconds = 0.0
        self._around(Recorder, "write")
        for name in ("rollout_row", "reward_row", "effect_row"):
            self._around(learning, name)
        self._around(learner, "network_row")
        self._around(loop, "episode_row")
        self._around(saving, "write_traces")
        self._around(vector, "whole_episode")
        self._around(vector, "trace_of")

    def _around(self, owner: Any, name: str) -> None:
        does = getattr(owner, name)

        def timed(*given: Any, **named: Any) -> Any:
            began = time.thread_time()
            try:
                return does(*given, **named)
            finally:
                self.seconds += time.thread_time() - began

        setattr(owner, name, timed)


def _take_the_record_out() -> None:
    from gymnast.metrics.recorder import Recorder
    from gymnast.training import learner, learning, loop

    Recorder.write = lambda *_: []  # type: ignore[method-assign]
    learning.rollout_row = lambda *_: {}  # type: ignore[assignment]
    learning.reward_row = learning.effect_row = lambda *_: {}  # type: ignore[assignment]
    learner.network_row = lambda *_: {}  # type: ignore[assignment]
    loop.episode_row = lambda *_: {}  # type: ignore[assignment]


def shares(samples: dict[str, list[dict[str, Any]]], without: str) -> list[float]:
    """Of the CPU time of a training with everything on, per pair."""
    pairs = zip(samples["on"], samples[without], strict=True)
    return [1.0 - less["cpu"] / whole["cpu"] for whole, less in pairs]


def timed(samples: dict[str, list[dict[str, Any]]]) -> list[float]:
    return [one["share"] for one in samples["timed"]]


def section(found: dict[str, Any]) -> str:
    rows = []
    for case, samples in found["tasks"].items():
        costs = [timed(samples), *(shares(samples, without) for without in ("bare", "nothing"))]
        cells = (f"**{median(c):.1%}** ({min(c):.1%} to {max(c):.1%})" for c in costs)
        rows.append([*case.split(), len(samples["on"]), *cells])
    head = ("task", "engine", "pairs", "by stopwatch", "in pairs", "and checkpoints")
    return _SECTION.format(
        table=table(head, rows), surroundings=measurement.surroundings_text(found)
    )


_SECTION = """\
Share of the CPU time of a training that the making, judging, storing, logging and showing of rows and
the tracing of episodes take: by a stopwatch around each of these in one process, and in pairs of a
process with everything on and one from which they were taken out, in the last column the checkpoints
too. What the update computes on its way (KL, clipped share) is in all. Pairs are noisy here: two
processes that do the same differ by several per cent.

{table}

{surroundings}"""


if __name__ == "__main__":
    main()
