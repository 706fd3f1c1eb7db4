"""docs/images/train.svg: the live table of a real CartPole run, as it stood at its last row.

python docs/images/make.py RUN
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from gymnast.config.saved import load
from gymnast.metrics.sinks.frame import View, frame
from gymnast.metrics.sinks.history import History
from gymnast.metrics.specs import declared
from gymnast.metrics.store import MetricStore
from gymnast.runs import store
from gymnast.training.summary import end_text

run, _ = store.resolve(sys.argv[1], store.runs_dir())
cfg, info = load(run.config()), run.info
history = History()
with MetricStore(run.path / "metrics.db") as record:
    for row in record.rows():
        history.add(row)
limit = next(iter(cfg.stop.limits().items()))
console = Console(record=True, width=104, file=io.StringIO(), force_terminal=True)
console.print(f"$ gymnast train {info['preset'].partition(':')[0]}\n", highlight=False)
console.print(frame(View(declared(cfg), history, (), info["preset"], limit), 104, 30))
summary = {key: info[key] for key in ("id", "preset", "solved", "reason", "score", "threshold")}
summary |= {key: info["clocks"][key] for key in ("env_steps", "seconds")}
summary |= {"path": f"runs/{run.id}", "best": info["checkpoints"]["best"]}
first, *others = end_text(summary).splitlines()  # type: ignore[arg-type]
console.print(f"\n[bold green]{first}[/]", *others, sep="\n", highlight=False)
svg = console.export_svg(title="gymnast")
svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.S)  # no fonts from elsewhere
Path(__file__).with_name("train.svg").write_text(svg)
