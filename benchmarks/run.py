"""Times gymnast and its peers in turn, on one core, in CPU and wall seconds.

benchmarks/setup                                        # once: the peers' virtual environments
python -m benchmarks.run                                # about 20 minutes; JSON and the page
python -m benchmarks.run --tasks a,b                    # measures these anew, keeps the others
python -m benchmarks.run --tasks a --peers sb3 --quick  # one short round, stored separately
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from benchmarks import code_revision, results, sample
from benchmarks.libraries import PEERS
from benchmarks.tasks import TASKS

QUICK = 0.25
"""Fraction of the budget in a quick run."""
TWO_CORES: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("ours", 1, ("policy.precision=bfloat16",)),
    ("ours", 2, ()),
    ("sb3", 2, ()),
    ("ours", 2, ("collect.mode=overlap",)),
    ("ours", 2, ("collect.mode=overlap", "policy.precision=bfloat16")),
)
"""Library, threads and settings of the samples on two cores, for tasks with pixels. One thread with default
settings is timed on one core."""


def main() -> None:
    options = _options()
    path = options.out or (results.COMPARISON if _is_complete(options) else results.PARTIAL)
    for letter in options.tasks:
        _measure(letter, options, path)
    if "a" in options.tasks:
        _first_steps(options, path)
    _print(f"wrote {path}")
    if path == results.COMPARISON:
        from benchmarks import report

        report.write()
        _print(f"wrote {report.PAGE}")


def _measure(letter: str, options: argparse.Namespace, path: Path) -> None:
    """Measures all rounds of one task; after each, the entry of the task is replaced."""
    entry = code_revision.measurement_info("run") | {
        "source": code_revision.package_digest(),
        "versions": {},
        "absent": {},
    }
    entry |= {"samples": {}, "two_cores": {}}
    for name, peer in PEERS.items():
        why = peer.why_missing() if name in options.peers else "excluded from this run"
        if letter in peer.tasks and why is not None:
            entry["absent"][name] = why
    for number in range(1, options.repetitions + 1):
        _round(letter, options, entry)
        text = results.round_text(entry["samples"])
        _print(f"{letter} {number}/{options.repetitions}: {text}")
        results.replace_entry(path, "tasks", letter, entry)
    for name, why in entry["absent"].items():
        _print(f"{letter}: without {name}: {why}")


def _round(letter: str, options: argparse.Namespace, entry: dict[str, Any]) -> None:
    """Takes one sample of each library, directly after each other, so that other load affects all alike."""
    task, scale = TASKS[letter], options.scale
    env_steps = task.scaled_budget(scale)
    with sample.pin_to_cores({options.core}):
        _add_sample(
            entry, "ours", sample.ours(letter, task.scaled_budget(scale * task.budget_factor))
        )
        for name in options.peers:
            if letter not in PEERS[name].tasks or name in entry["absent"]:
                continue
            try:
                _add_sample(entry, name, sample.peer(name, letter, env_steps))
            except sample.CommandFailed as problem:
                # Ratios need a sample per round, so a peer that fails once is dropped.
                entry["absent"][name] = problem.reason
                entry["samples"].pop(name, None)
        _add_sample(entry, "alone", sample.alone(letter))
    if not task.pixels:
        return
    for who, threads, more in TWO_CORES:
        if who == "ours":
            one = sample.ours(letter, task.scaled_budget(scale * task.budget_factor), threads, more)
        elif who in entry["samples"]:
            one = sample.peer(who, letter, env_steps, threads)
        else:
            continue
        _add_sample(entry, who, one, "two_cores", ", ".join((who, str(threads), *more)))


def _add_sample(
    entry: dict[str, Any], who: str, one: dict[str, Any], where: str = "samples", name: str = ""
) -> None:
    if who == "ours":
        code_revision.require_same_code(one.pop("source"), entry["source"])
    entry["versions"][who] = one.pop("versions")
    entry[where].setdefault(name or who, []).append(one)


def _first_steps(options: argparse.Namespace, path: Path) -> None:
    """Measures the CPU time from the command to the first environment step, at least 5 times."""
    entry = code_revision.measurement_info("run") | {"samples": {"ours": [], "sb3": []}}
    with sample.pin_to_cores({options.core}):
        for _ in range(max(options.repetitions, 1 if options.scale < 1 else 5)):
            entry["samples"]["ours"].append(sample.first_step_ours())
            if "sb3" in options.peers and PEERS["sb3"].why_missing() is None:
                entry["samples"]["sb3"].append(sample.first_step_sb3())
    results.replace_entry(path, "first_step", None, entry)


def _is_complete(options: argparse.Namespace) -> bool:
    """True if no peer is excluded and nothing is shortened; other runs would remove numbers from the page."""
    return options.scale == 1 and list(options.peers) == list(PEERS)


def _print(line: str) -> None:
    print(line, flush=True)


def _options() -> argparse.Namespace:
    def words(text: str) -> list[str]:
        return [word for word in text.split(",") if word]

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--tasks", default=list(TASKS), type=words, help="letters, separated by commas"
    )
    parser.add_argument("--peers", default=list(PEERS), type=words, help=", ".join(PEERS))
    parser.add_argument("--repetitions", default=3, type=int)
    parser.add_argument("--core", default=max(os.sched_getaffinity(0)), type=int)
    parser.add_argument("--scale", default=1.0, type=float, help="fraction of every budget")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--out", type=lambda text: Path(text).resolve())
    options = parser.parse_args()
    unknown = {*options.tasks} - {*TASKS} | {*options.peers} - {*PEERS}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if options.quick:
        options.repetitions, options.scale = 1, QUICK
    return options


if __name__ == "__main__":
    main()
