"""The parts of the measurement, each a function that returns JSON. Samples that are compared are taken in
turn, so that other load on the machine affects them alike."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.distributed.kill import kill_actor
from benchmarks.distributed.measure import Measured, Training, in_folder, measure, ours, rllib
from benchmarks.distributed.tasks import TASKS
from benchmarks.libraries import PEERS
from gymnast.tune.scale_model import ScaleModel

HOSTS = (1, 2, 4, 8)
FITTED, PREDICTED = (1, 2, 3, 4), 8
"""Numbers of hosts that the cost model is fitted to, and the one that it predicts."""
PEER_HOSTS = 2
UNEVEN_HOSTS = 4
MEANS = ("hosts/bytes", "hosts/wait", "hosts/cpu", "time/update", "hosts/staleness")
ACTORS = {
    "local": "gymnast.collect.shards.process",
    "ray": "ray::Host",
    "rllib": "ray::SingleAgentEnvRunner",
}
"""Words in the command line of the processes that collect."""


@dataclass(frozen=True)
class Options:
    seconds: float
    """Length of a sample."""
    repetitions: int
    hosts: tuple[int, ...] = HOSTS
    carriers: tuple[str, ...] = ("local", "ray")


Point = tuple[str, Callable[[str], Training]]
"""A label and a function that returns the training in a folder."""


def overhead(options: Options) -> dict[str, Any]:
    """CPU seconds per env step on hosts relative to one process, for environments of different cost."""
    found: dict[str, Any] = {}
    for name in ("halfcheetah", "pong", "cartpole"):
        task = TASKS[name]
        points: list[Point] = [("here", lambda folder, task=task: ours(task, folder))]
        for on in options.carriers:
            points += [
                (
                    f"{on} {n}",
                    lambda folder, task=task, on=on, n=n: ours(task, folder, on_hosts(on, n)),
                )
                for n in options.hosts
            ]
        samples = _rounds(points, options)
        base = samples["here"]
        found[name] = {
            "samples": samples,
            "cpu_ratio": {
                label: median(
                    one["cpu_per_step"] / other["cpu_per_step"]
                    for one, other in zip(of, base, strict=True)
                )
                for label, of in samples.items()
                if label != "here"
            },
        }
    return found


def two_cores(options: Options) -> dict[str, Any]:
    """Speed with two hosts relative to twice that of one process, where a step costs 200 us of a core."""
    task = TASKS["burn"]
    points: list[Point] = [("here", lambda folder: ours(task, folder))]
    points += [
        (on, lambda folder, on=on: ours(task, folder, on_hosts(on, 2))) for on in options.carriers
    ]
    samples = _rounds(points, options)
    return {
        "samples": samples,
        "efficiency": {
            on: median(
                one["steps_per_second"] / (2 * other["steps_per_second"])
                for one, other in zip(samples[on], samples["here"], strict=True)
            )
            for on in options.carriers
        },
    }


def sleeping(options: Options) -> dict[str, Any]:
    """Speed-up by hosts where a step takes 5 ms without using a core, and the cost model: fitted to few
    hosts, compared with the measurement of more."""
    task = TASKS["sleep"]
    found: dict[str, Any] = {}
    for on in options.carriers:
        points: list[Point] = [
            (str(n), lambda folder, on=on, n=n: ours(task, folder, on_hosts(on, n)))
            for n in (*FITTED, PREDICTED)
        ]
        samples = _rounds(points, options)
        speeds = {
            int(n): median(one["steps_per_second"] for one in of) for n, of in samples.items()
        }
        seconds = {n: task.rollout / speed for n, speed in speeds.items()}
        model = ScaleModel.fit({n: seconds[n] for n in FITTED})
        predicted = model.seconds(PREDICTED)
        found[on] = {
            "samples": samples,
            "speedup": {n: speed / speeds[1] for n, speed in speeds.items()},
            "model": asdict(model),
            "predicted_seconds": predicted,
            "measured_seconds": seconds[PREDICTED],
            "error": predicted / seconds[PREDICTED] - 1,
        }
    return found


def uneven(options: Options) -> dict[str, Any]:
    """Speed of async relative to sync on hosts of which one is three times as slow as the others."""
    task, found = TASKS["sleep"], {}
    for on in options.carriers:

        def training(folder: str, mode: str, on: str = on) -> Training:
            extra = [*on_hosts(on, UNEVEN_HOSTS), f"collect.mode={mode}"]
            return ours(task, folder, extra, {"slow_dir": folder})

        points: list[Point] = [
            (mode, lambda folder, mode=mode, make=training: make(folder, mode))
            for mode in ("sync", "async")
        ]
        samples = _rounds(points, options)
        ratio = median(
            one["steps_per_second"] / other["steps_per_second"]
            for one, other in zip(samples["async"], samples["sync"], strict=True)
        )
        found[on] = {"samples": samples, "ratio": ratio}
    return found


def peer(options: Options) -> dict[str, Any]:
    """gymnast on Ray and RLlib with the same settings and number of actors, in turn."""
    absent = PEERS["rllib"].why_missing()
    if absent is not None:
        return {"absent": absent}
    found: dict[str, Any] = {}
    for name in ("cartpole", "halfcheetah", "burn"):
        task = TASKS[name]
        points: list[Point] = [
            (
                "ours",
                lambda folder, task=task: ours(
                    task, folder, on_hosts(options.carriers[-1], PEER_HOSTS)
                ),
            ),
            ("rllib", lambda folder, task=task: rllib(task, folder, PEER_HOSTS)),
        ]
        found[name] = {"samples": _rounds(points, options)}
    return found


def killed(options: Options) -> dict[str, Any]:
    """Kills one of the processes that collect: the time lost, and the episodes cut."""
    task, found = TASKS["logged"], {}
    who = [*options.carriers, *(["rllib"] if PEERS["rllib"].why_missing() is None else [])]
    for name in who:
        reports = []
        for _ in range(options.repetitions):
            with tempfile.TemporaryDirectory(prefix="gymnast-distributed-") as folder:
                log = Path(folder) / "episodes.txt"
                kwargs = {"path": str(log)}
                training = (
                    rllib(task, folder, PEER_HOSTS, kwargs)
                    if name == "rllib"
                    else ours(task, folder, on_hosts(name, PEER_HOSTS), kwargs)
                )
                reports.append(asdict(kill_actor(training, ACTORS[name], log)))
                print(f"  {name}: {reports[-1]}", flush=True)
        found[name] = reports
    return found


SECTIONS: dict[str, Callable[[Options], dict[str, Any]]] = {
    "overhead": overhead,
    "two_cores": two_cores,
    "sleeping": sleeping,
    "uneven": uneven,
    "peer": peer,
    "killed": killed,
}


def on_hosts(on: str, hosts: int) -> list[str]:
    return [f"collect.on={on}", f"collect.hosts={hosts}"]


def _rounds(points: list[Point], options: Options) -> dict[str, list[dict[str, Any]]]:
    """Returns the samples of each point, taken in turn."""
    samples: dict[str, list[dict[str, Any]]] = {label: [] for label, _ in points}
    for _ in range(options.repetitions):
        for label, training in points:

            def one(folder: str, make: Callable[[str], Training] = training) -> Measured:
                return measure(make(folder), options.seconds, MEANS)

            sample: Measured = in_folder(one)
            samples[label].append(asdict(sample))
            print(
                f"  {label}: {sample.steps_per_second:,.0f} steps/s, "
                f"{1e6 * sample.cpu_per_step:.1f} us of CPU per step, {sample.memory:,.0f} MB",
                flush=True,
            )
    return samples
