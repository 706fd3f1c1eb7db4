"""Every file of a run directory: its name, writer and format, and what happens to it on resume.

The code names the files of a run only through this table. Resuming and branching go through its entries,
`runs rm` and `runs prune` find files that gymnast did not write with it, and docs/run-directory.md is made
from it (`python -m gymnast.runs.layout`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gymnast.metrics.format import VERSION as METRICS_VERSION
from gymnast.runs.files import refuse_link

OnResume = Literal["kept", "rewound", "rewritten", "continued"]
OnBranch = Literal["new", "copied", "left"]
RESUMED: dict[OnResume, str] = {
    "kept": "is not touched",
    "rewound": "loses what was written after the checkpoint",
    "rewritten": "is written again if something changed",
    "continued": "is appended to",
}
BRANCHED: dict[OnBranch, str] = {
    "new": "is written for the new run",
    "copied": "is copied up to the checkpoint",
    "left": "stays with the old run",
}

_SQLITE_SUFFIXES = ("-wal", "-shm", "-journal")
"""Ends of the names of files that sqlite writes next to a database."""


@dataclass(frozen=True)
class RunFile:
    name: str
    """Name in the run directory; the name of a folder ends with a slash."""
    content: str
    writer: str
    """The module that writes it, below `gymnast`."""
    on_resume: OnResume
    on_branch: OnBranch = "left"
    version: int = 0
    """Its format version, which readers check; 0 for formats of other programs, and for files whose format
    has never changed."""

    def path(self, run_dir: Path) -> Path:
        """Returns its path; raises RunError if it is a link, which could lead out of the run."""
        path = run_dir / self.name
        for suffix in _SQLITE_SUFFIXES if path.suffix == ".db" else ():
            refuse_link(path.with_name(path.name + suffix))
        return refuse_link(path)


RUN = RunFile(
    "run.json",
    "identity, status, score, checkpoints, alerts, tags and note; a directory with it is a run",
    "runs.run",
    "rewritten",
    "new",
    version=2,  # 2: renamed metrics in the alerts
)
CONFIG = RunFile("config.yaml", "the resolved config", "runs.run", "rewritten", "new")
SIGNATURES = RunFile(
    "signatures",
    "proof that the user of this machine chose the code and the data directory that the run names",
    "runs.trust",
    "continued",
    "new",
)
PROVENANCE = RunFile(
    "provenance.json", "where each config value came from", "runs.run", "rewritten", "new"
)
METRICS = RunFile(
    "metrics.db",
    "one row of metrics per rollout (sqlite)",
    "metrics.store",
    "rewound",
    "copied",
    version=METRICS_VERSION,
)
EVENTS = RunFile(
    "events.jsonl",
    "everything that changed the run, one event per line",
    "runs.run",
    "rewound",
    "copied",
    version=RUN.version,
)
CHECKPOINTS = RunFile(
    "checkpoints/",
    "a folder per checkpoint: policy, optimizer, running episodes, clocks, the table of steps",
    "runs.checkpoint",
    "rewound",
    "copied",
    version=2,  # 2: renamed metrics in metrics.json and the alerts
)
TRACES = RunFile(
    "traces/",
    "stored episodes of evaluations and training",
    "runs.trace",
    "rewound",
    version=1,
)
MATCHES = RunFile(
    "matches/", "stored matches between roles", "runs.match_trace", "rewound", version=1
)
EPISODES = RunFile(
    "episodes/",
    "episodes that were rolled out on request or played by a person, one file each",
    "runs.requested_episodes",
    "kept",
)
LEAGUE = RunFile(
    "league/",
    "past policies, players from other runs, cross-play results",
    "selfplay.snapshots",
    "rewound",
    "copied",
)
INBOX = RunFile("inbox/", "commands for the run, one file each", "runs.inbox", "kept", version=1)
INCIDENTS = RunFile(
    "incidents/",
    "for each update that was rolled back, everything that is needed to repeat it",
    "training.lifecycle.bundle",
    "kept",
)
LOG = RunFile("log.txt", "the console output as plain text", "metrics.sinks.log", "continued")
VIDEOS = RunFile(
    "videos/", "films with their descriptions, and the film process's log", "film.make", "kept"
)
REPORT = RunFile("report/", "the report as Markdown and HTML", "insight.report.files", "kept")
REVIEWS = RunFile(
    "reviews/",
    "a folder per review: the bundle that a command read, its answer, and frames",
    "review.stored",
    "kept",
    version=1,
)
ANALYSES = RunFile(
    "analyses/",
    "blunders that were found in stored episodes, a file per episode",
    "inspector.stored_blunders",
    "kept",
    version=1,
)
EXPORTS = RunFile("exports/", "exported metrics", "insight.export", "kept")
TENSORBOARD = RunFile(
    "tensorboard/", "TensorBoard event files", "metrics.sinks.tensorboard", "continued"
)
WANDB = RunFile("wandb/", "Weights & Biases files", "metrics.sinks.wandb", "continued")
BUNDLE = RunFile(
    "manifest.json",
    "what a bundle has of the run; only in a run that was unpacked from one",
    "bundle.archive",
    "kept",
    version=1,
)
LOCK = RunFile("lock", "locked by the process that writes the run", "runs.lock", "rewritten")
HEARTBEAT = RunFile(
    "heartbeat", "touched by that process every two seconds", "runs.lock", "rewritten"
)
FILES = (
    RUN,
    CONFIG,
    SIGNATURES,
    PROVENANCE,
    METRICS,
    EVENTS,
    CHECKPOINTS,
    TRACES,
    MATCHES,
    EPISODES,
    LEAGUE,
    INBOX,
    INCIDENTS,
    LOG,
    VIDEOS,
    REPORT,
    REVIEWS,
    ANALYSES,
    EXPORTS,
    TENSORBOARD,
    WANDB,
    BUNDLE,
    LOCK,
    HEARTBEAT,
)


def foreign_files(run_dir: Path) -> list[str]:
    """Returns the names in a run directory that gymnast does not write, sorted. Hidden files do not count:
    ours are drafts and locks, those of file managers and network file systems are nobody's work."""
    own = {file.name.rstrip("/") for file in FILES}
    own |= {METRICS.name + suffix for suffix in _SQLITE_SUFFIXES}
    try:
        names = [entry.name for entry in run_dir.iterdir()]
    except OSError:
        return []  # deleted in the meantime
    return sorted(name for name in names if name not in own and not name.startswith("."))


