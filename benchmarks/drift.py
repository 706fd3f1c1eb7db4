"""Measures speed ratios in short rounds and prints them next to the stored ones, as one line of JSON.

python -m benchmarks.drift --tasks a,b --peers sb3      # about two minutes; nothing is stored

For unattended checks (`gymnast nightly`), which compare both. The ratio to the environment alone needs no
other library.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.libraries import LABELS, PEERS
from benchmarks.results import COMPARISON, ratios

ROUNDS, SCALE = 3, 0.5
"""Rounds, and the fraction of every budget."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tasks", default="a,b", help="letters, separated by commas")
    parser.add_argument("--peers", default="sb3", help="names, separated by commas")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        out = Path(folder) / "drift.json"
        words = ["--tasks", options.tasks, "--peers", options.peers, "--out", str(out)]
        words += ["--repetitions", str(ROUNDS), "--scale", str(SCALE)]
        command = [sys.executable, "-m", "benchmarks.run", *words]
        done = subprocess.run(command, stdout=sys.stderr, check=False)
        if done.returncode:
            sys.exit(done.returncode)
        measured = json.loads(out.read_text())["tasks"]
    stored = json.loads(COMPARISON.read_text())["tasks"]
    print(json.dumps(drift(measured, stored, options.peers.split(","))))


def drift(measured: dict[str, Any], stored: dict[str, Any], peers: list[str]) -> dict[str, Any]:
    """Returns `ratios`, with the median of the rounds now and as stored, and `absent`: library -> the reason
    why it was not measured. `measured` and `stored`: letter of a task -> its entry; `peers`: the libraries
    that were asked for."""
    found: list[dict[str, Any]] = []
    absent: dict[str, str] = {}
    for letter, entry in measured.items():
        before = stored.get(letter, {"samples": {}})["samples"]
        for who in ("alone", *peers):
            if who in entry["samples"] and who in before:
                now = ratios(entry["samples"], who)
                values = {"now": median(now), "stored": median(ratios(before, who))}
                found.append({"task": letter, "label": LABELS[who], "rounds": len(now), **values})
            elif who in PEERS and letter in PEERS[who].tasks:
                absent[LABELS[who]] = entry["absent"].get(who, "there is no stored ratio")
    return {"ratios": found, "absent": absent}


if __name__ == "__main__":
    main()
