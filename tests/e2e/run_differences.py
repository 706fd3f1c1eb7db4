"""Lists the differences between two runs that should be identical."""

from __future__ import annotations

import hashlib

import numpy as np

from gymnast.metrics.specs import metric_for_key, run_metrics
from gymnast.runs import checkpoint
from gymnast.runs.run import Run


def differences(a: Run, b: Run) -> list[str]:
    """Returns the differences in weights, optimizer, running episodes, exact metrics, scores and traces."""
    last_a, last_b = (checkpoint.latest(run.path).manifest["files"] for run in (a, b))
    files = sorted(name for name in {*last_a, *last_b} if name.endswith(".safetensors"))
    found = [f"{file} differs" for file in files if last_a.get(file) != last_b.get(file)]
    rows_a, rows_b = a.rows(), b.rows()
    if len(rows_a) != len(rows_b):
        return [*found, f"{len(rows_a)} rows against {len(rows_b)}"]
    declarations = run_metrics(a.config())
    exact = [name for name in rows_a.columns if metric_for_key(name, declarations).exact]
    columns = ((name, rows_a[name].to_numpy(), rows_b[name].to_numpy()) for name in exact)
    differ = [name for name, x, y in columns if not np.array_equal(x, y, equal_nan=True)]
    if differ:
        found.append(f"{len(differ)} metrics differ, {differ[0]} among them")
    if a.info["score"] != b.info["score"]:
        found.append("scores differ")
    if _traces(a) != _traces(b):
        found.append("traces differ")
    return found


def _traces(run: Run) -> dict[str, str]:
    """Returns file name -> hash of all traces, without hidden drafts left by a kill."""
    files = [*run.traces.glob("[!.]*"), *run.matches.glob("[!.]*")]
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}
