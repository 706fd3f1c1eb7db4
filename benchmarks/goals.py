"""The performance goals, and whether the stored measurements meet them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks import recording
from benchmarks.results import Samples, best_peer, median_speed, ratios
from benchmarks.tables import rounded, table

BFLOAT16_SAMPLE = "ours, 1, policy.precision=bfloat16"
Found = dict[str, Any]
"""`tasks`, `first_step`, and the other measurements by name, if they were made."""


@dataclass(frozen=True)
class Goal:
    name: str
    target: str
    reached: str
    met: bool


def goals(found: Found) -> list[Goal]:
    return [
        goal for source in (_tasks, _two_cores, _start, _recurrent, _rest) for goal in source(found)
    ]


def section(found: Found) -> str:
    rows = [
        [goal.name, goal.target, goal.reached, "yes" if goal.met else "**no**"]
        for goal in goals(found)
    ]
    return table(("", "goal", "reached", "met"), rows)


def _tasks(found: Found) -> Iterator[Goal]:
    tasks = found["tasks"]
    for letter, minimum in (("a", 8.0), ("b", 7.0), ("c", 5.0), ("d", 1.5)):
        yield from _ratio_goal(tasks, letter, "sb3", "SB3", minimum)
    if "a" in tasks and (best := best_peer(tasks["a"]["samples"])):
        yield from _ratio_goal(tasks, "a", best, "the best peer", 5.0)
    if "b" in tasks:
        speed = median_speed(tasks["b"]["samples"]["ours"])
        yield Goal("b", "40,000 env steps per CPU second", rounded(speed), speed >= 40_000)
    if "c" in tasks:
        yield _of_alone(tasks["c"]["samples"], "c", 0.7)
    if "e" in tasks and "sb3" in (samples := tasks["e"]["samples"]):
        ratio_sb3, alone = median(ratios(samples, "sb3")), median(ratios(samples, "alone"))
        result = f"{ratio_sb3:.1f} times, {alone:.0%}"
        target = "7 times SB3, or 55% of the environment alone"
        yield Goal("e", target, result, ratio_sb3 >= 7 or alone >= 0.55)
        speed = median_speed(samples["ours"])
        yield Goal("e", "6,500 env steps per CPU second", rounded(speed), speed >= 6500)
    yield from _ratio_goal(tasks, "f", "pufferlib", "PufferLib", 1.0)


def _ratio_goal(tasks: Found, letter: str, peer: str, label: str, minimum: float) -> Iterator[Goal]:
    samples: Samples = tasks[letter]["samples"] if letter in tasks else {}
    if peer in samples:
        ratio = median(ratios(samples, peer))
        target = f"{minimum:g} times {label}" if minimum > 1 else f"ahead of {label}"
        yield Goal(letter, target, f"{ratio:.2f} times", ratio >= minimum)


def _of_alone(samples: Samples, letter: str, minimum: float) -> Goal:
    share = median(ratios(samples, "alone"))
    return Goal(letter, f"{minimum:.0%} of the environment alone", f"{share:.0%}", share >= minimum)


def _two_cores(found: Found) -> Iterator[Goal]:
    task = found["tasks"].get("d", {})
    samples: Samples = task.get("two_cores", {})
    if BFLOAT16_SAMPLE in samples and "sb3" in task["samples"]:
        ratio = median_speed(samples[BFLOAT16_SAMPLE]) / median_speed(task["samples"]["sb3"])
        target = "1.5 times SB3, convolutions in bfloat16"
        yield Goal("d", target, f"{ratio:.2f} times", ratio >= 1.5)
    if not any(name.startswith("sb3") for name in samples):
        return
    float32 = {name: some for name, some in samples.items() if "bfloat16" not in name}
    for chosen, of in ((float32, "in float32"), (samples, "each with its best setting")):
        ours, sb3 = fastest_setting(chosen, "ours"), fastest_setting(chosen, "sb3")
        ratio = median_speed(chosen[ours], "wall") / median_speed(chosen[sb3], "wall")
        target = f"twice SB3 on two cores in wall time, {of}"
        result = f"{ratio:.2f} times (threads: {ours.partition(', ')[2]})"
        yield Goal("d", target, result, ratio >= 2.0)


def fastest_setting(samples: Samples, who: str) -> str:
    """Returns the setting with which a library is fastest in wall time."""
    return max(
        (name for name in samples if name.startswith(f"{who},")),
        key=lambda name: median_speed(samples[name], "wall"),
    )


def _start(found: Found) -> Iterator[Goal]:
    samples = (found.get("first_step") or {}).get("samples", {})
    if samples.get("sb3"):
        share = first_step_share(samples)
        target = "to the first environment step: a quarter of SB3's CPU time"
        yield Goal("start", target, f"{share:.2f} of it", share <= 0.25)


def first_step_share(samples: Samples) -> float:
    ours, sb3 = (median(one["cpu"] for one in samples[who]) for who in ("ours", "sb3"))
    return ours / sb3


def _recurrent(found: Found) -> Iterator[Goal]:
    for letter, samples in ((found.get("recurrent") or {}).get("tasks") or {}).items():
        name = f"memory of the policy, {letter}"
        speed = median_speed(samples["ours"])
        yield Goal(name, "4,000 env steps per CPU second", rounded(speed), speed >= 4000)
        ratio = median(ratios(samples, "torch"))
        yield Goal(name, "2 times our torch engine", f"{ratio:.1f} times", ratio >= 2)


def _rest(found: Found) -> Iterator[Goal]:
    if (memory := found.get("memory")) and "sb3" in memory["samples"]:
        sb3 = median(memory["samples"]["sb3"])
        for who, label, maximum in (
            ("ours", "memory", 1.0),
            ("torch", "memory, torch engine", 1.3),
        ):
            if who in memory["samples"]:
                share = median(memory["samples"][who]) / sb3
                target = "below SB3's" if maximum == 1 else f"at most {maximum:g} of SB3's"
                yield Goal(label, target, f"{share:.2f} of it", share < maximum)
        if "sb3, pixels" in memory["samples"]:
            ours, sb3 = (median(memory["samples"][f"{who}, pixels"]) for who in ("ours", "sb3"))
            result = f"{ours / sb3:.2f} of it"
            yield Goal("memory, Pong pixels", "below SB3's", result, ours < sb3)
    if record := found.get("recording"):
        for case, samples in record["tasks"].items():
            stopwatch, turns = (
                median(of(samples)) for of in (recording.stopwatch_shares, recording.turn_shares)
            )
            target = "metrics, alerts and traces: under 5% of CPU time"
            result = f"{stopwatch:.1%} by stopwatch, {turns:.1%} in turns"
            yield Goal(f"record, {case}", target, result, max(stopwatch, turns) < 0.05)
    for env, limit in (("CartPole-v1", 3), ("LunarLander-v3", 60)):
        samples = ((found.get("solving") or {}).get("envs", {}).get(env) or {}).get("samples")
        if samples:
            solved = all(one["solved"] for one in samples["ours"])
            seconds = median(one["wall"] for one in samples["ours"])
            result = f"{seconds:.1f} s" + ("" if solved else ", not every seed")
            target = f"{env} solved in under {limit} s of wall time"
            yield Goal("solving", target, result, solved and seconds < limit)
