"""Which code runs: the commit of gymnast's source, and the files that were changed since."""

from __future__ import annotations

import subprocess
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
RESULTS = PACKAGE / "presets" / "results"
ENVELOPES = PACKAGE / "presets" / "envelopes"
"""Measurements that `gymnast reproduce --store` writes. They are not code: a result that was stored
a minute ago does not change the revision of the next one."""
DIRTY = "-dirty"


def revision(package: Path = PACKAGE) -> str:
    """The commit of the code, with `-dirty` where files were changed since; empty where it cannot be
    known, as in an installed package."""
    commit, changed = _git(package, "rev-parse", "HEAD"), uncommitted(package)
    if commit is None or changed is None:
        return ""
    return f"{commit}{DIRTY}" if changed else commit


def uncommitted(package: Path = PACKAGE) -> list[str] | None:
    """Files of the repository that were edited, added or removed since its last commit, without
    stored results and envelopes; None where there is no repository."""
    measured = [
        f":(exclude,top){path.relative_to(PACKAGE.parent)}" for path in (RESULTS, ENVELOPES)
    ]
    # untracked files count: a module or a preset that was never committed is code as well
    listed = _git(package, "status", "--porcelain", "--untracked-files=all", "--", ":/", *measured)
    return None if listed is None else [line[3:] for line in listed.splitlines()]


def is_clean(recorded: str) -> bool:
    """Whether a recorded revision is one that others can check out."""
    return bool(recorded) and not recorded.endswith(DIRTY)


def _git(package: Path, *words: str) -> str | None:
    """What git prints; None where it fails or the package is not in a repository of its own."""
    if not (package.parent / ".git").exists():
        return None
    command = ["git", *words]
    try:
        done = subprocess.run(command, cwd=package, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.rstrip() if done.returncode == 0 else None
