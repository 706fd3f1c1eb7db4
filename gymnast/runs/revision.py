"""The revision of the code: gymnast's commit, and whether files were changed since."""

from __future__ import annotations

import subprocess
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
RESULTS = PACKAGE / "presets" / "results"
ENVELOPES = PACKAGE / "presets" / "envelopes"
"""Folders that `gymnast reproduce --store` writes. They are not code: a stored result does not make
the revision of the next run dirty."""
DIRTY = "-dirty"


def revision(package: Path = PACKAGE) -> str:
    """Returns the commit of the code, with `-dirty` if files were changed since; empty if it is unknown,
    as in an installed package."""
    commit, changed = _git(package, "rev-parse", "HEAD"), uncommitted_files(package)
    if commit is None or changed is None:
        return ""
    return f"{commit}{DIRTY}" if changed else commit


def uncommitted_files(package: Path = PACKAGE) -> list[str] | None:
    """Returns the files that were edited, added or removed since the last commit, without stored results
    and envelopes; None if there is no repository."""
    measured = [
        f":(exclude,top){path.relative_to(PACKAGE.parent)}" for path in (RESULTS, ENVELOPES)
    ]
    # untracked files count: a module or a preset that was never committed is code as well
    listed = _git(package, "status", "--porcelain", "--untracked-files=all", "--", ":/", *measured)
    return None if listed is None else [line[3:] for line in listed.splitlines()]


def is_clean(recorded: str) -> bool:
    """True if a recorded revision is a commit without local changes, which others can check out."""
    return bool(recorded) and not recorded.endswith(DIRTY)


def _git(package: Path, *arguments: str) -> str | None:
    """Returns the output of a git command; None if it fails or if there is no repository with the package in
    its root."""
    if not (package.parent / ".git").exists():
        return None
    command = ["git", *arguments]
    try:
        done = subprocess.run(command, cwd=package, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.rstrip() if done.returncode == 0 else None
