"""The results of `benchmarks.backends` as a section of the page."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks.measurement import info_text
from benchmarks.results import Samples, ratios, speed
from benchmarks.tables import ratio_text, rounded, table

_COMPARED_WITH = (("cpu", "SyncVectorEnv"), ("cpu", "AsyncVectorEnv"), ("wall", "AsyncVectorEnv"))


def section(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return _SECTION.format(
        table=_table(found),
        repetitions=found["repetitions"],
        surroundings=f"{info_text(found)} {found['workers']} workers. {versions}.",
    )


def _table(found: dict[str, Any]) -> str:
    rows = []
    for task in found["tasks"]:
        samples: Samples = task["samples"]
        for who, of in samples.items():
            name = f"`{who}`" if who.islower() else who
            best = rounded(max(speed(one, "wall") for one in of))
            median_speed = rounded(median(speed(one) for one in of))
            relative = (
                "" if who == peer else ratio_text(ratios(samples, peer, who, part))
                for part, peer in _COMPARED_WITH
            )
            rows.append([task["env"], task["n_envs"], name, best, median_speed, *relative])
    head = ("environment", "copies", "backend", "best per second", "per CPU second")
    names = (f"times {peer}{', wall' if part == 'wall' else ''}" for part, peer in _COMPARED_WITH)
    return table((*head, *names), rows)


_SECTION = """\
Random actions in copies of an environment, without learning: the backends of gymnast (`env.backend`) and
Gymnasium's vector environments. Only steps of episodes are counted, not calls that only reset. Numbers are
medians of {repetitions} rounds; in each round the backends run one after the other, on all cores of a machine
that may have other work. CPU seconds are therefore more reliable than wall seconds: on a busy machine, 16
processes get a larger share than 2. Ratios are computed within a round.

{table}

Worker processes cost CPU time for communication, and save wall time if cores are free and a vector step takes
more than about half a millisecond. On short episodes SyncVectorEnv catches up with `inprocess`, because it
resets without a seed, whereas ours seeds each episode. {surroundings}"""
