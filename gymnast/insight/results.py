"""Stored results of presets: what was run, on which machine, with which scores; and whether they still hold.

There is one JSON file per `ENV:variant` next to the presets. `gymnast reproduce` writes and repeats them;
docs/results.md is generated from them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError, UsageError
from gymnast.insight.stored_result import StoredCurve, StoredResult
from gymnast.jobs.groups import group_result
from gymnast.metrics.store import MetricStore
from gymnast.runs import document, durable, layout
from gymnast.runs.revision import RESULTS as FOLDER
from gymnast.runs.revision import is_clean, uncommitted_files
from gymnast.runs.run import read_info
from gymnast.runs.summary import RunSummary

VERSION = 1
POINTS = 50
"""Maximum number of points of a stored learning curve."""


@dataclass(frozen=True)
class ResultSummary:
    """The stored result of one variant of a preset."""

    mean: float
    """Mean score over seeds."""
    low: float | None
    """Lower end of its 95 % confidence interval; None for one seed."""
    high: float | None
    solved: int
    """Number of seeds that were solved."""
    seeds: int
    env_steps: float
    """Median over seeds."""
    seconds: float
    """Median over seeds."""
    date: str


def require_committed_code() -> None:
    """Raises UsageError if the code is not committed, since others could not check it out and repeat the
    result."""
    changed = uncommitted_files()
    if changed is None:
        raise UsageError(
            "a result is stored with the commit of its code, but gymnast is not in a git repository",
            fix="install a clone of the repository (pip install -e .) and run this there",
        )
    if changed:
        listed = ", ".join(changed[:5]) + (", ..." if len(changed) > 5 else "")
        raise UsageError(
            f"results are only stored from committed code; changed since the last commit: {listed}",
            fix="commit or stash the changes, or run this in a clean clone",
        )


def build_result(preset: str, runs: Sequence[RunSummary], threshold: float | None) -> StoredResult:
    """Returns the stored form of a group of finished seeds.

    All of them must have run at the same clean revision, else RunError is raised.
    """
    infos = [read_info(Path(run.path)) for run in runs]
    revisions = sorted({info["revision"] for info in infos})
    if len(revisions) > 1 or not is_clean(revisions[0]):
        listed = ", ".join(revision or "unknown" for revision in revisions)
        raise RunError(
            f"the seeds did not run at one committed revision ({listed})",
            fix="train them again in a clone that nobody edits meanwhile",
        )
    group = group_result(runs)
    if group.mean is None or group.iqm is None:
        raise RunError("no seed finished with a score", fix="train them again")
    return {
        "version": VERSION,
        "preset": preset,
        "command": f"gymnast reproduce {preset} --seeds {len(runs)}",
        "date": time.strftime("%Y-%m-%d"),
        "revision": revisions[0],
        "versions": infos[0]["versions"],
        "cpu": infos[0]["cpu"],
        "threshold": threshold,
        "seeds": [
            {
                "seed": info["seed"],
                "solved": info["solved"],
                "score": info["score"],
                "env_steps": int(info["clocks"]["env_steps"]),
                "seconds": info["clocks"]["seconds"],
                "curves": learning_curves(Path(run.path)),
            }
            for run, info in zip(runs, infos, strict=True)
            if info["score"] is not None
        ],
        "mean": group.mean,
        "iqm": group.iqm,
        "low": group.low,
        "high": group.high,
        "solved": group.solved,
    }


def learning_curves(run: Path) -> dict[str, StoredCurve]:
    """Returns the learning curves of a run: mean raw returns of the last training episodes, and of each
    evaluation, with the env steps of the policy version that was evaluated."""
    with MetricStore(layout.METRICS.path(run)) as record:
        rows = list(record.rows())
    return {"training": _curve(rows, ""), "evaluation": _curve(rows, "eval:")}


def _curve(rows: Sequence[Mapping[str, float]], prefix: str) -> StoredCurve:
    """Returns at most POINTS evenly spaced points, including the first and the last. `prefix`: ""
    for training, `eval:` for evaluations."""
    with_return = [row for row in rows if f"{prefix}episode/return" in row]
    last, kept = len(with_return) - 1, min(len(with_return), POINTS)
    chosen = [with_return[round(i * last / max(kept - 1, 1))] for i in range(kept)]
    return {
        "env_steps": [int(row[f"{prefix}clock/env_steps"]) for row in chosen],
        "return": [row[f"{prefix}episode/return"] for row in chosen],
    }


def save_result(result: StoredResult) -> Path:
    """Writes the result of a preset to its file, replacing an earlier one, and returns the file."""
    path = _file(result["preset"])
    path.parent.mkdir(parents=True, exist_ok=True)
    text = document.dumps(dict(result), indent=1) + "\n"
    # Put each list of numbers on one line: a curve would otherwise take 100 lines of the repository.
    numbers = r"\[\s+(-?\d[^\[\]]*?)\s+\]"
    text = re.sub(numbers, lambda match: f"[{' '.join(match[1].split())}]", text)
    durable.replace(path, text.encode())
    return path


def load_result(preset: str) -> StoredResult:
    """Returns the stored result of a preset `ENV:variant`; raises UsageError if there is none."""
    path = _file(preset)
    if not path.exists():
        known = ", ".join(result["preset"] for result in all_results()) or "none"
        raise UsageError(f"no result is stored for {preset}", fix=f"stored are: {known}")
    return document.parse(StoredResult, path.read_bytes())


def n_seeds(preset: str) -> int:
    """Returns the number of seeds in the stored result of a preset; 0 if there is none."""
    return len(load_result(preset)["seeds"]) if _file(preset).exists() else 0


def all_results() -> list[StoredResult]:
    """Returns all stored results, sorted by preset."""
    return [
        document.parse(StoredResult, path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))
    ]


def result_summaries() -> dict[str, dict[str, ResultSummary]]:
    """Returns preset -> variant -> summary of its stored result."""
    summaries: dict[str, dict[str, ResultSummary]] = {}
    for result in all_results():
        name, _, variant = result["preset"].rpartition(":")
        summaries.setdefault(name, {})[variant] = _summary(result)
    return summaries


def _summary(result: StoredResult) -> ResultSummary:
    return ResultSummary(
        mean=result["mean"],
        low=result["low"],
        high=result["high"],
        solved=result["solved"],
        seeds=len(result["seeds"]),
        env_steps=_median([entry["env_steps"] for entry in result["seeds"]]),
        seconds=_median([entry["seconds"] for entry in result["seeds"]]),
        date=result["date"],
    )


def results_page() -> str:
    """Returns the content of docs/results.md."""
    lines = [
        "# Results",
        "",
        "Generated by `make docs` from the JSON files in `gymnast/presets/results/`. Each row can be",
        "reproduced with its command. A score is the mean raw return of the best checkpoint on held-out",
        "seeds, which were used neither to stop training nor to select the checkpoint. For several",
        "training seeds, the mean is given with a 95 % bootstrap confidence interval. Env steps and",
        "seconds are medians over seeds, from start to end, including evaluation. The revision is the",
        "commit of the code that trained it.",
        "",
        "![learning curves of the stored results](images/results.png)",
        "",
        "Mean raw return over env steps, one color per seed: of the last 100 training episodes (line) and",
        "of each evaluation (dots), with the threshold; drawn by [images/results.py](images/results.py).",
        "Where a training episode ends with a lost life (Breakout), the line is the return per life.",
        "",
        "Presets were tuned on some of these training seeds. Results of seeds that were not used for tuning",
        "are in [studies/fresh-seeds.json](studies/fresh-seeds.json).",
        "",
        "| preset | threshold | solved | mean over seeds [95 %] | worst seed | IQM | episodes "
        "| env steps | seconds | revision |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_line(result) for result in all_results()]
    lines += ["", "## How to reproduce each result", ""]
    for result in all_results():
        versions = ", ".join(f"{name} {v}" for name, v in result["versions"].items())
        lines.append(
            f"- `{result['command']}`: seeds {', '.join(str(e['seed']) for e in result['seeds'])}; "
            f"revision {_revision(result)}, {result['date']}, {result['cpu']['model']}, {versions}"
        )
    return "\n".join(lines) + "\n"


def _line(result: StoredResult) -> str:
    """Returns the row of a stored result in the table of docs/results.md."""
    entries = result["seeds"]
    seconds = _median([e["seconds"] for e in entries])
    interval = "" if result["low"] is None else f" [{result['low']:.4g}, {result['high']:.4g}]"
    cells = (
        f"`{result['preset']}`",
        "-" if result["threshold"] is None else f"{result['threshold']:g}",
        "-" if result["threshold"] is None else f"{result['solved']}/{len(entries)}",
        f"{result['mean']:.4g}{interval}",
        f"{min(e['score']['mean'] for e in entries):.4g}",
        f"{result['iqm']:.4g}",
        f"{entries[0]['score']['episodes']:,}",
        f"{_median([e['env_steps'] for e in entries]):,.0f}",
        f"{seconds:,.0f}" if seconds >= 1000 else f"{seconds:.3g}",
        _revision(result),
    )
    return f"| {' | '.join(cells)} |"


def _revision(result: StoredResult) -> str:
    recorded = result["revision"]
    if is_clean(recorded):
        return recorded[:12]
    return f"{recorded[:12]} **with uncommitted changes**" if recorded else "**unknown**"


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _file(preset: str) -> Path:
    return FOLDER / file_name(preset)


def file_name(preset: str) -> str:
    """Returns the name of the JSON file of a preset `ENV:variant`."""
    return f"{preset.replace('/', '__').replace(':', '.')}.json"


if __name__ == "__main__":
    print(results_page(), end="")
