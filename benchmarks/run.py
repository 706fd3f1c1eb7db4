"""Time gymnast and its peers in turn, on one core, in CPU seconds.

benchmarks/setup                                # once: the peers' virtual environment
python -m benchmarks.run                        # about 12 minutes; writes JSON and the page
python -m benchmarks.run --quick                # one short repetition, no page
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import report, sample, timed
from benchmarks.tasks import TASKS
from gymnast.runs import machine

RESULTS = Path(__file__).parent / "results"
QUICK = 0.25
"""Share of the budget in a quick run."""


def main() -> None:
    options = _options()
    if not Path(sample.PEERS).exists():
        raise SystemExit(f"{sample.PEERS} is missing; run benchmarks/setup once")
    sample.pin(options.core)
    scale, repetitions = (QUICK, 1) if options.quick else (1.0, options.repetitions)
    found: dict[str, Any] = {
        "command": shlex.join(["python", "-m", "benchmarks.run", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "revision": timed.revision(),
        "source": timed.digest(),
        "hardware": machine.cpu(),
        "repetitions": repetitions,
        "versions": {},
        "tasks": {letter: _empty() for letter in options.tasks},
        "first_step": {"ours": [], "sb3": []},
    }
    for repetition in range(repetitions):
        for letter in options.tasks:
            _take(found, letter, scale)
            _say(f"{repetition + 1}/{repetitions} {letter}", found["tasks"][letter])
        found["first_step"]["ours"].append(sample.first_step_ours())
        found["first_step"]["sb3"].append(sample.first_step_sb3())
    path = options.out or RESULTS / ("quick.json" if options.quick else report.SOURCE.name)
    path.write_text(json.dumps(found, indent=1) + "\n")
    _tell(f"wrote {path}")
    if path == report.SOURCE:
        report.write()
        _tell(f"wrote {report.PAGE}")


def _take(found: dict[str, Any], letter: str, scale: float) -> None:
    """One sample of each, one right after the other: they meet the same neighbours."""
    env_steps = TASKS[letter].scaled(scale)
    told = {
        "ours": sample.ours(letter, env_steps),
        "sb3": sample.sb3(letter, env_steps),
        "alone": sample.alone(letter),
    }
    work = [[told[who][count] for count in ("env_steps", "updates")] for who in ("ours", "sb3")]
    assert work[0] == work[1], f"task {letter}: different amounts of work, {work}"
    timed.refuse_other_code(told["ours"].pop("source"), found["source"])
    for who, one in told.items():
        found["versions"][who] = one.pop("versions")
        found["tasks"][letter][who].append(one)


def _empty() -> dict[str, list[Any]]:
    return {"ours": [], "sb3": [], "alone": []}


def _say(what: str, samples: dict[str, list[Any]]) -> None:
    speeds = (f"{who} {report.speed(of[-1]):,.0f}/s" for who, of in samples.items())
    _tell(f"{what}: {', '.join(speeds)}, ratio {report.ratios(samples)[-1]:.2f}")


def _tell(line: str) -> None:
    print(line, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default=list(TASKS), type=lambda text: text.split(","))
    parser.add_argument("--repetitions", default=3, type=int)
    parser.add_argument("--core", default=max(os.sched_getaffinity(0)), type=int)
    parser.add_argument("--quick", action="store_true", help="one short repetition")
    parser.add_argument("--out", type=lambda text: Path(text).resolve())
    return parser.parse_args()


if __name__ == "__main__":
    main()
