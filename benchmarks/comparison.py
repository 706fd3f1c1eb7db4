"""The tables of the comparison: speeds and ratios, one-time costs, and the time of each phase."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks import measurement
from benchmarks.goals import fastest_setting
from benchmarks.libraries import LABELS, PEERS
from benchmarks.results import Samples, median_speed, ratios
from benchmarks.tables import ratio_text, rounded, table
from benchmarks.tasks import TASKS

Tasks = dict[str, Any]
_PARTS = ("env", "inference", "update", "checkpoint", "rest")


def settings() -> str:
    rows = []
    for task in TASKS.values():
        annealed = " falling to 0" if task.anneal else ""
        numbers = f"lr {task.lr:g}{annealed}, clip {task.clip:g}{annealed}, gamma {task.gamma:g}, "
        numbers += f"lambda {task.gae_lambda:g}, entropy {task.entropy_coef:g}"
        rows.append(
            [
                task.letter,
                task.env,
                f"{task.n_envs} x {task.n_steps}",
                task.batch_size,
                task.epochs,
                task.network,
                numbers,
                f"{task.scaled_budget(task.budget_factor):,} / {task.env_steps:,}",
            ]
        )
    head = ("task", "environment", "copies x steps", "batch", "epochs", "network", "PPO")
    return table((*head, "env steps of a sample, ours / peers"), rows)


def speeds(tasks: Tasks) -> str:
    """Returns a table with a row per task and library."""
    rows = []
    for letter, entry in tasks.items():
        samples: Samples = entry["samples"]
        for who, of in samples.items():
            ratio = "" if who == "ours" else ratio_text(ratios(samples, who))
            by_clock = "" if who == "ours" else ratio_text(ratios(samples, who, part="wall"))
            name = f"**{LABELS[who]}**" if who == "ours" else LABELS[who]
            rows.append([letter, name, rounded(median_speed(of)), ratio, by_clock, _return(of)])
    head = ("task", "", "env steps per CPU second", "gymnast is, times", "by the clock", "return")
    return table(head, rows)


def _return(samples: list[dict[str, Any]]) -> str:
    returns = [one["episode_return"] for one in samples if one.get("episode_return") is not None]
    return f"{median(returns):.0f}" if returns else ""


def not_timed(tasks: Tasks) -> str:
    reasons = {
        f"- {LABELS[who]}, task {letter}: {why}"
        for letter, entry in tasks.items()
        for who, why in entry["absent"].items()
    }
    return "Not timed:\n\n" + "\n".join(sorted(reasons)) + "\n" if reasons else ""


def two_cores(tasks: Tasks) -> str:
    samples: Samples = tasks.get("d", {}).get("two_cores", {})
    if not samples:
        return "Not measured."
    rows = []
    for name, of in samples.items():
        who, setting = name.split(", ", 1)
        best = "best" if name == fastest_setting(samples, who) else ""
        rows.append(
            [
                LABELS[who],
                setting,
                f"{median_speed(of, 'wall'):.0f}",
                f"{median_speed(of):.0f}",
                best,
            ]
        )
    head = ("", "threads and more", "env steps per second", "per CPU second", "")
    return table(head, rows)


def one_time_costs(tasks: Tasks) -> str:
    """Returns a table of the CPU seconds of a command that are not learning."""
    rows = []
    for letter, entry in tasks.items():
        for who, of in entry["samples"].items():
            if who == "alone":
                continue
            compiles = who in PEERS and PEERS[who].compiles
            # The first round compiles, later ones use its cache: the maximum is the real cost.
            compiling = f"{max(one['compiling'] for one in of):.1f}" if compiles else ""
            rest = median(one["whole"] - one["cpu"] - one.get("compiling", 0.0) for one in of)
            rows.append([letter, LABELS[who], f"{rest:.1f}", compiling])
    return table(("task", "", "start, first update and exit, s", "compiling, s"), rows)


def first_step(entry: dict[str, Any] | None) -> str:
    samples = (entry or {}).get("samples", {})
    if not samples.get("sb3"):
        return ""
    ours, sb3 = (median(one["cpu"] for one in samples[who]) for who in ("ours", "sb3"))
    return (
        f"`gymnast train CartPole-v1` takes {ours:.2f} CPU seconds to its first environment step, "
        f"an SB3 script {sb3:.2f}: {ours / sb3:.2f} of it."
    )


def phase_times(tasks: Tasks) -> str:
    """Returns a table of the time per phase of our loop, and our speed relative to the env alone."""
    rows = []
    for letter, entry in tasks.items():
        samples: Samples = entry["samples"]
        phases = [one["split"] for one in samples["ours"]]
        shares = (median(s[f"time/{part}"] / sum(s.values()) for s in phases) for part in _PARTS)
        alone = median(ratios(samples, "alone"))
        rows.append([letter, *(f"{share:.1%}" for share in shares), f"{alone:.0%}"])
    return table(("task", *_PARTS, "speed, of the environment alone"), rows)


def measurement_lines(tasks: Tasks) -> str:
    lines = []
    for letter, entry in tasks.items():
        rounds = len(entry["samples"]["ours"])
        text = measurement.info_text(entry)
        lines.append(f"- {letter}, {rounds} round{'s' if rounds > 1 else ''}: {text}")
    versions: dict[str, str] = {}
    for entry in tasks.values():
        for who, numbers in entry["versions"].items():
            if who != "alone":
                versions[who] = ", ".join(f"{name} {number}" for name, number in numbers.items())
    return "\n".join([*lines, *(f"- {LABELS[who]}: {text}" for who, text in versions.items())])
