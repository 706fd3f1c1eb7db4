"""Makes docs/studies/overlap.json: the effect on learning of a policy that lags by one update.

The same seeds are trained with `overlap` off and on and compared as in engines.py: areas under the
evaluation curves at the same env steps, paired by seed, tested over all choices of signs.

    python docs/studies/overlap.py RUNS_DIR
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from engines import COMMON, store, study

FILE = Path(__file__).with_suffix(".json")
WAYS = ("on", "off")
TASKS: dict[str, dict[str, Any]] = {
    "CartPole-v1": {"stop.env_steps": 20_480, "eval.every": "2048 env_steps"},
    "Pendulum-v1": {"stop.env_steps": 40_960, "eval.every": "4096 env_steps"},
    "LunarLander-v3": {"stop.env_steps": 81_920, "eval.every": "8192 env_steps"},
}
TO_THE_END = {"eval.start_at": "off", "eval.warmup": "off", "stop.eval_return": "off"}


if __name__ == "__main__":
    common, place = COMMON | TO_THE_END, Path(sys.argv[1])
    every = TASKS.items()
    store(FILE, [study(t, common | own, "overlap", WAYS, place) for t, own in every])
