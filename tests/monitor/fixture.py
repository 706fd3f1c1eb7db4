"""The committed fixture of small runs, and the report that the golden files store."""

from __future__ import annotations

import shutil
from pathlib import Path

from gymnast import api
from gymnast.monitor.records import MonitorReport

FIXTURE = Path(__file__).parents[1] / "fixtures" / "monitor"
RUNS, FOREIGN, MAPS, GOLDEN = (FIXTURE / name for name in ("runs", "foreign", "maps", "golden"))
ARENA_UPDATES, ARENA_MATCHES = FOREIGN / "arena-updates.csv", FOREIGN / "arena-matches.jsonl"
UPDATES_MAP, MATCHES_MAP = MAPS / "arena-updates.yaml", MAPS / "arena-matches.yaml"


def copy_fixture(place: Path) -> Path:
    """Copies the fixture into the directory `place`, because reading runs writes an index, and returns the
    copy."""
    return Path(shutil.copytree(FIXTURE, place / "fixture"))


def fixture_reports(copy: Path) -> dict[str, MonitorReport]:
    """Returns the reports that the golden files store: of all runs, of which the broken one is left out, and
    of both foreign files. `copy`: the copy of the fixture, which must be the working directory, so that no
    path of this machine is stored."""
    return {
        "runs": api.monitor(all_runs=True, skip_broken=True, smooth=3, runs_dir=copy / "runs"),
        "updates": api.monitor(
            files=[str(ARENA_UPDATES.relative_to(FIXTURE))],
            column_map=str(UPDATES_MAP.relative_to(FIXTURE)),
            smooth=3,
        ),
        "matches": api.monitor(
            files=[str(ARENA_MATCHES.relative_to(FIXTURE))],
            column_map=str(MATCHES_MAP.relative_to(FIXTURE)),
            smooth=3,
        ),
    }
