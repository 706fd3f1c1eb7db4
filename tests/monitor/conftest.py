"""The committed fixture of small runs, copied for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.monitor.fixture import copy_fixture


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the fixture, as the working directory and with its runs as the runs directory."""
    place = copy_fixture(tmp_path)
    monkeypatch.chdir(place)
    monkeypatch.setenv("GYMNAST_RUNS", str(place / "runs"))
    return place
