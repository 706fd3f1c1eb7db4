"""Makes docs/studies/pong-sweep.json: a search with short trials for settings that learn Pong from objects.

The space is the one that ships with gymnast (`gymnast sweep init ALE/Pong-v5:objects`), with a budget of 90k
env steps instead of 300k. The best trial and the preset are then trained on fresh seeds.

    python docs/studies/pong_sweep.py RUNS_DIR          # search, or continue
    python docs/studies/pong_sweep.py RUNS_DIR store    # store the result
"""

from __future__ import annotations

import sys
from pathlib import Path

from stored_sweep import store_study

from gymnast.api import sweep_prepare, sweep_space
from gymnast.sweep import study as studies

FILE = Path(__file__).with_name("pong-sweep.json")
TARGET, NAME = "ALE/Pong-v5:objects", "pong-objects"
CHANGES = {
    "stop.env_steps: 300k": "stop.env_steps: 90k",
    "eval.every: 10%": "eval.every: 33.3%",
    "eval.episodes: 10": "eval.episodes: 5",
    "search:": "search:\n  total_env_steps: 2500000\n  confirm_seeds: 3",
}
"""Text of the shipped space -> what replaces it."""


def space() -> str:
    """Returns the space of the study."""
    text = sweep_space.sweep_init(TARGET).text
    for old, new in CHANGES.items():
        if old not in text:
            raise SystemExit(f"the shipped space has no line `{old}` any more")
        text = text.replace(old, new)
    return text


def main() -> None:
    runs_dir = Path(sys.argv[1])
    if sys.argv[2:] == ["store"]:
        store_study(FILE, NAME, runs_dir, space())
        return
    if any(path.name == NAME for path in studies.list_studies(runs_dir)):
        study, _ = sweep_prepare.reopened(NAME, runs_dir=runs_dir)
    else:
        prepared = sweep_prepare.prepare(space(), jobs=1, runs_dir=runs_dir)
        study = sweep_prepare.create(prepared, NAME, jobs=1, runs_dir=runs_dir)
    sweep_prepare.run_here(
        study, report=lambda now: print(now.summary.units, now.summary.env_steps)
    )


if __name__ == "__main__":
    main()
