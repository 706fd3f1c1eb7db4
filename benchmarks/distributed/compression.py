"""Measures whether it pays to compress the images that hosts send.

python -m benchmarks.distributed.compression            # a minute; writes benchmarks/results/compression.json
python -m benchmarks.distributed.compression --quick    # one repetition, nothing written

A rollout of Pong is collected with the settings of its preset. Its frames, each of which is sent once, are
compressed and decompressed on one core. A byte takes 1 / link seconds on its way. Compressed to a share r of
its size it takes r / link and c + d seconds of CPU time: less on links slower than (1 - r) / (c + d).
If many hosts compress at the same time, the training process only waits for its own part, d.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any

from benchmarks import code_revision, measurement
from gymnast.clock import Clock
from gymnast.collect.collector import ROLE
from gymnast.config.resolve import resolve
from gymnast.images import Images
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner

TARGET = "ALE/Pong-v5:pixels"
WARM_UP = 4
"""Rollouts before the measured one: the first frames of an episode show an empty field."""
REPETITIONS = 7
GIGABIT = 1e9 / 8
"""Bytes per second of a link of 1 Gbit/s."""

Codec = tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]
"""The functions that compress and decompress."""


def main() -> None:
    options = measurement.parse_options(__doc__, REPETITIONS)
    entry = measurement.new_entry("distributed.compression")
    frames, rollout = collect_frames()
    data = frames.plane.tobytes()
    run = stored_speed()
    entry |= {
        "env": TARGET,
        "frames": len(frames.plane),
        "frame_bytes": frames.plane[0].nbytes,
        "env_steps": rollout,
        "bytes_per_step": len(data) / rollout,
        "run": run | {"bytes_per_second": run["steps_per_second"] * len(data) / rollout},
        "codecs": {
            name: compare(codec, data, options.repetitions, rollout / run["steps_per_second"])
            for name, codec in codecs().items()
        },
    }
    print(json.dumps({key: entry[key] for key in ("bytes_per_step", "run", "codecs")}, indent=1))
    code_revision.require_same_code(str(code_revision.PACKAGE), entry["source"])
    if not options.quick:
        path = measurement.result_path("compression")
        path.write_text(json.dumps(entry, indent=1) + "\n")
        print(f"wrote {path}")


def collect_frames() -> tuple[Images, int]:
    """Returns the frames of a rollout, each of them once, and its env steps."""
    cfg = resolve(TARGET).config
    collector = open_collector(cfg)
    try:
        collector.start_episodes()
        policy = Learner(ROLE, *collector.spaces[ROLE], cfg).policy
        clock, span = Clock(), cfg.initial_hyperparameters().rollout_length()
        for _ in range(WARM_UP):
            collector.collect({ROLE: policy}, span, clock)
            clock.rollouts += 1
        result = collector.collect({ROLE: policy}, span, clock)
    finally:
        collector.close()
    obs = result.rollouts[ROLE].obs
    assert isinstance(obs, Images)
    return obs, result.steps


def stored_speed() -> dict[str, Any]:
    """Returns the fastest run of Pong on hosts that `benchmarks.distributed` has measured."""
    entry = measurement.load_entry("distributed")
    assert entry is not None
    part = entry["sections"]["overhead"]
    speeds = {
        label: median(one["steps_per_second"] for one in samples)
        for label, samples in part["pong"]["samples"].items()
        if label != "here"
    }
    fastest = max(speeds, key=lambda label: speeds[label])
    return {
        "hosts": fastest,
        "steps_per_second": speeds[fastest],
        "measured": part["measured"],
    }


def codecs() -> dict[str, Codec]:
    """Returns the codecs that are installed."""
    found: dict[str, Codec] = {"zlib 1": (lambda data: zlib.compress(data, 1), zlib.decompress)}
    try:
        lz4 = import_module("lz4.frame")
    except ImportError:
        return found
    return found | {"lz4": (lz4.compress, lz4.decompress)}


def compare(codec: Codec, data: bytes, repetitions: int, seconds: float) -> dict[str, float]:
    """Returns what a codec costs and saves. `seconds`: the time of a rollout of a run, with its update."""
    compress, decompress = codec
    small = compress(data)
    assert decompress(small) == data
    pack = median(cpu_seconds(compress, data) for _ in range(repetitions))
    unpack = median(cpu_seconds(decompress, small) for _ in range(repetitions))
    saved = len(data) - len(small)
    return {
        "ratio": len(small) / len(data),
        "compress_seconds": pack,
        "decompress_seconds": unpack,
        "pays_below_mbit": 8e-6 * saved / (pack + unpack),
        "pays_below_mbit_with_many_hosts": 8e-6 * saved / unpack,
        "transfer_seconds_at_1_gbit": len(data) / GIGABIT,
        "share_of_rollout_saved_at_1_gbit": (saved / GIGABIT - pack - unpack) / seconds,
        "share_of_rollout_lost_without_network": (pack + unpack) / seconds,
    }


def cpu_seconds(work: Callable[[bytes], bytes], data: bytes) -> float:
    began = time.process_time()
    work(data)
    return time.process_time() - began


if __name__ == "__main__":
    main()
