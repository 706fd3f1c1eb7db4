"""docs/studies/precision.json: what it costs in learning to encode images in bfloat16.

The same seeds with `policy.precision` float32 and bfloat16, both computed by torch, compared as in
engines.py: areas under the curves of evaluations at the same env steps, paired by seed, all choices of
signs.

    PYTHONPATH=docs/studies python docs/studies/precision.py RUNS_DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from catch import SETTINGS, TASK
from engines import COMMON, store, studied

FILE = Path(__file__).with_suffix(".json")
WAYS = ("bfloat16", "float32")

if __name__ == "__main__":
    settings = COMMON | SETTINGS | {"engine": "torch"}
    store(FILE, [studied(TASK, settings, "policy.precision", WAYS, Path(sys.argv[1]))])
