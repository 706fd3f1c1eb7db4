"""What `benchmarks.backends` found, as the page shows it."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks.measurement import surroundings_text
from benchmarks.results import Samples, ratios, speed
from benchmarks.tables import rounded, table, times

_BESIDE = (("cpu", "SyncVectorEnv"), ("cpu", "AsyncVectorEnv"), ("wall", "AsyncVectorEnv"))


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
            beside = (
                "" if who == peer else times(ratios(samples, peer, who, part))
                for part, peer in _BESIDE
            )
            rows.append([task["env"], task["n_envs"], name, best, usual, *beside])
    head = ("environment", "copies", "backend", "best per second", "per CPU second")
    names = (f"beside {peer}{', wall' if part == 'wall' else ''}" for part, peer in _BESIDE)
    return table((*head, *names), rows)


_SECTION = """\
Random actions in copies of an environment, nothing else: `env.backend` of gymnast beside Gymnasium's
vectors. Steps of episodes are counted, not the calls that only reset. Medians of {repetitions}
rounds; in each the backends run one right after the other, on all cores, beside whatever else the
machine does, so a second of CPU says more than one of the clock: a vector of 16 processes gets more
of a busy machine than one of 2. Ratios are within a round.

{table}

Workers cost CPU time for the way there and back, and save time where cores are free and a vector
step takes more than about half a millisecond. On short episodes SyncVectorEnv gains on `inprocess`
because it resets without a seed: ours gives each episode one of its own. {surroundings}"""
