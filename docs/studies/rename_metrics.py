"""Renames metrics in the committed data: preset results and envelopes, studies, health fixtures.

    python docs/studies/rename_metrics.py            # rewrites the files that contain an old name
    python docs/studies/rename_metrics.py --check    # only lists them

The names are in rename_metrics.json, old -> new. Stored runs are not converted: their format versions
reject them (see gymnast/runs/run.py).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
NAMES = Path(__file__).with_suffix(".json")
RENAMED: dict[str, str] = json.loads(NAMES.read_text(encoding="utf-8"))
JSON = (
    "gymnast/presets/results/*.json",
    "gymnast/presets/envelopes/*.json",
    "docs/studies/*.json",
    "tests/metrics/health/*.json",
)
ARRAYS = ("tests/metrics/health/*.npz",)


def renamed(text: str) -> str:
    """Returns the text with every old metric name replaced, also as part of an alert's name."""
    for old, new in RENAMED.items():
        text = text.replace(old, new)
    return text


def convert_json(file: Path, *, write: bool) -> bool:
    """True if the file contained an old name."""
    before = file.read_text(encoding="utf-8")
    after = renamed(before)
    if write and after != before:
        file.write_text(after, encoding="utf-8")
    return after != before


def convert_arrays(file: Path, *, write: bool) -> bool:
    """True if the `keys` array of an .npz fixture contained an old name. Values stay as they are."""
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    before = [str(key) for key in arrays["keys"]]
    after = [renamed(key) for key in before]
    if write and after != before:
        np.savez_compressed(file, **(arrays | {"keys": np.array(after)}))
    return after != before


def main(arguments: list[str]) -> None:
    """Prints every file with an old name, and rewrites it unless `--check` is given."""
    write = "--check" not in arguments
    for patterns, convert in ((JSON, convert_json), (ARRAYS, convert_arrays)):
        for pattern in patterns:
            for file in sorted(ROOT.glob(pattern)):
                if file != NAMES and convert(file, write=write):
                    print(file.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
