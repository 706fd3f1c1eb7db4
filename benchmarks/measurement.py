"""Functions shared by the further measurements: options, one JSON file each, one section each."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from benchmarks import code_revision


def parse_options(doc: str | None, repetitions: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--repetitions", default=repetitions, type=int)
    parser.add_argument("--quick", action="store_true", help="one short round, nothing written")
    options = parser.parse_args()
    if options.quick:
        options.repetitions = 1
    return options


def result_path(name: str) -> Path:
    return code_revision.RESULTS / f"{name}.json"


def load_entry(name: str) -> dict[str, Any] | None:
    return json.loads(result_path(name).read_text()) if result_path(name).exists() else None


def new_entry(name: str) -> dict[str, Any]:
    return code_revision.measurement_info(name) | {"source": code_revision.package_digest()}


def save_entry(name: str, entry: dict[str, Any], quick: bool) -> None:
    """Writes the measurement and the page; fails if the code was changed while it was measured."""
    code_revision.require_same_code(str(code_revision.PACKAGE), entry["source"])
    if quick:
        return
    result_path(name).write_text(json.dumps(entry, indent=1) + "\n")
    from benchmarks import report

    report.write()
    print(f"wrote {result_path(name)} and {report.PAGE}")


def benchmark_core() -> int:
    """Returns the core on which single-core measurements run."""
    return max(os.sched_getaffinity(0))


def info_text(entry: dict[str, Any]) -> str:
    """Returns how and where a stored measurement was made, as one sentence."""
    hardware = entry["hardware"]
    return (
        f"`{entry['command']}` on {entry['date']} at revision `{entry['revision'][:12]}`, "
        f"{hardware['cores']} cores of {hardware['model']}."
    )
