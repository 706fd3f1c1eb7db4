"""The revision of the timed code, which must not change between the first and the last sample."""

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


def measurement_info(module: str) -> dict[str, Any]:
    """Returns the fields of every stored measurement: command, date, revision, hardware."""
    from gymnast.runs import machine

    return {
        "command": shlex.join(["python", "-m", f"benchmarks.{module}", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "revision": revision(),
        "hardware": machine.cpu_info(),
    }


def revision() -> str:
    """Returns the commit, with `-dirty` if the package (not the benchmarks) was edited since."""
    commit = _git("rev-parse", "HEAD")
    return f"{commit}-dirty" if _git("status", "--porcelain", "--", PACKAGE.name) else commit


def package_digest() -> str:
    """Returns a hash of the package's current files, including compiled ones."""
    sha256 = hashlib.sha256()
    kinds = ("*.py", "*.yaml", "*.so")
    for path in sorted(p for kind in kinds for p in PACKAGE.rglob(kind)):
        # The name is part of the hash, ended by a NUL, so that moving a file changes it too.
        sha256.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    return sha256.hexdigest()


def require_same_code(source: str, before: str) -> None:
    """Exits if the timed code is not this copy of gymnast, or was edited since `before`.

    `source` is where a timed process found gymnast. An editable install takes precedence over
    PYTHONPATH, so a copy of the repository might time the original unnoticed."""
    if Path(source).resolve() != PACKAGE.resolve():
        raise SystemExit(f"timed {source}, not {PACKAGE}: install this copy in its own environment")
    if package_digest() != before:
        raise SystemExit(f"{PACKAGE} was edited while it was timed: time a copy that nobody edits")


def _git(*words: str) -> str:
    completed = subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return completed.stdout.strip()
