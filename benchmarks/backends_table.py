"""What `benchmarks.backends` found, as the page shows it."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks.measurement import surroundings_text
from benchmarks.results import Samples, ratios, speed
from benchmarks.tables import rounded, table, times

_RELATIVE_TO = (("cpu", "SyncVectorEnv"), ("cpu", "AsyncVectorEnv"), ("wall", "AsyncVectorEnv"))


def section(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return _SECTION.format(
        table=_table(found),
        repetitions=found["repetitions"],
        surroundings=f"{surroundings_text(found)} {found['workers']} workers. {versions}.",
    )


def _table(found: dict[str, Any]) -> str:
    rows = []
    for task in found["tasks"]:
        samples: Samples = task["samples"]
        for who, of in samples.items():
            name = f"`{who}`" if who.islower() else who
            best = rounded(max(speed(one, "wall") for one in of))
            usual = rounded(median(speed(one) for one in of))
            relative = (
                "" if who == peer else times(ratios(samples, peer, who, part))
                for part, peer in _RELATIVE_TO
            )
            rows.append([task["env"], task["n_envs"], name, best, usual, *relative])
    head = ("environment", "copies", "backend", "best per second", "per CPU second")
    names = (
        f"relative to {peer}{', wall' if part == 'wall' else ''}" for part, peer in _RELATIVE_TO
    )
    return table((*head, *names), rows)


_SECTION = """\
Random actions in copies of an environment, without training: the backends of gymnast (`env.backend`)
compared with Gymnasium's vector environments. Steps of episodes are counted, not calls that only reset.
Medians of {repetitions} rounds; in each, the backends run one right after the other, on all cores of a
machine with other load. So CPU time is more meaningful than wall time: a vector environment with 16
processes gets a larger share of a busy machine than one with 2. Ratios are within a round.

{table}

Worker processes cost CPU time for communication, and save wall time if cores are free and a vector step takes
more than about half a millisecond. On short episodes SyncVectorEnv gains on `inprocess` because it resets
without a seed, while gymnast gives each episode its own seed. {surroundings}"""
