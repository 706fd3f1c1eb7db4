"""Lists the files of a run that are never a part of its bundle."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from gymnast.bundle.stored_arrays import file_size
from gymnast.runs import layout
from gymnast.runs.bundle_manifest import LeftOut
from gymnast.runs.removal import run_size
from gymnast.runs.unpack import BUNDLED

_REASONS = {
    layout.CHECKPOINTS.name: "a bundle has one checkpoint",
    layout.TRACES.name: "a bundle has the evaluation of its checkpoint only",
    layout.MATCHES.name: "a bundle has the evaluation of its checkpoint only",
    layout.LEAGUE.name: "bundles have no past policies",
    layout.INCIDENTS.name: "a bundle has the newest ones only",
}
_SILENT = (layout.LOCK.name, layout.HEARTBEAT.name, layout.INBOX.name, layout.BUNDLE.name)
"""Files that say nothing about a run that has ended."""
FOREIGN = "other files"


def never_included(run_dir: Path, candidates: Collection[str]) -> list[LeftOut]:
    """Returns the files and folders of a run that are in no part. `candidates`: paths in the run directory of
    all files of the parts."""
    found: list[LeftOut] = []
    for file in layout.FILES:
        path = file.path(run_dir)
        if file.name in _SILENT or not path.exists():
            continue
        if file in BUNDLED and not file.name.endswith("/"):
            continue
        used = sum(file_size(run_dir / name) for name in candidates if name.startswith(file.name))
        rest = run_size(path) - used
        if rest > 0:
            reason = _REASONS.get(file.name, "bundles do not have them")
            found.append(LeftOut(file.name, rest, reason))
    foreign = [run_dir / name for name in layout.foreign_files(run_dir)]
    if foreign:  # their names may be private
        size = sum(run_size(path) if path.is_dir() else file_size(path) for path in foreign)
        found.append(LeftOut(FOREIGN, size, "gymnast did not write them"))
    return found
