"""Which code is timed: one revision, from first sample to last, or there is no result."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gymnast"
RESULTS = Path(__file__).parent / "results"


def surroundings(module: str) -> dict[str, Any]:
    """What every stored measurement begins with."""
    from gymnast.runs import machine

    return {
        "command": shlex.join(["python", "-m", f"benchmarks.{module}", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "revision": revision(),
        "hardware": machine.cpu(),
    }


def revision() -> str:
    """The commit, with `-dirty` where the package (not the benchmarks) was edited since."""
    commit = _git("rev-parse", "HEAD")
    return f"{commit}-dirty" if _git("status", "--porcelain", "--", PACKAGE.name) else commit


def digest() -> str:
    """Of the package's files as they are now, compiled ones too."""
    told = hashlib.sha256()
    kinds = ("*.py", "*.yaml", "*.so")
    for path in sorted(p for kind in kinds for p in PACKAGE.rglob(kind)):
        told.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    return told.hexdigest()


def refuse_other_code(source: str, before: str) -> None:
    """`source`: where a timed process found gymnast. An editable install wins over PYTHONPATH, so a
    copy of the repository may quietly time the original."""
    if Path(source).resolve() != PACKAGE.resolve():
        raise SystemExit(f"timed {source}, not {PACKAGE}: install this copy in its own environment")
    if digest() != before:
        raise SystemExit(f"{PACKAGE} was edited while it was timed: time a copy that nobody edits")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
