"""Makes docs/studies/tune-presets.json: what `gymnast tune preset` finds for environments without a preset.

Each environment is tuned for a few minutes from the defaults for its spaces. The best trial and the defaults
are then trained on five fresh seeds.

    python docs/studies/tune_presets.py RUNS_DIR [MINUTES]      # tune the missing ones, then store all
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from stored_sweep import one_line_lists, study_content

from gymnast.api import sweep

FILE = Path(__file__).with_name("tune-presets.json")
ENVS = (
    "MountainCarContinuous-v0",
    "InvertedDoublePendulum-v5",
    "MiniGrid-DoorKey-5x5-v0",
    "MiniGrid-Empty-5x5-v0",
)


def main() -> None:
    runs_dir, minutes = Path(sys.argv[1]), sys.argv[2] if sys.argv[2:] else "8"
    known = {one.name: one for one in sweep.sweep_list(runs_dir=runs_dir)}
    for env in ENVS:
        if env.lower() not in known:
            words = ["tune", "preset", env, "--minutes", minutes, "--name", env.lower()]
            command = [sys.executable, "-m", "gymnast", *words, "--runs", str(runs_dir)]
            subprocess.run(command, check=True)
    content: dict[str, Any] = {
        "command": f"gymnast tune preset ENV --minutes {minutes}",
        "studies": {env: study_content(env.lower(), runs_dir) for env in ENVS},
    }
    FILE.write_text(one_line_lists(content) + "\n")


if __name__ == "__main__":
    main()