def page() -> str:
    """Returns the text of docs/run-directory.md, a table of FILES."""
    rows = [
        f"| `{file.name}` | {file.content} | `{file.writer}` | {file.version or ''} "
        f"| {file.on_resume} | {file.on_branch} |"
        for file in FILES
    ]
    return "\n".join([_HEAD.rstrip(), *rows, "", *_legend(), ""])


def _legend() -> list[str]:
    """Returns the lines below the table, which explain the words in the columns "on resume" and "in a
    branch"."""
    resumed = "; ".join(f"**{word}**: it {text}" for word, text in RESUMED.items())
    branched = "; ".join(f"**{word}**: it {text}" for word, text in BRANCHED.items())
    return [
        f"On resume: {resumed}.",
        "",
        f"In a [branch](runs.md#going-back-branches): {branched}.",
    ]


_HEAD = """\
<!-- made by `python -m gymnast.runs.layout`, which `make docs` runs -->
# The run directory

A run is a directory, and its files are the only state there is about it. This table is
[`gymnast/runs/layout.py`](../gymnast/runs/layout.py). A file whose format version is not the one that this
gymnast reads is rejected with the reason. Names that start with a dot are drafts and short-lived locks. Files
that are not in the table are yours: `gymnast runs rm` names them before it deletes anything, and
`gymnast runs prune` keeps runs that have such files, unless `--include foreign` is given.

| file | content | written by | format | on resume | in a branch |
|---|---|---|---|---|---|
"""

if __name__ == "__main__":
    print(page(), end="")
