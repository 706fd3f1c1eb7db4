"""Makes docs/studies/precision.json: the effect on learning of encoding images in bfloat16.

The same seeds are trained with `policy.precision` float32 and bfloat16, both computed by torch, and
compared as in engines.py: areas under the evaluation curves at the same env steps, paired by seed, tested
over all choices of signs.

    PYTHONPATH=docs/studies python docs/studies/precision.py RUNS_DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from catch import SETTINGS, TASK
from engines import COMMON, store, study

FILE = Path(__file__).with_suffix(".json")
WAYS = ("bfloat16", "float32")

if __name__ == "__main__":
    settings = COMMON | SETTINGS | {"engine": "torch"}
    store(FILE, [study(TASK, settings, "policy.precision", WAYS, Path(sys.argv[1]))])
