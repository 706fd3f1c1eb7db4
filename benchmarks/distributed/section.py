"""The section of docs/benchmarks.md about collecting on several hosts."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.measurement import info_text
from benchmarks.tables import rounded, table

WHO = {"local": "processes (`local`)", "ray": "Ray", "rllib": "RLlib", "ours": "gymnast on Ray"}
TASKS = {
    "halfcheetah": "HalfCheetah",
    "pong": "Pong in pixels",
    "cartpole": "CartPole",
    "burn": "200 us of a core per step",
}


def section(found: dict[str, Any]) -> str:
    """Returns the text for the parts that have been measured."""
    parts = found["sections"]
    texts = [write(parts[name]) for name, write in _WRITERS.items() if name in parts]
    dates = {info_text(part["measured"]) for part in parts.values()}
    return "\n\n".join([*texts, *sorted(dates)])


def _overhead(part: dict[str, Any]) -> str:
    tasks = {name: part[name]["cpu_ratio"] for name in TASKS if name in part}
    labels = list(next(iter(tasks.values())))
    rows = [
        [TASKS[name], *(f"{ratios[label]:.2f}" for label in labels)]
        for name, ratios in tasks.items()
    ]
    text = "CPU time per env step of all processes, relative to collecting in the training process:"
    return f"{text}\n\n{table(('hosts', *labels), rows)}"


def _two_cores(part: dict[str, Any]) -> str:
    efficiency = ", ".join(f"{WHO[on]} {share:.0%}" for on, share in part["efficiency"].items())
    return (
        "Two hosts on two cores, where a step takes 200 us of a core: speed relative to twice that of one "
        f"process: {efficiency}."
    )


def _sleeping(part: dict[str, Any]) -> str:
    found = {on: of for on, of in part.items() if on in WHO}
    numbers = list(next(iter(found.values()))["speedup"])
    rows = [
        [WHO[on], *(f"{of['speedup'][n]:.2f}" for n in numbers), f"{of['error']:+.0%}"]
        for on, of in found.items()
    ]
    text = (
        "Speed-up where a step takes 5 ms without using a core, and the error of the "
        "[cost model](scale.md#cost-model) for 8 hosts, fitted to 1 to 4:"
    )
    return f"{text}\n\n{table(('hosts', *numbers, 'error of the model'), rows)}"


def _uneven(part: dict[str, Any]) -> str:
    ratios = ", ".join(f"{WHO[on]} {of['ratio']:.2f}" for on, of in part.items() if on in WHO)
    return (
        "Speed of `collect.mode=async` relative to `sync`, on four hosts of which one is three times as "
        f"slow as the others: {ratios}."
    )


def _peer(part: dict[str, Any]) -> str:
    if "absent" in part:
        return f"Without RLlib: {part['absent']}"
    rows = [
        [
            TASKS[name],
            WHO[who],
            rounded(median(one["steps_per_second"] for one in of)),
            f"{1e6 * median(one['cpu_per_step'] for one in of):.1f}",
            rounded(median(one["memory"] for one in of)),
        ]
        for name in TASKS
        if name in part
        for who, of in part[name]["samples"].items()
    ]
    head = ("", "", "env steps per second", "us of CPU per step", "PSS of all processes, MB")
    text = "PPO with the same settings on two actors, next to RLlib (new API stack):"
    return f"{text}\n\n{table(head, rows)}"


def _killed(part: dict[str, Any]) -> str:
    rows = []
    for who in (name for name in WHO if name in part):
        reports = part[who]
        lost = [r["lost_seconds"] for r in reports if r["lost_seconds"] is not None]
        rows.append(
            [
                WHO[who],
                f"{sum(r['continues'] for r in reports)} of {len(reports)}",
                f"{median(lost):.1f}" if lost else "",
                sum(r["cut_episodes"] for r in reports),
                sum(r["continued_episodes"] for r in reports),
            ]
        )
    head = ("", "training continues", "seconds lost", "episodes interrupted", "of them continued")
    return f"One of two actors is killed with SIGKILL:\n\n{table(head, rows)}"


_WRITERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "overhead": _overhead,
    "two_cores": _two_cores,
    "sleeping": _sleeping,
    "uneven": _uneven,
    "peer": _peer,
    "killed": _killed,
}
