"""The files of the front end that are written from Python are current, and its packages name no host."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"


@pytest.mark.parametrize(
    ("script", "function", "file"),
    [
        ("make_types.py", "types_text", "src/api/records.ts"),
        ("make_number_cases.py", "text", "src/ui/numbers.cases.json"),
        ("make_grid_cases.py", "text", "src/pages/playground/grid/gymnasium.cases.json"),
    ],
)
def test_files_written_from_python_are_current(script: str, function: str, file: str) -> None:
    written = runpy.run_path(str(WEB / script))[function]()
    assert (WEB / file).read_text(encoding="utf-8") == written, f"run: python web/{script}"


def test_every_package_is_pinned_by_its_hash_and_without_a_host() -> None:
    packages = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    wanted = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    assert all("resolved" not in package for package in packages.values())
    assert all("integrity" in package for name, package in packages.items() if name)
    for name, version in (wanted["dependencies"] | wanted["devDependencies"]).items():
        assert packages[f"node_modules/{name}"]["version"] == version
