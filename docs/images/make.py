"""Makes docs/images/train.svg and gymnast/guide/images/alerts.svg: the live table of a stored run.

python docs/images/make.py train RUN      # train.svg: the table at the last row of the run, and its ending
python docs/images/make.py alerts RUN     # alerts.svg: the table of an unhealthy run after 60% of its budget;
                                          # RUN is `lr-times-100`, which docs/images/charts.py trains
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

from rich.console import Console

from gymnast import api
from gymnast.insight.page import changed_settings
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.sinks.frame import View, frame
from gymnast.metrics.sinks.history import History
from gymnast.metrics.specs import run_metrics, split_key
from gymnast.metrics.store import MetricStore
from gymnast.runs import store
from gymnast.training.lifecycle.summary import end_text
from gymnast.training.live.settings import alert_settings

name, ref = sys.argv[1:]
share, given = {"train": (1.0, ()), "alerts": (0.6, ("algo.", "stop.env_steps"))}[name]
run, _ = store.resolve(ref, store.runs_dir())
cfg, info = run.config(), run.info
metrics = run_metrics(cfg)
history, alerts = History(), Alerts(metrics, alert_settings(cfg, run))
with MetricStore(run.path / "metrics.db") as record:
    for row in record.rows():
        known = {key: value for key, value in row.items() if split_key(key)[1] in metrics}
        if row["progress/share"] <= share:
            history.add(known)
            alerts.check_row(known)
limit = next(iter(cfg.stop.limits().items()))
console = Console(record=True, width=104, file=io.StringIO(), force_terminal=True)
chosen = [(k, v) for k, v, origin in changed_settings(api.show(str(run.path))) if origin == "--set"]
words = (
    [f"--set {shlex.quote(f'{k}={v}')}" for k, v in chosen if k.startswith(given)] if given else []
)
typed = " ".join(["gymnast train", info["preset"].partition(":")[0], *words])
console.print(f"$ {typed}\n", highlight=False, markup=False)
console.print(frame(View(metrics, history, alerts.active(), info["preset"], limit), 104, 34))
if name == "train":
    summary = {key: info[key] for key in ("id", "preset", "solved", "reason", "score", "threshold")}
    summary |= {key: info["clocks"][key] for key in ("env_steps", "seconds")}
    summary |= {"path": f"runs/{run.id}", "best": info["checkpoints"]["best"]}
    first, *others = end_text(summary).splitlines()  # type: ignore[arg-type]
    console.print(f"\n[bold green]{first}[/]", *others, sep="\n", highlight=False)
svg = console.export_svg(title="gymnast")
svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.S)  # no fonts from elsewhere
guide = Path(__file__).parents[2] / "gymnast" / "guide" / "images"
folder = guide if name == "alerts" else Path(__file__).parent
(folder / f"{name}.svg").write_text(svg)
